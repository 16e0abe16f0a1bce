import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §9 and §15 with a slow or failing store. Triggers in its database delay a change for as
/// long as the test requires, or make the change fail.
@Suite("§9, §15: The daemon answers a notification call after it is stored, even on a slow disk")
struct SlowStoreTests {
  /// A call that changes the store.
  enum Change: String, CaseIterable, CustomTestStringConvertible {
    case schedule, cancel, badge
    var testDescription: String { rawValue }

    /// The SQL clause that makes a trigger fire before this change.
    var statement: String {
      switch self {
      case .schedule: "BEFORE INSERT ON notification"
      case .cancel: "BEFORE DELETE ON notification"
      case .badge: "BEFORE INSERT ON badge"
      }
    }

    var method: String {
      switch self {
      case .schedule: "ScheduleNotification"
      case .cancel: "CancelNotifications"
      case .badge: "SetBadge"
      }
    }

    var parameters: JSONValue {
      switch self {
      case .schedule:
        [
          "content": ["title": "New"],
          "schedule": ["date": "2099-01-01T00:00:00", "timeZone": "UTC"],
        ]
      case .cancel: ["notification": 1]
      case .badge: ["badge": 7]
      }
    }

    /// The titles and the badge before the change and after it.
    static let before = Contents(titles: ["Old"], badge: 3)
    var after: Contents {
      switch self {
      case .schedule: Contents(titles: ["Old", "New"], badge: 3)
      case .cancel: Contents(titles: [], badge: 3)
      case .badge: Contents(titles: ["Old"], badge: 7)
      }
    }
  }

  struct Contents: Hashable {
    var titles: [String]
    var badge: Int?
  }

  /// How slow the trigger is: `second` takes about a second, and `endless` outlasts every test. The
  /// raw value is the number of tables that the trigger joins.
  private enum Slowness: Int { case second = 2, endless = 3 }

  private let id = "org.test.slow"

  private func edit(_ daemon: DaemonFixture, _ sql: String) throws {
    let program = """
      import sqlite3, sys
      store = sqlite3.connect(sys.argv[1], isolation_level=None)
      store.executescript(sys.argv[2])
      store.close()
      """
    let path = daemon.folder.file("state/notifications.db")
    let editing = try TestProcess.python(program, [path, sql])
    #expect(try editing.waitForExit() == .exited(code: 0))
  }

  private func slow(_ change: Change, _ slowness: Slowness) -> String {
    let tables = ["a", "b", "c"].prefix(slowness.rawValue)
    return """
      CREATE TABLE number AS
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000)
        SELECT i FROM n;
      CREATE TRIGGER obstacle \(change.statement) BEGIN
        SELECT count(*) FROM \(tables.map { "number AS \($0)" }.joined(separator: ", "))
        WHERE \(tables.map { "\($0).i" }.joined(separator: " + ")) < 0;
      END;
      """
  }

  /// Returns a daemon whose store has one notification, a badge and a trigger that obstructs
  /// changes.
  private func daemon(_ sql: String) throws -> DaemonFixture {
    let first = try DaemonFixture(.init(manifests: [(id, "command = [\"/bin/sleep\", \"1000\"]")]))
    let application = try TestApplication(first, id)
    try application.registered()
    try application.notify("Old", at: WallClockTime(in: 100_000))
    #expect(try application.call("SetBadge", ["badge": 3])["error"] == nil)
    return try first.restarted { try edit(first, sql) }
  }

  private func contents(_ daemon: DaemonFixture) throws -> Contents {
    Contents(
      titles: try daemon.notifications(of: id).map(\.content.title),
      badge: try daemon.application(id).badge)
  }

  /// Whether the daemon is writing to the store. While it writes, the daemon has a second thread
  /// in addition to the thread of the event loop.
  private func isWriting(_ daemon: DaemonFixture) throws -> Bool {
    try Directory.names(path: "/proc/\(daemon.process.pid)/task").count > 1
  }

  private func error(_ answer: JSONValue) -> String? {
    if case .string(let name)? = answer["error"] { name } else { nil }
  }

