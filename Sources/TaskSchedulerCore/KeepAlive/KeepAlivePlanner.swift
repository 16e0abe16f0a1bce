/// One application's keep-alive handler (contract §6).
public struct KeepAlive: Hashable, Sendable {
  /// The handler is called at least once before each interval ends.
  public let interval: Duration
  /// From when the interval counts that runs now: the moment it was set, or the planned moment of
  /// the burst that called the handler last.
  public internal(set) var countedFrom: Instant
  /// When the handler was called last.
  public internal(set) var lastRun: Instant?

  /// By when it must be called again.
  public var deadline: Instant { countedFrom.advanced(by: interval) }

  /// When the call is due that reaches it before the deadline: a twentieth of the interval earlier,
  /// at most 100 ms.
  ///
  /// From here to the application a machine takes some 0.1 ms, and 5 ms under load (timer, loop,
  /// socket); without the lead each call would be late by that. Of the least interval that is
  /// allowed by default, 10 min, 100 ms are a six-thousandth.
  public var due: Instant { countedFrom.advanced(by: period) }

  /// How long it waits from one call to the next at most, as planned.
  var period: Duration {
    // In whole nanoseconds, so that of none nothing is left.
    let lead = Duration.nanoseconds(Instant(nanoseconds: 0).advanced(by: interval).nanoseconds / 20)
    return interval - min(lead, Self.leadMax)
  }

  private static let leadMax: Duration = .milliseconds(100)

  /// Beyond any machine's life, and short enough to reckon with.
  static let intervalMax: Duration = .nanoseconds(Int64.max)
}

/// Decides when the device wakes for keep-alive handlers, and which of them it runs then
/// (contract §6, coalescing).
///
/// **The rule.** The device is woken when some handler can wait no longer: when the earliest is
/// due, at t (``KeepAlive/due``, a lead before its deadline). Let m be the shortest period, an
/// interval without its lead. The burst at t runs exactly the handlers that are due before t + m;
/// who is due at t + m or later waits. In the following, deadlines and intervals are those with
/// the lead taken off. A multiple of an interval has no greater lead than that multiple of the
/// lead: who could run at every k-th burst still can.
///
/// - *The next burst is at t + m.* Who has run at t is due m later or later still, who has not run
///   is due at t + m or later; and the handler with the shortest interval has counted from t or
///   earlier, so that its deadline, t + m at the latest, forces a burst then whatever is done at t.
///   So the rule runs exactly those that cannot wait until the next burst which the deadlines
///   already force.
/// - *Wake-ups are the fewest possible.* No schedule has its first burst after the earliest
///   deadline, nor two bursts further apart than m. By induction each burst here comes as late as
///   in any schedule, so that at no time there have been fewer. Arrivals change nothing in this.
///   When the handler with the shortest interval leaves, others that have waited for its burst
///   are due before one shortest interval is over, once; to run them earlier in case it leaves
///   would be to run everybody at every burst.
/// - *Runs are the fewest possible at these bursts.* Each handler runs at the last burst that its
///   deadline allows, so that its k-th run is as late as in any choice of the same bursts. And with
///   one wake-up per m, none that keeps to it for good has other bursts than these, but for where
///   they start.
///
/// Nothing drifts: a burst counts from the deadline that forced it, though the machine gets to it a
/// moment later. Otherwise a handler with exactly twice the shortest interval would run at every
/// burst.
public struct KeepAlivePlanner: Sendable {
  private(set) var keepAlives: [InstanceID: KeepAlive] = [:]
  /// When each is due.
  private var deadlines = Deadlines<InstanceID>()
  private var periods = Minima<InstanceID, Duration>()

  public init() {}

  /// Restores what was stored.
  init(_ keepAlives: [InstanceID: KeepAlive]) {
    for (id, keepAlive) in keepAlives { keep(keepAlive, of: id) }
  }

