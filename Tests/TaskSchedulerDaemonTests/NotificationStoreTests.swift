import Glibc
import LinuxSystem
import TaskSchedulerCore
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

/// Tests of contract §9: notifications survive the daemon's restart, the application's end and a
/// reboot.
@Suite("The notification store")
struct NotificationStoreTests {
  private let folder = TemporaryDirectory()
  private var path: String { folder.file("notifications.db") }
  private let mail = StoreFixture.mail
  private let game = StoreFixture.game

  private func store() throws -> NotificationStore { try NotificationStore(path: path) }

  // MARK: Contents

  @Test("The next daemon reads a scheduled notification with all its fields")
  func kept() throws {
    let content = NotificationContent(
      title: "Tee\u{0} \u{301}\u{1F375}", body: "\"'%;\n\u{202E}", sound: "bell", badge: -3,
      userData: #"{"a": [1, "\u0000"]}"#)
    let schedule = NotificationSchedule(
      date: "2026-12-24T18:00:00", timeZone: "Europe/Berlin", repeats: .year)
    let draft = NotificationDraft(
      content: content, schedule: schedule, firesAt: WallTime(nanoseconds: .max))
    try store().apply([.schedule(NotificationID(7), mail, draft), .badge(mail, 3)])
    let store = try store()
    let expected = StoredNotification(
      id: NotificationID(7), application: mail, content: content, schedule: schedule,
      firesAt: WallTime(nanoseconds: .max), isDue: false)
    #expect(try store.notification(NotificationID(7)) == expected)
    #expect(try store.notification(NotificationID(8)) == nil)
    #expect(try store.contents().badges == [mail: 3])
    #expect(try store.idLast() == NotificationID(7))
  }

  @Test("The state of a notification that fires once is scheduled, then fired, then presented")
  func once() throws {
    let store = try store()
    let id = NotificationID(1)
    try store.apply([.schedule(id, mail, StoreFixture.draft(firesAt: 10))])
    #expect(try store.notification(id)?.state == .scheduled)
    try store.apply([.fired(id, at: WallTime(nanoseconds: 11), next: nil)])
    #expect(try store.notification(id)?.state == .fired)
    #expect(try store.scheduled().isEmpty)
    #expect(try store.contents().unpresented.map(\.id) == [id])
    try store.apply([.presented(id, at: WallTime(nanoseconds: 12))])
    let stored = try #require(try store.notification(id))
    #expect(stored.state == .presented)
    #expect(stored.firedAt == WallTime(nanoseconds: 11))
    #expect(stored.presentedAt == WallTime(nanoseconds: 12))
    #expect(try store.contents().unpresented.isEmpty)
  }

  @Test("A repeating notification can wait to be shown and be scheduled at the same time")
  func repeating() throws {
    let store = try store()
    let id = NotificationID(1)
    try store.apply([
      .schedule(id, mail, StoreFixture.draft(firesAt: 10, repeats: .day)),
      .fired(id, at: WallTime(nanoseconds: 10), next: WallTime(nanoseconds: 20)),
    ])
    #expect(try store.contents().unpresented.map(\.id) == [id])
    #expect(try store.scheduled().map(\.firesAt) == [WallTime(nanoseconds: 20)])
    try store.apply([.presented(id, at: WallTime(nanoseconds: 11))])
    #expect(try store.notification(id)?.state == .scheduled)
    try store.apply([.fired(id, at: WallTime(nanoseconds: 20), next: WallTime(nanoseconds: 30))])
    #expect(try store.contents().unpresented.map(\.id) == [id])
    try store.apply([.moved(id, to: WallTime(nanoseconds: 31))])
    #expect(try store.scheduled().map(\.firesAt) == [WallTime(nanoseconds: 31)])
  }

  @Test(
    "An immediate notification is due when it is stored, and waits to be shown when it has fired")
  func now() throws {
    let store = try store()
    let (id, draft) = (NotificationID(1), NotificationDraft(content: .init(title: "now")))
    try store.apply([.schedule(id, mail, draft)])
    #expect(try store.notification(id)?.isDue == true)
    #expect(try store.contents().unpresented.isEmpty)
    #expect(try store.scheduled().isEmpty)
    try store.apply([.fired(id, at: WallTime(nanoseconds: 1), next: nil)])
    #expect(try store.contents().unpresented.map(\.id) == [id])
  }

  @Test("After the same changes, the copy in memory equals the store")
  func copy() throws {
    let store = try store()
    var copy = StoredNotifications()
    var generator = StoreFixture.Generator()
    for number in 1...2000 as ClosedRange<UInt64> {
      let id = NotificationID(UInt64.random(in: 1...number, using: &generator))
      let at = WallTime(nanoseconds: Int64(number))
      let key = Bool.random(using: &generator) ? mail : game
      let one: NotificationChange =
        switch Int.random(in: 0..<7, using: &generator) {
        case 0: .schedule(id, key, NotificationDraft(content: .init(title: "\(number)")))
        case 1: StoreFixture.schedule(id.number, key)
        case 2: .fired(id, at: at, next: Bool.random(using: &generator) ? at : nil)
        case 3: .presented(id, at: at)
        case 4: .moved(id, to: at)
        case 5: .badge(key, Int.random(in: 0...2, using: &generator))
        case _: number % 5 == 0 ? .removed(id) : .shown(id, DesktopName(number: 1, service: ":1"))
        }
      let changes = [one, .presented(NotificationID(number), at: at)]
      copy.apply(changes)
      for id in try store.apply(changes) { copy.remove(id) }
      if number % 50 == 0 { #expect(try copy == store.contents(), "\(number)") }
    }
    #expect(copy.ids.count > 100)
  }

  @Test("Fired notifications are shown in the order in which they fired")
  func order() throws {
    let store = try store()
    try store.apply((1...3).map { StoreFixture.schedule($0, mail) })
    for id in [3, 1, 2] as [UInt64] {
      let at = WallTime(nanoseconds: 30 - Int64(id))
      try store.apply([.fired(NotificationID(id), at: at, next: nil)])
    }
    #expect(try store.contents().unpresented.map(\.id.number) == [3, 2, 1])
  }

  @Test("The store knows the highest id even when all notifications are removed")
  func ids() throws {
    try store().apply((1...9).map { StoreFixture.schedule($0, mail) })
    try store().apply((1...9).map { .removed(NotificationID($0)) })
    #expect(try store().list().isEmpty)
    #expect(try store().idLast() == NotificationID(9))
  }

  @Test("The list of an application has no other application's and no other user's notifications")
  func lists() throws {
    let store = try store()
    let others = ApplicationKey(mail.id, owner: UserID(1001))
    try store.apply([
      StoreFixture.schedule(1, mail), StoreFixture.schedule(2, others),
      StoreFixture.schedule(3, game), StoreFixture.schedule(4, mail), .badge(others, 9),
      .badge(mail, 1), .badge(mail, 0),
    ])
    #expect(try store.list(of: mail).map(\.id.number) == [1, 4])
    #expect(try store.list(of: others).map(\.id.number) == [2])
    #expect(try store.list().map(\.id.number) == [1, 2, 3, 4])
    #expect(try store.contents().badges == [others: 9])
  }

  @Test("A change that is written twice has the same result as a change that is written once")
  func twice() throws {
    let store = try store()
    let changes: [NotificationChange] = [
      StoreFixture.schedule(1, mail), StoreFixture.schedule(2, game),
      .fired(NotificationID(1), at: WallTime(nanoseconds: 11), next: WallTime(nanoseconds: 20)),
      .presented(NotificationID(1), at: WallTime(nanoseconds: 12)),
      .moved(NotificationID(1), to: WallTime(nanoseconds: 21)), .removed(NotificationID(2)),
      .badge(mail, 2),
    ]
    for count in changes.indices {
      try store.apply(Array(changes[...count]))
      let (list, badges) = (try store.list(), try store.contents().badges)
      try store.apply([changes[count]])
      #expect(try store.list() == list)
      #expect(try store.contents().badges == badges)
      try store.apply(Array(changes[...count]))
      #expect(try store.list() == list, "from the beginning, up to \(count)")
    }
    try store.apply([.fired(NotificationID(99), at: WallTime(nanoseconds: 1), next: nil)])
    #expect(try store.notification(NotificationID(99)) == nil)
  }

  @Test("An application's latest 128 presented notifications are kept, and all that were not shown")
  func bounded() throws {
    let store = try store()
    let now = NotificationDraft(content: NotificationContent(title: "now"))
    try store.apply([StoreFixture.schedule(1, mail), .schedule(NotificationID(2), game, now)])
    try store.apply([
      .fired(NotificationID(2), at: WallTime(nanoseconds: 1), next: nil),
      .presented(NotificationID(2), at: WallTime(nanoseconds: 1)),
    ])
    var forgotten: [UInt64] = []
    for id in 3...602 as ClosedRange<UInt64> {
      let id = NotificationID(id)
      let at = WallTime(nanoseconds: Int64(id.number))
      try store.apply([.schedule(id, mail, now), .fired(id, at: at, next: nil)])
      guard id.number % 2 == 0 else { continue }
      forgotten += try store.apply([.presented(id, at: at)]).map(\.number)
    }
    let kept = try store.list(of: mail).map(\.id.number)
    #expect(kept.first == 1, "a scheduled notification does not count")
    #expect(kept.filter { $0 % 2 == 0 } == Array(stride(from: 348, through: 602, by: 2)))
    #expect(forgotten == Array(stride(from: 4, to: 348, by: 2)), "each removal is reported")
    #expect(kept.count { $0 % 2 == 1 } == 301)
    #expect(try store.contents().unshownCount(of: mail.owner) == 300)
    #expect(try store.contents().unshownCount(of: UserID(1)) == 0)
    #expect(try store.list(of: game).count == 1)
  }

  @Test("A list comes in pages of at most 256 notifications and 256 KiB of text, by id")
  func pages() throws {
    let store = try store()
    let body = String(repeating: "x", count: 4096)
    try store.apply((1...300).map { StoreFixture.schedule($0, $0 % 2 == 0 ? mail : game) })
    try store.apply((301...400).map { StoreFixture.schedule($0, mail, body: body) })
    let list = try store.contents()
    let first = list.page(of: .all)
    #expect(first.notifications.map(\.id.number) == Array(1...256))
    #expect(first.next == NotificationID(256))
    let second = list.page(of: .all, after: first.next)
    // The page has the 44 remaining short notifications. Notifications of 4099 bytes fill the rest.
    #expect(second.notifications.map(\.id.number) == Array(257...363))
    let ofGame = list.page(of: .application(game))
    #expect(ofGame.notifications.map(\.id.number) == Array(stride(from: 1, to: 300, by: 2)))
    #expect(ofGame.next == nil)
    let last = list.page(of: .user(game.owner), after: NotificationID(399))
    #expect(last.notifications.map(\.id.number) == [400])
    #expect(list.page(of: .user(UserID(1))).notifications.isEmpty)
    #expect(list.owners(of: mail.id) == [mail.owner])
  }

  @Test(
    """
    Of a user's notifications that were presented and will not fire again, the latest 1024 are \
    kept
    """)
  func pastOfUser() throws {
    let store = try store()
    let now = NotificationDraft(content: NotificationContent(title: "Tea"))
    var forgotten: [UInt64] = []
    for number in 1...1100 as ClosedRange<UInt64> {
      let id = NotificationID(number)
      let application = try #require(ApplicationID("org.example.app\(number / 100)"))
      let at = WallTime(nanoseconds: Int64(number))
      forgotten += try store.apply([
        .schedule(id, ApplicationKey(application, owner: UserID(1)), now),
        .fired(id, at: at, next: nil), .presented(id, at: at),
      ]).map(\.number)
    }
    #expect(forgotten == Array(1...76))
  }

  @Test("A repeating notification that waits to be shown counts as scheduled only")
  func unshownRepeating() throws {
    let store = try store()
    let (id, first) = (NotificationID(1), WallTime(nanoseconds: 10))
    try store.apply([
      .schedule(id, mail, StoreFixture.draft(firesAt: 10, repeats: .day)),
      .fired(id, at: first, next: WallTime(nanoseconds: 20)),
    ])
    #expect(try store.contents().unshownCount(of: mail.owner) == 0)
    try store.apply([.fired(id, at: WallTime(nanoseconds: 20), next: nil)])
    #expect(
      try store.contents().unshownCount(of: mail.owner) == 1, "the notification will not fire again"
    )
    try store.apply([.presented(id, at: WallTime(nanoseconds: 21))])
    #expect(try store.contents().unshownCount(of: mail.owner) == 0)
  }

  // MARK: Durability

  @Test("A transaction is synced before its reply")
  func synced() throws {
    let store = try store()
    let database = store.database
    #expect(try database.text("PRAGMA journal_mode") == "wal")
    #expect(try database.text("PRAGMA locking_mode") == "exclusive")
    // The value 2 means FULL.
    #expect(try database.integer("PRAGMA synchronous") == 2)
  }

  @Test("A stop moves all changes from the log to the database, where damage would be detected")
  func stopped() throws {
    do {
      let store = try store()
      try store.apply([StoreFixture.schedule(1, mail)])
      #expect(try FileDescriptor.open(reading: path + "-wal").readToEnd().count > 0)
      try store.checkpoint()
      #expect(try FileDescriptor.open(reading: path + "-wal").readToEnd().isEmpty)
    }
    #expect(try store().list().map(\.id) == [NotificationID(1)])
  }

  @Test("Other users can read neither the store nor its log")
  func permissions() throws {
    let path = folder.file("new/state/notifications.db")
    let store = try NotificationStore(path: path)
    try store.apply([StoreFixture.schedule(1, mail)])
    for file in [path, path + "-wal"] { #expect(FileStatus(path: file)?.permissions == 0o600) }
    #expect(FileStatus(path: folder.file("new"))?.permissions == 0o700)
  }

  @Test("A stored change survives kill -9 during the next transaction")
  func killed() async throws {
    let (path, acknowledged) = (path, folder.file("acknowledged"))
    for round in 1...12 as ClosedRange<Int32> {
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = path as String, file = acknowledged as String, round = round as Int32] in
        try StoreFixture.writeUntilKilled(path, file, microseconds: 3_000 * round)
      }
      let store = try NotificationStore(path: path)
      #expect(store.setAside == nil)
      let last = StoreFixture.count(in: acknowledged)
      let there = try store.list().map(\.id.number)
      // Each transaction stores three notifications: all of them or none.
      #expect(there.count % 3 == 0)
      #expect(there == there.indices.map { UInt64($0) + 1 })
      #expect(last <= there.count && there.count <= last + 3, "\(last), \(there.count)")
      // A notification that was stored but not acknowledged counts as stored.
      StoreFixture.setCount(there.count, in: acknowledged)
    }
    #expect(StoreFixture.count(in: acknowledged) > 30)
  }

