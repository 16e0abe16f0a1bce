import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §19, with a real pseudoterminal.
@Suite("taskctl switcher at a terminal")
struct SwitcherTerminalTests {
  private let first = "org.test.first"
  private let second = "org.test.second"

  /// A terminal, and applications without a terminal. The last application is active.
  private final class Scene {
    let daemon: DaemonFixture
    let terminal: TestTerminal
    let monitor: Monitor
    let applications: [TestApplication]

    init(_ ids: String...) throws {
      daemon = try DaemonFixture()
      applications = try ids.map { [daemon] in try TestApplication.active(daemon, $0) }
      terminal = try TestTerminal(daemon)
      monitor = try Monitor(daemon)
    }

    /// Runs the command at the terminal, and waits until the screen shows the help of the command.
    func open(_ before: String = "", _ after: String = "") throws {
      let command = "TERM=xterm \(before) \(Programs.path(of: "taskctl")) switcher\(after)"
      try terminal.type("\(command)\n")
      try terminal.wait(for: "\u{1b}[?1049h\u{1b}[?25l")
      try terminal.wait(for: "q leaves")
    }

    /// Waits until the command has restored the screen. Then checks with stty(1) that the terminal
    /// reads whole lines again.
    func closed() throws {
      try terminal.wait(for: "\u{1b}[?25h\u{1b}[?1049l")
      try terminal.wait(for: "$ ")
      try terminal.type("stty -a | grep -o '[-]*icanon'; echo e\"\"nd\n")
      try terminal.wait(for: "\r\nicanon")
      try terminal.wait(for: "end")
      try terminal.wait(for: "$ ")
    }
  }

  @Test("Enter activates the selected application and leaves", arguments: ["j", "\u{1b}[B"])
  func activates(key: String) throws {
    let it = try Scene(first, second)
    try it.open("", "; echo code=$?")
    try it.terminal.type(key)
    try it.terminal.wait(for: "> \(first)")
    try it.terminal.type("\r")
    try it.monitor.transition(first, to: .active)
    try it.terminal.wait(for: "code=0")
    #expect(try it.daemon.application(second).state != .active)
  }

  @Test(
    "q, Esc and Ctrl-C leave, and restore the terminal", arguments: ["q", "\u{1b}", "\u{3}"])
  func leaves(key: String) throws {
    let it = try Scene(first)
    try it.open()
    try it.terminal.type(key)
    try it.closed()
    #expect(try it.daemon.application(first).state == .active)
  }

  @Test("x removes the selected application, and the list is without it")
  func removes() throws {
    let it = try Scene(first, second)
    try it.open()
    try it.terminal.type("x")
    #expect(try it.monitor.end(second) == "terminatedByUser")
    try it.terminal.wait(for: "> \(first)")
    try it.terminal.type("x")
    try it.terminal.wait(for: "is empty.")
    #expect(try it.monitor.end(first) == "terminatedByUser")
    try it.terminal.type("q")
    try it.closed()
  }

  @Test("The list changes when an application does")
  func live() throws {
    let it = try Scene(first)
    try it.open()
    let other = try TestApplication.active(it.daemon, second)
    try it.terminal.wait(for: second)
    try it.daemon.terminate(first)
    try it.terminal.wait(for: "> \(second)")
    try it.terminal.type("q")
    try it.closed()
    withExtendedLifetime(other) {}
  }

  @Test(
    "A signal that ends the command restores the terminal first",
    arguments: [("TERM", 143), ("INT", 130), ("HUP", 129)])
  func ended(signal: String, code: Int) throws {
    let it = try Scene(first)
    try it.open()
    let pid = try switcherPID(it)
    kill(pid, ["TERM": SIGTERM, "INT": SIGINT, "HUP": SIGHUP][signal]!)
    try it.terminal.wait(for: "\u{1b}[?25h\u{1b}[?1049l")
    // When a signal ends the command, the shell discards input that arrived before its prompt.
    try it.terminal.wait(for: "$ ")
    try it.terminal.type("echo code=$?\n")
    try it.terminal.wait(for: "code=\(code)")
    try it.terminal.wait(for: "$ ")
    try it.terminal.type("stty -a | grep -o '[-]*icanon'\n")
    try it.terminal.wait(for: "\r\nicanon")
  }

