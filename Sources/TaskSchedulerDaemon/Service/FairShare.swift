import DequeModule
import LinuxSystem

/// What a user may take of the daemon's time before the others' calls come first.
///
/// Credit grows with the time, up to a burst, and is spent by being served.
struct TimeCredit: Hashable {
  /// Of the time, the part that a user has for itself. Source: this project.
  static let divisor: Int64 = 4
  /// Nanoseconds that can be saved up. Source: this project; a hundred ordinary calls.
  static let burst: Int64 = 20_000_000
  /// The debt of one dear call is forgiven in the end: nanoseconds.
  static let debtMax: Int64 = 100_000_000

  private var balance = burst
  private var instant: UInt64

  /// Nanoseconds since boot.
  init(at now: UInt64) {
    instant = now
  }

  /// Whether there is any left.
  mutating func isLeft(at now: UInt64) -> Bool {
    let gained = now > instant ? Int64(clamping: now - instant) / Self.divisor : 0
    instant = now
    balance = min(Self.burst, balance.addingReportingOverflow(gained).partialValue)
    return balance > 0
  }

  mutating func spend(_ nanoseconds: UInt64) {
    balance = max(-Self.debtMax, balance - min(Int64(clamping: nanoseconds), Self.debtMax * 2))
  }
}

/// Serves each user's connections at once while the user has credit, else when nothing else is
/// ready: users in turn, one connection at a time. A user who is alone has all the time there is.
///
/// So nobody's calls, however many or dear, hold up another's or the time limits by more than one
/// turn.
final class FairShare {
  private struct Account {
    var credit: TimeCredit
    /// Put off, the first first.
    var waiting: Deque<Connection> = []
  }

  private var accounts: [UInt32: Account] = [:]
  /// The users with connections that wait.
  private var turns: Deque<UInt32> = []
  private var idle: DeferredSource?

  init(loop: EventLoop) throws(SystemError) {
    idle = try loop.whenIdle { [unowned self] in serveNext() }
  }

  /// Whether the connection is to be served now; else it is served later.
  func admits(_ connection: Connection, amongUsers userCount: Int) -> Bool {
    if connection.isPutOff { return false }
    let user = connection.peer.uid
    let now = BootClock.now()
    var account = accounts[user] ?? Account(credit: TimeCredit(at: now))
    let isAdmitted = account.credit.isLeft(at: now) || userCount < 2
    if !isAdmitted {
      connection.isPutOff = true
      account.waiting.append(connection)
      if account.waiting.count == 1 { turns.append(user) }
      idle?.request()
    }
    accounts[user] = account
    return isAdmitted
  }

  func spend(_ nanoseconds: UInt64, by user: UInt32) {
    accounts[user]?.credit.spend(nanoseconds)
  }

  /// The user has no connection any more.
  func forget(_ user: UInt32) {
    if accounts[user]?.waiting.isEmpty == true { accounts[user] = nil }
  }

  private func serveNext() {
    guard let user = turns.popFirst() else { return }
    if let connection = accounts[user]?.waiting.popFirst() {
      connection.isPutOff = false
      connection.serve()
    }
    if accounts[user]?.waiting.isEmpty == false { turns.append(user) }
    if !turns.isEmpty { idle?.request() }
  }
}
