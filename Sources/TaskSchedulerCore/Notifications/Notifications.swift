// Local notifications (contract §9). What they say lies in the daemon's store; the policy keeps
// when each fires, and for whom.

/// What happens of notifications.
public enum NotificationEvent: Hashable, Sendable {
  /// One is asked for: by an application, or by an operator for it. `unshown` is how many of the
  /// user's have fired, fire no more and were not shown yet, which only the store knows; nil where
  /// the store does not say.
  case schedule(RequestID, ApplicationKey, NotificationDraft, unshown: Int? = nil)
  /// Cancels one notification of the application, or all (nil). `stored` are those that the store
  /// has of them, including those that have fired, which the scheduler does not keep.
  case cancel(RequestID, ApplicationKey, NotificationID?, stored: [NotificationID])
  case setBadge(RequestID, ApplicationKey, Int)
  /// The transaction is durable.
  case stored(TransactionID)
  /// The transaction changed nothing in the store.
  case storeFailed(TransactionID, reason: String)
  /// The answer to ``NotificationEffect/findNext(_:after:)``; nil is never again.
  case nextFound(NotificationID, WallTime?)
  /// The user has chosen one that was shown.
  case chosen(NotificationID, ApplicationKey)
  /// What the store has, at the start of a daemon that goes on from no earlier one. No id up to
  /// `idLast` is given again.
  case loaded([ScheduledNotification], idLast: UInt64)

  var request: RequestID? {
    switch self {
    case .schedule(let request, _, _, _), .cancel(let request, _, _, _),
      .setBadge(let request, _, _):
      request
    case .stored, .storeFailed, .nextFound, .chosen, .loaded: nil
    }
  }
}

/// A change of the store, which is made as a whole or not at all. Making it again changes nothing.
public enum NotificationTransaction: Hashable, Sendable {
  case schedule(NotificationID, ApplicationKey, NotificationDraft)
  case cancel([NotificationID], ApplicationKey)
  case setBadge(ApplicationKey, Int)
  /// The time `at` of a notification has come. The instance receives it; nil shows it to the user.
  case fire(NotificationID, ApplicationKey, at: WallTime, to: InstanceID?)
}

/// What is to be done about notifications.
public enum NotificationEffect: Hashable, Sendable {
  /// Makes a transaction durable, after all with lower ids. `stored` or `storeFailed` answers. The
  /// effect is repeated after an absence of the daemon until one of them has answered.
  case store(TransactionID, NotificationTransaction)
  /// Shows a notification to the user; with an instance, only sets the application's badge.
  case fire(NotificationID, ApplicationKey, at: WallTime, to: InstanceID?)
  /// Finds the next time of a notification that fired at `after`; `nextFound` answers.
  case findNext(NotificationID, after: WallTime)
}

/// The notifications that wait, and the transactions that the store has not answered.
///
/// Every promise takes the same way. A request becomes a transaction; the store makes it durable
/// and answers; then the state changes and the caller gets its reply. Until then the transaction is
/// part of this state, so a recovered daemon gives it to the store once more. Transactions are
/// answered in the order of their ids. So those that are outstanding are always the latest, and
/// repeating all of them in order leads to the same store, whichever of them were durable already.
struct Notifications: Sendable {
  /// A transaction that the store has not answered: nothing is promised yet.
  struct Pending: Hashable {
    var id: TransactionID
    var transaction: NotificationTransaction
    /// nil for a notification that fires.
    var request: RequestID?
  }

  private(set) var scheduled: [NotificationID: ScheduledNotification] = [:]
  private(set) var pending: [TransactionID: Pending] = [:]
  /// How many pending transactions cancel a notification. It does not fire meanwhile.
  private var cancelling: [NotificationID: Int] = [:]
  /// Those that have fired and whose next time is being found.
  private(set) var awaitingNext: [NotificationID: ScheduledNotification] = [:]
  private var countByApplication: [ApplicationKey: Int] = [:]
  private var countByUser: [UserID: Int] = [:]
  private var due = Deadlines<NotificationID>()
  private(set) var idLast: UInt64 = 0
  private(set) var transactionLast: UInt64 = 0
  /// What the wall clock shows, less the time since boot, in nanoseconds; nil until it was read.
  private(set) var wallOffset: Int64?

  /// When the next fires.
  var nextDue: Instant? { due.next }

  /// How many of an application wait for their time, or are being stored to wait for it.
  func count(of application: ApplicationKey) -> Int { countByApplication[application] ?? 0 }

  /// How many of a user's applications wait to fire, or are being stored.
  func count(of user: UserID) -> Int { countByUser[user] ?? 0 }

  /// Those that wait for their time, or for the next to be found, and are not being cancelled.
  var waiting: [NotificationID] {
    (Array(scheduled.keys) + awaitingNext.keys).filter { cancelling[$0] == nil }.sorted()
  }

  /// What the wall clock shows; nil until it was read.
  func wallTime(at now: Instant) -> WallTime? {
    wallOffset.map { WallTime(nanoseconds: Int64(clamping: now.nanoseconds) &+ $0) }
  }

  mutating func readClock(_ wall: WallTime, at now: Instant) {
    let offset = wall.nanoseconds.subtractingReportingOverflow(Int64(clamping: now.nanoseconds))
    wallOffset = offset.overflow ? 0 : offset.partialValue
    for notification in scheduled.values { setDue(notification) }
  }

  private mutating func setDue(_ notification: ScheduledNotification) {
    let isCancelling = cancelling[notification.id] != nil
    due.set(notification.id, to: isCancelling ? nil : instant(of: notification))
  }

