// The scheduling, storing and firing of local notifications (contract §9).

extension Scheduler {
  mutating func handle(_ event: NotificationEvent, in turn: inout Turn) {
    switch event {
    case .schedule(let request, let key, let draft, let unshown):
      schedule(request, key, draft, unshown: unshown ?? 0, in: &turn)
    case .cancel(let request, let key, let id, let stored):
      cancel(request, key, id, stored: stored, in: &turn)
    case .setBadge(let request, let key, let badge):
      store(.setBadge(key, badge), for: request, in: &turn)
    case .stored(let id):
      if let pending = notifications.takePending(id) { stored(pending, in: &turn) }
    case .storeFailed(let id, let reason):
      if let pending = notifications.takePending(id) { notStored(pending, reason, in: &turn) }
    case .nextFound(let id, let next):
      guard var notification = notifications.takeAwaitingNext(id), let next else { return }
      notification.firesAt = next
      notifications.schedule(notification)
    case .chosen(let id, let key):
      chosen(id, key, in: &turn)
    case .loaded(let stored, let idLast):
      for notification in stored { notifications.schedule(notification) }
      notifications.skipIDs(upTo: idLast)
      notificationsDue(in: &turn)
    }
  }

  /// Stores a new notification, unless a quota is used up.
  ///
  /// The quota of an application counts scheduled notifications. The quota of a user also counts
  /// notifications that have fired and were not shown yet, because the store must keep them.
  private mutating func schedule(
    _ request: RequestID, _ key: ApplicationKey, _ draft: NotificationDraft, unshown: Int,
    in turn: inout Turn
  ) {
    if draft.schedule != nil,
      notifications.count(of: key) >= policy.notificationsPerApplicationMax
    {
      let refusal = Refusal.quotaExceeded(
        name: "MaxNotificationsPerApplication", limit: policy.notificationsPerApplicationMax)
      return refuse(request, key, refusal, in: &turn)
    }
    guard unshown < policy.notificationsPerUserMax - notifications.count(of: key.owner) else {
      let refusal = Refusal.quotaExceeded(
        name: "MaxNotificationsPerUser", limit: policy.notificationsPerUserMax)
      return refuse(request, key, refusal, in: &turn)
    }
    store(.schedule(notifications.newID(), key, draft), for: request, in: &turn)
  }

  private mutating func cancel(
    _ request: RequestID, _ key: ApplicationKey, _ id: NotificationID?,
    stored: [NotificationID], in turn: inout Turn
  ) {
    let ids = Set(notifications.waiting(of: key, id) + stored).sorted()
    if !ids.isEmpty { return store(.cancel(ids, key), for: request, in: &turn) }
    if let id { return refuse(request, key, .unknownNotification(id), in: &turn) }
    turn.reply(request, .cancelled([]))
  }

  // MARK: The store

  private mutating func store(
    _ transaction: NotificationTransaction, for request: RequestID?, in turn: inout Turn
  ) {
    let id = notifications.begin(transaction, for: request)
    turn.emit(.notification(.store(id, transaction)))
  }

  private mutating func stored(_ pending: Notifications.Pending, in turn: inout Turn) {
    switch pending.transaction {
    case .schedule(let id, let key, let draft):
      turn.reply(pending.request, .scheduled(id))
      record(.notificationScheduled(id), of: key, in: &turn)
      let now = notifications.wallTime(at: turn.instant) ?? WallTime(nanoseconds: 0)
      notifications.schedule(
        ScheduledNotification(
          id: id, application: key, firesAt: draft.firesAt ?? now,
          repeats: draft.schedule?.repeats != nil))
      notificationsDue(in: &turn)
    case .cancel(let ids, let key):
      notifications.remove(ids)
      turn.reply(pending.request, .cancelled(ids))
      record(.notificationsCancelled(ids), of: key, in: &turn)
    case .setBadge(let key, let badge):
      turn.reply(pending.request, .done)
      record(.badgeSet(badge), of: key, in: &turn)
    case .fire(let id, _, let at, _):
      findNext(id, after: at, in: &turn)
    }
  }

  private mutating func notStored(
    _ pending: Notifications.Pending, _ reason: String, in turn: inout Turn
  ) {
    let refusal = Refusal.notStored(reason: reason)
    switch pending.transaction {
    case .schedule(_, let key, _), .setBadge(let key, _):
      refuse(pending.request, key, refusal, in: &turn)
    case .cancel(_, let key):
      refuse(pending.request, key, refusal, in: &turn)
      // The notification did not fire during its cancellation, and may be due now.
      notificationsDue(in: &turn)
    case .fire(let id, _, let at, _):
      // The notification has fired, but the store has not recorded this. After a reboot, the
      // notification fires again.
      findNext(id, after: at, in: &turn)
    }
  }

