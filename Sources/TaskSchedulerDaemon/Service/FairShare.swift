import DequeModule
import EventLoop
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

  /// How long there is none yet, as of the last look.
  var timeUntilLeft: Duration {
    .nanoseconds(max(0, 1 - balance).multipliedReportingOverflow(by: Self.divisor).partialValue)
  }

  /// Whether nothing is owed any more: it is as good as a new one.
  mutating func isWhole(at now: UInt64) -> Bool { isLeft(at: now) && balance == Self.burst }

  mutating func spend(_ nanoseconds: UInt64) {
    balance = max(-Self.debtMax, balance - min(Int64(clamping: nanoseconds), Self.debtMax * 2))
  }
}

/// Whose share of the daemon's time is spent.
enum Party: Hashable {
  /// All connections of one user.
  case user(UInt32)
  /// Connections that are not accepted yet. The listening socket has a share of its own: in a
  /// user's, it would wait for that user's calls, and every other user's next connection with it.
  case newcomers
}

/// What may have to wait for its party's turn: a connection with calls, or the listening socket.
protocol TurnTaker: AnyObject {
  /// Whether it waits for a turn.
  var isPutOff: Bool { get set }
  /// Its turn has come.
  func serve()
}

/// Serves each user's connections at once while the user has credit, else when nothing else is
/// ready or the user has credit again: users in turn, one connection at a time. A user who is alone
/// has all the time there is.
///
/// So nobody's calls, however many or dear, hold up another's or the time limits by more than one
/// turn, and a turn is one call where there is more than one user; and nobody waits for longer than
/// it takes to pay for what was had, however busy the others keep the daemon.
final class FairShare {
  /// An object, since every call changes one: to change a dictionary's value in place costs more
  /// than the change.
  private final class Account {
    var credit: TimeCredit
    /// Put off, the first first.
    var waiting: Deque<any TurnTaker> = []

    init(at now: UInt64) { credit = TimeCredit(at: now) }
  }

  /// Calls answered without returning to the loop where nobody else waits for it.
  private static let callsAtOnceMax = 16
  /// How many accounts of users without connections are kept before those are looked for that
  /// nothing is owed to.
  private static let strangersMax = 64

  private var accounts: [Party: Account] = [:]
  /// The parties with something that waits.
  private var turns: Deque<Party> = []
  private var idle: DeferredSource?
  /// Set to when the first of them has credit again.
  private var repaid: TimerSource?
  /// How many users have connections.
  var userCount = 0
  /// Hears of all time that is spent, in nanoseconds.
  var worked: (UInt64) -> Void = { _ in }

  init(loop: EventLoop) throws(SystemError) {
    idle = try loop.whenIdle { [unowned self] in serveNext() }
    repaid = try loop.timer { [unowned self] in serveRepaid() }
  }

  /// How many calls a connection may have answered before others have their turn.
  var callsAtOnce: Int { userCount < 2 ? Self.callsAtOnceMax : 1 }

  /// Whether it is to be served now; else it is served later.
  func admits(_ taker: any TurnTaker, of party: Party) -> Bool {
    if taker.isPutOff { return false }
    let now = BootClock.now()
    let account = account(of: party, at: now)
    // Connecting comes before the calls of the only user, too, and must leave them time.
    if account.credit.isLeft(at: now) || (userCount < 2 && party != .newcomers) { return true }
    taker.isPutOff = true
    account.waiting.append(taker)
    lineUp(party)
    idle?.request()
    waitForRepayment()
    return false
  }

  func spend(_ nanoseconds: UInt64, by party: Party) {
    (accounts[party] ?? account(of: party, at: BootClock.now())).credit.spend(nanoseconds)
    worked(nanoseconds)
  }

  /// What a user has spent is remembered without connections too: else whoever closes each before
  /// the next would always begin with a whole credit.
  private func account(of party: Party, at now: UInt64) -> Account {
    if let account = accounts[party] { return account }
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

  private func serveFirst(of party: Party) {
    if let taker = accounts[party]?.waiting.popFirst() {
      taker.isPutOff = false
      taker.serve()
    }
    if accounts[party]?.waiting.isEmpty == false { lineUp(party) }
  }

  private func lineUp(_ party: Party) {
    if !turns.contains(party) { turns.append(party) }
  }

  /// One of each user who has credit: what that costs is not known before.
  private func serveRepaid() {
    let now = BootClock.now()
    for party in turns where accounts[party]?.credit.isLeft(at: now) == true {
      turns.removeAll { $0 == party }
      serveFirst(of: party)
    }
    waitForRepayment()
  }

  private func waitForRepayment() {
    let now = BootClock.now()
    let times = turns.compactMap { party -> Duration? in
      guard var credit = accounts[party]?.credit else { return nil }
      return credit.isLeft(at: now) ? .zero : credit.timeUntilLeft
    }
    if let first = times.min() { repaid?.set(BootClock.after(first)) }
  }
}
