import TaskSchedulerCore

/// A notification that was acknowledged fires exactly once each time, when the wall clock shows it,
/// and never after it was cancelled (§9). One is refused exactly where the application has too many
/// that wait for their time, or the user too many that wait or were not shown.
struct NotificationChecker: Checker {
  static let name = "notifications"
  let slack: UInt64

  private struct Waiting {
    let application: ApplicationKey
    /// By the wall clock; nil is at once.
    var firesAt: Int64?
    let repeats: Bool
    /// Since when it waits for that.
    var since: UInt64 = 0
    /// Whether its next time is being found.
    var isFired = false
    /// Whether it was asked for with a schedule.
    var isScheduled = true
  }

  private var waiting: [NotificationID: Waiting] = [:]
  /// Those that are being stored.
  private var pending: [NotificationID: (request: RequestID, waiting: Waiting)] = [:]
  /// What the wall clock shows, less the time since boot.
  private var wallOffset: Int64?
  private var hasFired = false
  private var firedTo: (id: NotificationID, instance: InstanceID)?

  init(slack: UInt64) { self.slack = slack }

  mutating func before(_ event: Event, _ ledger: Ledger) throws(Finding) {
    firedTo = nil
    hasFired = false
    switch event {
    case .clockRead(let wall): wallOffset = wall.nanoseconds - Int64(ledger.now)
    case .notification(.stored(let id)):
      // It may be said once more, after a death.
      if let taken = pending.removeValue(forKey: id) {
        waiting[id] = taken.waiting
        waiting[id]?.since = ledger.now
      }
    case .notification(.notStored(let id, _)): pending[id] = nil
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

  mutating func see(_ effect: Effect, _ ledger: Ledger) throws(Finding) {
    switch effect {
    case .notification(.store(let id, let key, let draft)): try store(id, key, draft, ledger)
    case .notification(.fire(let id, let key, let receiver)): try fire(id, key, receiver, ledger)
    case .notification(.remove(let ids)):
      for id in ids {
        waiting[id] = nil
        pending[id] = nil
      }
    case .reply(let request, .refused(.quotaExceeded(let name, _))):
      guard case .notification(.schedule(request, let key, let draft, let unshown)) = ledger.event
      else { return }
      try require(
        exceededQuota(key, draft, unshown ?? 0, ledger) == name,
        "a notification of \(key.id.name) is refused for \(name), which is not used up")
    case .reply(let request, .scheduled(let id)):
      try require(
        waiting[id] != nil || pending[id] == nil,
        "notification \(id.number) is acknowledged (\(request.number)), and not stored")
    case .notify(let id, .notificationFired(let fired)):
      try require(
        firedTo.map { $0 == (fired, id) } ?? false,
        "instance \(id.number) hears of a notification that has not fired for it")
    case .reply, .deliver, .expire, .notify, .socket, .notification, .memory, .spawn, .manage,
      .suspend, .resume, .terminate, .kill, .release, .checkTracer, .record, .resources:
      break
    }
  }

  private mutating func store(
    _ id: NotificationID, _ key: ApplicationKey, _ draft: NotificationDraft, _ ledger: Ledger
  ) throws(Finding) {
    if case .recovered = ledger.event {
      return try require(pending[id] != nil, "notification \(id.number) is stored by itself")
    }
    guard case .notification(.schedule(let request, key, draft, let unshown)) = ledger.event else {
      return try require(false, "notification \(id.number) is stored, which nobody asked for")
    }
    let exceeded = exceededQuota(key, draft, unshown ?? 0, ledger)
    try require(
      exceeded == nil,
      "notification \(id.number) is taken on, and \(exceeded ?? "") is used up")
    try require(
      waiting[id] == nil && pending[id] == nil && id.number > 0,
      "the id of notification \(id.number) is used again")
    let one = Waiting(
      application: key, firesAt: draft.firesAt?.nanoseconds,
      repeats: draft.schedule?.repeats != nil, isScheduled: draft.schedule != nil)
    pending[id] = (request, one)
  }

  /// The quota that leaves no place for one more; nil where none does.
  private func exceededQuota(
    _ key: ApplicationKey, _ draft: NotificationDraft, _ unshown: Int, _ ledger: Ledger
  ) -> String? {
    let stored = Array(waiting.values)
    let all = stored + pending.values.map(\.waiting)
    let ofApplication =
      stored.count { $0.application == key }
      + pending.values.count { $0.waiting.application == key && $0.waiting.isScheduled }
    if draft.schedule != nil, ofApplication >= ledger.policy.notificationsPerApplicationMax {
      return "MaxNotificationsPerApplication"
    }
    let ofUser = all.count { $0.application.owner == key.owner }
    return ofUser + unshown >= ledger.policy.notificationsPerUserMax
      ? "MaxNotificationsPerUser" : nil
  }

  private mutating func fire(
    _ id: NotificationID, _ key: ApplicationKey, _ receiver: InstanceID?, _ ledger: Ledger
  ) throws(Finding) {
    guard let one = waiting[id], !one.isFired, one.application == key else {
      return try require(false, "notification \(id.number) fires, and does not wait")
    }
    guard let wallOffset else {
      return try require(false, "a notification fires, and nobody knows what time it is")
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
    if case .notification(.cancel(_, let key, nil, _)) = ledger.event {
      try require(
        !waiting.values.contains { $0.application == key }, "\(key.id.name): one is not cancelled")
    }
    guard let wallOffset else { return }
    for (id, one) in waiting where !one.isFired {
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
    try require(pending.isEmpty, "a notification is neither stored nor refused")
  }
}
