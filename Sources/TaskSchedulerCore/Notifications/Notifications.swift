// Local notifications (contract §9). What they say lies in the daemon's store; the policy keeps
// when each fires, and for whom.

/// What happens of notifications.
public enum NotificationEvent: Hashable, Sendable {
  /// One is asked for: by an application, or by an operator for it. `unshown` is how many of the
  /// user's have fired, fire no more and were not shown yet, which only the store knows; nil where
  /// the store does not say.
  case schedule(RequestID, ApplicationKey, NotificationDraft, unshown: Int? = nil)
  /// ``NotificationEffect/store(_:_:_:)`` has stored it durably.
  case stored(NotificationID)
  case notStored(NotificationID, reason: String)
  /// nil cancels all of the application: those that wait for their time, and those that are shown,
  /// which only the store knows.
  case cancel(RequestID, ApplicationKey, NotificationID?, shown: [NotificationID])
  /// The answer to ``NotificationEffect/findNext(_:)``; nil is never again.
  case nextFound(NotificationID, WallTime?)
  /// The user has chosen one that was shown.
  case chosen(NotificationID, ApplicationKey)
  case setBadge(RequestID, ApplicationKey, Int)
  /// What the store has, at the start of a daemon that goes on from no earlier one. No id up to
  /// `idLast` is given again.
  case loaded([ScheduledNotification], idLast: UInt64)

  var request: RequestID? {
    switch self {
    case .schedule(let request, _, _, _), .cancel(let request, _, _, _),
      .setBadge(let request, _, _):
      request
    case .stored, .notStored, .nextFound, .chosen, .loaded: nil
    }
  }
}

/// What is to be done about notifications.
public enum NotificationEffect: Hashable, Sendable {
  /// Stores it durably; answered by `stored` or `notStored`.
  case store(NotificationID, ApplicationKey, NotificationDraft)
  case remove([NotificationID])
  /// It fires: stored as such, and given to the active instance or shown to the user.
  case fire(NotificationID, ApplicationKey, to: InstanceID?)
  /// It has fired and repeats: when next, by its calendar; answered by `nextFound`.
  case findNext(NotificationID)
  case storeBadge(ApplicationKey, Int)
}

/// The notifications that wait.
struct Notifications: Sendable {
  /// One that is being stored: nothing is promised yet.
  struct Pending: Hashable {
    var id: NotificationID
    var request: RequestID
    var application: ApplicationKey
    var draft: NotificationDraft
    /// Whether it counts as scheduled: what is presented now does not wait for its time.
    var isScheduled: Bool { draft.schedule != nil }
  }

  private(set) var scheduled: [NotificationID: ScheduledNotification] = [:]
  private(set) var pending: [NotificationID: Pending] = [:]
  /// Those that have fired and whose next time is being found.
  private(set) var awaitingNext: [NotificationID: ScheduledNotification] = [:]
  private var countByApplication: [ApplicationKey: Int] = [:]
  private var countByUser: [UserID: Int] = [:]
  private var due = Deadlines<NotificationID>()
  private(set) var idLast: UInt64 = 0
  /// What the wall clock shows, less the time since boot, in nanoseconds; nil until it was read.
  private(set) var wallOffset: Int64?

  /// When the next fires.
  var nextDue: Instant? { due.next }

  /// How many of an application wait for their time, or are being stored to wait for it.
  func count(of application: ApplicationKey) -> Int { countByApplication[application] ?? 0 }

  /// How many of a user's applications wait to fire, or are being stored.
  func count(of user: UserID) -> Int { countByUser[user] ?? 0 }

  /// Those that wait for their time, or for the next to be found.
  var waiting: [NotificationID] { (Array(scheduled.keys) + awaitingNext.keys).sorted() }

  /// What the wall clock shows; nil until it was read.
  func wallTime(at now: Instant) -> WallTime? {
    wallOffset.map { WallTime(nanoseconds: Int64(clamping: now.nanoseconds) &+ $0) }
  }

