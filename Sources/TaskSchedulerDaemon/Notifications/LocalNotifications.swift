import EventLoop
import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerWire

/// Carries out the scheduler's decisions about local notifications (contract §9). Uses the store,
/// the calendar and the users' session agents.
///
/// The event loop reads ``StoredNotifications``, an in-memory copy of the store. ``StoreWriter``
/// writes to the store on a thread of its own. There are two kinds of writes. A transaction belongs
/// to the scheduler: the scheduler learns whether the transaction is durable, and the next daemon
/// repeats an unfinished transaction. A note records what a desktop shows. If a note is lost, the
/// next daemon shows the notification once more.
final class LocalNotifications {
  private enum Writing {
    case transaction(TransactionID, NotificationTransaction, [NotificationChange])
    /// A note. If the daemon cannot write the note, it logs this text.
    case note(String)
  }

  /// The store; nil if its file is unusable, or if the daemon has no state directory. Without a
  /// store, the daemon refuses all notifications. While the writer runs, only the writer's thread
  /// may use the store.
  private let store: NotificationStore?
  private var writer: StoreWriter<NotificationStore>?
  private let problem: StoreError?
  private var stored = StoredNotifications()
  private let calendar = NotificationCalendar()
  let agents: AgentNotifications
  let recordings: RecordingNotices
  /// The notifications of the daemon itself. The owner sets this property once.
  var notices: [any DaemonNotices] = []
  let log: Log
  let post: (Event) -> Void
  /// Returns the display name from an application's manifest, if any.
  var displayName: (ApplicationKey) -> String? = { _ in nil }
  /// Returns the notices that must tell a user which applications record audio.
  var recordingNotices: (UserID) -> [RecordingNotice] = { _ in [] }
  /// The pending writes, by their job numbers.
  private var writing: [UInt64: Writing] = [:]
  /// Transactions that arrive before ``serve()`` is called; nil afterwards. A new daemon first
  /// finishes the event that the earlier daemon left unfinished. If this event begins a
  /// transaction, that transaction must wait until the daemon has repeated the transactions of the
  /// earlier daemon.
  private var held: [TransactionID: NotificationTransaction]? = [:]

  /// - Parameters:
  ///   - path: The path of the store's file; nil for a daemon without a state directory.
  init(
    path: String?, loop: EventLoop, log: Log, post: @escaping (Event) -> Void
  ) throws(SystemError) {
    self.log = log
    agents = AgentNotifications(log: log)
    recordings = RecordingNotices(agents)
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
    if let store {
      writer = try StoreWriter(store, loop: loop) { [unowned self] in takeAnswers() }
    }
  }

  /// Logs the scheduled notifications that are in the event log but not in the store.
  ///
  /// - Parameter waiting: The scheduled notifications in the event log.
  func reportLost(of waiting: [NotificationID]) {
    guard let store else { return }
    let lost = Set(waiting).subtracting(stored.ids).sorted()
    if lost.isEmpty { return }
    log.write(
      .error, "\(lost.count) of \(waiting.count) scheduled notifications are missing from "
        + "\(store.path) and cannot be shown (ids \(Self.list(lost))): the file or its write-ahead "
        + "log (\(store.path)-wal) was removed, emptied or replaced", id: .storeFailed)
  }

  /// Returns the first ten ids as text.
  private static func list(_ ids: [NotificationID]) -> String {
    let first = ids.prefix(10).map { "\($0.number)" }.joined(separator: ", ")
    return ids.count > 10 ? first + ", …" : first
  }

  /// Passes the stored notifications to the scheduler. Called only if the daemon recovers no event
  /// log, because a recovered scheduler already knows the notifications.
  ///
  /// If a notification has no schedule and has not fired yet, it fires now.
  func load() {
    guard let store else { return }
    let now = WallTime(nanoseconds: WallClock.nanoseconds)
    var changes = stored.rows { $0.firesAt == nil && $0.isDue && $0.firedAt == nil }
      .map { NotificationChange.fired($0.id, at: now, next: nil) }
    var scheduled: [ScheduledNotification] = []
    for row in stored.rows(where: { $0.firesAt != nil }) {
      guard let stored = row.firesAt else { continue }
      // The rules in the tz database may have changed since the time was stored.
      let firesAt = ((try? calendar.corrected(row)) ?? nil) ?? stored
      if firesAt != stored { changes.append(.moved(row.id, to: firesAt)) }
      scheduled.append(
        ScheduledNotification(
          id: row.id, application: row.application, firesAt: firesAt,
          repeats: row.schedule?.repeats != nil))
    }
    stored.apply(changes)
    attempt("cannot store corrected firing times") { () throws(StoreError) in
      try store.apply(changes)
    }
    attempt("cannot read the last id") { () throws(StoreError) in
      post(.notification(.loaded(scheduled, idLast: try store.idLast().number)))
    }
  }

  /// Begins to show notifications and to carry out transactions. Transactions of an earlier daemon
  /// come first.
  func serve() {
    let earlier = held ?? [:]
    held = nil
    for (id, transaction) in earlier.sortedByKey {
      // The earlier daemon may have died before it showed the notification and stored the firing.
      if case .fire(let id, _, let at, to: nil) = transaction { show(id, firedAt: at) }
      write(id, transaction)
    }
  }