  @Test("Ctrl-Z and SIGTSTP restore the terminal, and fg shows the list again")
  func stopped() throws {
    let it = try Scene(first)
    try it.open()
    for way in ["Ctrl-Z", "SIGTSTP"] {
      if way == "Ctrl-Z" { try it.terminal.type("\u{1a}") }
      if way == "SIGTSTP" { kill(try switcherPID(it), SIGTSTP) }
      try it.terminal.wait(for: "\u{1b}[?25h\u{1b}[?1049l")
      try it.terminal.wait(for: "Stopped")
      try it.terminal.wait(for: "$ ")
      try it.terminal.type("stty -a | grep -o '[-]*icanon'\n")
      try it.terminal.wait(for: "\r\nicanon")
      try it.terminal.wait(for: "$ ")
      try it.terminal.type("fg\n")
      try it.terminal.wait(for: "\u{1b}[?1049h\u{1b}[?25l")
      try it.terminal.wait(for: "> \(first)")
    }
    try it.terminal.type("q")
    try it.closed()
  }

  @Test("The daemon's end restores the terminal, and the command says why it ends")
  func daemonEnds() throws {
    let it = try Scene(first)
    try it.open("", "; echo code=$?")
    try it.daemon.die()
    try it.terminal.wait(for: "\u{1b}[?25h\u{1b}[?1049l")
    try it.terminal.wait(for: "taskctl: taskschedd closed the connection")
    try it.terminal.wait(for: "code=3")
  }

  @Test("An error is shown below the list, and the command continues")
  func error() throws {
    let daemon = try DaemonFixture()
    let application = try TestApplication(daemon, first, "manual")
    try application.registered()
    let callback = try application.nextCallback()
    #expect(try application.acknowledge(callback.id).errorName == nil)
    let terminal = try TestTerminal(daemon)
    try terminal.type("TERM=xterm \(Programs.path(of: "taskctl")) switcher\n")
    try terminal.wait(for: "> \(first)")
    // The application does not acknowledge willTerminate, so its termination takes a while.
    let connection = try daemon.connect()
    _ = try? connection.call(
      ControlInterface.Terminate.self, .init(application: first), timeout: .zero)
    _ = try application.nextCallback()
    try terminal.type("\r")
    try terminal.wait(for: "taskctl: Terminating: '\(first)' is being terminated")
    try terminal.type("q")
    try terminal.wait(for: "\u{1b}[?25h\u{1b}[?1049l")
  }

  @Test("NO_COLOR and a dumb terminal: no colours, and the plain list")
  func plain() throws {
    let it = try Scene(first)
    try it.open("NO_COLOR=1")
    try it.terminal.wait(for: "\u{1b}[J")
    try it.terminal.type("q")
    try it.closed()
    try it.terminal.type("\(Programs.path(of: "taskctl")) switcher; echo e\"\"nd\n")
    try it.terminal.wait(for: "APPLICATION")
    try it.terminal.wait(for: "end")
  }

  @Test("At a terminal at which applications run, the switcher lists only those applications")
  func ownSeat() throws {
    let it = try Scene(first)
    try it.terminal.type("\(Programs.path(of: "taskctl")) run --id org.test.here sleep 1000 &\n")
    try it.monitor.transition("org.test.here", to: .active)
    try it.terminal.type("TERM=xterm \(Programs.path(of: "taskctl")) switcher\n")
    try it.terminal.wait(for: "Application switcher of user-\(getuid())/pts/")
    try it.terminal.wait(for: "> org.test.here")
    try it.terminal.type("x")
    try it.monitor.end("org.test.here")
    try it.terminal.wait(for: "is empty.")
    try it.terminal.type("q")
    try it.closed()
  }

  /// Returns the pid of the switcher that runs at the terminal: the only child of the shell.
  private func switcherPID(_ it: Scene) throws -> Int32 {
    let proc = it.daemon.proc
    let shell = it.terminal.shell.pid
    return try unwrap(try proc.pids().first { try proc.stat($0)?.parent == shell })
  }
}
