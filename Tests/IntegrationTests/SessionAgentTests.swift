import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §20, with a session agent that the test simulates (`TestAgent`).
@Suite("§20: The daemon and a session agent")
struct SessionAgentTests {
  private let first = "org.test.first"
  private let second = "org.test.second"
  private let attach = #"{"method":"org.taskschedd.Session.Attach","more":true}"#

  /// Limits that expire within a test.
  private static let short = DaemonFixture.Settings(
    policy: [("FocusSettleTime", "10ms"), ("HiddenGraceTime", "10ms")])
  /// Limits that do not expire within a test.
  private static let long = DaemonFixture.Settings(
    policy: [("FocusSettleTime", "1min"), ("HiddenGraceTime", "10min")])

  private func state(_ daemon: DaemonFixture, _ id: String) throws -> ControlInterface.State {
    try daemon.application(id).state
  }

  // MARK: Focus

  @Test(
    """
    §20: The application of the focused window is active. A visible application without the focus \
    is inactive, and a hidden one goes to the background
    """)
  func focus() throws {
    let daemon = try DaemonFixture(Self.short)
    let monitor = try Monitor(daemon)
    let one = try daemon.shell("read line"), other = try daemon.shell("read line")
    try daemon.adopt(first, one)
    try daemon.adopt(second, other)
    let agent = try TestAgent(daemon)
    try agent.report((one.pid, .focused), (other.pid, .visible))
    #expect(try state(daemon, first) == .active)
    #expect(try state(daemon, second) == .inactive)
    try agent.report((one.pid, .visible), (other.pid, .focused))
    #expect(try state(daemon, first) == .inactive)
    #expect(try state(daemon, second) == .active)
    try agent.report((one.pid, .hidden), (other.pid, .focused))
    let away = try monitor.transition(first, to: .background)
    #expect(away.cause == "hidden")
    try monitor.transition(first, to: .suspended)
    try agent.report((one.pid, .focused), (other.pid, .visible))
    let back = try monitor.transition(first, to: .active)
    #expect(back.cause == "focused")
    #expect(try daemon.state(of: one.pid) != .stopped)
  }

  @Test("§20: A focused window of the leader's child gives the focus to the application")
  func child() throws {
    let daemon = try DaemonFixture(Self.long)
    let program = try daemon.shell("sh -c 'echo $$; read line'; true")
    let child = try #require(Int32(program.nextLine()))
    try daemon.adopt(first, program, background: true)
    let agent = try TestAgent(daemon)
    try agent.report((child, .focused))
    #expect(try state(daemon, first) == .active)
  }

  @Test("§20: An application that begins after the report of its window gets the focus at once")
  func laterInstance() throws {
    let daemon = try DaemonFixture(Self.long)
    let monitor = try Monitor(daemon)
    let program = try daemon.shell("read line")
    let agent = try TestAgent(daemon)
    try agent.report((program.pid, .focused))
    try daemon.adopt(first, program, background: true)
    try monitor.transition(first, to: .active)
  }

  @Test("§20: Two equal reports in succession cause one event")
  func equalReports() throws {
    let daemon = try DaemonFixture(Self.long)
    let program = try daemon.shell("read line")
    try daemon.adopt(first, program)
    let agent = try TestAgent(daemon)
    try agent.report((program.pid, .focused))
    let model = try CoreModel(daemon)
    let count = model.eventCount
    for _ in 0..<3 { try agent.report((program.pid, .focused)) }
    try model.refresh()
    #expect(model.eventCount == count)
    try agent.report((program.pid, .visible))
    try model.refresh()
    #expect(model.eventCount == count + 1)
  }

  // MARK: Terminals

  @Test(
    """
    §20: The focus of a terminal's window goes to the program that taskctl run manages there
    """)
  func terminal() throws {
    let daemon = try DaemonFixture(Self.short)
    let monitor = try Monitor(daemon)
    let terminal = try TestTerminal(daemon)
    let other = try daemon.shell("read line")
    try daemon.adopt(second, other)
    try terminal.type("\(Programs.path(of: "taskctl")) run --id \(first) -- sleep 1000\n")
    try monitor.transition(first, to: .active)
    let agent = try TestAgent(daemon)
    try agent.report((terminal.shell.pid, .visible), (other.pid, .focused))
    #expect(try state(daemon, first) == .inactive)
    try agent.report((terminal.shell.pid, .hidden), (other.pid, .focused))
    try monitor.transition(first, to: .suspended)
    try agent.report((terminal.shell.pid, .focused), (other.pid, .hidden))
    try monitor.transition(first, to: .active)
  }

