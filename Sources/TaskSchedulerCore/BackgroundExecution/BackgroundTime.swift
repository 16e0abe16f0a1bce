/// The background time of one stint, which is one stay of an instance in the background (contract
/// §4).
struct BackgroundTime: Equatable, Sendable {
  /// The start of the limit: the start of the stint, or the instant when a debugger left.
  private(set) var limitStart: Instant
  /// The instant at which the scheduler called the expiration handlers.
  private(set) var warnedAt: Instant?
  /// Whether the limit has passed and the scheduler has enforced it.
  private(set) var isOver = false

  /// Returns when the scheduler must call the expiration handlers; nil if it has called them.
  func warningDue(_ policy: SharedPolicy) -> Instant? {
    warnedAt == nil
      ? limitStart.advanced(by: policy.backgroundTime - policy.expirationLead) : nil
  }

  /// Returns the instant of the next action: the warning, then the end of the background time.
  /// Returns nil after the end.
  func nextDue(_ policy: SharedPolicy) -> Instant? {
    warningDue(policy) ?? (isOver ? nil : limit(policy))
  }

  /// Returns when the background time ends. If the warning was late because the machine slept, the
  /// application still gets the whole `expirationLead`.
  func limit(_ policy: SharedPolicy) -> Instant {
    let planned = limitStart.advanced(by: policy.backgroundTime)
    guard let warnedAt else { return planned }
    return max(planned, warnedAt.advanced(by: policy.expirationLead))
  }

  mutating func warn(at now: Instant) {
    warnedAt = now
  }

  /// Restarts `expirationLead` of an application that has been warned. The scheduler calls this
  /// after the machine slept, and after a time without a daemon.
  mutating func restartLead(at now: Instant) {
    if warnedAt != nil { warnedAt = now }
  }

  /// Records whether the limit has passed, so that the scheduler enforces it only once. Does not
  /// affect other entitlements.
  mutating func endIfOver(_ policy: SharedPolicy, at now: Instant) {
    isOver = limit(policy) <= now
  }

  /// Restarts the limit after a debugger has left.
  mutating func restartLimit(at now: Instant) {
    self = BackgroundTime(at: now)
  }
}

extension BackgroundTime {
  init(at now: Instant) {
    limitStart = now
  }
}
