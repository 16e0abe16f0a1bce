import TaskSchedulerCore

/// A notification that was acknowledged fires exactly once each time, when the wall clock shows it,
/// and never after it was cancelled (§9). One is refused exactly where its application has too many
/// that wait for their time, or the user too many that wait or were not shown. Nothing is answered
/// before the store has answered, and what the store has not answered is repeated.
struct NotificationChecker: Checker {
  static let name = "notifications"
  let slack: UInt64

  private struct Waiting {
    let application: ApplicationKey
    /// The wall-clock time at which it fires; nil for at once.
    var firesAt: Int64?
    let repeats: Bool
    /// The instant at which the wait began.
    var since: UInt64 = 0
    /// Whether its next time is being found.
    var isFired = false
  }

  private typealias Pending = (request: RequestID?, transaction: NotificationTransaction)

  private var waiting: [NotificationID: Waiting] = [:]
  /// Transactions that the store has not answered.
  private var pending: [TransactionID: Pending] = [:]
  private var transactionLast: UInt64 = 0
  /// The transaction that the event answers, and whether it is stored.
  private var answered: (pending: Pending, isStored: Bool)?
  /// Notifications that this turn stores as fired.
  private var firing: Set<NotificationID> = []
  /// Ids that were given.
  private var idLast: UInt64 = 0
  /// The offset of the wall clock from the time since boot.
  private var wallOffset: Int64?
  private var hasFired = false
  private var firedTo: (id: NotificationID, instance: InstanceID)?

  init(slack: UInt64) { self.slack = slack }

  mutating func before(_ event: Event, _ ledger: Ledger) throws(Finding) {
    firedTo = nil
    hasFired = false
    firing = []
    answered = nil
    switch event {
    case .scheduler(.clockRead(let wall)): wallOffset = wall.nanoseconds - Int64(ledger.now)
    case .notification(.stored(let id)):
      // It may be said once more, after a death.
      guard let taken = pending.removeValue(forKey: id) else { return }
      answered = (taken, true)
      stored(taken.transaction, ledger)
    case .notification(.storeFailed(let id, _)):
      guard let taken = pending.removeValue(forKey: id) else { return }
      answered = (taken, false)
      if case .cancel(let ids, _) = taken.transaction {
        for id in ids { waiting[id]?.since = ledger.now }
      }
    case .notification(.nextFound(let id, let next)):
      guard let found = waiting[id], found.isFired else { return }
      waiting[id] = nil
      if let next {
        waiting[id] = Waiting(
          application: found.application, firesAt: next.nanoseconds, repeats: true,
          since: ledger.now)
      }
    case .notification(.loaded(let stored, _)):
      for one in stored {
        waiting[one.id] = Waiting(
          application: one.application, firesAt: one.firesAt.nanoseconds, repeats: one.repeats)
      }
    case _: break
    }
  }

  private mutating func stored(_ transaction: NotificationTransaction, _ ledger: Ledger) {
    switch transaction {
    case .schedule(let id, let key, let draft):
      waiting[id] = Waiting(
        application: key, firesAt: draft.firesAt?.nanoseconds,
        repeats: draft.schedule?.repeats != nil, since: ledger.now)
    case .cancel(let ids, _): for id in ids { waiting[id] = nil }
    case .setBadge, .fire: break
    }
  }

  mutating func see(_ effect: Effect, _ ledger: Ledger) throws(Finding) {
    switch effect {
    case .notification(.store(let id, let transaction)): try store(id, transaction, ledger)
    case .notification(.fire(let id, let key, _, let receiver)):
      try fire(id, key, receiver, ledger)
    case .reply(let request, .refused(.quotaExceeded(let name, _))):
      guard case .notification(.schedule(request, let key, let draft, let unshown)) = ledger.event
      else { return }
      try require(
        exceededQuota(key, draft, unshown ?? 0, ledger) == name,
        "a notification of \(key.id.name) is refused for \(name), which is not used up")
    case .reply(let request, let reply): try answer(request, reply, ledger)
    case .notify(let id, .notificationFired(let fired)):
      try require(
        firedTo.map { $0 == (fired, id) } ?? false,
        "instance \(id.number) hears of a notification that has not fired for it")
    case .deliver, .expire, .notify, .socket, .notification, .memory, .spawn, .manage, .suspend,
      .resume, .terminate, .kill, .release, .checkTracer, .record, .resources:
      break
    }
  }

  // MARK: Transactions