  /// Sets or changes the interval (longer than nothing) of a handler; it counts from `now`.
  public mutating func set(_ id: InstanceID, interval: Duration, at now: Instant) {
    precondition(interval >= .nanoseconds(1), "a keep-alive interval takes time")
    let lastRun = keepAlives[id]?.lastRun
    keep(
      KeepAlive(
        interval: min(interval, KeepAlive.intervalMax), countedFrom: now, lastRun: lastRun),
      of: id)
  }

  /// Forgets a handler. Unknown ids are ignored.
  public mutating func remove(_ id: InstanceID) {
    keepAlives[id] = nil
    deadlines.set(id, to: nil)
    periods.set(id, to: nil)
  }

  public subscript(id: InstanceID) -> KeepAlive? { keepAlives[id] }

  /// All handlers, by id.
  public var all: [(InstanceID, KeepAlive)] {
    keepAlives.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// When the device must be woken next; nil where there is no handler.
  public var nextBurst: Instant? { deadlines.next }

  /// When the handler will run if nothing changes: bursts come one shortest interval apart, and it
  /// runs at the last before it is due.
  public func plannedBurst(of id: InstanceID) -> Instant? {
    guard let due = keepAlives[id]?.due, let nextBurst, let shortest = periods.least
    else { return nil }
    let step = Instant(nanoseconds: 0).advanced(by: shortest).nanoseconds
    let wait = due.nanoseconds - nextBurst.nanoseconds
    return Instant(nanoseconds: due.nanoseconds - wait % step)
  }

  /// Runs a burst if one is due.
  ///
  /// - Parameter tolerance: how late the machine may get to a burst while awake; never taken for
  ///   more than a quarter of the shortest interval. A burst that is later still counts from `now`:
  ///   the machine has slept.
  /// - Returns: the handlers to be called now, by deadline and id; empty where none must be.
  public mutating func burst(at now: Instant, tolerance: Duration = .seconds(2)) -> [InstanceID] {
    guard let due = nextBurst, due <= now, let shortest = periods.least else { return [] }
    let isOnTime = due.duration(to: now) <= min(tolerance, shortest / 4)
    return run(countingFrom: isOnTime ? due : now, at: now)
  }

  /// The device is awake at `now` for another reason: that is used as a burst where it saves a
  /// wake-up.
  ///
  /// It is used when the next burst is due within a quarter of the shortest interval m. To use it
  /// saves that burst and brings all later ones forward by the time that was left, at most m / 4:
  /// so each use saves three quarters of a wake-up or more. Bursts stay 3/4 m or more apart, and a
  /// handler that would run at every k-th burst (m k ≤ its interval) still runs at the k-th or a
  /// later one: however often the device is awake, none runs more than 4/3 as often as otherwise.
  /// With a longer reach, a device that often wakes by itself would run handlers up to twice as
  /// often to save less and less; with a shorter one, fewer wake-ups would be met.
  ///
  /// - Returns: the handlers to be called now, as ``burst(at:tolerance:)`` does.
  public mutating func useWakeUp(
    at now: Instant, tolerance: Duration = .seconds(2)
  ) -> [InstanceID] {
    guard let due = nextBurst, let shortest = periods.least else { return [] }
    if due <= now { return burst(at: now, tolerance: tolerance) }
    return now.duration(to: due) <= shortest / 4 ? run(countingFrom: now, at: now) : []
  }

  /// Runs all that cannot wait until the next burst that the deadlines force.
  private mutating func run(countingFrom start: Instant, at now: Instant) -> [InstanceID] {
    guard let shortest = periods.least else { return [] }
    let next = start.advanced(by: shortest)
    var called: [InstanceID] = []
    // At the end of time, `next` is not after `now`.
    while let id = deadlines.popLeast(where: { $0 < next || $0 <= now }) { called.append(id) }
    for id in called {
      guard var keepAlive = keepAlives[id] else { preconditionFailure("a deadline of nobody") }
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
      "a keep-alive is left of nobody")
    for (id, keepAlive) in keepAlives {
      try require(deadlines.isSet(id, to: keepAlive.due), "a keep-alive is not awaited")
      try require(periods.isSet(id, to: keepAlive.period), "a period is not counted")
    }
  }
}
