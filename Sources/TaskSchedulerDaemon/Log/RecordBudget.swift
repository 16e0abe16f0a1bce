import TaskSchedulerCore

/// A limit on the log records about each user's applications.
///
/// journald accepts 10,000 records in 30 s from a service (RateLimitBurst= in journald.conf(5)).
/// Beyond that number, it drops all records of the service, including those that explain why the
/// daemon killed an application. One user must not cause such a loss.
struct RecordBudget {
  /// The period of the limit, equal to journald's RateLimitIntervalSec=.
  static let interval: Duration = .seconds(30)
  /// The number of records per user and period: a tenth of journald's burst.
  static let recordsMax = 1000

  /// The decision about a record.
  enum Verdict: Hashable {
    /// Write the record.
    ///
    /// - Parameter leftOut: The number of the user's records that the log suppressed in the last
    ///   period. The log reports this number once.
    case write(leftOut: Int)
    /// Suppress the record, and report that the log suppresses further records of the user.
    case beginLeavingOut
    case leaveOut
  }

  private struct Account {
    var start: Instant
    var written = 0
    var leftOut = 0
  }

  private var accounts: [UserID: Account] = [:]

  /// Decides whether to write a record about one of the user's applications.
  mutating func verdict(
    on description: RecordDescription, of owner: UserID, at now: Instant
  ) -> Verdict {
    var account = accounts[owner] ?? Account(start: now)
    defer { accounts[owner] = account }
    var leftOutBefore = 0
    if account.start.advanced(by: Self.interval) <= now {
      leftOutBefore = account.leftOut
      account = Account(start: now)
    }
    if account.written < Self.recordsMax || description.isIndispensable {
      account.written += 1
      return .write(leftOut: leftOutBefore)
    }
    account.leftOut += 1
    return account.leftOut == 1 ? .beginLeavingOut : .leaveOut
  }
}