  private func instant(of notification: ScheduledNotification) -> Instant? {
    guard let wallOffset else { return nil }
    let (nanoseconds, overflow) = notification.firesAt.nanoseconds
      .subtractingReportingOverflow(wallOffset)
    if overflow { return Instant(nanoseconds: wallOffset < 0 ? .max : 0) }
    return Instant(nanoseconds: UInt64(max(0, nanoseconds)))
  }

  mutating func newID() -> NotificationID {
    idLast += 1
    return NotificationID(idLast)
  }

  /// Begins a transaction, which ``takePending(_:)`` ends.
  mutating func begin(
    _ transaction: NotificationTransaction, for request: RequestID?
  ) -> TransactionID {
    transactionLast += 1
    let id = TransactionID(transactionLast)
    add(Pending(id: id, transaction: transaction, request: request))
    return id
  }

  private mutating func add(_ added: Pending) {
    pending[added.id] = added
    switch added.transaction {
    case .schedule(_, let key, let draft): count(key, isScheduled: draft.schedule != nil)
    case .cancel(let ids, _):
      for id in ids {
        cancelling[id, default: 0] += 1
        due.set(id, to: nil)
      }
    case .setBadge, .fire: break
    }
  }

  mutating func takePending(_ id: TransactionID) -> Pending? {
    guard let taken = pending.removeValue(forKey: id) else { return nil }
    switch taken.transaction {
    case .schedule(_, let key, let draft): uncount(key, isScheduled: draft.schedule != nil)
    case .cancel(let ids, _):
      for id in ids {
        let count = cancelling[id, default: 1] - 1
        cancelling[id] = count == 0 ? nil : count
        if let notification = scheduled[id] { setDue(notification) }
      }
    case .setBadge, .fire: break
    }
    return taken
  }

  mutating func schedule(_ notification: ScheduledNotification) {
    if scheduled.updateValue(notification, forKey: notification.id) == nil {
      count(notification.application)
    }
    idLast = max(idLast, notification.id.number)
    setDue(notification)
  }

  /// Returns the ids of the application's notifications that wait, or of the one that is named.
  func waiting(of application: ApplicationKey, _ id: NotificationID?) -> [NotificationID] {
    let waiting = scheduled.values.filter { $0.application == application }.map(\.id)
    let repeating = awaitingNext.values.filter { $0.application == application }.map(\.id)
    return (waiting + repeating).filter { id == nil || $0 == id }
  }

  mutating func remove(_ ids: [NotificationID]) {
    for id in ids {
      let taken = scheduled.removeValue(forKey: id) ?? awaitingNext.removeValue(forKey: id)
      if let taken { uncount(taken.application) }
      due.set(id, to: nil)
    }
  }

  /// The next whose time has come, which waits no longer.
  mutating func popDue(at now: Instant) -> ScheduledNotification? {
    guard let id = due.popDue(at: now) else { return nil }
    guard let taken = scheduled.removeValue(forKey: id) else {
      preconditionFailure("a time of no notification")
    }
    // One that repeats keeps its place while its next time is being found.
    if taken.repeats { awaitingNext[id] = taken } else { uncount(taken.application) }
    return taken
  }

  mutating func takeAwaitingNext(_ id: NotificationID) -> ScheduledNotification? {
    guard let taken = awaitingNext.removeValue(forKey: id) else { return nil }
    uncount(taken.application)
    return taken
  }

  mutating func skipIDs(upTo id: UInt64) { idLast = max(idLast, id) }

  private mutating func count(_ application: ApplicationKey, isScheduled: Bool = true) {
    if isScheduled { countByApplication[application, default: 0] += 1 }
    countByUser[application.owner, default: 0] += 1
  }

  private mutating func uncount(_ application: ApplicationKey, isScheduled: Bool = true) {
    if isScheduled {
      let count = count(of: application) - 1
      countByApplication[application] = count == 0 ? nil : count
    }
    let count = count(of: application.owner) - 1
    countByUser[application.owner] = count == 0 ? nil : count
  }

  func check() throws(InvariantViolation) {
    try require(idLast < InvariantViolation.countMax, "notifications are numbered too high")
    try due.check()
    for (id, notification) in scheduled {
      try require(id == notification.id && id.number <= idLast, "a notification has a wrong id")
      let expected = cancelling[id] == nil ? instant(of: notification) : nil
      try require(due.isSet(id, to: expected), "a notification is not awaited")
    }
    var applications = scheduled.values.map(\.application) + awaitingNext.values.map(\.application)
    var users = applications.map(\.owner)
    var cancelled: [NotificationID: Int] = [:]
    for (id, one) in pending {
      try require(id == one.id && id.number <= transactionLast, "a transaction has a wrong id")
      switch one.transaction {
      case .schedule(_, let key, let draft):
        users.append(key.owner)
        if draft.schedule != nil { applications.append(key) }
      case .cancel(let ids, _): for id in ids { cancelled[id, default: 0] += 1 }
      case .setBadge, .fire: break
      }
    }
    try require(cancelled == cancelling, "the notifications to be cancelled are miscounted")
    let counts = applications.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    try require(counts == countByApplication, "the notifications are miscounted")
    let userCounts = users.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    try require(userCounts == countByUser, "the users' notifications are miscounted")
  }
}

extension Notifications {
  /// Restores what was stored.
  init(
    scheduled: [NotificationID: ScheduledNotification], pending: [TransactionID: Pending],
    awaitingNext: [NotificationID: ScheduledNotification], idLast: UInt64,
    transactionLast: UInt64, wallOffset: Int64?
  ) {
    self.wallOffset = wallOffset
    self.idLast = idLast
    self.transactionLast = transactionLast
    self.awaitingNext = awaitingNext
    for notification in scheduled.values { schedule(notification) }
    for notification in awaitingNext.values { count(notification.application) }
    for one in pending.values { add(one) }
  }
}