  private func findNext(_ id: NotificationID, after time: WallTime, in turn: inout Turn) {
    guard notifications.awaitingNext[id] != nil else { return }
    turn.emit(.notification(.findNext(id, after: time)))
  }

  // MARK: Firing

  /// The maximum number of notifications that fire at once. The scheduler can handle other events
  /// before it fires the next notifications.
  private static let firedAtOnceMax = 8

  /// Fires the notifications that are due.
  mutating func notificationsDue(in turn: inout Turn) {
    var count = 0
    while count < Self.firedAtOnceMax, let notification = notifications.popDue(at: turn.instant) {
      count += 1
      fire(notification, in: &turn)
    }
    guard count > 0 else { return }
    useWakeUp(in: &turn)
    lookEarly(in: turn)
  }

  private mutating func fire(_ notification: ScheduledNotification, in turn: inout Turn) {
    let key = notification.application
    let instance = applications[key]?.instance.flatMap { instances[$0] }
    let isHeard = instance.map { $0.state == .active && $0.hasStream && $0.termination == nil }
    let receiver = isHeard == true ? instance?.id : nil
    let at = notification.firesAt
    store(.fire(notification.id, key, at: at, to: receiver), for: nil, in: &turn)
    // The notification does not wait for the store, which may be slow.
    turn.emit(.notification(.fire(notification.id, key, at: at, to: receiver)))
    if let receiver { turn.emit(.notify(receiver, .notificationFired(notification.id))) }
    record(.notificationFired(notification.id), of: key, in: &turn)
  }

  /// Activates the application of the chosen notification. If the application does not run,
  /// launches it.
  private mutating func chosen(
    _ id: NotificationID, _ key: ApplicationKey, in turn: inout Turn
  ) {
    record(.notificationChosen(id), of: key, in: &turn)
    guard applications[key] != nil else {
      return refuse(nil, key, .unknownApplication(key), in: &turn)
    }
    bringToFront(key, in: &turn)
    let notice = Notice.notificationChosen(id)
    if let running = applications[key]?.instance {
      updateInstance(running, in: &turn) { $0.deliver(notice, in: &$1) }
    } else if let launching = applications[key]?.launching {
      launches[launching]?.plan.inbox.add(notice)
    }
  }

  /// Activates an application because the user has chosen one of its notifications or the notice
  /// about its recording, or has answered a call. If the application does not run, launches it.
  mutating func bringToFront(_ key: ApplicationKey, in turn: inout Turn) {
    if let running = applications[key]?.instance {
      if instances[running]?.state != .active { activate(nil, key, in: &turn) }
      return
    }
    if applications[key]?.launching == nil {
      launch(nil, key, target: .foreground, reason: .notification, in: &turn)
    }
    if let launching = applications[key]?.launching {
      // The target of a launch that was already in progress may be the background. The user's
      // choice requires the foreground.
      launches[launching]?.plan.target = .foreground
    }
  }

  func record(
    _ change: Record.Change, of key: ApplicationKey, in turn: inout Turn
  ) {
    let leader = applications[key]?.instance.flatMap { instances[$0]?.leader }
    turn.emit(.record(Record(application: key, leader: leader, change: change)))
  }

  /// After a recovery, repeats the unanswered transactions in order, and asks again for the next
  /// firing times that are still unknown.
  func recoverNotifications(in turn: inout Turn) {
    var firing: Set<NotificationID> = []
    for (_, pending) in notifications.pending.sortedByKey {
      if case .fire(let id, _, _, _) = pending.transaction { firing.insert(id) }
      turn.emit(.notification(.store(pending.id, pending.transaction)))
    }
    for (id, notification) in notifications.awaitingNext.sortedByKey where !firing.contains(id) {
      turn.emit(.notification(.findNext(id, after: notification.firesAt)))
    }
  }
}

extension Instance {
  /// Sends the application a notice now, or when it opens its event stream.
  fileprivate mutating func deliver(_ notice: Notice, in turn: inout Turn) {
    if termination != nil { return }
    if hasStream { turn.emit(.notify(id, notice)) } else { inbox.add(notice) }
  }
}
