import EventLoop
import LinuxSystem
import TaskSchedulerCore

/// The hands of the policy for local notifications (contract §9): the store, the calendar and the
/// users' desktops.
final class LocalNotifications {
  /// nil where the file cannot be used: nothing is promised then.
  private let store: NotificationStore?
  private let problem: StoreError?
  private let calendar = NotificationCalendar()
  private var desktop: DesktopNotifications?
  private let log: Log
  private let post: (Event) -> Void
  /// A name for people, where a manifest has one.
  var displayName: (ApplicationKey) -> String? = { _ in nil }
  /// The numbers at the applications' icons that are not 0.
  private(set) var badges: [ApplicationKey: Int] = [:]
  /// Asked to be stored since the last transaction.
  private var waiting: [(NotificationID, ApplicationKey, NotificationDraft)] = []
  private var commitWhenIdle: DeferredSource?
  private var commitTimer: TimerSource?
  /// Whoever asks while others are heard shares their sync of the disk, which takes some
  /// milliseconds itself.
  private static let commitDelayMax: Duration = .milliseconds(5)
  /// Those that have fired, which could not be stored, and whose next time is being found.
  private var unstored: Set<NotificationID> = []
  /// Those that the desktop has closed since the last transaction.
  private var closed: [NotificationID] = []

  /// - Parameters:
  ///   - path: of the store's file; nil keeps none.
  ///   - addresses: where the users' session buses are; nil shows nothing.
  init(
    path: String?, desktops addresses: DesktopAddresses?, loop: EventLoop, log: Log,
    post: @escaping (Event) -> Void
  ) throws(SystemError) {
    self.log = log
    self.post = post
    var store: NotificationStore?
    var problem: StoreError?
    if let path {
      do throws(StoreError) {
        store = try NotificationStore(path: path)
        badges = try store?.badges() ?? [:]
      } catch {
        store = nil
        problem = error
        log.write(
          .error, "refusing notifications until the next start: \(error)", id: .storeFailed)
      }
    }
    self.store = store
    self.problem = problem
    if let (place, count) = store?.setAside {
      log.write(
        .error, "the notification store was damaged and was renamed to \(place); recovered "
          + "\(count) notifications from it", id: .storeFailed)
    }
    desktop = try DesktopNotifications(loop: loop, addresses: addresses, log: log) {
      [unowned self] in hear($0)
    }
    commitWhenIdle = try loop.whenIdle { [unowned self] in commit() }
    commitTimer = try loop.timer { [unowned self] in commit() }
  }

  /// Tells of those that an earlier daemon promised, and that are not in the store.
  ///
  /// - Parameter waiting: those that wait for their time, by the event log.
  func reportLost(of waiting: [NotificationID]) {
    guard let store, !waiting.isEmpty else { return }
    attempt("they cannot be read") { () throws(StoreError) in
      let lost = Set(waiting).subtracting(try store.ids()).sorted()
      if lost.isEmpty { return }
      log.write(
        .error, "\(lost.count) of \(waiting.count) scheduled notifications are missing in "
          + "\(store.path) and cannot be shown: \(Self.words(lost)). The file or its -wal was "
          + "removed, emptied or replaced, or the last daemon died while it cancelled them",
        id: .storeFailed)
    }
  }

  /// The first of many.
  private static func words(_ ids: [NotificationID]) -> String {
    let first = ids.prefix(10).map { "\($0.number)" }.joined(separator: ", ")
    return ids.count > 10 ? first + ", …" : first
  }

  /// What the policy is told at the start of a daemon that goes on from no earlier one.
  func load() {
    attempt("that some have fired cannot be stored") { () throws(StoreError) in
      try store?.fireUnfired(at: WallTime(nanoseconds: WallClock.nanoseconds))
    }
    attempt("they cannot be read") { () throws(StoreError) in
      guard let (scheduled, idLast) = try store?.load() else { return }
      post(.notification(.loaded(scheduled.map(corrected), idLast: idLast)))
    }
  }

