import TaskSchedulerCore

/// Checks that a scheduled notification fires exactly once at each of its times, and never after
/// its cancellation (contract.md#notifications).
///
/// The scheduler refuses a notification if and only if a quota is used up. One quota limits the
/// waiting notifications of an application, another the waiting and unshown notifications of a
/// user. The scheduler replies only after the store has replied. After a restart, it repeats the
/// transactions that the store has not answered.
struct NotificationChecker: Checker {
  static let name = "notifications"
  let slack: UInt64

  private struct Waiting {
    let application: ApplicationKey
    /// The wall-clock time of the notification; nil if it fires at once.
    var firesAt: Int64?
    let repeats: Bool
    /// The instant before which the notification is not late, even if it was due earlier.
    var since: UInt64 = 0
    /// Whether the notification has fired and the daemon is computing its next time.
    var isFired = false
  }

  private typealias Pending = (request: RequestID?, transaction: NotificationTransaction)

  private var waiting: [NotificationID: Waiting] = [:]
  /// Transactions that the store has not answered.
  private var pending: [TransactionID: Pending] = [:]
  private var transactionLast: UInt64 = 0
  /// The transaction whose result the current event reports, and whether the store has written the
  /// transaction.
  private var answered: (pending: Pending, isStored: Bool)?
  /// Notifications that the current event marks as fired in the store.
  private var firing: Set<NotificationID> = []
  /// The largest id of a notification so far.
  private var idLast: UInt64 = 0
  /// The offset of the wall clock from the time since boot.
  private var wallOffset: Int64?
  private var hasFired = false
  private var firedTo: (id: NotificationID, instance: InstanceID)?

  init(slack: UInt64) { self.slack = slack }

  mutating func before(_ event: Event, _ observed: ObservedState) throws(Finding) {
    firedTo = nil
    hasFired = false
    firing = []
    answered = nil
    switch event {
    case .scheduler(.clockRead(let wall)): wallOffset = wall.nanoseconds - Int64(observed.now)
    case .notification(.stored(let id)):
      // After a death of the daemon, the store may report the same result again.
      guard let taken = pending.removeValue(forKey: id) else { return }
      answered = (taken, true)
      stored(taken.transaction, observed)
    case .notification(.storeFailed(let id, _)):
      guard let taken = pending.removeValue(forKey: id) else { return }
      answered = (taken, false)
      if case .cancel(let ids, _) = taken.transaction {
        for id in ids { waiting[id]?.since = observed.now }
      }
    case .notification(.nextFound(let id, let next)):
      guard let found = waiting[id], found.isFired else { return }
      waiting[id] = nil
      if let next {
        waiting[id] = Waiting(
          application: found.application, firesAt: next.nanoseconds, repeats: true,
          since: observed.now)
      }
    case .notification(.loaded(let stored, _)):
      for one in stored {
        waiting[one.id] = Waiting(
          application: one.application, firesAt: one.firesAt.nanoseconds, repeats: one.repeats)
      }
    case .notification(.schedule), .notification(.cancel), .notification(.setBadge),
      .notification(.chosen), .scheduler, .application, .operation, .process, .socket,
      .systemChanged, .session, .memory, .resources, .switcher, .location:
      break
    }
  }

  private mutating func stored(_ transaction: NotificationTransaction, _ observed: ObservedState) {
    switch transaction {
    case .schedule(let id, let key, let draft):
      waiting[id] = Waiting(
        application: key, firesAt: draft.firesAt?.nanoseconds,
        repeats: draft.schedule?.repeats != nil, since: observed.now)
    case .cancel(let ids, _): for id in ids { waiting[id] = nil }
    case .setBadge, .fire: break
    }
  }

  mutating func see(_ effect: Effect, _ observed: ObservedState) throws(Finding) {
    switch effect {
    case .notification(.store(let id, let transaction)): try store(id, transaction, observed)
    case .notification(.fire(let id, let key, _, let receiver)):
      try fire(id, key, receiver, observed)
    case .reply(let request, .refused(.quotaExceeded(let name, _))):
      guard case .notification(.schedule(request, let key, let draft, let unshown)) = observed.event
      else { return }
      try require(
        exceededQuota(key, draft, unshown ?? 0, observed) == name,
        "a notification of \(key.id.name) is refused for \(name), but that quota is not used up")
    case .reply(let request, let reply): try answer(request, reply, observed)
    case .notify(let id, .notificationFired(let fired)):
      try require(
        firedTo.map { $0 == (fired, id) } ?? false,
        "instance \(id.number) receives a notification that has not fired for it")
    case .deliver, .expire, .notify, .socket, .notification, .memory, .spawn, .manage, .suspend,
      .resume, .terminate, .kill, .release, .checkTracer, .record, .resources, .dropPicture, .audio,
      .remote, .location:
      break
    }
  }

  // MARK: Transactions

  /// Checks that the scheduler replies to a request only after the store has answered the
  /// transaction of the request, and that the reply matches the store's answer.
  private func answer(
    _ request: RequestID, _ reply: Reply, _ observed: ObservedState
  ) throws(Finding) {
    let early = pending.first { $0.value.request == request }?.key
    try require(
      early == nil,
      "request \(request.number) is answered before transaction \(early?.number ?? 0) is stored")
    guard let answered, answered.pending.request == request else {
      guard case .notification(.cancel(request, let key, let id, let stored)) = observed.event,
        case .cancelled(let ids) = reply
      else { return }
      return try require(
        ids.isEmpty && cancelled(key, id, stored).isEmpty,
        "the cancellation \(request.number) has a reply, but is not stored")
    }
    let isRight =
      if case .refused(.notStored) = reply {
        !answered.isStored
      } else {
        answered.isStored && reply == Self.reply(to: answered.pending.transaction)
      }
    try require(isRight, "request \(request.number) has the reply \(reply) after \(observed.event)")
  }

