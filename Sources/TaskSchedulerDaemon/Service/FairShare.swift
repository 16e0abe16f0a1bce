import DequeModule
import EventLoop
import LinuxSystem

/// The time that the daemon may spend on a user before other users' calls come first.
///
/// Credit grows with time, up to a maximum. Each served call costs some credit.
struct TimeCredit: Hashable {
  /// The divisor of the time: in four seconds, a user gains one second of credit. Source: this
  /// project.
  static let divisor: Int64 = 4
  /// The maximum credit in nanoseconds: a hundred ordinary calls. Source: this project.
  static let burst: Int64 = 20_000_000
  /// The lowest possible balance, in nanoseconds below zero. Even a very expensive call does not
  /// lower the balance further.
  static let debtMax: Int64 = 100_000_000

  private var balance = burst
  private var instant: UInt64

  /// - Parameter now: Nanoseconds since boot.
  init(at now: UInt64) {
    instant = now
  }

  /// Returns whether the balance is positive.
  mutating func isLeft(at now: UInt64) -> Bool {
    let gained = now > instant ? Int64(clamping: now - instant) / Self.divisor : 0
    instant = now
    balance = min(Self.burst, balance.addingReportingOverflow(gained).partialValue)
    return balance > 0
  }

  /// The time until the balance is positive again, as of the last update.
  var timeUntilLeft: Duration {
    .nanoseconds(max(0, 1 - balance).multipliedReportingOverflow(by: Self.divisor).partialValue)
  }

  /// Returns whether the credit is at its maximum, so that the account can be removed.
  mutating func isWhole(at now: UInt64) -> Bool { isLeft(at: now) && balance == Self.burst }

  mutating func spend(_ nanoseconds: UInt64) {
    balance = max(-Self.debtMax, balance - min(Int64(clamping: nanoseconds), Self.debtMax * 2))
  }
}

/// The parties that share the daemon's time.
enum TimeShareParty: Hashable {
  /// All connections of one user.
  case user(UInt32)
  /// Connections that the daemon has not accepted yet. The listening socket has a share of its own.
  /// If it belonged to a user's share, each new connection of any user would wait for that user's
  /// calls.
  case newcomers
}

/// A source of work that may wait for its party's turn: a connection with calls, or the listening
/// socket.
protocol WorkSource: AnyObject {
  /// Whether the source waits for a turn.
  var isDeferred: Bool { get set }
  /// Does the work of a turn.
  func serve()
}

/// The division of the daemon's time between users.
///
/// If a user has credit, the daemon serves the user's connections at once. It serves the
/// connections of a user without credit when nothing else is ready, or when the user has credit
/// again. Users without credit take turns, one connection at a time. A user without competitors
/// gets all of the time.
///
/// With more than one user, a turn is one call. A user with many or expensive calls thus delays
/// other users' calls, and the enforcement of limits, by at most one call.
final class FairShare {
  /// The account of a party. Account is a class, because each call changes an account, and a change
  /// of an object is cheaper than a change of a value in a dictionary.
  private final class Account {
    var credit: TimeCredit
    /// The sources that wait, in order.
    var waiting: Deque<any WorkSource> = []

    init(at now: UInt64) { credit = TimeCredit(at: now) }
  }

  /// The number of calls that a connection may answer before it returns to the loop, if no other
  /// user has connections.
  private static let callsAtOnceMax = 16
  /// If at least this many accounts belong to users without connections, the daemon removes the
  /// accounts with full credit.
  private static let strangersMax = 64

  private var accounts: [TimeShareParty: Account] = [:] {
    didSet { last = nil }
  }
  /// The account that was last looked up, which the next call usually needs again.
  private var last: (party: TimeShareParty, account: Account)?
  /// The parties with waiting sources, in the order of their turns.
  private var turns: Deque<TimeShareParty> = []
  private var idle: DeferredSource?
  /// The timer that expires as soon as one of the waiting parties has credit again.
  private var repaid: TimerSource?
  /// The number of users with connections.
  var userCount = 0
  /// Called with the time that the daemon has spent on a party, in nanoseconds.
  var worked: (UInt64) -> Void = { _ in }

  init(loop: EventLoop) throws(SystemError) {
    idle = try loop.whenIdle { [unowned self] in serveNext() }
    repaid = try loop.timer { [unowned self] in serveWithCredit() }
  }

  /// The number of calls of a connection that the daemon may answer before it serves other
  /// connections.
  var callsAtOnce: Int { userCount < 2 ? Self.callsAtOnceMax : 1 }

  /// Returns whether to serve a source now. If not, the daemon serves it later.
  func admits(_ taker: any WorkSource, of party: TimeShareParty) -> Bool {
    if taker.isDeferred { return false }
    let now = BootClock.now()
    let account = account(of: party, at: now)
    // A single user needs no credit. The listening socket always needs credit: it comes before the
    // user's calls, and must leave time for them.
    if account.credit.isLeft(at: now) || (userCount < 2 && party != .newcomers) { return true }
    taker.isDeferred = true
    account.waiting.append(taker)
    lineUp(party)
    idle?.request()
    waitForCredit()
    return false
  }

  func spend(_ nanoseconds: UInt64, by party: TimeShareParty) {
    account(of: party, at: BootClock.now()).credit.spend(nanoseconds)
    worked(nanoseconds)
  }

  /// Returns the account of a party. A user without connections keeps its account, at least until
  /// the credit is full again. Otherwise a user that closes each connection before it opens the
  /// next would always have full credit.
  private func account(
    of party: TimeShareParty, at now: @autoclosure () -> UInt64
  ) -> Account {
    if let last, last.party == party { return last.account }
    let account = accounts[party] ?? newAccount(of: party, at: now())
    last = (party, account)
    return account
  }

  private func newAccount(of party: TimeShareParty, at now: UInt64) -> Account {
    if accounts.count >= userCount + Self.strangersMax {
      accounts = accounts.filter { _, account in
        var credit = account.credit
        return !account.waiting.isEmpty || !credit.isWhole(at: now)
      }
    }
    let account = Account(at: now)
    accounts[party] = account
    return account
  }

  private func serveNext() {
    guard let party = turns.popFirst() else { return }
    serveFirst(of: party)
    if !turns.isEmpty { idle?.request() }
  }

  private func serveFirst(of party: TimeShareParty) {
    if let taker = accounts[party]?.waiting.popFirst() {
      taker.isDeferred = false
      taker.serve()
    }
    if accounts[party]?.waiting.isEmpty == false { lineUp(party) }
  }

  private func lineUp(_ party: TimeShareParty) {
    if !turns.contains(party) { turns.append(party) }
  }

  /// Serves one source of each user with credit. It serves no more, because the cost of a call is
  /// known only after the call.
  private func serveWithCredit() {
    let now = BootClock.now()
    for party in turns where accounts[party]?.credit.isLeft(at: now) == true {
      turns.removeAll { $0 == party }
      serveFirst(of: party)
    }
    waitForCredit()
  }

  private func waitForCredit() {
    let now = BootClock.now()
    let times = turns.compactMap { party -> Duration? in
      guard var credit = accounts[party]?.credit else { return nil }
      return credit.isLeft(at: now) ? .zero : credit.timeUntilLeft
    }
    if let first = times.min() { repaid?.set(BootClock.after(first)) }
  }
}
