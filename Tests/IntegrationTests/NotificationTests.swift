import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §9 with the real daemon and no desktop. `NotificationCalendarTests` tests when
/// schedules fire, and `NotificationStoreTests` tests the store.
@Suite("§9: Local notifications")
struct NotificationTests {
  private let id = "org.test.clock"
  /// Another user, who is not an operator.
  private let nobody: UInt32 = 65534

  private func active(_ daemon: DaemonFixture) throws -> TestApplication {
    let application = try TestApplication(daemon, id)
    try application.registered()
    #expect(try application.callbackKinds(2) == ["didFinishLaunching", "didBecomeActive"])
    return application
  }

  @Test(
      """
      A notification has a wall-clock time with a time zone, a repeat interval, title, body, \
      sound, badge and user data, and is listed
      """)
  func list() throws {
    let daemon = try DaemonFixture()
    let application = try active(daemon)
    let time = WallClockTime(in: 1000)
    let content: JSONValue = [
      "title": "Lunch", "body": "with Ann\nand Bob", "sound": "bell", "badge": 3,
      "userData": "{\u{1}}",
    ]
    let answer = try application.ask(content, at: time, repeats: "week")
    #expect(answer["parameters"]?["notification"] == 1)
    #expect(try application.notify("Later", at: WallClockTime(in: 2000)) == 2)
    let listed = try application.notifications()
    #expect(listed.map(\.id) == [1, 2])
    #expect(listed.map(\.state) == ["scheduled", "scheduled"])
    #expect(listed[0].json["content"]?.withoutNulls == content)
    #expect(listed[0].json["schedule"]?["date"] == .string(time.date))
    #expect(listed[0].json["schedule"]?["timeZone"] == "UTC")
    #expect(listed[0].json["schedule"]?["repeats"] == "week")
    #expect(listed[0].firesAt == time.microseconds)
    #expect(try daemon.notifications(of: id).map(\.id) == [1, 2])
    #expect(try daemon.application(id).scheduledNotifications == 2)
  }

