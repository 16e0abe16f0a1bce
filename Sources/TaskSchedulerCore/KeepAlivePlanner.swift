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

  /// Beyond any machine's life, and short enough to reckon with.
  static let intervalMax: Duration = .nanoseconds(Int64.max)
}

/// Decides when the device wakes for keep-alive handlers, and which of them it runs then
/// (contract §6, coalescing).
///
/// **The rule.** The device is woken when some handler can wait no longer: at the earliest deadline
/// t. Let m be the shortest interval. The burst at t runs exactly the handlers whose deadline is
/// before t + m; whose deadline is t + m or later waits.
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
public struct KeepAlivePlanner: Sendable, Addition {
  private var keepAlives: [InstanceID: KeepAlive] = [:]
  private var deadlines = Deadlines<InstanceID>()
  private var intervals = Minima<InstanceID, Duration>()

  public init() {}

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
    intervals.set(id, to: nil)
  }

  public subscript(id: InstanceID) -> KeepAlive? { keepAlives[id] }

  /// All handlers, by id.
  public var all: [(InstanceID, KeepAlive)] {
    keepAlives.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// When the device must be woken next; nil where there is no handler.
  public var nextBurst: Instant? { deadlines.next }

  /// When the handler will run if nothing changes: bursts come one shortest interval apart, and it
  /// runs at the last that its deadline allows.
  public func plannedBurst(of id: InstanceID) -> Instant? {
    guard let deadline = keepAlives[id]?.deadline, let nextBurst, let shortest = intervals.least
    else { return nil }
    let step = Instant(nanoseconds: 0).advanced(by: shortest).nanoseconds
    let wait = deadline.nanoseconds - nextBurst.nanoseconds
    return Instant(nanoseconds: deadline.nanoseconds - wait % step)
  }

  /// Runs a burst if one is due.
  ///
  /// - Parameter tolerance: how late the machine may get to a burst while awake; never taken for
  ///   more than a quarter of the shortest interval. A burst that is later still counts from `now`:
  ///   the machine has slept.
  /// - Returns: the handlers to be called now, by deadline and id; empty where none must be.
  public mutating func burst(at now: Instant, tolerance: Duration = .seconds(2)) -> [InstanceID] {
    guard let due = nextBurst, due <= now, let shortest = intervals.least else { return [] }
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
    guard let due = nextBurst, let shortest = intervals.least else { return [] }
    if due <= now { return burst(at: now, tolerance: tolerance) }
    return now.duration(to: due) <= shortest / 4 ? run(countingFrom: now, at: now) : []
  }

  /// Runs all that cannot wait until the next burst that the deadlines force.
  private mutating func run(countingFrom start: Instant, at now: Instant) -> [InstanceID] {
    guard let shortest = intervals.least else { return [] }
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
    deadlines.set(id, to: keepAlive.deadline)
    intervals.set(id, to: keepAlive.interval)
  }

  func check() throws(Contradiction) {
    try deadlines.check()
    try intervals.check()
    try require(
      deadlines.count == keepAlives.count && intervals.count == keepAlives.count,
      "a keep-alive is left of nobody")
    for (id, keepAlive) in keepAlives {
      try require(deadlines.isSet(id, to: keepAlive.deadline), "a keep-alive is not awaited")
      try require(intervals.isSet(id, to: keepAlive.interval), "an interval is not counted")
    }
  }
}

// MARK: - As written

extension KeepAlive: Codable {
  private enum CodingKeys: CodingKey {
    case interval, countedFrom, lastRun
  }

  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    interval = try values.decode(Duration.self, forKey: .interval)
    countedFrom = try values.decode(Instant.self, forKey: .countedFrom)
    lastRun = try values.decodeIfPresent(Instant.self, forKey: .lastRun)
    guard interval >= .nanoseconds(1), interval <= Self.intervalMax else {
      throw DecodingError.dataCorruptedError(
        forKey: .interval, in: values, debugDescription: "no handler has such an interval")
    }
  }
}

extension KeepAlivePlanner {
  private struct Entry: Codable {
    var instance: InstanceID
    var keepAlive: KeepAlive
  }

  public init(from decoder: any Decoder) throws {
    for entry in try [Entry](from: decoder) { keep(entry.keepAlive, of: entry.instance) }
  }

  public func encode(to encoder: any Encoder) throws {
    try all.map { Entry(instance: $0, keepAlive: $1) }.encode(to: encoder)
  }
}
