import EventLoop
import LinuxSystem
import TaskSchedulerCore

/// Carries out what the scheduler decides about local notifications (contract §9): with the store,
/// the calendar and the users' desktops.
///
/// The loop reads ``StoredNotifications``, a copy of the store in memory. ``StoreWriter`` writes on
/// a thread. What is to be written comes in two kinds. A transaction belongs to the scheduler,
/// which hears whether it is durable and begins it again in the next daemon. A note says what a
/// desktop shows; if a note is lost, the next daemon shows the notification once more.
final class LocalNotifications {
  private enum Writing {
    case transaction(TransactionID, NotificationTransaction, [NotificationChange])
    /// What is not known to the next daemon if it cannot be written.
    case note(String)
  }

  /// nil where the file cannot be used: nothing is promised then. The writer's while it writes.
  private let store: NotificationStore?
  private var writer: StoreWriter?
  private let problem: StoreError?
  private var stored = StoredNotifications()
  private let calendar = NotificationCalendar()
  private var desktop: DesktopNotifications?
  private let log: Log
  private let post: (Event) -> Void
  /// A name for people, where a manifest has one.
  var displayName: (ApplicationKey) -> String? = { _ in nil }
  /// What is being written, by its number at the writer.
  private var writing: [UInt64: Writing] = [:]
  /// Transactions until ``serve()``: an interrupted event may begin its own before the earlier ones
  /// are begun again.
  private var held: [TransactionID: NotificationTransaction]? = [:]

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
        stored = try store?.contents() ?? StoredNotifications()
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
      [unowned self] in handle($0)
    }
    if let store {
      writer = try StoreWriter(store, loop: loop) { [unowned self] in takeAnswers() }
    }
  }

  /// Tells of those that an earlier daemon promised, and that are not in the store.
  ///
  /// - Parameter waiting: those that wait for their time, by the event log.
  func reportLost(of waiting: [NotificationID]) {
    guard let store else { return }
    let lost = Set(waiting).subtracting(stored.ids).sorted()
    if lost.isEmpty { return }
    log.write(
      .error, "\(lost.count) of \(waiting.count) scheduled notifications are missing in "
        + "\(store.path) and cannot be shown: \(Self.words(lost)). The file or its -wal was "
        + "removed, emptied or replaced", id: .storeFailed)
  }

  /// The first of many.
  private static func words(_ ids: [NotificationID]) -> String {
    let first = ids.prefix(10).map { "\($0.number)" }.joined(separator: ", ")
    return ids.count > 10 ? first + ", …" : first
  }

  /// Tells the scheduler what is stored, in a daemon that does not continue from an earlier one.
  ///
  /// What an earlier boot was to present at once, and did not, fires now.
  func load() {
    guard let store else { return }
    let now = WallTime(nanoseconds: WallClock.nanoseconds)
    var changes = stored.rows { $0.firesAt == nil && $0.isDue && $0.firedAt == nil }
      .map { NotificationChange.fired($0.id, at: now, next: nil) }
    var scheduled: [ScheduledNotification] = []
    for row in stored.rows(where: { $0.firesAt != nil }) {
      guard let stored = row.firesAt else { continue }
      // By the rules of today's time zones.
      let firesAt = ((try? calendar.corrected(row)) ?? nil) ?? stored
      if firesAt != stored { changes.append(.moved(row.id, to: firesAt)) }
      scheduled.append(
        ScheduledNotification(
          id: row.id, application: row.application, firesAt: firesAt,
          repeats: row.schedule?.repeats != nil))
    }
    stored.apply(changes)
    attempt("the times of some are not stored") { () throws(StoreError) in
      try store.apply(changes)
    }
    attempt("they cannot be read") { () throws(StoreError) in
      post(.notification(.loaded(scheduled, idLast: try store.idLast().number)))
    }
  }

  /// Takes up what an earlier daemon has had shown, and shows what has fired and was not shown.
  private func showRest() {
    for row in stored.rows(where: { $0.shownAs != nil }) {
      if let name = row.shownAs { desktop?.remember(desktopNotification(row), as: name) }
    }
    for row in stored.unpresented { show(row) }
  }

  /// Continues what the desktop shows, and carries out transactions from now on, those of an
  /// earlier daemon first.
  func serve() {
    showRest()
    let earlier = held ?? [:]
    held = nil
    for (id, transaction) in earlier.sorted(by: { $0.key < $1.key }) {
      // The earlier daemon may not have come to show it, and the store does not know yet.
      if case .fire(let id, _, let at, to: nil) = transaction { show(id, firedAt: at) }
      write(id, transaction)
    }
  }

  /// Waits until everything is written, and tells the scheduler, before the daemon ends. It waits
  /// for the disk, so every application is resumed before.
  func finish() {
    guard let store, let writer else { return }
    while !writing.isEmpty {
      writer.waitUntilIdle()
      takeAnswers()
    }
    attempt("their log cannot be put into the database") { () throws(StoreError) in
      try store.putLogIntoDatabase()
    }
  }

  // MARK: Asked

  /// When a schedule fires first.
  func first(_ schedule: NotificationSchedule) throws(ScheduleError) -> WallTime {
    try calendar.first(schedule)
  }

  func notification(_ id: NotificationID) -> StoredNotification? { stored[id] }

  /// How many of a user's have fired, fire no more and were not shown.
  func unshownCount(of user: UserID) -> Int { stored.unshownCount(of: user) }

  /// The number at an application's icon; nil is none.
  func badge(of key: ApplicationKey) -> Int? { stored.badges[key] }

  /// A page of a list, by id.
  func page(
    of scope: NotificationScope, after id: NotificationID?
  ) throws(StoreError) -> NotificationPage {
    if let problem { throw problem }
    return stored.page(of: scope, after: id)
  }

  /// The users whose applications of an id have notifications; empty where that cannot be read.
  func owners(of id: ApplicationID) -> [UserID] { stored.owners(of: id) }

  /// The ids of an application's notifications, or the one that is named if it is its own.
  func ids(
    of key: ApplicationKey, _ id: NotificationID?
  ) throws(StoreError) -> [NotificationID] {
    if let problem { throw problem }
    return stored.ids(of: key, id)
  }

  // MARK: Effects

  func run(_ effect: NotificationEffect, at now: WallTime) {
    switch effect {
    case .store(let id, let transaction):
      if held == nil { write(id, transaction) } else { held?[id] = transaction }
    case .fire(let id, let key, let at, let receiver):
      if stored[id] == nil {
        log.write(.error, "notification \(id.number) of \(key.id) is missing in the store")
      }
      if receiver == nil { show(id, firedAt: at) }
    case .findNext(let id, let time):
      post(.notification(.nextFound(id, stored[id].flatMap { next(of: $0, after: time, now) })))
    }
  }

  /// When one that fired at `time` fires again; nil is never.
  private func next(
    of row: StoredNotification, after time: WallTime, _ now: WallTime
  ) -> WallTime? {
    guard let schedule = row.schedule, schedule.repeats != nil else { return nil }
    // Unless its firing could not be stored, the next time is stored with it.
    if row.firedAt == time, row.firesAt == nil { return nil }
    if let firesAt = row.firesAt, firesAt > time { return firesAt }
    return (try? calendar.next(schedule, after: max(now, time))) ?? nil
  }

  // MARK: Writing

  private func write(_ id: TransactionID, _ transaction: NotificationTransaction) {
    guard let writer else {
      let reason = problem?.description ?? "the daemon has no state directory"
      return post(.notification(.storeFailed(id, reason: reason)))
    }
    let changes = changes(by: transaction, at: WallTime(nanoseconds: WallClock.nanoseconds))
    // A fact is true before it is stored.
    if case .fire = transaction { stored.apply(changes) }
    writing[writer.add(changes)] = .transaction(id, transaction, changes)
  }

  private func changes(
    by transaction: NotificationTransaction, at now: WallTime
  ) -> [NotificationChange] {
    switch transaction {
    case .schedule(let id, let key, let draft): return [.schedule(id, key, draft)]
    case .cancel(let ids, _): return ids.map { .removed($0) }
    case .setBadge(let key, let badge): return [.badge(key, badge)]
    case .fire(let id, let key, let at, let receiver):
      guard let row = stored[id] else { return [] }
      var changes: [NotificationChange] = [.fired(id, at: at, next: next(of: row, after: at, now))]
      if receiver != nil { changes.append(.presented(id, at: now)) }
      if let badge = row.content.badge { changes.append(.badge(key, badge)) }
      return changes
    }
  }

  /// Writes what the next daemon is to know of the desktop.
  private func note(_ what: String, _ changes: [NotificationChange]) {
    stored.apply(changes)
    if let writer { writing[writer.add(changes)] = .note(what) }
  }

  private func takeAnswers() {
    for answer in writer?.takeAnswers() ?? [] {
      if case .success(let forgotten) = answer.result { forget(forgotten) }
      for number in answer.numbers {
        guard let written = writing.removeValue(forKey: number) else { continue }
        switch answer.result {
        case .success: succeeded(written)
        case .failure(let error): failed(written, error)
        }
      }
    }
  }

  /// What is kept no longer is shown no longer: it cannot be chosen.
  private func forget(_ ids: [NotificationID]) {
    for id in ids {
      stored.remove(id)
      log.write(
        .info, "removed notification \(id.number): its application has more than "
          + "\(NotificationStore.pastMax) presented notifications")
      desktop?.close(id)
    }
  }

  private func succeeded(_ written: Writing) {
    guard case .transaction(let id, let transaction, let changes) = written else { return }
    switch transaction {
    case .schedule, .setBadge: stored.apply(changes)
    case .cancel(let ids, _):
      stored.apply(changes)
      for id in ids { desktop?.close(id) }
    case .fire:
      // A badge that was set before it may have come to the disk, and here, meanwhile.
      stored.apply(changes.filter { if case .badge = $0 { true } else { false } })
    }
    post(.notification(.stored(id)))
  }

  private func failed(_ written: Writing, _ error: StoreError) {
    switch written {
    case .transaction(let id, .fire(let notification, _, _, _), _):
      log.write(
        .error, "notification \(notification.number) has fired and may fire again after a restart: "
          + "\(error)", id: .storeFailed)
      post(.notification(.storeFailed(id, reason: "\(error)")))
    case .transaction(let id, _, _):
      log.write(.error, "refused a change of the notifications: \(error)", id: .storeFailed)
      post(.notification(.storeFailed(id, reason: "\(error)")))
    case .note(let what):
      log.write(.error, "notifications: \(what): \(error)", id: .storeFailed)
    }
  }

  private func attempt(_ what: String, _ body: () throws(StoreError) -> Void) {
    do throws(StoreError) {
      try body()
    } catch {
      log.write(.error, "notifications: \(what): \(error)", id: .storeFailed)
    }
  }

  // MARK: The desktop

  /// Shows one whose time `at` has come, unless an earlier daemon stored that it was shown then.
  private func show(_ id: NotificationID, firedAt at: WallTime) {
    if let row = stored[id], row.firedAt != at || row.isDue { show(row) }
  }

  private func show(_ stored: StoredNotification) {
    desktop?.show(desktopNotification(stored))
  }

  private func desktopNotification(_ stored: StoredNotification) -> DesktopNotification {
    DesktopNotification(
      id: stored.id, application: stored.application,
      applicationName: displayName(stored.application) ?? "", title: stored.content.title,
      body: stored.content.body, sound: stored.content.sound)
  }

  private func handle(_ occurrence: DesktopNotifications.Occurrence) {
    switch occurrence {
    case .shown(let id):
      log.write(.debug, "notification \(id.number) is shown")
      note(
        "that the desktop shows one is not stored",
        [
          .presented(id, at: WallTime(nanoseconds: WallClock.nanoseconds)),
          .shown(id, desktop?.name(of: id)),
        ])
    case .chosen(let id, _):
      guard let stored = notification(id) else { return }
      post(.notification(.chosen(id, stored.application)))
    case .failed(let id, let failure):
      log.write(.debug, "notification \(id.number) is not shown: \(failure)")
    case .closed(let id, _):
      note("that the desktop closed one is not stored", [.shown(id, nil)])
    case .available:
      break
    }
  }
}