  /// A request that has become a transaction is answered as the store has answered, and not before.
  private func answer(
    _ request: RequestID, _ reply: Reply, _ ledger: Ledger
  ) throws(Finding) {
    let early = pending.first { $0.value.request == request }?.key
    try require(
      early == nil,
      "request \(request.number) is answered before transaction \(early?.number ?? 0) is stored")
    guard let answered, answered.pending.request == request else {
      guard case .notification(.cancel(request, let key, let id, let stored)) = ledger.event,
        case .cancelled(let ids) = reply
      else { return }
      return try require(
        ids.isEmpty && cancelled(key, id, stored).isEmpty,
        "the cancellation \(request.number) is answered, and is not stored")
    }
    let isRight =
      switch (answered.pending.transaction, reply) {
      case (_, .refused(.notStored)): !answered.isStored
      case (.schedule(let id, _, _), .scheduled(let other)): answered.isStored && id == other
      case (.cancel(let ids, _), .cancelled(let others)): answered.isStored && ids == others
      case (.setBadge, .done): answered.isStored
      case _: false
      }
    try require(isRight, "request \(request.number) is answered \(reply) to \(ledger.event)")
  }

  private mutating func store(
    _ number: TransactionID, _ transaction: NotificationTransaction, _ ledger: Ledger
  ) throws(Finding) {
    if case .scheduler(.recovered) = ledger.event, number.number <= transactionLast {
      return try require(
        pending[number]?.transaction == transaction,
        "transaction \(number.number) is repeated, and is not outstanding")
    }
    try require(
      number.number > transactionLast, "the id of transaction \(number.number) is used again")
    transactionLast = number.number
    switch (transaction, ledger.event) {
    case (
      .schedule(let id, let key, let draft),
      .notification(.schedule(_, let own, let asked, let count))
    )
    where key == own && draft == asked:
      let exceeded = exceededQuota(key, draft, count ?? 0, ledger)
      try require(
        exceeded == nil, "notification \(id.number) is taken on, and \(exceeded ?? "") is used up")
      try require(
        waiting[id] == nil && id.number > idLast,
        "the id of notification \(id.number) is used again")
      idLast = id.number
    case (.cancel(let ids, let key), .notification(.cancel(_, let own, let id, let stored)))
    where key == own:
      try require(
        ids == cancelled(key, id, stored).sorted(),
        "\(ids.map(\.number)) are cancelled, which are not all that are meant")
    case (.setBadge(let key, let badge), .notification(.setBadge(_, let own, let asked)))
    where key == own && badge == asked:
      break
    case (.fire(let id, _, _, _), _): firing.insert(id)
    case _:
      try require(false, "transaction \(number.number) is stored without a request")
    }
    pending[number] = (ledger.event.requester, transaction)
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

  /// The quota that leaves no place for one more; nil where none does.
  private func exceededQuota(
    _ key: ApplicationKey, _ draft: NotificationDraft, _ unshown: Int, _ ledger: Ledger
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
    if draft.schedule != nil, ofApplication >= ledger.policy.notificationsPerApplicationMax {
      return "MaxNotificationsPerApplication"
    }
    return ofUser + unshown >= ledger.policy.notificationsPerUserMax
      ? "MaxNotificationsPerUser" : nil
  }

  private mutating func fire(
    _ id: NotificationID, _ key: ApplicationKey, _ receiver: InstanceID?, _ ledger: Ledger
  ) throws(Finding) {
    guard let one = waiting[id], !one.isFired, one.application == key else {
      return try require(false, "notification \(id.number) fires, and does not wait")
    }
    try require(
      firing.contains(id), "notification \(id.number) fires, and that is not stored")
    try require(!isCancelling(id), "notification \(id.number) fires while it is cancelled")
    guard let wallOffset else {
      return try require(false, "a notification fires before the wall clock was read")
    }
    if let firesAt = one.firesAt {
      try require(
        firesAt <= Int64(ledger.now) + wallOffset,
        "notification \(id.number) fires \(firesAt - Int64(ledger.now) - wallOffset) ns early")
    }
    hasFired = true
    if one.repeats { waiting[id]?.isFired = true } else { waiting[id] = nil }
    let active = ledger.byKey[key].flatMap { sighting in
      sighting.state == .active && sighting.hasStream && sighting.ending == nil ? sighting.id : nil
    }
    try require(
      receiver == active, "notification \(id.number) of \(key.id.name) is given to the wrong one")
    if let receiver { firedTo = (id, receiver) }
  }

  mutating func after(_ ledger: Ledger) throws(Finding) {
    guard let wallOffset else { return }
    for (id, one) in waiting where !one.isFired && !isCancelling(id) {
      let due = one.firesAt.map { UInt64(clamping: $0 - wallOffset) } ?? one.since
      if hasFired, due <= ledger.now {
        // Of many that are due, some fire in the next turn.
        waiting[id]?.since = ledger.now
        continue
      }
      try require(
        max(due, one.since, ledger.floor) + slack >= ledger.now,
        "notification \(id.number) does not fire")
    }
  }

  func settled(_ ledger: Ledger) throws(Finding) {
    let forgotten = pending.keys.map(\.number).min()
    try require(forgotten == nil, "transaction \(forgotten ?? 0) is neither stored nor refused")
  }
}
