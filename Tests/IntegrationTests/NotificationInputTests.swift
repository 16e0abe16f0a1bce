import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §15 for the parameters of notifications.
@Suite("§15: Invalid input about notifications gets an error that names the field")
struct NotificationInputTests {
  private let id = "org.test.clock"
  private let nobody: UInt32 = 65534

  private func registered(_ daemon: DaemonFixture) throws -> TestApplication {
    let application = try TestApplication(daemon, id)
    try application.registered()
    #expect(try application.callbackKinds(2) == ["didFinishLaunching", "didBecomeActive"])
    return application
  }

  private static let tooLong = String(repeating: "ä", count: 129)

  private static let contents: [(JSONValue, String)] = [
    (["title": ""], "content.title"),
    (["title": .string(tooLong)], "content.title"),
    (["title": "a\u{7}b"], "content.title"),
    (["title": "a\u{85}b"], "content.title"),
    (["title": "a", "body": "a\u{1}b"], "content.body"),
    (["title": "a", "body": .string(String(repeating: "x", count: 4097))], "content.body"),
    (["title": "a", "sound": "bell\n\u{1b}[2J"], "content.sound"),
    (["title": "a", "sound": ""], "content.sound"),
    (["title": "a", "sound": "../etc/passwd"], "content.sound"),
    (["title": "a", "sound": ".."], "content.sound"),
    (["title": "a", "sound": "file:///x"], "content.sound"),
    (["title": "a", "sound": "Bell"], "content.sound"),
    (["title": "a", "sound": "a bell"], "content.sound"),
    (["title": "a", "sound": "bell\n"], "content.sound"),
    (["title": "a", "sound": "/a/b\n"], "content.sound"),
    (["title": "a", "sound": "/"], "content.sound"),
    (["title": "a", "sound": "/a/../b"], "content.sound"),
    (["title": "a", "sound": .string(String(repeating: "x", count: 1025))], "content.sound"),
    (["title": "a", "userData": .string(String(repeating: "x", count: 4097))], "content.userData"),
    (["title": "a", "badge": -1], "content.badge"),
    (["title": "a", "badge": 1_000_000_000], "content.badge"),
    (["title": "a", "badge": .integer(.max)], "content.badge"),
    (["title": "a", "badge": .integer(.min)], "content.badge"),
  ]

  private static let schedules: [(String, String, String)] = [
    ("2099-02-29T12:00:00", "UTC", "schedule.date"),
    ("2099-04-31T12:00:00", "UTC", "schedule.date"),
    ("2099-13-01T12:00:00", "UTC", "schedule.date"),
    ("2099-01-01T24:00:00", "UTC", "schedule.date"),
    ("2099-01-01T12:60:00", "UTC", "schedule.date"),
    ("2099-01-01 12:00:00", "UTC", "schedule.date"),
    ("2099-01-01T12:00:00Z", "UTC", "schedule.date"),
    ("tomorrow", "UTC", "schedule.date"),
    ("", "UTC", "schedule.date"),
    ("0000-00-00T00:00:00", "UTC", "schedule.date"),
    ("99999-01-01T12:00:00", "UTC", "schedule.date"),
    ("9999-12-31T23:59:59", "UTC", "schedule.date"),
    ("2099-01-01T12:00:00", "Europe/Berln", "schedule.timeZone"),
    ("2099-01-01T12:00:00", "", "schedule.timeZone"),
    ("2099-01-01T12:00:00", "../../../etc/passwd", "schedule.timeZone"),
    ("2099-01-01T12:00:00", "/etc/localtime", "schedule.timeZone"),
    ("2099-01-01T12:00:00", "Europe", "schedule.timeZone"),
    ("2099-01-01T12:00:00", "Europe/Berlin\n", "schedule.timeZone"),
  ]