  @Test("Notifications are listed; one or all are cancelled")
  func cancel() throws {
    let daemon = try DaemonFixture()
    let application = try active(daemon)
    for number in 1...4 {
      #expect(try application.notify("\(number)", at: WallClockTime(in: 1000)) == number)
    }
    #expect(try application.cancel(2) == [2])
    #expect(try application.notifications().map(\.id) == [1, 3, 4])
    let cancelled = try daemon.call(
      ControlInterface.CancelNotifications.self, .init(application: id, notification: 3))
    #expect(cancelled.cancelled == [3])
    #expect(try application.cancel() == [1, 4])
    #expect(try application.notifications().isEmpty)
    #expect(try application.cancel().isEmpty)
    #expect(try daemon.application(id).scheduledNotifications == 0)
    #expect(
      try application.notify("5", at: WallClockTime(in: 1000)) == 5,
      "the daemon does not reuse an id")
  }

  @Test("An active application gets a scheduled or an immediate notification when it fires")
  func active() throws {
    let daemon = try DaemonFixture()
    let application = try active(daemon)
    let now = try application.notify("Now")
    let first = try application.nextNotification()
    #expect(first.notification.id == now && !first.isChosen)
    #expect(first.notification.state == "presented")
    #expect(first.notification.json["schedule"] ?? .null == .null)
    let time = WallClockTime(in: 1)
    let later = try application.notify("Later", at: time)
    let second = try application.nextNotification()
    let late = Int(WallClock.now()) - time.microseconds
    #expect(second.notification.id == later && !second.isChosen)
    #expect(late >= 0, "\(-late) µs early")
    #expect(late < 2_000_000, "\(late) µs late")
    #expect(try application.notifications().map(\.state) == ["presented", "presented"])
    #expect(try daemon.application(id).scheduledNotifications == 0)
  }

  @Test("Notifications of one second fire once each, in the order in which they were scheduled")
  func order() throws {
    let daemon = try DaemonFixture()
    let application = try active(daemon)
    let time = WallClockTime(in: 2)
    let asked = try (0..<100).map { try application.notify("\($0)", at: time) }
    let told = try asked.map { _ in try application.nextNotification().notification.id }
    #expect(told == asked)
    #expect(try application.end(9).errorName == "UnknownTask")
    try daemon.sendToBackground(id)
    #expect(try application.callbackKinds(2) == ["willResignActive", "didEnterBackground"])
  }

  @Test("A repeating notification fires again")
  func repeats() throws {
    let daemon = try DaemonFixture()
    let application = try active(daemon)
    let time = WallClockTime(in: 1)
    let number = try application.notify("Again", at: time, repeats: "hour")
    #expect(try application.nextNotification().notification.id == number)
    let listed = try #require(try application.notifications().first)
    #expect(listed.state == "scheduled")
    #expect(listed.firesAt == time.microseconds + 3_600_000_000)
    #expect(try daemon.application(id).scheduledNotifications == 1)
    #expect(try application.cancel(number) == [number])
    #expect(try daemon.application(id).scheduledNotifications == 0)
  }

  @Test("A notification and SetBadge set the badge")
  func badge() throws {
    let daemon = try DaemonFixture()
    let application = try active(daemon)
    #expect(try daemon.application(id).badge == nil)
    _ = try application.ask(["title": "Mail", "badge": 7])
    _ = try application.nextNotification()
    #expect(try daemon.application(id).badge == 7)
    _ = try application.ask(["title": "Read"])
    _ = try application.nextNotification()
    #expect(
      try daemon.application(id).badge == 7,
      "a notification without a badge does not change the badge")
    #expect(try application.call("SetBadge", ["badge": 12]).errorName == nil)
    #expect(try daemon.application(id).badge == 12)
    let again = try daemon.killed()
    #expect(try again.application(id).badge == 12, "the badge survives the daemon's death")
    let rebooted = try again.killed(rebooting: true)
    let returned = try TestApplication(rebooted, id)
    try returned.registered()
    #expect(try rebooted.application(id).badge == 12, "the badge survives a reboot")
    #expect(try returned.call("SetBadge", ["badge": 0]).errorName == nil)
    #expect(try rebooted.application(id).badge == nil)
  }

  @Test(
    """
    §9 Notifications that have fired do not count for MaxNotificationsPerApplication. §15 \
    Notifications that were not shown are never removed: MaxNotificationsPerUser limits their \
    number
    """)
  func quotaOfUnshown() throws {
    var daemon = try DaemonFixture(
      .init(policy: [("MaxNotificationsPerApplication", "2"), ("MaxNotificationsPerUser", "4")]))
    func post(_ title: String, at time: WallClockTime? = nil) throws -> String? {
      do {
        try daemon.post(id, title, at: time)
        return nil
      } catch ControlInterface.Failure.quotaExceeded(let quota, let limit) {
        return "\(quota) = \(limit)"
      }
    }
    func listed() throws -> [String] { try daemon.notifications(of: id).map(\.content.title) }
    let ofUser = "MaxNotificationsPerUser = 4"
    let application = try TestApplication(daemon, id, "background")
    try application.registered()
    #expect(try post("1") == nil && post("2") == nil)
    try waitUntil("the notifications fire") {
      try daemon.notifications(of: id).allSatisfy { $0.state == .fired }
    }
    let later = WallClockTime(in: 1000)
    #expect(try post("first", at: later) == nil && post("second", at: later) == nil)
    #expect(try post("third", at: later) == "MaxNotificationsPerApplication = 2")
    #expect(try post("3") == ofUser)
    let cancelled = try daemon.call(
      ControlInterface.CancelNotifications.self, .init(notification: 3))
    #expect(cancelled.cancelled == [3])
    #expect(try post("3") == nil)
    for _ in 0..<20 { #expect(try post("one too many") == ofUser) }
    #expect(try listed() == ["1", "2", "second", "3"])
    daemon = try daemon.killed()
    #expect(try post("one too many") == ofUser)
    daemon = try daemon.killed(rebooting: true)
    #expect(try listed() == ["1", "2", "second", "3"])
    try daemon.call(ControlInterface.CancelNotifications.self, .init(application: id))
    #expect(!daemon.logged.contains("is missing in the store"))
  }

  @Test("An application schedules at most MaxNotificationsPerApplication = 128 notifications")
  func quota() throws {
    let daemon = try DaemonFixture()
    let application = try active(daemon)
    let time = WallClockTime(in: 1000)
    for _ in 0..<128 { try application.notify("One of many", at: time) }
    let refused = try application.ask(["title": "One too many"], at: time)
    #expect(refused.quotaExceeded == "MaxNotificationsPerApplication = 128")
    let operators = #expect(throws: ControlInterface.Failure.self) {
      try daemon.call(
        ControlInterface.PostNotification.self,
        .init(
          application: id, content: .init(title: "One too many"),
          schedule: .init(date: time.date, timeZone: "UTC")))
    }
    #expect(operators?.name.hasSuffix("QuotaExceeded") == true)
    #expect(try application.notifications().count == 128)
    #expect(try application.cancel(5) == [5])
    #expect(try application.notify("One", at: time) == 129)
    // Each application has a separate limit.
    let other = try TestApplication(daemon, "org.test.other")
    try other.registered()
    try other.notify("One", at: time)
  }

  @Test(
    """
    §9 Notifications of an application that the daemon no longer knows are listed, shown with the \
    application's name, and can be cancelled by their owner and by operators
    """, .enabled(if: geteuid() == 0, "only root can run other users' programs"))
  func unknownApplication() throws {
    var daemon = try DaemonFixture()
    let application = try TestApplication(daemon, id, uid: nobody)
    try application.registered()
    let time = WallClockTime(in: 1000)
    let numbers = try (1...4).map { try application.notify("\($0)", at: time) }
    daemon = try daemon.killed(rebooting: true)
    #expect(throws: ControlInterface.Failure.self) { try daemon.application(id) }
    // An operator may name the notification's application and owner, or only the notification's id.
    #expect(try daemon.notifications(of: id).map(\.id) == numbers)
    let first = try daemon.call(
      ControlInterface.CancelNotifications.self,
      .init(application: id, owner: Int(nobody), notification: numbers[0]))
    #expect(first.cancelled == [numbers[0]])
    let second = try daemon.call(
      ControlInterface.CancelNotifications.self, .init(notification: numbers[1]))
    #expect(second.cancelled == [numbers[1]])
    // The owner may cancel a notification; another user may not.
    let control = "org.taskschedd.Control."
    let cancel: JSONValue = ["notification": .integer(Int64(numbers[2]))]
    let stranger = try OtherUser(daemon, uid: nobody - 1)
    let refused = try stranger.call(stranger.open(), control + "CancelNotifications", cancel)
    #expect(refused.errorName == "UnknownNotification")
    let named: JSONValue = ["application": .string(id)]
    let unseen = try stranger.call(stranger.open(), control + "ListNotifications", named)
    #expect(unseen.errorName == "UnknownApplication")
    let owner = try OtherUser(daemon, uid: nobody)
    let calls = try owner.open()
    let third = try owner.call(calls, control + "CancelNotifications", cancel)
    #expect(third["parameters"]?["cancelled"] == [.integer(Int64(numbers[2]))])
    let listed = try owner.call(calls, control + "ListNotifications", named)
    guard case .array(let left)? = listed["parameters"]?["notifications"] else {
      return #expect(Bool(false), "\(listed)")
    }
    #expect(left.compactMap { $0["notification"]?["id"] } == [.integer(Int64(numbers[3]))])
    let all = try owner.call(calls, control + "CancelNotifications", named)
    #expect(all["parameters"]?["cancelled"] == [.integer(Int64(numbers[3]))])
    daemon = try daemon.killed(rebooting: true)
    #expect(try daemon.call(ControlInterface.ListNotifications.self, .init()).notifications.isEmpty)
  }

  @Test("§15: Notifications survive the end of the application")
  func applicationsEnd() throws {
    let daemon = try DaemonFixture()
    let monitor = try Monitor(daemon)
    let application = try active(daemon)
    let number = try application.notify("Later", at: WallClockTime(in: 2))
    try application.process.writeLine("exit 0")
    try monitor.end(id)
    #expect(try daemon.application(id).scheduledNotifications == 1)
    try monitor.fires(id, number)
    #expect(
      try daemon.notifications(of: id).map(\.state) == [.fired],
      "the notification was not shown yet")
  }

  @Test("Without a session agent or a desktop, a notification is kept, logged and listed")
  func noDesktop() throws {
    let folder = TemporaryDirectory()
    let daemon = try DaemonFixture(.init(options: [("log-level", "\"debug\"")]))
    let agents = SessionAgents()
    defer { withExtendedLifetime(agents) {} }
    let monitor = try Monitor(daemon)
    let application = try daemon.suspended(id, monitor)
    let number = try daemon.keepsStill(application) {
      let number = try daemon.post(id, "No desktop")
      try monitor.fires(id, number)
      #expect(daemon.logged.contains("no session agent of the user is attached"))
      try agents.start(daemon, bus: "unix:path=\(folder.file("none"))")
      try waitUntil("the log says that the notification is not shown") {
        daemon.logged.contains("notification \(number) is not shown: no session bus")
      }
      return number
    }
    #expect(daemon.logged.contains("cannot show notifications to user \(getuid()): no session bus"))
    #expect(try daemon.notifications(of: id).map(\.state) == [.fired])
    try daemon.activate(id)
    #expect(try application.callbackKinds(2) == ["willEnterForeground", "didBecomeActive"])
    #expect(try application.notifications().map(\.id) == [number])
  }
}

extension DaemonFixture {
  /// Posts a notification as an operator, and returns its id. Without a time, the daemon presents
  /// the notification now.
  @discardableResult
  func post(
    _ application: String, _ title: String, body: String? = nil, sound: String? = nil,
    at time: WallClockTime? = nil
  ) throws -> Int {
    try call(
      ControlInterface.PostNotification.self,
      .init(
        application: application, content: .init(title: title, body: body, sound: sound),
        schedule: time.map { .init(date: $0.date, timeZone: "UTC") })
    ).notification
  }
}
