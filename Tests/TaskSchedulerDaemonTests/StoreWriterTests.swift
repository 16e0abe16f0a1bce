import EventLoop
import LinuxSystem
import TaskSchedulerCore
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

@Suite("The thread that writes to a store")
struct StoreWriterTests {
  private let folder = TemporaryDirectory()
  private let mail = StoreFixture.mail

  /// A writer with its store, and all answers of the writer so far.
  private final class Fixture {
    let loop: EventLoop
    private let store: NotificationStore
    private var writer: StoreWriter<NotificationStore>?
    private(set) var answers: [StoreWriter<NotificationStore>.Answer] = []

    /// - Parameter sql: statements that change the database before the writer opens it.
    init(_ path: String, _ sql: String) throws {
      loop = try EventLoop()
      store = try NotificationStore(path: path)
      try store.database.execute(sql)
      writer = try StoreWriter(store, loop: loop) { [unowned self] in take() }
    }

    private func take() { answers += writer?.takeAnswers() ?? [] }

    func add(_ changes: [NotificationChange]) -> UInt64 { writer?.add(changes) ?? 0 }

    /// The numbers of the answered jobs, grouped by transaction.
    var groups: [[UInt64]] { answers.map(\.numbers) }

    func waitForAnswers(to count: Int) throws {
      while groups.joined().count < count { try loop.turn(within: .seconds(60)) }
    }

    /// Returns the contents of the file after all jobs are written.
    func stored() throws -> StoredNotifications {
      writer?.waitUntilIdle()
      take()
      return try store.contents()
    }
  }

  /// A trigger that makes the insertion of notification 1 slow: it counts a large product of rows.
  private static let slow = """
    CREATE TEMP TABLE number AS
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
      SELECT i FROM n;
    CREATE TEMP TRIGGER slow BEFORE INSERT ON main.notification WHEN new.id = 1 BEGIN
      SELECT count(*) FROM number AS a, number AS b WHERE a.i + b.i < 0;
    END;
    """

  @Test("Changes that wait while the disk is slow are stored together, in the order of the calls")
  func together() throws {
    let fixture = try Fixture(folder.file("db"), Self.slow)
    for id in 1...9 as ClosedRange<UInt64> {
      #expect(fixture.add([StoreFixture.schedule(id, mail), .badge(mail, Int(id))]) == id)
    }
    try fixture.waitForAnswers(to: 9)
    #expect(fixture.groups.joined().elementsEqual(1...9))
    #expect(fixture.groups.count <= 3, "\(fixture.groups)")
    let stored = try fixture.stored()
    #expect(stored.ids.count == 9 && stored.badges == [mail: 9])
  }

  @Test("The event loop serves other clients while the disk is slow")
  func loopServes() throws {
    let fixture = try Fixture(folder.file("db"), Self.slow)
    var served = 0
    let other = try fixture.loop.soon { served += 1 }
    _ = fixture.add([StoreFixture.schedule(1, mail)])
    for _ in 1...100 {
      other.request()
      try fixture.loop.turn(within: .seconds(60))
    }
    #expect(served == 100 && fixture.answers.isEmpty)
    try fixture.waitForAnswers(to: 1)
  }

  @Test("A change that cannot be stored does not affect other changes that wait with it")
  func failing() throws {
    let fixture = try Fixture(
      folder.file("db"),
      Self.slow
        + """
        CREATE TEMP TRIGGER failing BEFORE INSERT ON main.notification WHEN new.id = 5 BEGIN
          SELECT RAISE(ABORT, 'the test refuses it');
        END;
        """)
    for id in 1...5 as ClosedRange<UInt64> {
      _ = fixture.add([.badge(mail, Int(id)), StoreFixture.schedule(id, mail)])
    }
    try fixture.waitForAnswers(to: 5)
    #expect(fixture.groups.joined().elementsEqual(1...5))
    let failed = fixture.answers.filter { (try? $0.result.get()) == nil }
    #expect(failed.map(\.numbers) == [[5]])
    #expect(throws: StoreError.self) { try failed[0].result.get() }
    let stored = try fixture.stored()
    #expect(stored.ids.map(\.number).sorted() == [1, 2, 3, 4])
    #expect(stored.badges == [mail: 4], "the failed change has no effect")
  }

  @Test("After waitUntilIdle(), all changes are on the disk and answered")
  func waitedFor() throws {
    let fixture = try Fixture(folder.file("db"), Self.slow)
    for id in 1...40 as ClosedRange<UInt64> { _ = fixture.add([StoreFixture.schedule(id, mail)]) }
    #expect(try fixture.stored().ids.count == 40)
    #expect(fixture.groups.joined().count == 40)
  }
}
