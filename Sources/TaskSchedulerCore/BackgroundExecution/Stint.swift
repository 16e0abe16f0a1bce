/// One stretch in the background state, and its time (contract §4).
struct Stint: Hashable, Sendable {
  /// From when the time counts: the start of the stint, or the moment when a debugger left.
  private(set) var limitStart: Instant
  /// When the expiration handlers were called.
  private(set) var warnedAt: Instant?
  /// Whether the limit has passed and been acted upon.
  private(set) var isOver = false

  /// When the expiration handlers are to be called; nil once they have been.
  func warningDue(_ policy: Policy) -> Instant? {
    warnedAt == nil
      ? limitStart.advanced(by: policy.backgroundTime - policy.expirationLead) : nil
  }

  /// The next moment at which something is due; nil where nothing is any more.
  func nextDue(_ policy: Policy) -> Instant? { limits(policy).first?.at }

  /// The moments at which something is due, in order.
  func limits(_ policy: Policy) -> [Limit] {
    let end = isOver ? [] : [Limit(kind: .backgroundTime, at: limit(policy))]
    return (warningDue(policy).map { [Limit(kind: .expiration, at: $0)] } ?? []) + end
  }

  /// When the time is over. Whoever is warned late (the machine slept) keeps the whole lead.
  func limit(_ policy: Policy) -> Instant {
    let planned = limitStart.advanced(by: policy.backgroundTime)
    guard let warnedAt else { return planned }
    return max(planned, warnedAt.advanced(by: policy.expirationLead))
  }

  mutating func warn(at now: Instant) {
    warnedAt = now
  }

  /// Whoever was warned, and then slept with the machine, has the whole lead again.
  mutating func restartLead(at now: Instant) {
    if warnedAt != nil { warnedAt = now }
  }

  /// Notes that the limit has passed: it is due once. Whatever else entitles the instance goes on.
  mutating func endIfOver(_ policy: Policy, at now: Instant) {
    isOver = limit(policy) <= now
  }

  /// A debugger has left: the limit runs again from its start.
  mutating func restartLimit(at now: Instant) {
    self = Stint(at: now)
  }
}

extension Stint {
  init(at now: Instant) {
    limitStart = now
  }
}
