import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §9 and §15: acknowledged notifications survive kill -9 and a reboot.
/// `NotificationStoreTests` tests that they are on the disk. `SystemdTests` tests a full
/// disk, and restarts by systemd.
@Suite("§9: Notifications survive the daemon's restart, the application's end and a reboot")
struct NotificationSurvivalTests {
  private let id = "org.test.clock"

  @Test("A notification survives a reboot, and a kill -9 directly after the reply, and fires once")
  func durable() throws {
    let manifest = "command = [\"/bin/sleep\", \"1000\"]"
    var daemon = try DaemonFixture(.init(manifests: [(id, manifest)]))
    let time = WallClockTime(in: 3)
    let number = try daemon.post(id, "Later", at: time)
    daemon = try daemon.killed(rebooting: true)
    let listed = try daemon.notifications(of: id)
    if !time.hasPassed {
      #expect(listed.map(\.state) == [.scheduled])
      #expect(try daemon.application(id).scheduledNotifications == 1)
    }
    #expect(listed.map(\.id) == [number])
    #expect(listed.map(\.firesAtUSec) == [time.microseconds])
    try waitUntil("the notification fires") {
      try daemon.notifications(of: id).map(\.state) == [.fired]
    }
    #expect(time.hasPassed)
    daemon = try daemon.killed(rebooting: true)
    #expect(daemon.fired(number) == 1)
    #expect(try daemon.post(id, "Next") == number + 1, "the daemon does not reuse an id")
  }

  @Test("Each of 50 notifications survives a kill of the daemon directly after its reply")
  func everyReply() throws {
    let manifest = "command = [\"/bin/sleep\", \"1000\"]"
    var daemon = try DaemonFixture(.init(manifests: [(id, manifest)]))
    let time = WallClockTime(in: 1000)
    var expected: [String] = []
    for turn in 0..<10 {
      for number in 0..<5 {
        expected.append("\(turn).\(number)")
        try daemon.post(id, "\(turn).\(number)", at: time)
      }
      daemon = try daemon.killed(rebooting: turn.isMultiple(of: 2))
      #expect(try daemon.notifications(of: id).map(\.content.title) == expected)
    }
    #expect(try daemon.application(id).scheduledNotifications == 50)
    let cancelled = try daemon.call(
      ControlInterface.CancelNotifications.self, .init(application: id))
    #expect(cancelled.cancelled.count == 50)
    daemon = try daemon.killed(rebooting: true)
    #expect(try daemon.notifications(of: id).isEmpty, "cancelled notifications do not return")
  }

  @Test(
    "§15 The log names a damaged store, and the number and ids of the lost notifications",
    arguments: ["file truncated", "log removed", "file replaced by a pipe"])
  func lost(how: String) throws {
    let manifest = "command = [\"/bin/sleep\", \"1000\"]"
    var daemon = try DaemonFixture(.init(manifests: [(id, manifest)]))
    let path = daemon.folder.file("state/notifications.db")
    func error(_ text: String) -> Bool {
      daemon.logged.split(separator: "\n").contains { $0.contains("error: ") && $0.contains(text) }
    }
    for number in 1...12 { try daemon.post(id, "\(number)", at: WallClockTime(in: 1000)) }
    try daemon.call(
      ControlInterface.CancelNotifications.self, .init(application: id, notification: 3))
    daemon = try daemon.killed()
    #expect(!daemon.logged.contains("error: "))
    daemon = try daemon.killed {
      for name in ["-wal", "-journal"] { unlink(path + name) }
      if how != "log removed" { truncate(path, 0) }
      if how.contains("pipe") {
        unlink(path)
        mkfifo(path, 0o600)
      }
    }
    if how.contains("pipe") {
      #expect(error("\(path) is a pipe, and must be a regular file"))
      let refused = #expect(throws: ControlInterface.Failure.self) { try daemon.post(id, "13") }
      #expect(refused?.name.hasSuffix("NotStored") == true)
    } else {
      #expect(error("11 of 11 scheduled notifications are missing from \(path)"))
      #expect(error("1, 2, 4, 5, 6, 7, 8, 9, 10, 11, …"))
      #expect(try daemon.post(id, "13") == 13, "the daemon stores new notifications")
    }
  }

