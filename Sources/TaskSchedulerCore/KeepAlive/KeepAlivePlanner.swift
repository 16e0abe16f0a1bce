/// Decides when the device wakes for keep-alive handlers, and which handlers the daemon then calls
/// (contract §6, coalescing).
///
/// **The rule.** The planner wakes the device at t, the earliest instant at which a handler is due.
/// ``KeepAlive/due`` precedes the deadline of the handler by a lead. Let m be the shortest period;
/// a period is an interval without its lead. The calls at one wake-up are a burst. The burst at t
/// calls exactly the handlers that are due before t + m. All other handlers wait.
///
/// **The leads** do not make calls more frequent. If an interval is k times the shortest interval,
/// its lead is at most k times the shortest lead. Its period is therefore at least k m, and its
/// handler is still called at every k-th burst only.
///
/// **Why the rule is right.**
///
/// - *The next burst is at t + m.* A handler that was called at t is due at t + m or later, because
///   no period is shorter than m. A handler that was not called at t is due at t + m or later by
///   the rule. The handler with the shortest period was set or last called at t or earlier. It is
///   therefore due at t + m at the latest, and forces a burst by then, whichever handlers are
///   called at t. The rule thus calls exactly the handlers that cannot wait until the next burst.
/// - *No schedule has fewer wake-ups.* Every schedule has its first burst when the first handler is
///   due, or earlier, and its successive bursts are at most m apart. By induction, the n-th burst
///   of the planner is at least as late as the n-th burst of any other schedule. At any time, every
///   other schedule has therefore had at least as many bursts. New handlers do not change this.
///   When the handler with the shortest period is removed, the handlers that waited for its next
///   burst force bursts of their own within that period. This happens once for each removal. To
///   avoid these bursts, the planner would have to call every handler at every burst.
/// - *No choice of handlers at these bursts has fewer calls.* Each handler is called at the last
///   burst that is not later than its due instant. With any other choice, its k-th call is at the
///   same time or earlier. In every schedule, successive bursts are at most m apart. If a schedule
///   also keeps them at least m apart, they are exactly m apart, as those of the planner are. Only
///   the time of its first burst can differ.
///
/// Bursts do not drift. New intervals begin at the due instant that forced the burst, even if the
/// machine runs the burst a moment late. Otherwise each late burst would postpone the next one. A
/// handler with exactly twice the shortest period would then be due just before the second burst
/// after its last call. It could not wait for that burst, and would be called at every burst.
public struct KeepAlivePlanner: Sendable {
  private(set) var keepAlives: [InstanceID: KeepAlive] = [:]
  /// The instants at which the handlers are due.
  private var deadlines = Deadlines<InstanceID>()
  private var periods = IndexedPriorityQueue<InstanceID, Duration>()

  public init() {}

  /// Creates a planner with stored handlers.
  init(_ keepAlives: [InstanceID: KeepAlive]) {
    for (id, keepAlive) in keepAlives { keep(keepAlive, of: id) }
  }

  /// Sets or changes the interval of a handler. The interval, which must be longer than 0, begins
  /// at `now`.
  public mutating func set(_ id: InstanceID, interval: Duration, at now: Instant) {
    precondition(interval >= .nanoseconds(1), "a keep-alive interval must be longer than 0")
    let lastRun = keepAlives[id]?.lastRun
    keep(
      KeepAlive(
        interval: min(interval, KeepAlive.intervalMax), countedFrom: now, lastRun: lastRun),
      of: id)
  }

  /// Removes a handler. Ignores unknown ids.
  public mutating func remove(_ id: InstanceID) {
    keepAlives[id] = nil
    deadlines.set(id, to: nil)
    periods.set(id, to: nil)
  }

  public subscript(id: InstanceID) -> KeepAlive? { keepAlives[id] }

  /// All handlers, ordered by id.
  public var all: [(InstanceID, KeepAlive)] {
    keepAlives.sortedByKey.map { ($0.key, $0.value) }
  }

  /// The instant at which the device must wake next; nil if there is no handler.
  public var nextBurst: Instant? { deadlines.next }