  @Test(
    """
    A hanging disk delays no other call. After kill -9, the next daemon stores the requested \
    change. After a reboot, the change is lost
    """, arguments: Change.allCases, [false, true])
  func hanging(change: Change, rebooting: Bool) throws {
    var daemon = try daemon(slow(change, .endless))
    let application = try TestApplication(daemon, id)
    try application.registered()
    try application.send(change.method, change.parameters)
    try waitUntil("the store writes") { try isWriting(daemon) }
    let other = try TestApplication(daemon, "org.test.other")
    try other.registered()
    try other.begin()
    #expect(try other.notifications().isEmpty)
    #expect(try contents(daemon) == Change.before, "a change that is not stored is not visible")
    #expect(try isWriting(daemon) && application.takeAnswers().isEmpty)
    daemon = try daemon.killed(rebooting: rebooting) { [daemon] in
      try edit(daemon, "DROP TRIGGER obstacle")
    }
    let expected = rebooting ? Change.before : change.after
    try waitUntil("\(expected)") { try contents(daemon) == expected }
    #expect(!daemon.logged.contains("error: "))
    daemon = try daemon.killed(rebooting: true)
    #expect(try contents(daemon) == expected)
  }

  @Test(
    "A change that the disk refuses gets the error NotStored, and is not stored later",
    arguments: Change.allCases)
  func failing(change: Change) throws {
    var daemon = try daemon(
      """
      CREATE TRIGGER obstacle \(change.statement) BEGIN
        SELECT RAISE(ABORT, 'the disk refuses it');
      END;
      """)
    let application = try TestApplication(daemon, id)
    try application.registered()
    let answer = try application.call(change.method, change.parameters)
    #expect(error(answer)?.hasSuffix(".NotStored") == true, "\(answer)")
    #expect("\(answer)".contains("the disk refuses it"))
    #expect(try contents(daemon) == Change.before)
    daemon = try daemon.killed(rebooting: true) { [daemon] in
      try edit(daemon, "DROP TRIGGER obstacle")
    }
    #expect(try contents(daemon) == Change.before)
  }

  @Test(
    "A daemon stores and answers the requested changes before it stops",
    arguments: Change.allCases)
  func stopped(change: Change) throws {
    let daemon = try daemon(slow(change, .second))
    let application = try TestApplication(daemon, id)
    try application.registered()
    try application.send(change.method, change.parameters)
    try waitUntil("the store writes") { try isWriting(daemon) }
    let next = try daemon.restarted()
    let answer = try application.nextAnswer()
    #expect(error(answer) == nil, "\(answer)")
    #expect(try contents(next) == change.after)
  }

  @Test("Each change that was answered before kill -9 and a reboot is on the disk")
  func killedWhileStoring() throws {
    var daemon = try DaemonFixture(
      .init(manifests: [(id, "command = [\"/bin/sleep\", \"1000\"]")]))
    var badgeLast: Int64 = 0
    for round in 1...8 {
      let application = try TestApplication(daemon, id)
      try application.registered()
      var calls: [(change: Change, number: Int64)] = []
      func send(_ change: Change, _ number: Int64, _ parameters: JSONValue) throws {
        calls.append((change, number))
        try application.send(change.method, parameters)
      }
      for old in try daemon.notifications(of: id).prefix(10) {
        try send(.schedule, 0, Change.schedule.parameters)
        badgeLast += 1
        try send(.badge, badgeLast, ["badge": .integer(badgeLast)])
        try send(.cancel, Int64(old.id), ["notification": .integer(Int64(old.id))])
      }
      for _ in 1...20 { try send(.schedule, 0, Change.schedule.parameters) }
      let answers = try (1...(2 * round + 3)).map { _ in try application.nextAnswer() }
      daemon = try daemon.killed(rebooting: true)
      let there = Set(try daemon.notifications(of: id).map { Int64($0.id) })
      let badge = Int64(try daemon.application(id).badge ?? 0)
      for (call, answer) in zip(calls, answers) {
        #expect(error(answer) == nil, "\(answer)")
        switch call.change {
        case .schedule:
          guard case .integer(let id)? = answer["parameters"]?["notification"] else {
            throw TestApplication.Unexpected(line: "\(answer)")
          }
          #expect(there.contains(id))
        case .cancel: #expect(!there.contains(call.number))
        case .badge: #expect(badge >= call.number)
        }
      }
    }
    #expect(badgeLast > 20)
  }
}
