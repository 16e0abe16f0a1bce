/// The background time of one stint, which is one stay of an instance in the background (contract
/// §4).
struct BackgroundTime: Equatable, Sendable {
  /// The instant from which `BackgroundTime` counts: the start of the stint, or the instant at
  /// which a debugger detached.
  private(set) var limitStart: Instant
  /// The instant at which the scheduler called the expiration handlers; nil before the call.
  private(set) var warnedAt: Instant?
  /// Whether the background time has ended and the scheduler has acted on its end.
  private(set) var isOver = false

  /// Returns the instant at which the scheduler must call the expiration handlers; nil if it has
  /// called them.
  func warningDue(_ policy: SharedPolicy) -> Instant? {
    warnedAt == nil
      ? limitStart.advanced(by: policy.backgroundTime - policy.expirationLead) : nil
  }

  /// Returns the instant of the scheduler's next action: the call of the expiration handlers or,
  /// after that call, the end of the background time. Returns nil after the end.
  func nextDue(_ policy: SharedPolicy) -> Instant? {
    warningDue(policy) ?? (isOver ? nil : limit(policy))
  }

  /// Returns the instant at which the background time ends. If the scheduler called the expiration
  /// handlers late, because the machine slept, the application still has the whole
  /// `ExpirationLead`.
  func limit(_ policy: SharedPolicy) -> Instant {
    let planned = limitStart.advanced(by: policy.backgroundTime)
    guard let warnedAt else { return planned }
    return max(planned, warnedAt.advanced(by: policy.expirationLead))
  }

  mutating func warn(at now: Instant) {
    warnedAt = now
  }

  /// Restarts `ExpirationLead` if it is in progress.
  mutating func restartLead(at now: Instant) {
    if warnedAt != nil, !isOver { warnedAt = now }
  }

  /// Records whether the background time has ended, so that the scheduler acts on its end only
  /// once.
  mutating func endIfOver(_ policy: SharedPolicy, at now: Instant) {
    isOver = limit(policy) <= now
  }

  /// Restarts `BackgroundTime` after a debugger has detached. Before the new end, the scheduler
  /// calls the expiration handlers of the tasks that have not expired yet.
  mutating func restartLimit(at now: Instant) {
    self = BackgroundTime(at: now)
  }
}

extension BackgroundTime {
  init(at now: Instant) {
    limitStart = now
  }
}