  @Test("Invalid texts, badges, dates and time zones are refused, and change nothing")
  func fields() throws {
    let daemon = try DaemonFixture()
    let application = try registered(daemon)
    func expect(_ content: JSONValue, _ schedule: JSONValue, _ parameter: String) throws {
      let answer = try application.call(
        "ScheduleNotification", ["content": content, "schedule": schedule])
      #expect(answer.errorName == "InvalidNotification", "\(content) \(schedule): \(answer)")
      #expect(answer["parameters"]?["parameter"] == .string(parameter), "\(answer)")
      guard case .string(let reason)? = answer["parameters"]?["reason"] else {
        return #expect(Bool(false), "\(answer)")
      }
      #expect(!reason.isEmpty)
    }
    for (content, parameter) in Self.contents { try expect(content, nil, parameter) }
    for (date, zone, parameter) in Self.schedules {
      let schedule: JSONValue = ["date": .string(date), "timeZone": .string(zone)]
      try expect(["title": "a"], schedule, parameter)
    }
    #expect(try application.notifications().isEmpty)
    #expect(try daemon.application(id).badge == nil)
    #expect(try application.notify("a") == 1)
  }

  @Test("Wrong types, invalid badges and an unknown repeat interval are refused")
  func types() throws {
    let daemon = try DaemonFixture()
    let application = try registered(daemon)
    let calls: [(String, JSONValue, String)] = [
      ("ScheduleNotification", [:], "content"),
      ("ScheduleNotification", ["content": "Lunch"], "content"),
      ("ScheduleNotification", ["content": [:]], "content.title"),
      ("ScheduleNotification", ["content": ["title": 5]], "content.title"),
      ("ScheduleNotification", ["content": ["title": "a", "badge": 1.5]], "content.badge"),
      (
        "ScheduleNotification",
        [
          "content": ["title": "a"],
          "schedule": ["date": "2099-01-01T12:00:00", "timeZone": "UTC", "repeats": "fortnight"],
        ], "schedule.repeats"
      ),
      ("CancelNotifications", ["notification": "all"], "notification"),
      // A text must not contain a NUL.
      ("ScheduleNotification", ["content": ["title": "a\u{0}b"]], "content.title"),
      ("ScheduleNotification", ["content": ["title": "a", "body": "\u{0}"]], "content.body"),
      ("SetBadge", [:], "badge"),
      ("SetBadge", ["badge": -1], "badge"),
      ("SetBadge", ["badge": 1_000_000_000], "badge"),
    ]
    for (method, parameters, field) in calls {
      let answer = try application.call(method, parameters)
      #expect(answer.errorName == "InvalidParameter", "\(parameters): \(answer)")
      #expect(answer["parameters"]?["parameter"] == .string(field), "\(answer)")
    }
    #expect(try application.notifications().isEmpty)
  }