  mutating func readClock(_ wall: WallTime, at now: Instant) {
    let offset = wall.nanoseconds.subtractingReportingOverflow(Int64(clamping: now.nanoseconds))
    wallOffset = offset.overflow ? 0 : offset.partialValue
    for (id, notification) in scheduled { due.set(id, to: instant(of: notification)) }
  }

  private func instant(of notification: ScheduledNotification) -> Instant? {
    guard let wallOffset else { return nil }
    let (nanoseconds, overflow) = notification.firesAt.nanoseconds
      .subtractingReportingOverflow(wallOffset)
    if overflow { return Instant(nanoseconds: wallOffset < 0 ? .max : 0) }
    return Instant(nanoseconds: UInt64(max(0, nanoseconds)))
  }

  mutating func add(
    _ draft: NotificationDraft, of application: ApplicationKey, _ request: RequestID
  ) -> NotificationID {
    idLast += 1
    let id = NotificationID(idLast)
    let added = Pending(id: id, request: request, application: application, draft: draft)
    pending[id] = added
    count(application, isScheduled: added.isScheduled)
    return id
  }

  mutating func takePending(_ id: NotificationID) -> Pending? {
    guard let taken = pending.removeValue(forKey: id) else { return nil }
    uncount(taken.application, isScheduled: taken.isScheduled)
    return taken
  }

  mutating func schedule(_ notification: ScheduledNotification) {
    if scheduled.updateValue(notification, forKey: notification.id) == nil {
      count(notification.application)
    }
    idLast = max(idLast, notification.id.number)
    due.set(notification.id, to: instant(of: notification))
  }

  /// - Returns: the ids of the application's that waited, in order; of one only, where it is named.
  mutating func cancel(
    of application: ApplicationKey, _ id: NotificationID?
  ) -> [NotificationID] {
    let waiting = scheduled.values.filter { $0.application == application }.map(\.id)
    let repeating = awaitingNext.values.filter { $0.application == application }.map(\.id)
    let ids = (waiting + repeating).filter { id == nil || $0 == id }.sorted()
    for id in ids {
      let taken = scheduled.removeValue(forKey: id) ?? awaitingNext.removeValue(forKey: id)
      if let taken { uncount(taken.application) }
      due.set(id, to: nil)
    }
    return ids
  }

  /// The next whose time has come, which waits no longer.
  mutating func popDue(at now: Instant) -> ScheduledNotification? {
    guard let id = due.popDue(at: now) else { return nil }
    guard let taken = scheduled.removeValue(forKey: id) else {
      preconditionFailure("a time of no notification")
    }
    // Who repeats keeps its place: nobody may take it while the next time is being found.
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
      try require(due.isSet(id, to: instant(of: notification)), "a notification is not awaited")
    }
    let waiting = scheduled.values.map(\.application) + awaitingNext.values.map(\.application)
    let all = waiting + pending.values.filter(\.isScheduled).map(\.application)
    let counts = all.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    try require(counts == countByApplication, "the notifications are miscounted")
    let users = (waiting + pending.values.map(\.application)).map(\.owner)
    let userCounts = users.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    try require(userCounts == countByUser, "the users' notifications are miscounted")
  }
}

extension Notifications {
  /// Restores what was stored.
  init(
    scheduled: [NotificationID: ScheduledNotification], pending: [NotificationID: Pending],
    awaitingNext: [NotificationID: ScheduledNotification], idLast: UInt64, wallOffset: Int64?
  ) {
    self.wallOffset = wallOffset
    self.idLast = idLast
    self.awaitingNext = awaitingNext
    self.pending = pending
    for notification in scheduled.values { schedule(notification) }
    for notification in awaitingNext.values { count(notification.application) }
    for one in pending.values { count(one.application, isScheduled: one.isScheduled) }
  }
}