  /// By the rules of today's time zones.
  private func corrected(_ scheduled: ScheduledNotification) -> ScheduledNotification {
    guard let stored = notification(scheduled.id),
      let firesAt = (try? calendar.corrected(stored)) ?? nil, firesAt != scheduled.firesAt
    else { return scheduled }
    attempt("one cannot be moved") { () throws(StoreError) in
      try store?.apply([.moved(scheduled.id, to: firesAt)])
    }
    var corrected = scheduled
    corrected.firesAt = firesAt
    return corrected
  }

  /// Takes up what an earlier daemon has had shown, and shows what has fired and was not shown.
  func showRest() {
    attempt("they cannot be read") { () throws(StoreError) in
      for stored in try store?.shown() ?? [] {
        if let name = stored.shownAs { desktop?.remember(desktopNotification(stored), as: name) }
      }
      for stored in try store?.unpresented() ?? [] { show(stored) }
    }
  }

  /// Before the daemon ends.
  func stop() {
    forgetClosed()
    attempt("their log cannot be put into the database") { () throws(StoreError) in
      try store?.putLogIntoDatabase()
    }
  }

  // MARK: Asked

  /// When a schedule fires first.
  func first(_ schedule: NotificationSchedule) throws(ScheduleError) -> WallTime {
    try calendar.first(schedule)
  }

  func notification(_ id: NotificationID) -> StoredNotification? {
    (try? store?.notification(id)) ?? nil
  }

  /// How many of a user's have fired, fire no more and were not shown; nil where that cannot be
  /// read.
  func unshownCount(of user: UserID) -> Int? { try? store?.unshownCount(of: user) }

  /// A page of a list, by id.
  func page(
    of scope: NotificationScope, after id: NotificationID?
  ) throws(StoreError) -> NotificationPage {
    if let problem { throw problem }
    return try store?.page(of: scope, after: id) ?? NotificationPage()
  }

  /// The users whose applications of an id have notifications; empty where that cannot be read.
  func owners(of id: ApplicationID) -> [UserID] { (try? store?.owners(of: id)) ?? [] }

  /// Takes those of an application, or the one that is named, from the disk, before they are
  /// cancelled: what was cancelled does not come again.
  ///
  /// - Returns: those of them that have fired.
  func remove(
    of key: ApplicationKey, _ id: NotificationID?
  ) throws(StoreError) -> [NotificationID] {
    if let problem { throw problem }
    let stored = try store?.states(of: key, id) ?? []
    try store?.apply(stored.map { .removed($0.id) })
    return stored.filter { !$0.isScheduled }.map(\.id)
  }

  /// Stores a badge before it is promised.
  func store(badge: Int, of key: ApplicationKey) throws(StoreError) {
    if let problem { throw problem }
    try store?.apply([.badge(key, badge)])
    badges[key] = badge == 0 ? nil : badge
  }

  // MARK: Effects

  func run(_ effect: NotificationEffect, at now: WallTime) {
    switch effect {
    case .store(let id, let key, let draft):
      waiting.append((id, key, draft))
      guard waiting.count == 1 else { return }
      commitWhenIdle?.request()
      commitTimer?.set(BootClock.after(Self.commitDelayMax))
    case .remove(let ids):
      for id in ids { desktop?.close(id) }
      attempt("they cannot be removed") { () throws(StoreError) in
        try store?.apply(ids.map { .removed($0) })
      }
    case .fire(let id, let key, let receiver):
      fire(id, key, receiver, at: now)
    case .findNext(let id):
      post(.notification(.nextFound(id, next(of: id, at: now))))
    case .storeBadge(let key, let badge):
      setBadge(badge, of: key)
    }
  }

  /// Stores what was asked for since the last time: many share one sync of the disk.
  private func commit() {
    forgetClosed()
    guard !waiting.isEmpty else { return }
    commitTimer?.clear()
    let batch = waiting
    waiting = []
    do throws(StoreError) {
      guard let store else { throw problem ?? StoreError(kind: .failed, message: "no store") }
      try store.apply(batch.map { .schedule($0, $1, $2) })
      for (id, _, _) in batch { post(.notification(.stored(id))) }
    } catch {
      log.write(.error, "notifications cannot be stored: \(error)", id: .storeFailed)
      for (id, _, _) in batch { post(.notification(.notStored(id, reason: "\(error)"))) }
    }
  }

