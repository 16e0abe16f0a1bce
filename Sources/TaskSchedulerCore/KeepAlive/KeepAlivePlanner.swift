/// Decides when the device wakes for keep-alive handlers, and which handlers it then runs (contract
/// §6, coalescing).
///
/// **The rule.** The planner wakes the device at t, the earliest instant at which a handler is due
/// (``KeepAlive/due``, a lead before its deadline). Let m be the shortest period: an interval
/// without its lead. The burst at t runs exactly the handlers that are due before t + m. All other
/// handlers wait. In the following, the lead is taken off all deadlines and intervals. The lead of
/// a multiple of an interval is at most that multiple of the lead. So a handler that could run at
/// every k-th burst still can.
///
/// - *The next burst is at t + m.* A handler that ran at t is due m later, or later than that. A
///   handler that did not run at t is due at t + m or later. The interval of the handler with the
///   shortest period began at t or earlier. So its deadline, t + m at the latest, forces a burst
///   then, whichever handlers run at t. The rule therefore runs exactly the handlers that cannot
///   wait until the next burst that the deadlines force anyway.
/// - *Wake-ups are the fewest possible.* No schedule has its first burst after the earliest
///   deadline, nor two bursts further apart than m. By induction, each burst here comes as late as
///   in any schedule. So at no time has another schedule had fewer bursts. New handlers do not
///   change this. When the handler with the shortest period is removed, handlers that waited for
///   its burst become due within one such period, once. To run them earlier for that case would
///   mean to run every handler at every burst.
/// - *Runs are the fewest possible at these bursts.* Each handler runs at the last burst that its
///   deadline allows. So its k-th run is as late as in any other choice of the same bursts. A
///   schedule with one wake-up per m for good has the same bursts, except for their start.
///
/// Bursts do not drift: a burst counts from the deadline that forced it, even if the machine
/// reaches it a moment later. Otherwise a handler with exactly twice the shortest interval would
/// run at every burst.
public struct KeepAlivePlanner: Sendable {
  private(set) var keepAlives: [InstanceID: KeepAlive] = [:]
  /// When each handler is due.
  private var deadlines = Deadlines<InstanceID>()
  private var periods = IndexedPriorityQueue<InstanceID, Duration>()

  public init() {}

  /// Restores stored handlers.
  init(_ keepAlives: [InstanceID: KeepAlive]) {
    for (id, keepAlive) in keepAlives { keep(keepAlive, of: id) }
  }

  /// Sets or changes the interval of a handler; the interval begins at `now` and must be longer
  /// than 0.
  public mutating func set(_ id: InstanceID, interval: Duration, at now: Instant) {
    precondition(interval >= .nanoseconds(1), "a keep-alive interval must be longer than 0")
    let lastRun = keepAlives[id]?.lastRun
    keep(
      KeepAlive(
        interval: min(interval, KeepAlive.intervalMax), countedFrom: now, lastRun: lastRun),
      of: id)
  }

  /// Removes a handler. Unknown ids are ignored.
  public mutating func remove(_ id: InstanceID) {
    keepAlives[id] = nil
    deadlines.set(id, to: nil)
    periods.set(id, to: nil)
  }

  public subscript(id: InstanceID) -> KeepAlive? { keepAlives[id] }

  /// All handlers, ordered by id.
  public var all: [(InstanceID, KeepAlive)] {
    keepAlives.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// When the device must wake next; nil if there is no handler.
  public var nextBurst: Instant? { deadlines.next }

  /// Returns when the handler will run if nothing changes. Bursts are one shortest period apart,
  /// and the handler runs at the last one before it is due.
  public func plannedBurst(of id: InstanceID) -> Instant? {
    guard let due = keepAlives[id]?.due, let nextBurst, let shortest = periods.least
    else { return nil }
    let step = Instant(nanoseconds: 0).advanced(by: shortest).nanoseconds
    let wait = due.nanoseconds - nextBurst.nanoseconds
    return Instant(nanoseconds: due.nanoseconds - wait % step)
  }

  /// Runs a burst if one is due.
  ///
  /// - Parameter tolerance: How late an awake machine may reach a burst; at most a quarter of the
  ///   shortest period counts. A burst that is later counts from `now`, because the machine has
  ///   slept.
  /// - Returns: The handlers to call now, by deadline and id; empty if no burst is due.
  public mutating func burst(at now: Instant, tolerance: Duration = .seconds(2)) -> [InstanceID] {
    guard let due = nextBurst, due <= now, let shortest = periods.least else { return [] }
    let isOnTime = due.duration(to: now) <= min(tolerance, shortest / 4)
    return run(countingFrom: isOnTime ? due : now, at: now)
  }

  /// Uses a wake-up at `now` for another reason as a burst, where that saves a wake-up.
  ///
  /// The planner uses the wake-up if the next burst is due within a quarter of the shortest period
  /// m. That saves the next burst and brings all later bursts forward by the time that was left, at
  /// most m / 4. So each use saves at least three quarters of a wake-up. Bursts stay at least 3/4 m
  /// apart. A handler that would run at every k-th burst (m k ≤ its interval) still runs at the
  /// k-th burst or a later one. So no handler runs more than 4/3 as often as otherwise, however
  /// often the device is awake. With a longer reach, a device that often wakes by itself would run
  /// handlers up to twice as often, and save less and less. With a shorter reach, the planner could
  /// use fewer wake-ups.
  ///
  /// - Returns: The handlers to call now, as ``burst(at:tolerance:)`` returns them.
  public mutating func useWakeUp(
    at now: Instant, tolerance: Duration = .seconds(2)
  ) -> [InstanceID] {
    guard let due = nextBurst, let shortest = periods.least else { return [] }
    if due <= now { return burst(at: now, tolerance: tolerance) }
    return now.duration(to: due) <= shortest / 4 ? run(countingFrom: now, at: now) : []
  }

  /// Runs every handler that cannot wait until the next burst that the deadlines force.
  private mutating func run(countingFrom start: Instant, at now: Instant) -> [InstanceID] {
    guard let shortest = periods.least else { return [] }
    let next = start.advanced(by: shortest)
    var called: [InstanceID] = []
    // At the end of time, `next` is not after `now`.
    while let id = deadlines.popLeast(where: { $0 < next || $0 <= now }) { called.append(id) }
    for id in called {
      guard var keepAlive = keepAlives[id] else { preconditionFailure("a deadline has no handler") }
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
      try require(deadlines.isSet(id, to: keepAlive.due), "a handler has a wrong deadline")
      try require(periods.isSet(id, to: keepAlive.period), "a handler has a wrong period")
    }
  }
}