  /// Returns the instant of the burst that calls the handler if nothing changes; nil if there is no
  /// such handler.
  ///
  /// Successive bursts are one shortest period apart. The handler waits for the last burst that is
  /// not later than its ``KeepAlive/due``.
  public func plannedBurst(of id: InstanceID) -> Instant? {
    guard let due = keepAlives[id]?.due, let nextBurst, let shortest = periods.least
    else { return nil }
    let step = Instant(nanoseconds: 0).advanced(by: shortest).nanoseconds
    let wait = due.nanoseconds - nextBurst.nanoseconds
    return Instant(nanoseconds: due.nanoseconds - wait % step)
  }

  /// Runs a burst if one is due.
  ///
  /// - Parameter tolerance: How late a burst may be while the machine is awake. The planner reduces
  ///   a longer tolerance to a quarter of the shortest period. If the burst is later, the planner
  ///   assumes that the machine has slept, and the new intervals begin at `now`.
  /// - Returns: The handlers to call now, ordered by deadline and id; empty if no burst is due.
  public mutating func burst(at now: Instant, tolerance: Duration = .seconds(2)) -> [InstanceID] {
    guard let due = nextBurst, due <= now, let shortest = periods.least else { return [] }
    let isOnTime = due.duration(to: now) <= min(tolerance, shortest / 4)
    return run(countingFrom: isOnTime ? due : now, at: now)
  }

  /// Uses a wake-up that happens at `now` for another reason as a burst, if this saves a later
  /// wake-up.
  ///
  /// Let m be the shortest period. The planner uses the wake-up if the next burst is due within
  /// m / 4. The wake-up then replaces the next burst, and all later bursts come earlier by at most
  /// m / 4. Each use thus saves at least three quarters of a wake-up.
  ///
  /// Bursts stay at least 3/4 m apart, and at most m. A handler that could wait for the k-th burst
  /// can therefore still wait for it. No handler is called more than 4/3 as often as without these
  /// wake-ups, however often the device is awake.
  ///
  /// With a limit above m / 4, a device that often wakes for other reasons would call handlers up
  /// to twice as often, and each use would save less. With a lower limit, the planner could use
  /// fewer wake-ups.
  ///
  /// - Returns: The handlers to call now, as ``burst(at:tolerance:)`` returns them.
  public mutating func useWakeUp(
    at now: Instant, tolerance: Duration = .seconds(2)
  ) -> [InstanceID] {
    guard let due = nextBurst, let shortest = periods.least else { return [] }
    if due <= now { return burst(at: now, tolerance: tolerance) }
    return now.duration(to: due) <= shortest / 4 ? run(countingFrom: now, at: now) : []
  }

  /// Runs a burst: starts a new interval for each handler that cannot wait until the next burst.
  /// Returns these handlers.
  private mutating func run(countingFrom start: Instant, at now: Instant) -> [InstanceID] {
    guard let shortest = periods.least else { return [] }
    let next = start.advanced(by: shortest)
    var called: [InstanceID] = []
    // `advanced(by:)` stops at the last instant of the type, so `next` can equal `now`. Without the
    // second condition, a due handler would then stay due.
    while let id = deadlines.popLeast(where: { $0 < next || $0 <= now }) { called.append(id) }
    for id in called {
      guard var keepAlive = keepAlives[id] else {
        preconditionFailure("a deadline has no keep-alive handler")
      }
      keepAlive.countedFrom = start
      keepAlive.lastRun = now
      keep(keepAlive, of: id)
    }
    return called
  }

  private mutating func keep(_ keepAlive: KeepAlive, of id: InstanceID) {
    keepAlives[id] = keepAlive
    deadlines.set(id, to: keepAlive.due)
    periods.set(id, to: keepAlive.period)
  }

  func check() throws(InvariantViolation) {
    try deadlines.check()
    try periods.check()
    try require(
      deadlines.count == keepAlives.count && periods.count == keepAlives.count,
      "the deadlines do not match the keep-alive handlers")
    for (id, keepAlive) in keepAlives {
      try require(
        deadlines.isSet(id, to: keepAlive.due), "a keep-alive handler has a wrong deadline")
      try require(
        periods.isSet(id, to: keepAlive.period), "a keep-alive handler has a wrong period")
    }
  }
}