  private func fire(
    _ id: NotificationID, _ key: ApplicationKey, _ receiver: InstanceID?, at now: WallTime
  ) {
    guard let stored = notification(id) else {
      return log.write(.error, "notification \(id.number) of \(key.id) is missing in the store")
    }
    // An earlier daemon may have died when this was stored, and not all was done that follows.
    let isStored = stored.hasFired(by: now)
    if !isStored {
      let time = max(now, stored.firesAt ?? now)
      var changes: [NotificationChange] = [
        .fired(id, at: stored.firesAt ?? now, next: next(of: stored, after: time))
      ]
      if receiver != nil { changes.append(.presented(id, at: now)) }
      let isDone = attempt("that one has fired cannot be stored") { () throws(StoreError) in
        try apply(changes)
      }
      if !isDone { unstored.insert(id) }
    }
    if let badge = stored.content.badge { setBadge(badge, of: key) }
    if receiver == nil, !isStored || stored.isDue { show(stored) }
  }

  /// When one that has fired fires again; nil is never.
  private func next(of id: NotificationID, at now: WallTime) -> WallTime? {
    guard let stored = notification(id) else { return nil }
    // Where that could not be stored, its time there is the one that is over.
    return unstored.remove(id) == nil ? stored.firesAt : next(of: stored, after: now)
  }

  private func next(of stored: StoredNotification, after time: WallTime) -> WallTime? {
    guard let schedule = stored.schedule, schedule.repeats != nil else { return nil }
    return (try? calendar.next(schedule, after: time)) ?? nil
  }

  /// Writes changes. What is kept no longer for them is shown no longer: it cannot be chosen.
  private func apply(_ changes: [NotificationChange]) throws(StoreError) {
    for id in try store?.apply(changes) ?? [] {
      log.write(
        .info, "removed notification \(id.number): its application has more than "
          + "\(NotificationStore.pastMax) presented notifications")
      desktop?.close(id)
    }
  }

  private func setBadge(_ badge: Int, of key: ApplicationKey) {
    guard badges[key] ?? 0 != badge else { return }
    badges[key] = badge == 0 ? nil : badge
    attempt("a badge cannot be stored") { () throws(StoreError) in
      try store?.apply([.badge(key, badge)])
    }
  }

  @discardableResult
  private func attempt(_ what: String, _ body: () throws(StoreError) -> Void) -> Bool {
    do throws(StoreError) {
      try body()
      return true
    } catch {
      log.write(.error, "notifications: \(what): \(error)", id: .storeFailed)
      return false
    }
  }

  // MARK: The desktop

  private func show(_ stored: StoredNotification) {
    desktop?.show(desktopNotification(stored))
  }

  private func desktopNotification(_ stored: StoredNotification) -> DesktopNotification {
    DesktopNotification(
      id: stored.id, application: stored.application,
      applicationName: displayName(stored.application) ?? "", title: stored.content.title,
      body: stored.content.body, sound: stored.content.sound)
  }

  /// Writes down what no desktop shows any longer. Where that is lost, the next daemon has the
  /// notification shown once more.
  private func forgetClosed() {
    guard !closed.isEmpty else { return }
    let all = closed
    closed = []
    attempt("that some were closed cannot be stored") { () throws(StoreError) in
      try apply(all.map { .shown($0, nil) })
    }
  }

  private func hear(_ happening: DesktopNotifications.Happening) {
    switch happening {
    case .shown(let id):
      log.write(.debug, "notification \(id.number) is shown")
      attempt("that one is shown cannot be stored") { () throws(StoreError) in
        try apply([
          .presented(id, at: WallTime(nanoseconds: WallClock.nanoseconds)),
          .shown(id, desktop?.name(of: id)),
        ])
      }
    case .chosen(let id, _):
      guard let stored = notification(id) else { return }
      post(.notification(.chosen(id, stored.application)))
    case .failed(let id, let failure):
      log.write(.debug, "notification \(id.number) is not shown: \(failure)")
    case .closed(let id, _):
      closed.append(id)
      commitWhenIdle?.request()
    case .available:
      break
    }
  }
}

extension StoredNotification {
  /// Whether it is stored that it has fired, and no other time of it has come since.
  fileprivate func hasFired(by now: WallTime) -> Bool {
    guard firedAt != nil else { return false }
    return firesAt.map { $0 > now } ?? true
  }
}
