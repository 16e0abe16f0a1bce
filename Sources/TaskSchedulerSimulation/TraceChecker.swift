import TaskSchedulerCore

/// Checks the effects of a trace, such as a daemon's event log.
public struct TraceChecker {
  private var checkers: Checkers?
  private var eventCount = 0
  private var start: Instant?
  /// The hash of every event, instant and effect so far.
  public private(set) var hash = TraceHash()

  /// Creates a checker of a trace.
  ///
  /// - Parameter scheduler: The state at the start of the trace. The checkers examine only a trace
  ///   that begins with the first event, because they do not know earlier events.
  public init(from scheduler: Scheduler = Scheduler()) {
    let isFresh = scheduler.statuses(at: Instant(nanoseconds: 0)).isEmpty
    checkers = isFresh
      ? Checkers(policy: scheduler.policy.value, timerDelayMax: Self.timerDelayMax) : nil
  }

  /// The longest delay of a timer on a real machine, in nanoseconds.
  private static let timerDelayMax = 2 * Nanoseconds.second

  /// Checks the next event.
  ///
  /// - Parameter scheduler: The state after the event.
  public mutating func check(
    _ event: Event, _ effects: [Effect], _ scheduler: Scheduler, at instant: Instant
  ) throws(Violation) {
    let begin = start ?? instant
    start = begin
    eventCount += 1
    hash.add(event, at: instant, effects)
    if let sentence = scheduler.violatedInvariant {
      throw violation("invariants", sentence, begin.duration(to: instant))
    }
    if let found = checkers?.check(event, effects, at: instant.nanoseconds) {
      throw violation(found.checker, found.sentence, begin.duration(to: instant))
    }
  }

  private func violation(_ checker: String, _ sentence: String, _ after: Duration) -> Violation {
    Violation(checker: checker, sentence: sentence, eventNumber: eventCount, after: after)
  }
}
