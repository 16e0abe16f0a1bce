// Local notifications (contract §9). The daemon's store contains the content of the notifications.
// The scheduler knows only the application of each notification and the time at which it fires.

/// An event about notifications.
public enum NotificationEvent: Equatable, Sendable {
  /// An application, or an operator on its behalf, requests a notification. `unshown` is the number
  /// of the user's notifications in the store that have fired for the last time and have not been
  /// shown. It is nil if the daemon cannot read the store.
  case schedule(RequestID, ApplicationKey, NotificationDraft, unshown: Int? = nil)
  /// Cancels one notification of the application or, with nil, all of them. `stored` lists the ids
  /// of these notifications that are in the daemon's store. The list includes notifications that
  /// have fired, which the scheduler no longer knows.
  case cancel(RequestID, ApplicationKey, NotificationID?, stored: [NotificationID])
  case setBadge(RequestID, ApplicationKey, Int)
  /// The transaction is durable.
  case stored(TransactionID)
  /// The store could not carry out the transaction, and is unchanged.
  case storeFailed(TransactionID, reason: String)
  /// The answer to ``NotificationEffect/findNext(_:after:)``; nil if the notification does not fire
  /// again.
  case nextFound(NotificationID, WallTime?)
  /// The user chose a notification that was shown.
  case chosen(NotificationID, ApplicationKey)
  /// The notifications in the store. The daemon sends this event when it starts without an earlier
  /// event log. Ids up to `idLast` are in use.
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

/// An atomic change of the store. If the store receives the same transaction again, nothing
/// changes.
public enum NotificationTransaction: Equatable, Sendable {
  case schedule(NotificationID, ApplicationKey, NotificationDraft)
  case cancel([NotificationID], ApplicationKey)
  case setBadge(ApplicationKey, Int)
  /// The notification fired at the time `at`. The instance `to` receives the notification. If `to`
  /// is nil, the desktop shows the notification to the user.
  case fire(NotificationID, ApplicationKey, at: WallTime, to: InstanceID?)
}

/// A notification-related action of the daemon.
public enum NotificationEffect: Equatable, Sendable {
  /// Makes a transaction durable, after all transactions with lower ids. The answer is `stored` or
  /// `storeFailed`. After a recovery, the scheduler repeats an unanswered transaction.
  case store(TransactionID, NotificationTransaction)
  /// Shows a notification to the user. If `to` is an instance, it receives the notification
  /// instead, and this effect only sets the application's badge.
  case fire(NotificationID, ApplicationKey, at: WallTime, to: InstanceID?)
  /// Computes the next time of a notification that fired at `after`. The answer is `nextFound`.
  case findNext(NotificationID, after: WallTime)
}

/// The notifications that wait for their time, and the transactions that the store has not
/// answered.
///
/// A request becomes a transaction. The store makes the transaction durable and answers. The
/// scheduler then changes its state and replies to the caller. Until the store has answered, the
/// transaction is part of this state, and a recovered daemon sends it to the store again. The store
/// answers transactions in the order of their ids, so the outstanding transactions are always the
/// latest. Repeating all of them in order therefore always leads to the same content, no matter
/// which of them the store had already made durable.
struct Notifications: Sendable {
  /// A transaction that the store has not answered.
  struct Pending: Equatable {
    var id: TransactionID
    var transaction: NotificationTransaction
    /// The request that waits for the answer; nil for a notification that fires.
    var request: RequestID?
  }

  private(set) var scheduled: [NotificationID: ScheduledNotification] = [:]
  private(set) var pending: [TransactionID: Pending] = [:]
  /// For each notification that is being cancelled, the number of pending transactions that cancel
  /// it. These notifications do not fire.
  private var cancelling: [NotificationID: Int] = [:]
  /// The notifications that have fired, and whose next time the daemon is computing.
  private(set) var awaitingNext: [NotificationID: ScheduledNotification] = [:]
  private var countByApplication: [ApplicationKey: Int] = [:]
  private var countByUser: [UserID: Int] = [:]
  private var due = Deadlines<NotificationID>()
  private(set) var idLast: UInt64 = 0
  private(set) var transactionLast: UInt64 = 0
  /// The time of the wall clock minus the time of CLOCK_BOOTTIME, in nanoseconds; nil until the
  /// daemon has read the clock.
  private(set) var wallOffset: Int64?

  /// The instant at which the next notification fires; nil if there is none.
  var nextDue: Instant? { due.next }

  /// Returns how many scheduled notifications an application has, including those that the store
  /// has not stored yet.
  func count(of application: ApplicationKey) -> Int { countByApplication[application] ?? 0 }

  /// Returns how many notifications of all applications of a user are scheduled or wait for the
  /// store. A notification that fires at once also waits for the store.
  func count(of user: UserID) -> Int { countByUser[user] ?? 0 }

  /// The notifications that wait for their time and are not being cancelled. They include
  /// notifications whose next time the daemon is computing.
  var waiting: [NotificationID] {
    (Array(scheduled.keys) + awaitingNext.keys).filter { cancelling[$0] == nil }.sorted()
  }

  /// Returns the time of the wall clock at an instant; nil until the daemon has read the clock.
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

  /// Returns the ids of the application's waiting notifications. If `id` is not nil, returns only
  /// this id, or nothing if that notification does not wait.
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

  /// Removes the next notification that is due and returns it; nil if none is due.
  mutating func popDue(at now: Instant) -> ScheduledNotification? {
    guard let id = due.popDue(at: now) else { return nil }
    guard let taken = scheduled.removeValue(forKey: id) else {
      preconditionFailure("a deadline has no notification")
    }
    // A repeating notification counts for the quota while the daemon computes its next time.
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
    try require(idLast < InvariantViolation.countMax, "the last notification id is too high")
    try due.check()
    for (id, notification) in scheduled {
      try require(id == notification.id && id.number <= idLast, "a notification has a wrong id")
      let expected = cancelling[id] == nil ? instant(of: notification) : nil
      try require(due.isSet(id, to: expected), "the deadline of a notification is wrong")
    }
    var byApplication = CountCheck(countByApplication)
    var byUser = CountCheck(countByUser)
    func subtract(_ application: ApplicationKey, isScheduled: Bool = true) {
      if isScheduled { byApplication.subtract(application) }
      byUser.subtract(application.owner)
    }
    for notification in scheduled.values { subtract(notification.application) }
    for notification in awaitingNext.values { subtract(notification.application) }
    var cancelled = CountCheck(cancelling)
    for (id, one) in pending {
      try require(
        id == one.id && id.number <= transactionLast,
        "a transaction of notifications has a wrong id")
      switch one.transaction {
      case .schedule(_, let key, let draft):
        subtract(key, isScheduled: draft.schedule != nil)
      case .cancel(let ids, _): for id in ids { cancelled.subtract(id) }
      case .setBadge, .fire: break
      }
    }
    try require(cancelled.isExact, "the count of notifications being cancelled is wrong")
    try require(byApplication.isExact, "the count of notifications of an application is wrong")
    try require(byUser.isExact, "the count of notifications of a user is wrong")
  }
}

extension Notifications {
  /// Restores a stored state.
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