  @Test(
    "A notification that was due while the machine was off fires once at start",
    .enabled(if: Desktop.missing == nil, Comment(rawValue: Desktop.missing ?? "possible")))
  func off() throws {
    let desktop = try Desktop()
    let manifest = "command = [\"/bin/sleep\", \"1000\"]"
    var daemon = try DaemonFixture(.init(manifests: [(id, manifest)]))
    let agents = SessionAgents()
    try agents.start(daemon, bus: desktop.bus.address)
    defer { withExtendedLifetime(agents) {} }
    let time = WallClockTime(in: 1)
    let once = try daemon.post(id, "Once", at: time)
    let hourly = try daemon.call(
      ControlInterface.PostNotification.self,
      .init(
        application: id, content: .init(title: "Hourly"),
        schedule: .init(date: time.date, timeZone: "UTC", repeats: .hour))
    ).notification
    daemon = try daemon.killed(rebooting: true) {
      try waitUntil("the time of the notifications passes") { time.hasPassed }
    }
    func find(_ number: Int) throws -> ApplicationInterface.Notification {
      try #require(try daemon.notifications(of: id).first { $0.id == number })
    }
    try waitUntil("the notifications are shown") {
      try find(once).state == .presented && find(hourly).state == .scheduled
    }
    #expect(try desktop.counts() == .init(displayed: 2))
    let next = try find(hourly).firesAtUSec
    #expect(time.isHours(from: next))
    #expect(next > Int(WallClock.now()) - 1_000_000)
    daemon = try daemon.killed(rebooting: true)
    #expect(try find(once).state == .presented)
    #expect(daemon.fired(once) == 1)
    #expect(daemon.fired(hourly) == 1)
    #expect(try desktop.counts() == .init(displayed: 2), "the notifications are not shown again")
  }

  @Test(
      """
      No notification is lost or fires twice when the daemon is killed while 100 repeating \
      notifications fire
      """)
  func killedWhileFiring() throws {
    let manifest = "command = [\"/bin/sleep\", \"1000\"]"
    var daemon = try DaemonFixture(.init(manifests: [(id, manifest)]))
    let time = WallClockTime(in: 4)
    var numbers: [Int] = []
    for number in 0..<100 {
      numbers.append(
        try daemon.call(
          ControlInterface.PostNotification.self,
          .init(
            application: id, content: .init(title: "\(number)", badge: number),
            schedule: .init(
              date: time.date, timeZone: "UTC",
              repeats: number.isMultiple(of: 2) ? .hour : nil))
        ).notification)
    }
    let monitor = try Monitor(daemon)
    try monitor.next("the first") { $0.kind == .notificationFired }
    // Each new daemon continues the firings that the killed one had begun.
    let kills = 8
    for _ in 0..<kills { daemon = try daemon.killed() }
    try waitUntil("all have fired") {
      try daemon.notifications(of: id).allSatisfy { $0.state == .fired }
    }
    let firings = numbers.map { daemon.fired($0) }
    // If the daemon died while it logged a firing, the next daemon may log that firing again.
    #expect(firings.allSatisfy { $0 >= 1 } && firings.reduce(0, +) <= numbers.count + kills)
    for listed in try daemon.notifications(of: id) {
      #expect(
        listed.schedule?.repeats == nil || time.isHours(from: listed.firesAtUSec),
        "\(listed.firesAtUSec)")
    }
    #expect(try daemon.application(id).scheduledNotifications == 50)
    #expect(try daemon.application(id).badge == 99)
    daemon = try daemon.killed(rebooting: true)
    #expect(try daemon.notifications(of: id).map(\.id) == numbers)
    #expect(try daemon.application(id).scheduledNotifications == 50)
  }
}

extension DaemonFixture {
  /// Returns how often a notification has fired according to the logs of all daemons.
  fileprivate func fired(_ number: Int) -> Int {
    logged.split(separator: "\n").count { $0.hasSuffix("notification \(number) fires") }
  }
}
