import TaskSchedulerCore

/// Keeps one user's flood from drowning everybody's log: journald takes 10,000 records in 30 s from
/// a service (RateLimitBurst= of journald.conf(5)) and then drops all, also those that say why an
/// application was killed.
struct RecordBudget {
  /// journald's own RateLimitIntervalSec=.
  static let interval: Duration = .seconds(30)
  /// A tenth of journald's burst for each user.
  static let recordsMax = 1000

  /// What is to be done with a record.
  enum Verdict: Hashable {
    /// - Parameter leftOut: how many of the user's records were left out before it, in the last
    ///   interval; said once.
    case write(leftOut: Int)
    /// The first one that is left out: this is said instead.
    case beginLeavingOut
    case leaveOut
  }

  private struct Account {
    var start: Instant
    var written = 0
    var leftOut = 0
  }

  private var accounts: [UserID: Account] = [:]

  mutating func verdict(on record: Record, at now: Instant) -> Verdict {
    let owner = record.application.owner
    var account = accounts[owner] ?? Account(start: now)
    defer { accounts[owner] = account }
    var leftOutBefore = 0
    if account.start.advanced(by: Self.interval) <= now {
      leftOutBefore = account.leftOut
      account = Account(start: now)
    }
    if account.written < Self.recordsMax || record.isIndispensable {
      account.written += 1
      return .write(leftOut: leftOutBefore)
    }
    account.leftOut += 1
    return account.leftOut == 1 ? .beginLeavingOut : .leaveOut
  }
}

extension Record {
  /// Whether it says what the daemon did to an application, which no client brings about at will.
  fileprivate var isIndispensable: Bool {
    switch change {
    case .ended(let end): end.reason.isIndispensable
    // What it listens on is its own affair.
    case .resources(.listens): false
    case .suspensionFailed, .signalFailed, .memoryChosen, .resources: true
    case .transition, .registered, .taskBegan, .taskEnded, .taskExpired, .refused, .keepAliveSet,
      .keepAliveCalled, .socketManaged, .socketReleased, .socketsReady, .notificationScheduled,
      .notificationsCancelled, .notificationFired, .notificationChosen, .badgeSet,
      .relaunchPlanned, .memoryWarned:
      false
    }
  }
}

extension EndReason {
  /// A program exits and crashes at will.
  fileprivate var isIndispensable: Bool {
    switch self {
    case .exited, .crashed: false
    case .terminatedByOperator, .terminatedByUser, .callbackTimeout, .backgroundTimeExpired,
      .keepAliveTimeout, .memoryPressure, .gpuInBackground, .sharedResourceHeld, .excessiveUse,
      .optedOut, .schedulerStopped:
      true
    }
  }
}