  /// Waits until the writer has written all changes, and passes the results to the scheduler. Call
  /// this function before the daemon exits, but only after it has resumed the applications, because
  /// they must not wait for a slow disk.
  func finish() {
    guard let store, let writer else { return }
    while !writing.isEmpty {
      writer.waitUntilIdle()
      takeAnswers()
    }
    attempt("cannot checkpoint the database") { () throws(StoreError) in
      try store.checkpoint()
    }
  }

  // MARK: Reading

  /// Returns the first firing time of a schedule.
  func first(_ schedule: NotificationSchedule) throws(ScheduleError) -> WallTime {
    try calendar.first(schedule)
  }

  func notification(_ id: NotificationID) -> StoredNotification? { stored[id] }

  /// Returns the number of a user's notifications that have fired but have not been presented. Does
  /// not count notifications that will fire again.
  func unshownCount(of user: UserID) -> Int { stored.unshownCount(of: user) }

  /// Returns the number on an application's icon; nil if it has none.
  func badge(of key: ApplicationKey) -> Int? { stored.badges[key] }

  /// Returns a page of the notifications in a scope, in the order of their ids.
  func page(
    of scope: NotificationScope, after id: NotificationID?
  ) throws(StoreError) -> NotificationPage {
    if let problem { throw problem }
    return stored.page(of: scope, after: id)
  }

  /// Returns the users that own notifications of applications with the given id; empty if the store
  /// is unusable.
  func owners(of id: ApplicationID) -> [UserID] { stored.owners(of: id) }

  /// Returns the ids of an application's notifications.
  ///
  /// - Parameter id: If not nil, the function returns only this notification, and only if it
  ///   belongs to the application.
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

  /// Returns the next firing time of a notification that fired at `time`; nil if it does not fire
  /// again.
  private func next(
    of row: StoredNotification, after time: WallTime, _ now: WallTime
  ) -> WallTime? {
    guard let schedule = row.schedule, schedule.repeats != nil else { return nil }
    // A row receives a firing together with the next firing time. If the row already contains this
    // firing, use its next time. Otherwise, compute the next time.
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
    // The notification has fired, even if the firing cannot be stored.
    if case .fire = transaction { apply(changes) }
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

  /// Writes a note about the desktop for the next daemon.
  func note(_ what: String, _ changes: [NotificationChange]) {
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

  /// Closes notifications that the store has removed. Otherwise the user would still see them, but
  /// choosing them would have no effect.
  private func forget(_ ids: [NotificationID]) {
    for id in ids {
      let row = stored[id]
      stored.remove(id)
      log.write(
        .info, "removed notification \(id.number): its application has more than "
          + "\(NotificationStore.pastMax) presented notifications, or its user more than "
          + "\(NotificationStore.pastOfUserMax)")
      if let row { withdraw(row) }
    }
  }

  private func succeeded(_ written: Writing) {
    guard case .transaction(let id, let transaction, let changes) = written else { return }
    switch transaction {
    case .schedule, .setBadge: apply(changes)
    case .cancel(let ids, _):
      let rows = ids.compactMap { stored[$0] }
      stored.apply(changes)
      for row in rows { withdraw(row) }
    case .fire:
      // The badge of the firing entered the copy at once. Since then, an older badge that the
      // application had set may have become durable and replaced it in the copy. Apply the badge of
      // the firing again.
      apply(changes.filter { if case .badge = $0 { true } else { false } })
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
      log.write(.error, "refused a change of notifications: \(error)", id: .storeFailed)
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

  // MARK: The session agent

  /// Sends the notifications and badges of a user to the session agent that has attached.
  func agentAttached(_ user: UserID) {
    let shown = stored.rows { $0.shownAs != nil && !$0.isDue }
    let rows = (shown + stored.unpresented).filter { $0.application.owner == user }
    let badges = stored.badges.filter { $0.key.owner == user && $0.value > 0 }.map {
      SessionInterface.Badge(application: $0.key.id.name, count: $0.value)
    }
    let recording = recordingNotices(user).map {
      recordings.order($0, name: displayName($0.application))
    }
    agents.synchronize(
      user,
      notifications: rows.map { order($0, firedAt: $0.firedAt) } + recording
        + notices.flatMap { $0.orders(for: user) },
      badges: badges.sorted { $0.application < $1.application })
  }

  /// Applies changes to the copy in memory, and sends new badges to the agents.
  private func apply(_ changes: [NotificationChange]) {
    stored.apply(changes)
    for case .badge(let key, let count) in changes { agents.setBadge(count, of: key) }
  }

  /// Shows a notification that fired at `at`. Does nothing if, according to the store, a desktop
  /// has already shown the notification since that firing.
  private func show(_ id: NotificationID, firedAt at: WallTime) {
    guard let row = stored[id], row.firedAt != at || row.isDue else { return }
    agents.show(order(row, firedAt: at), to: row.application.owner)
  }

  /// Closes a removed notification if the daemon may have told an agent to show it.
  private func withdraw(_ row: StoredNotification) {
    guard row.shownAs != nil || row.isDue else { return }
    agents.withdraw(row.id, shownAs: row.shownAs, of: row.application.owner)
  }

  private func order(
    _ row: StoredNotification, firedAt: WallTime?
  ) -> SessionInterface.Notification {
    SessionInterface.Notification(
      id: Int(clamping: row.id.number), firedAt: Int(firedAt?.nanoseconds ?? 0),
      application: row.application.id.name, applicationName: displayName(row.application),
      title: row.content.title, body: row.content.body.isEmpty ? nil : row.content.body,
      sound: row.content.sound, urgency: .normal, actions: [],
      shown: row.isDue ? nil : row.shownAs.map { .init($0) })
  }
}
