import TaskSchedulerCore

/// Handles the events of a trace, such as a daemon's event log, again and checks the effects.
public struct TraceReplay {
  private var scheduler: Scheduler
  private var checkers: Checkers?
  private var eventCount = 0
  private var start: Instant?
  /// Of every event, instant and effect so far.
  public private(set) var hash = TraceHash()

  /// - Parameter scheduler: the policy at the trace's start. What came before a snapshot is not
  ///   known to the checkers; so they look only at a trace from the very start.
  public init(from scheduler: Scheduler = Scheduler()) {
    self.scheduler = scheduler
    let isFresh = scheduler.statuses(at: Instant(nanoseconds: 0)).isEmpty
    checkers = isFresh
      ? Checkers(policy: scheduler.policy, timerDelayMax: Self.timerDelayMax) : nil
  }

  /// A real machine's timers are late by more than a simulated one's.
  private static let timerDelayMax = 2 * Nanoseconds.second

  /// The next event.
  ///
  /// - Returns: the effects of the event.
  public mutating func handle(
    _ event: Event, at instant: Instant
  ) throws(Violation) -> [Effect] {
    let begin = start ?? instant
    start = begin
    eventCount += 1
    let effects = scheduler.handle(event, at: instant)
    hash.add(event, at: instant, effects)
    if let sentence = scheduler.violatedInvariant {
      throw violation("invariants", sentence, begin.duration(to: instant))
    }
    if let found = checkers?.check(event, effects, at: instant.nanoseconds) {
      throw violation(found.checker, found.sentence, begin.duration(to: instant))
    }
    return effects
  }

  private func violation(_ checker: String, _ sentence: String, _ after: Duration) -> Violation {
    Violation(checker: checker, sentence: sentence, eventNumber: eventCount, after: after)
  }
}