  @Test(
    """
    §20: Of two programs at one terminal, the focus goes to the program that was active last, and \
    the other program stays in the background
    """)
  func twoAtOneTerminal() throws {
    let daemon = try DaemonFixture(Self.long)
    let monitor = try Monitor(daemon)
    let terminal = try TestTerminal(daemon)
    let taskctl = Programs.path(of: "taskctl")
    try terminal.type("\(taskctl) run --id \(first) -- sleep 1000 &\n")
    try monitor.transition(first, to: .active)
    try terminal.type("\(taskctl) run --id \(second) -- sleep 1000\n")
    try monitor.transition(first, to: .suspended)
    let agent = try TestAgent(daemon)
    for visibility in [SessionInterface.Visibility.focused, .visible, .focused] {
      try agent.report((terminal.shell.pid, visibility))
      #expect(try state(daemon, first) == .suspended)
      #expect(try state(daemon, second) == .active)
    }
    try daemon.activate(first)
    try agent.report([agent.window(terminal.shell.pid, .visible)], hasFocus: true)
    #expect(try state(daemon, first) == .inactive)
    try agent.report((terminal.shell.pid, .focused))
    #expect(try state(daemon, first) == .active)
    #expect(try state(daemon, second) != .active)
  }

  // MARK: Agents

  @Test("§20: A later agent replaces the earlier one, whose reports are then refused")
  func replaced() throws {
    let daemon = try DaemonFixture(Self.long)
    let program = try daemon.shell("read line")
    try daemon.adopt(first, program, background: true)
    let earlier = try TestAgent(daemon)
    let later = try TestAgent(daemon)
    #expect(try earlier.orders.receive()?.errorName == "AgentReplaced")
    #expect(try earlier.report((program.pid, .focused))?.errorName == "NotAttached")
    #expect(try earlier.forgetWindows()?.errorName == "NotAttached")
    #expect(try state(daemon, first) != .active)
    #expect(try later.report((program.pid, .focused))?.errorName == nil)
    #expect(try state(daemon, first) == .active)
    // The connection of the replaced agent can attach again.
    #expect(try earlier.orders.call(attach)?["parameters"]?["attached"] != nil)
    #expect(try later.orders.receive()?.errorName == "AgentReplaced")
  }

  @Test(
    """
    §20: The last report of a lost agent is in force for SessionGraceTime, and then has no effect
    """)
  func lost() throws {
    let daemon = try DaemonFixture(
      .init(
        policy: [
          ("FocusSettleTime", "10ms"), ("HiddenGraceTime", "300ms"), ("SessionGraceTime", "50ms"),
          ("LaunchTime", "1s"),
        ]))
    let monitor = try Monitor(daemon)
    let program = try daemon.shell("read line"), other = try daemon.shell("read line")
    try daemon.adopt(first, program)
    do {
      let agent = try TestAgent(daemon)
      try agent.report((program.pid, .hidden))
      try monitor.transition(first, to: .inactive)
    }
    // `second` is suspended when LaunchTime expires. HiddenGraceTime is shorter. If it still
    // applied to the hidden window, `first` would no longer be inactive at that time.
    try daemon.adopt(second, other, background: true)
    try monitor.transition(second, to: .suspended)
    #expect(try state(daemon, first) == .inactive)
    let later = try TestAgent(daemon)
    try later.report((program.pid, .focused))
    #expect(try state(daemon, first) == .active)
  }

  @Test("§20: Attach without the more flag is refused")
  func withoutMore() throws {
    let daemon = try DaemonFixture()
    let answer = try RawClient(daemon).call(#"{"method":"org.taskschedd.Session.Attach"}"#)
    #expect(answer?["error"] == "org.varlink.service.ExpectedMore")
  }

  @Test("§20: A process of an application cannot attach as the session agent")
  func managed() throws {
    let daemon = try DaemonFixture()
    let user = try OtherUser(daemon, uid: getuid())
    try daemon.adopt(first, user.process)
    let answer = try user.call(user.open(), "org.taskschedd.Session.Attach", more: true)
    #expect(answer.errorName == "AgentIsManaged")
    #expect(answer["parameters"]?["application"] == .string(first))
  }

  @Test("§20: The daemon does not manage a session agent or an ancestor of one")
  func neverManaged() throws {
    let daemon = try DaemonFixture()
    let user = try OtherUser(daemon, uid: getuid())
    let answer = try user.call(user.open(), "org.taskschedd.Session.Attach", more: true)
    #expect(answer["parameters"]?["attached"] != nil)
    #expect(throws: ControlInterface.Failure.self) { try daemon.adopt(first, user.process) }
    let registered = try user.call(
      user.open(), "org.taskschedd.Application.Register", ["application": .string(first)],
      more: true)
    #expect(registered.errorName == "NotManageable")
    #expect(try daemon.applications().isEmpty)
  }
}
