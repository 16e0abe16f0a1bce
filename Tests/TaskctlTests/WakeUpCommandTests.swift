import TaskSchedulerWire
import TestSupport
import Testing

@testable import taskctl

@Suite("Commands about wake-ups, with a daemon that the test simulates")
struct WakeUpCommandTests {
  private typealias Control = ControlInterface

  private func json(_ text: String) throws -> JSONValue {
    try JSONParser.parse(Array(text.utf8.dropLast()))
  }

  @Test(
    "The keepalives command lists applications with a handler by their bursts",
    arguments: [false, true])
  func keepAlives(isJSON: Bool) throws {
    let daemon = try FakeDaemon()
    let taskctl = try TaskctlProcess(
      ["keepalives"] + (isJSON ? ["--json"] : []), socket: daemon.socket)
    let (connection, _) = try daemon.accept(Control.ListApplications.self)
    var later = reachableSample("org.example.later")
    later.instance?.keepAlive?.plannedUSec += 1
    try connection.reply(
      Control.ListApplications.Output(
        applications: [later, sample(), reachableSample()], sessionAgents: []))
    let outcome = try taskctl.outcome()
    #expect(outcome.code == 0)
    let order = ["org.example.phone", "org.example.later"]
    if isJSON {
      let listing = try #require(json(outcome.output)["keepAlives"])
      let keepAlives = try listing.decode([JSONValue].self)
      #expect(keepAlives.map { $0["application"] } == order.map { .string($0) })
      #expect(keepAlives[0]["keepAlive"]?["intervalUSec"] == 900_000_000)
    } else {
      let lines = outcome.output.split(separator: "\n").dropFirst()
      #expect(lines.map { String($0.split(separator: " ")[0]) } == order)
    }
  }