  // MARK: Two daemons

  @Test("A second daemon is refused while the first lives, and the first keeps its lock")
  func twoDaemons() throws {
    let first = try store()
    for _ in 1...2 {
      let error = #expect(throws: StoreError.self) { _ = try store() }
      #expect(error?.kind == .inUse)
      #expect(error?.message.contains("another process uses \(path)") == true)
    }
    let program = """
      import sqlite3, sys
      try: print(sqlite3.connect(sys.argv[1], timeout=0).execute("SELECT * FROM badge").fetchall())
      except sqlite3.OperationalError as error: print(error)
      """
    let other = try TestProcess.python(program, [path])
    #expect(try other.readLine() == "database is locked")
    try first.apply([StoreFixture.schedule(1, mail)])
  }

  @Test("If another program holds the file, the error says so, and a later attempt succeeds")
  func heldByAnother() throws {
    try store().apply([StoreFixture.schedule(1, mail)])
    let program = """
      import sqlite3, sys
      held = sqlite3.connect(sys.argv[1], isolation_level=None)
      held.execute("BEGIN IMMEDIATE")
      print("held")
      sys.stdin.readline()
      held.close()
      print("free")
      """
    let other = try TestProcess.python(program, [path])
    #expect(try other.readLine() == "held")
    let error = #expect(throws: StoreError.self) { _ = try store() }
    #expect(error?.kind == .inUse)
    try other.writeLine("")
    #expect(try other.readLine() == "free")
    #expect(try store().list().count == 1)
  }

  // MARK: Versions

  @Test("A newer daemon's file is refused and not changed, and the error names the remedy")
  func newer() throws {
    do {
      let store = try store()
      try store.apply([StoreFixture.schedule(1, mail)])
      let id = try #require(try store.database.integer("PRAGMA application_id"))
      try store.database.execute(
        "PRAGMA user_version = 2; PRAGMA application_id = \((id & ~0xff) | 2)")
    }
    let error = #expect(throws: StoreError.self) { _ = try store() }
    #expect(error?.kind == .newer)
    #expect(error?.message.contains("install that version again, or move the file away") == true)
    let database = try Database(path: path)
    #expect(try database.integer("SELECT count(*) FROM notification") == 1)
  }

  @Test(
    "A file with two different versions counts as damaged, and its notifications are recovered",
    arguments: ["user_version", "application_id"])
  func differingVersions(field: String) throws {
    do {
      let store = try store()
      try store.apply([StoreFixture.schedule(1, mail)])
      let number = try #require(try store.database.integer("PRAGMA \(field)"))
      try store.database.execute("PRAGMA \(field) = \(number + 1)")
    }
    let store = try store()
    #expect(store.setAside?.salvagedCount == 1)
    #expect(try store.list().map(\.id.number) == [1])
  }
}
