import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §1 and §2, with real pseudoterminals.
@Suite("§1: Each terminal is a seat")
struct TerminalSeatTests {
  private let first = "org.test.first"
  private let second = "org.test.second"
  private let taskctl = Programs.path(of: "taskctl")

  /// Returns a command line of `taskctl run` with a program that does nothing.
  private func run(_ id: String) -> String { "\(taskctl) run --id \(id) -- sleep 1000" }

  /// Runs each command at a terminal of its own.
  private func terminals(_ daemon: DaemonFixture, _ commands: String...) throws -> TestProcess {
    try daemon.python(Programs.resource("terminals.py"), commands)
  }

  /// Waits until both applications have started, in any order.
  private func waitForBoth(_ monitor: Monitor) throws {
    var waiting: Set<String> = [first, second]
    try monitor.next("both applications") { change in
      if change.from == .notRunning { waiting.remove(change.application) }
      return waiting.isEmpty
    }
  }

  @Test(
    """
    Programs that taskctl run starts at different terminals do not displace each other: each is \
    active at its own terminal
    """)
  func differentTerminals() throws {
    let daemon = try DaemonFixture()
    let monitor = try Monitor(daemon)
    let terminals = try terminals(daemon, run(first), run(second))
    try waitForBoth(monitor)
    let applications = try [first, second].map { try daemon.application($0) }
    #expect(applications.map(\.state) == [.active, .active])
    for application in applications {
      #expect(application.seat.hasPrefix("user-\(getuid())/pts/"), "\(application.seat)")
    }
    #expect(applications[0].seat != applications[1].seat)
    withExtendedLifetime(terminals) {}
  }

  @Test(
    """
    A second program at the same terminal sends the first one to the background, and why and \
    status name the second program
    """)
  func sameTerminal() throws {
    let daemon = try DaemonFixture()
    let monitor = try Monitor(daemon)
    let fifo = daemon.folder.file("go")
    mkfifo(fifo, 0o600)
    let terminals = try terminals(daemon, "\(run(first)) & read go < \(fifo); \(run(second))")
    try monitor.transition(first, to: .active)
    // The shell waits until the test has opened and closed the FIFO, and then runs the second
    // program.
    _ = FileDescriptor(taking: open(fifo, O_WRONLY | O_CLOEXEC))
    let away = try monitor.transition(first, to: .background)
    #expect(away.cause == "otherActivated")
    #expect(away.by == second)
    try monitor.transition(first, to: .suspended)
    #expect(try daemon.application(second).state == .active)
    let seat = try daemon.application(first).seat
    #expect(try daemon.application(second).seat == seat)
    let why = try daemon.taskctl("why", first).text
    #expect(
      why.contains(
        "\(second) became active at seat \(seat), so the daemon sent this application to "
          + "the background."), "\(why)")
    let status = try daemon.taskctl("status", first).text
    #expect(
      status.contains("Displaced by: \(second), activated at the same seat"), "\(status)")
    #expect(status.contains("Seat: \(seat)\n"), "\(status)")
    withExtendedLifetime(terminals) {}
  }

  @Test("Without a terminal, a program that taskctl run starts has a separate seat")
  func noTerminal() throws {
    let daemon = try DaemonFixture()
    let monitor = try Monitor(daemon)
    let runs = try [first, second].map { id in
      try TestProcess.shell("exec \(run(id))") {
        $0.environment = daemon.environment().map { SystemString($0) }
        $0.newSession = true
        $0.processGroup = nil
      }
    }
    try waitForBoth(monitor)
    for id in [first, second] {
      let application = try daemon.application(id)
      #expect(application.state == .active)
      #expect(application.seat == "user-\(getuid())/\(id)")
    }
    withExtendedLifetime(runs) {}
  }

  @Test("A program that registers itself at a terminal is at that terminal's seat")
  func registersItself() throws {
    let daemon = try DaemonFixture()
    let monitor = try Monitor(daemon)
    let program = daemon.folder.file("application.py")
    daemon.folder.write("application.py", try Programs.resource("application.py"))
    let terminals = try terminals(
      daemon, "exec /usr/bin/python3 \(program) \(daemon.socketPath) \(first)")
    try monitor.transition(first, to: .active)
    #expect(try daemon.application(first).seat.hasPrefix("user-\(getuid())/pts/"))
    withExtendedLifetime(terminals) {}
  }
}
