import TaskSchedulerCore

/// Limits the log records about each user's applications.
///
/// journald accepts 10,000 records in 30 s from a service (RateLimitBurst= in journald.conf(5)) and
/// then drops all, including those that say why an application was killed. One user must not cause
/// that.
struct RecordBudget {
  /// The period of the limit, equal to journald's RateLimitIntervalSec=.
  static let interval: Duration = .seconds(30)
  /// The number of records per user and period: a tenth of journald's burst.
  static let recordsMax = 1000

  /// The decision about a record.
  enum Verdict: Hashable {
    /// - Parameter leftOut: The number of the user's records that were suppressed in the last
    ///   period, to be reported once.
    case write(leftOut: Int)
    /// Report that the user's records are suppressed from here on.
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
  /// Whether the record reports an act of the daemon that clients cannot cause at will.
  fileprivate var isIndispensable: Bool {
    switch change {
    case .ended(let end): end.reason.isDaemons
    // An application can listen on new sockets at any rate.
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
  /// Whether the daemon ended the application, on its own or by a person's order.
  fileprivate var isDaemons: Bool {
    switch self {
    case .exited, .crashed, .unknown: false
    case .terminatedByOperator, .terminatedByUser, .callbackTimeout, .backgroundTimeExpired,
      .keepAliveTimeout, .memoryPressure, .gpuInBackground, .sharedResourceHeld, .excessiveUse,
      .optedOut, .schedulerStopped:
      true
    }
  }
}