  /// Returns the reply to the request of a stored transaction; nil if no request asked for the
  /// transaction.
  private static func reply(to transaction: NotificationTransaction) -> Reply? {
    switch transaction {
    case .schedule(let id, _, _): .scheduled(id)
    case .cancel(let ids, _): .cancelled(ids)
    case .setBadge: .done
    case .fire: nil
    }
  }

  private mutating func store(
    _ number: TransactionID, _ transaction: NotificationTransaction, _ observed: ObservedState
  ) throws(Finding) {
    if case .scheduler(.recovered) = observed.event, number.number <= transactionLast {
      return try require(
        pending[number]?.transaction == transaction,
        "transaction \(number.number) is repeated, but is not outstanding")
    }
    try require(
      number.number > transactionLast, "the id of transaction \(number.number) is reused")
    transactionLast = number.number
    let isRequested: Bool
    switch transaction {
    case .schedule(let id, let key, let draft):
      guard case .notification(.schedule(_, key, draft, let count)) = observed.event else {
        isRequested = false
        break
      }
      isRequested = true
      let exceeded = exceededQuota(key, draft, count ?? 0, observed)
      try require(
        exceeded == nil,
        "notification \(id.number) is accepted, but the quota \(exceeded ?? "") is used up")
      try require(
        waiting[id] == nil && id.number > idLast,
        "the id of notification \(id.number) is reused")
      idLast = id.number
    case .cancel(let ids, let key):
      guard case .notification(.cancel(_, key, let id, let stored)) = observed.event else {
        isRequested = false
        break
      }
      isRequested = true
      try require(
        ids == cancelled(key, id, stored).sorted(),
        "the cancellation applies to \(ids.map(\.number)), not to the requested notifications")
    case .setBadge(let key, let badge):
      isRequested =
        if case .notification(.setBadge(_, key, badge)) = observed.event { true } else { false }
    case .fire(let id, _, _, _):
      isRequested = true
      firing.insert(id)
    }
    try require(isRequested, "transaction \(number.number) is stored without a request")
    pending[number] = (observed.event.request, transaction)
  }

  /// Returns the notifications that a cancellation applies to.
  private func cancelled(
    _ key: ApplicationKey, _ id: NotificationID?, _ stored: [NotificationID]
  ) -> Set<NotificationID> {
    let own = waiting.filter { $0.value.application == key && (id == nil || $0.key == id) }
    return Set(own.keys).union(stored)
  }

  private func isCancelling(_ id: NotificationID) -> Bool {
    pending.values.contains {
      if case .cancel(let ids, _) = $0.transaction { ids.contains(id) } else { false }
    }
  }

  /// Returns the name of the quota that is used up, or nil.
  private func exceededQuota(
    _ key: ApplicationKey, _ draft: NotificationDraft, _ unshown: Int, _ observed: ObservedState
  ) -> String? {
    var ofApplication = waiting.values.count { $0.application == key }
    var ofUser = waiting.values.count { $0.application.owner == key.owner }
    for one in pending.values {
      switch one.transaction {
      case .schedule(_, let application, let draft):
        if application == key, draft.schedule != nil { ofApplication += 1 }
        if application.owner == key.owner { ofUser += 1 }
      case .cancel, .setBadge, .fire: break
      }
    }
    if draft.schedule != nil, ofApplication >= observed.policy.notificationsPerApplicationMax {
      return "MaxNotificationsPerApplication"
    }
    return ofUser + unshown >= observed.policy.notificationsPerUserMax
      ? "MaxNotificationsPerUser" : nil
  }

  private mutating func fire(
    _ id: NotificationID, _ key: ApplicationKey, _ receiver: InstanceID?, _ observed: ObservedState
  ) throws(Finding) {
    guard let one = waiting[id], !one.isFired, one.application == key else {
      return try require(false, "notification \(id.number) fires, but is not scheduled")
    }
    try require(
      firing.contains(id), "notification \(id.number) fires, but is not stored as fired")
    try require(!isCancelling(id), "notification \(id.number) fires while it is cancelled")
    guard let wallOffset else {
      return try require(false, "a notification fires before the wall clock was read")
    }
    if let firesAt = one.firesAt {
      try require(
        firesAt <= Int64(observed.now) + wallOffset,
        "notification \(id.number) fires \(firesAt - Int64(observed.now) - wallOffset) ns early")
    }
    hasFired = true
    if one.repeats { waiting[id]?.isFired = true } else { waiting[id] = nil }
    let active = observed.byKey[key].flatMap { instance in
      instance.state == .active && instance.hasStream && instance.ending == nil ? instance.id : nil
    }
    try require(
      receiver == active,
      "notification \(id.number) of \(key.id.name) fires for the wrong receiver")
    if let receiver { firedTo = (id, receiver) }
  }

  mutating func after(_ observed: ObservedState) throws(Finding) {
    guard let wallOffset else { return }
    for (id, one) in waiting where !one.isFired && !isCancelling(id) {
      let due = one.firesAt.map { UInt64(clamping: $0 - wallOffset) } ?? one.since
      if hasFired, due <= observed.now {
        // If many notifications are due, the scheduler fires some of them only at the next event.
        waiting[id]?.since = observed.now
        continue
      }
      try require(
        max(due, one.since, observed.floor) + slack >= observed.now,
        "notification \(id.number) does not fire")
    }
  }

  func checkFinalState(_ observed: ObservedState) throws(Finding) {
    let forgotten = pending.keys.map(\.number).min()
    try require(forgotten == nil, "transaction \(forgotten ?? 0) is neither stored nor refused")
  }
}