  @Test("Unknown ids, and those of another application, are refused")
  func ids() throws {
    let daemon = try DaemonFixture()
    let other = try TestApplication(daemon, "org.test.other")
    try other.registered()
    let others = try other.notify("Another's", at: WallClockTime(in: 1000))
    let application = try registered(daemon)
    for number in [others, 0, -1, 99, Int.max] {
      let answer = try application.call(
        "CancelNotifications", ["notification": .integer(Int64(number))])
      #expect(answer.errorName == "UnknownNotification", "\(answer)")
      #expect(answer["parameters"]?["notification"] == .integer(Int64(number)))
    }
    #expect(try application.cancel().isEmpty)
    #expect(try application.notifications().isEmpty)
    #expect(try daemon.notifications(of: "org.test.other").map(\.id) == [others])
    let stranger = try RawClient(daemon)
    let asked = try stranger.call(
      #"{"method":"org.taskschedd.Application.ScheduleNotification","#
        + #""parameters":{"content":{"title":"a"}}}"#)
    #expect(asked?.errorName == "NotRegistered")
  }

  @Test(
    "§16: A user cannot see, cancel or add other users' notifications",
    .enabled(if: geteuid() == 0, "only root can run other users' programs"))
  func otherUsers() throws {
    let daemon = try DaemonFixture()
    let application = try registered(daemon)
    let number = try application.notify("Root's", at: WallClockTime(in: 1000))
    let own = try TestApplication(daemon, "org.test.own", uid: nobody)
    try own.registered()
    let ownNumber = try own.notify("Own", at: WallClockTime(in: 1000))
    let user = try OtherUser(daemon, uid: nobody)
    let calls = try user.open()
    let control = "org.taskschedd.Control."
    let all = try user.call(calls, control + "ListNotifications")
    guard case .array(let seen)? = all["parameters"]?["notifications"] else {
      return #expect(Bool(false), "\(all)")
    }
    #expect(seen.compactMap { $0["notification"]?["id"] } == [.integer(Int64(ownNumber))])
    let roots: JSONValue = ["application": .string(id)]
    let content: JSONValue = ["title": "a"]
    let posting: JSONValue = ["application": .string(id), "content": content]
    for (method, parameters) in [
      ("ListNotifications", roots), ("CancelNotifications", roots), ("PostNotification", posting),
    ] {
      let answer = try user.call(calls, control + method, parameters)
      #expect(answer.errorName == "UnknownApplication", "\(method): \(answer)")
    }
    let named: JSONValue = ["application": .string(id), "owner": 0]
    #expect(try user.call(calls, control + "ListNotifications", named).errorName != nil)
    let ownOnes: JSONValue = ["application": "org.test.own"]
    let cancelled = try user.call(calls, control + "CancelNotifications", ownOnes)
    #expect(cancelled["parameters"]?["cancelled"] == [.integer(Int64(ownNumber))])
    #expect(try application.notifications().map(\.id) == [number])
  }

  /// Schedules 5000 notifications, cancels all except 50, and prints the ids of the 50.
  private static let flood = """
    import json, os, socket
    def connect():
        s = socket.socket(socket.AF_UNIX); s.connect(os.environ["TASKSCHEDD_SOCKET"]); return s
    def call(method, parameters, **flags):
        call = {"method": "org.taskschedd.Application." + method, "parameters": parameters, **flags}
        return json.dumps(call).encode() + b"\\0"
    events, calls, buffer = connect(), connect(), b""
    def receive(count):
        global buffer
        while buffer.count(b"\\0") < count: buffer += calls.recv(65536)
        parts = buffer.split(b"\\0", count); buffer = parts.pop()
        return [json.loads(part)["parameters"] for part in parts]
    events.sendall(call("Register", {"application": "org.test.flood"}, more=True))
    events.recv(65536)
    schedule = call("ScheduleNotification", {"content": {"title": "a"},
        "schedule": {"date": "2099-01-01T00:00:00", "timeZone": "UTC"}})
    print("floods", flush=True)
    kept = []
    for turn in range(100):
        calls.sendall(schedule * 50)
        ids = [answer["notification"] for answer in receive(50)]
        if turn % 2: kept.append(ids.pop())
        calls.sendall(b"".join(call("CancelNotifications", {"notification": i}) for i in ids))
        receive(len(ids))
    print(json.dumps(kept), flush=True)
    input()
    """

  @Test("§15: 10,000 notifications are scheduled and cancelled while other users are served")
  func flood() throws {
    // The flooding client acknowledges no callback. With a short CallbackTimeout, the daemon would
    // kill it.
    let daemon = try DaemonFixture(.init(policy: [("CallbackTimeout", "1h")]))
    let application = try registered(daemon)
    let flooding = try daemon.python(Self.flood, uid: geteuid() == 0 ? nobody : nil)
    #expect(try flooding.nextLine() == "floods")
    let own = try application.notify("Own", at: WallClockTime(in: 1000))
    for _ in 0..<50 { #expect(try application.end(9).errorName == "UnknownTask") }
    #expect(try !flooding.hasWritten, "the daemon answered other calls before the flood ended")
    guard case .array(let kept) = try JSONParser.parse(
      Array(try unwrap(try flooding.readLine(within: .seconds(120))).utf8))
    else { return #expect(Bool(false), "the flooding program printed no list of ids") }
    let listed = try daemon.notifications(of: "org.test.flood").map { Int64($0.id) }
    #expect(listed.map { JSONValue.integer($0) } == kept)
    #expect(kept.count == 50)
    #expect(try daemon.application("org.test.flood").scheduledNotifications == 50)
    #expect(try application.notifications().map(\.id) == [own])
    let again = try daemon.killed()
    #expect(try again.notifications(of: "org.test.flood").map { Int64($0.id) } == listed)
  }
}
