import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §15 and §20: bad input and faults of a session agent.
@Suite("§20: Invalid reports and faults of session agents")
struct SessionInputTests {
  private let first = "org.test.first"
  private let second = "org.test.second"
  private let attach = #"{"method":"org.taskschedd.Session.Attach","more":true}"#

  /// Limits that do not expire within a test.
  private static let long = DaemonFixture.Settings(
    policy: [("FocusSettleTime", "1min"), ("HiddenGraceTime", "10min")])

  private func state(_ daemon: DaemonFixture, _ id: String) throws -> ControlInterface.State {
    try daemon.application(id).state
  }

  @Test("§20: Windows of the first process, the agent and unmanaged processes change nothing")
  func foreignProcesses() throws {
    let daemon = try DaemonFixture(Self.long)
    let program = try daemon.shell("read line"), stranger = try daemon.shell("read line")
    try daemon.adopt(first, program, background: true)
    let agent = try TestAgent(daemon)
    let answer = try agent.report(
      (1, .focused), (getpid(), .focused), (stranger.pid, .focused), (daemon.process.pid, .focused))
    #expect(answer?.errorName == nil)
    #expect(try daemon.applications().map(\.application) == [first])
    #expect(try state(daemon, first) != .active)
  }

  @Test("§20: A window with another start time than its process changes nothing")
  func reusedPID() throws {
    let daemon = try DaemonFixture(Self.long)
    let program = try daemon.shell("read line")
    try daemon.adopt(first, program, background: true)
    let agent = try TestAgent(daemon)
    var window = try agent.window(program.pid, .focused)
    window.startTime += 1
    try agent.report([window])
    #expect(try state(daemon, first) != .active)
  }

  @Test(
    "§20: An agent of one user does nothing to the applications of another user",
    .enabled(if: geteuid() == 0, "other users' processes need root"))
  func otherUser() throws {
    let daemon = try DaemonFixture(Self.long)
    let program = try daemon.shell("read line")
    try daemon.adopt(first, program, background: true)
    let own = try TestAgent(daemon)
    let user = try OtherUser(daemon, uid: 65534)
    let orders = try user.open(), reports = try user.open()
    let attached = try user.call(orders, "org.taskschedd.Session.Attach", more: true)
    let number = try #require(attached["parameters"]?["attached"])
    let startTime = try #require(daemon.proc.identity(program.pid)?.startTime)
    let windows: JSONValue = [
      [
        "pid": .integer(Int64(program.pid)), "startTime": .integer(Int64(startTime)),
        "visibility": "focused",
      ]
    ]
    func report(_ attachment: JSONValue) throws -> JSONValue {
      try user.call(
        reports, "org.taskschedd.Session.ReportWindows",
        ["attachment": attachment, "windows": windows, "hasFocus": true])
    }
    #expect(try report(number).errorName == nil)
    #expect(try state(daemon, first) != .active)
    #expect(try report(.integer(Int64(own.attachment))).errorName == "NotAttached")
    #expect(try own.report((program.pid, .focused))?.errorName == nil)
    #expect(try state(daemon, first) == .active)
  }

  @Test("§20: A report of 1024 windows is accepted, and one of 1025 windows names the field")
  func tooManyWindows() throws {
    let daemon = try DaemonFixture(Self.long)
    let program = try daemon.shell("read line")
    try daemon.adopt(first, program, background: true)
    let monitor = try Monitor(daemon)
    let agent = try TestAgent(daemon)
    let absent = (0..<1023).map {
      SessionInterface.Window(pid: 100 + $0, startTime: 1, visibility: .hidden)
    }
    let windows = absent + [try agent.window(program.pid, .focused)]
    let answer = try agent.report(windows + [windows[0]])
    #expect(answer?.errorName == "ReportTooLarge")
    #expect(answer?["parameters"]?["parameter"] == "windows")
    #expect(answer?["parameters"]?["limit"] == 1024)
    #expect(try state(daemon, first) != .active)
    #expect(try agent.report(windows)?.errorName == nil)
    try monitor.transition(first, to: .active)
  }

  @Test("§20: After 10,000 reports at once, the last is in force, and other clients were served")
  func flood() throws {
    let daemon = try DaemonFixture(Self.long)
    let one = try daemon.shell("read line"), other = try daemon.shell("read line")
    try daemon.adopt(first, one)
    try daemon.adopt(second, other)
    let agent = try TestAgent(daemon)
    let reports = try [
      [agent.window(one.pid, .focused), agent.window(other.pid, .visible)],
      [agent.window(one.pid, .visible), agent.window(other.pid, .focused)],
    ].map { String(agent.text(of: $0).dropLast()) + ",\"oneway\":true}" }
    for index in 0..<10_000 {
      try agent.reports.send(reports[index % 2])
      if index % 1000 == 0 { _ = try state(daemon, first) }
    }
    try agent.report((one.pid, .focused), (other.pid, .visible))
    #expect(try state(daemon, first) == .active)
    #expect(try state(daemon, second) == .inactive)
  }

  @Test("§20: A stopped agent delays neither the daemon nor the agent that replaces it")
  func stopped() throws {
    let daemon = try DaemonFixture(Self.long)
    let program = try daemon.shell("read line")
    try daemon.adopt(first, program, background: true)
    let user = try OtherUser(daemon, uid: getuid())
    #expect(
      try user.call(user.open(), "org.taskschedd.Session.Attach", more: true)["error"] == nil)
    _ = try user.process.pidfd.send(signal: SIGSTOP)
    let agent = try TestAgent(daemon)
    try agent.report((program.pid, .focused))
    #expect(try state(daemon, first) == .active)
    _ = try user.process.pidfd.send(signal: SIGKILL)
  }

  @Test("§20: taskctl status names the users with an attached agent")
  func status() throws {
    let daemon = try DaemonFixture(Self.long)
    let without = try daemon.taskctl("status").text
    #expect(without.contains("Session agent: none"), "\(without)")
    let agent = try TestAgent(daemon)
    let with = try daemon.taskctl("status").text
    #expect(with.contains("Session agent: attached for user \(getuid())"), "\(with)")
    let json = try daemon.taskctl("status", "--json").text
    #expect(json.contains("\"sessionAgents\":[\(getuid())]"), "\(json)")
    withExtendedLifetime(agent) {}
  }

  @Test(
    """
    §20: After kill -9 of the daemon, the reports of the lost agent stay in force until a new \
    agent reports within SessionGraceTime
    """)
  func killedDaemon() throws {
    let earlier = try DaemonFixture(Self.long)
    let one = try earlier.shell("read line"), other = try earlier.shell("read line")
    try earlier.adopt(first, one)
    try earlier.adopt(second, other)
    do {
      let agent = try TestAgent(earlier)
      try agent.report((one.pid, .focused), (other.pid, .visible))
    }
    let daemon = try earlier.killed()
    #expect(try state(daemon, first) == .active)
    #expect(try state(daemon, second) == .inactive)
    let agent = try TestAgent(daemon)
    try agent.report((one.pid, .visible), (other.pid, .focused))
    #expect(try state(daemon, first) == .inactive)
    #expect(try state(daemon, second) == .active)
  }
}