  @Test(
    "The notifications command lists notifications by their time, with or without list",
    arguments: [[], ["list"]])
  func list(words: [String]) throws {
    let daemon = try FakeDaemon()
    let taskctl = try TaskctlProcess(["notifications"] + words, socket: daemon.socket)
    let (connection, input) = try daemon.accept(Control.ListNotifications.self)
    #expect(input == .init())
    var earlier = notificationSample
    earlier.notification.id = 99
    earlier.notification.firesAtUSec -= 1
    try connection.reply(
      Control.ListNotifications.Output(notifications: [notificationSample], next: 12))
    #expect(
      try connection.receive().decode(Control.ListNotifications.Input.self) == .init(after: 12))
    try connection.reply(Control.ListNotifications.Output(notifications: [earlier]))
    let outcome = try taskctl.outcome()
    #expect(outcome.code == 0)
    let lines = outcome.output.split(separator: "\n").dropFirst()
    #expect(lines.map { String($0.split(separator: " ")[0]) } == ["99", "12"])
  }

  @Test("The notifications show command prints one notification, and refuses an unknown id")
  func show() throws {
    let daemon = try FakeDaemon()
    for (id, code) in [("12", Int32(0)), ("13", 1)] {
      let taskctl = try TaskctlProcess(["notifications", "show", id], socket: daemon.socket)
      let (connection, input) = try daemon.accept(Control.ListNotifications.self)
      #expect(input.after == (code == 0 ? 11 : 12))
      try connection.reply(
        Control.ListNotifications.Output(notifications: [notificationSample]))
      let outcome = try taskctl.outcome()
      #expect(outcome.code == code)
      #expect(outcome.output.hasPrefix(code == 0 ? "Tea - notification 12\n" : ""))
      #expect(outcome.errors.contains("taskctl notifications list") == (code == 1))
    }
  }

  @Test("The notifications cancel command cancels by id and prints what it cancelled")
  func cancel() throws {
    let daemon = try FakeDaemon()
    let taskctl = try TaskctlProcess(["notifications", "cancel", "12"], socket: daemon.socket)
    let (connection, input) = try daemon.accept(Control.CancelNotifications.self)
    #expect(input == .init(notification: 12))
    try connection.reply(Control.CancelNotifications.Output(cancelled: [12]))
    let outcome = try taskctl.outcome()
    #expect(outcome.code == 0)
    #expect(outcome.output == "cancelled: notification 12\n")
  }

  @Test("The notifications cancel command with --all cancels all of an application")
  func cancelAll() throws {
    let daemon = try FakeDaemon()
    let taskctl = try TaskctlProcess(
      ["notifications", "cancel", "--all", "org.example.tea", "--json"], socket: daemon.socket)
    let (connection, input) = try daemon.accept(Control.CancelNotifications.self)
    #expect(input == .init(application: "org.example.tea"))
    try connection.reply(Control.CancelNotifications.Output(cancelled: [3, 12]))
    #expect(try taskctl.outcome().output == "{\"cancelled\":[3,12]}\n")
  }

  @Test("The notifications post command sends all options, with this machine's zone by default")
  func post() throws {
    let daemon = try FakeDaemon()
    let taskctl = try TaskctlProcess(
      [
        "notifications", "post", "org.example.tea", "Tea", "It is four", "--sound", "bell",
        "--badge", "1", "--user-data", "pot=2", "--at", "2026-11-22T16:00:00", "--repeats", "day",
      ], socket: daemon.socket)
    let (connection, input) = try daemon.accept(Control.PostNotification.self)
    #expect(
      input.content
        == .init(title: "Tea", body: "It is four", sound: "bell", badge: 1, userData: "pot=2"))
    #expect(
      input.schedule == .init(date: "2026-11-22T16:00:00", timeZone: "UTC", repeats: .day))
    try connection.reply(Control.PostNotification.Output(notification: 12))
    let outcome = try taskctl.outcome()
    #expect(outcome.code == 0)
    #expect(outcome.output == "notification 12\n")
  }

  @Test("The notifications post command without a time presents the notification now")
  func postNow() throws {
    let daemon = try FakeDaemon()
    let taskctl = try TaskctlProcess(
      ["notifications", "post", "org.example.tea", "Tea"], socket: daemon.socket)
    let (connection, input) = try daemon.accept(Control.PostNotification.self)
    #expect(input.content == .init(title: "Tea"))
    #expect(input.schedule == nil)
    try connection.fail(
      Control.Failure.invalidNotification(parameter: "title", reason: "it is too long"))
    let outcome = try taskctl.outcome()
    #expect(outcome.code == 1)
    #expect(
      outcome.errors
        == "taskctl: InvalidNotification: invalid notification, title: it is too long\n")
  }

  @Test("The post command sends a change with or without a value")
  func postChange() throws {
    let daemon = try FakeDaemon()
    for value in ["left", nil] {
      let taskctl = try TaskctlProcess(
        ["post", "dock.state"] + (value.map { [$0] } ?? []), socket: daemon.socket)
      let (connection, input) = try daemon.accept(Control.PostSystemChange.self)
      #expect(input == .init(name: "dock.state", value: value))
      try connection.reply(Control.PostSystemChange.Output())
      let outcome = try taskctl.outcome()
      #expect(outcome.code == 0)
      #expect(outcome.output + outcome.errors == "")
    }
  }

  @Test(
    "An invalid command line exits with 2 and a message",
    arguments: [
      (["notifications", "post", "org.example.tea", "Tea", "--repeats", "day"], "--at"),
      (
        ["notifications", "post", "a.b", "T", "--at", "x", "--repeats", "dya"],
        "did you mean 'day'?"
      ),
      (["notifications", "cancel"], "--all"),
      (["notifications", "cancel", "1", "--all", "a.b"], "--all"),
      (["notifications", "list", "--owner", "root"], "--owner"),
      (["post"], "kind"),
    ])
  func mistakes(words: [String], named: String) throws {
    let outcome = try TaskctlProcess(words, socket: "/nowhere/socket").outcome()
    #expect(outcome.code == 2)
    #expect(outcome.errors.contains(named))
  }

  @Test(
    "Each refusal about wake-ups has a sentence",
    arguments: [
      (
        ControlInterface.Failure.terminatedByOperator(application: "a.b"),
        "an operator or the user terminated 'a.b'"
      ),
      (
        .notStored(reason: "the disk is full"),
        "the daemon could not store the change: the disk is full"
      ),
      (.unknownNotification(application: "a.b", notification: 3), "'a.b' has no notification 3"),
      (.unknownNotification(application: nil, notification: 3), "there is no notification 3; see"),
      (
        .invalidSystemChange(parameter: "name", reason: "1 to 64 letters"),
        "invalid change, name: 1 to 64 letters"
      ),
    ])
  func refusals(failure: ControlInterface.Failure, words: String) {
    #expect(failure.sentence.contains(words))
  }
}
