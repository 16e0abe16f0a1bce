// What the policy does about notifications (contract §9).

extension Scheduler {
  mutating func handle(_ event: NotificationEvent, in turn: inout Turn) {
    switch event {
    case .schedule(let request, let key, let draft, let unshown):
      schedule(request, key, draft, unshown: unshown ?? 0, in: &turn)
    case .stored(let id):
      stored(id, in: &turn)
    case .notStored(let id, let reason):
      guard let pending = notifications.takePending(id) else { return }
      refuse(pending.request, pending.application, .notStored(reason: reason), in: &turn)
    case .cancel(let request, let key, let id, let shown):
      cancel(request, key, id, shown: shown, in: &turn)
    case .nextFound(let id, let next):
      guard var notification = notifications.takeAwaitingNext(id), let next else { return }
      notification.firesAt = next
      notifications.schedule(notification)
    case .chosen(let id, let key):
      chosen(id, key, in: &turn)
    case .setBadge(let request, let key, let badge):
      turn.emit(.notification(.storeBadge(key, badge)))
      turn.reply(request, .done)
      tell(key, .badgeSet(badge), in: &turn)
    case .loaded(let stored, let idLast):
      for notification in stored { notifications.schedule(notification) }
      notifications.skipIDs(upTo: idLast)
      notificationsDue(in: &turn)
    }
  }

  /// An application's quota counts what waits for its time. The user's counts what has fired and
  /// was not shown yet, too: nothing is taken on that would have to be forgotten.
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
    let id = notifications.add(draft, of: key, request)
    turn.emit(.notification(.store(id, key, draft)))
  }

  private mutating func stored(_ id: NotificationID, in turn: inout Turn) {
    guard let pending = notifications.takePending(id) else { return }
    turn.reply(pending.request, .scheduled(id))
    tell(pending.application, .notificationScheduled(id), in: &turn)
    let now = notifications.wallTime(at: turn.instant) ?? WallTime(nanoseconds: 0)
    notifications.schedule(
      ScheduledNotification(
        id: id, application: pending.application, firesAt: pending.draft.firesAt ?? now,
        repeats: pending.draft.schedule?.repeats != nil))
    notificationsDue(in: &turn)
  }

  private mutating func cancel(
    _ request: RequestID, _ key: ApplicationKey, _ id: NotificationID?,
    shown: [NotificationID], in turn: inout Turn
  ) {
    let cancelled = Set(notifications.cancel(of: key, id) + shown).sorted()
    if let id, cancelled.isEmpty {
      return refuse(request, key, .unknownNotification(id), in: &turn)
    }
    if !cancelled.isEmpty {
      turn.emit(.notification(.remove(cancelled)))
      tell(key, .notificationsCancelled(cancelled), in: &turn)
    }
    turn.reply(request, .cancelled(cancelled))
  }

  /// How many fire in one turn: each is written to the disk, and others are served in between. The
  /// rest is still due.
  private static let firedAtOnceMax = 8

  /// Fires those whose time has come.
  mutating func notificationsDue(in turn: inout Turn) {
    var count = 0
    while count < Self.firedAtOnceMax, let notification = notifications.popDue(at: turn.instant) {
      count += 1
      fire(notification, in: &turn)
    }
    if count > 0 { useWakeUp(in: &turn) }
  }

  private mutating func fire(_ notification: ScheduledNotification, in turn: inout Turn) {
    let key = notification.application
    let instance = applications[key]?.instance.flatMap { instances[$0] }
    let isHeard = instance.map { $0.state == .active && $0.hasStream && $0.termination == nil }
    let receiver = isHeard == true ? instance?.id : nil
    turn.emit(.notification(.fire(notification.id, key, to: receiver)))
    if let receiver { turn.emit(.notify(receiver, .notificationFired(notification.id))) }
    tell(key, .notificationFired(notification.id), in: &turn)
    if notification.repeats { turn.emit(.notification(.findNext(notification.id))) }
  }

  /// The user's choice activates the application, launching it if need be.
  private mutating func chosen(
    _ id: NotificationID, _ key: ApplicationKey, in turn: inout Turn
  ) {
    tell(key, .notificationChosen(id), in: &turn)
    guard let application = applications[key] else {
      return refuse(nil, key, .unknownApplication(key), in: &turn)
    }
    let notice = Notice.notificationChosen(id)
    if let running = application.instance {
      if instances[running]?.state != .active { activate(nil, key, in: &turn) }
      with(running, in: &turn) { $0.tell(notice, in: &$1) }
    } else {
      if application.launching == nil {
        launch(nil, key, target: .foreground, reason: .notification, in: &turn)
      }
      if let launching = applications[key]?.launching {
        // It may have been launched to the background, by itself.
        launches[launching]?.plan.target = .foreground
        launches[launching]?.plan.inbox.add(notice)
      }
    }
  }

  private func tell(_ key: ApplicationKey, _ change: Record.Change, in turn: inout Turn) {
    let leader = applications[key]?.instance.flatMap { instances[$0]?.leader }
    turn.emit(.record(Record(application: key, leader: leader, change: change)))
  }

  /// The scheduler stops: what is being stored was promised to nobody, and must not fire later.
  mutating func refusePendingNotifications(in turn: inout Turn) {
    for id in notifications.pending.keys.sorted() {
      guard let pending = notifications.takePending(id) else { continue }
      turn.emit(.notification(.remove([id])))
      let refusal = Refusal.notStored(reason: "the scheduler stops")
      refuse(pending.request, pending.application, refusal, in: &turn)
    }
  }

  /// After the daemon's absence: what was being stored or looked up is asked for again.
  func recoverNotifications(in turn: inout Turn) {
    for pending in notifications.pending.values.sorted(by: { $0.id < $1.id }) {
      turn.emit(.notification(.store(pending.id, pending.application, pending.draft)))
    }
    for id in notifications.awaitingNext.keys.sorted() {
      turn.emit(.notification(.findNext(id)))
    }
  }
}

extension Instance {
  /// Tells the application now, or when it opens its event stream.
  fileprivate mutating func tell(_ notice: Notice, in turn: inout Turn) {
    if termination != nil { return }
    if hasStream { turn.emit(.notify(id, notice)) } else { inbox.add(notice) }
  }
}
