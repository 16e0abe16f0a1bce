import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §20, with real processes and a session agent that the test simulates (`TestAgent`).
@Suite("§20: The daemon adopts programs because of their windows")
struct DesktopAdoptionTests {
  private let adopted = "org.test.adopted"
  private let witness = "org.test.witness"

  private func settings(_ focus: (String, String)...) -> DaemonFixture.Settings {
    DaemonFixture.Settings(
      policy: [
        ("FocusSettleTime", "10ms"), ("HiddenGraceTime", "10ms"), ("LaunchTime", "100ms"),
      ], focus: focus)
  }

  /// Reports windows, and waits until the daemon has decided about all of them. The daemon examines
  /// windows in the order of the report. The function therefore also reports the window of another
  /// program, as the last window, and waits until the daemon has adopted that program.
  private func decide(
    _ daemon: DaemonFixture, _ monitor: Monitor, _ agent: TestAgent,
    _ windows: [SessionInterface.Window]
  ) throws -> TestProcess {
    try agent.report(windows)
    let other = try daemon.shell("read line")
    try agent.report(windows + [agent.window(other.pid, .focused, id: witness)])
    try monitor.transition(witness, to: .active)
    return other
  }

  @Test(
    """
    §20: A program whose app id the settings name is adopted when its window appears, and is \
    suspended when the window has been hidden
    """)
  func listed() throws {
    let daemon = try DaemonFixture(settings(("adopt", "[\"\(adopted)\"]")))
    let monitor = try Monitor(daemon)
    let agent = try TestAgent(daemon)
    let program = try daemon.shell("sh -c 'echo $$; read line'; true")
    let child = try #require(Int32(program.nextLine()))
    try agent.report([agent.window(program.pid, .focused, id: adopted)])
    let adoption = try monitor.transition(adopted, to: .active)
    #expect(adoption.cause == "adopt")
    let application = try daemon.application(adopted)
    #expect(application.instance?.launchReason == .user)
    #expect(application.owner == Int(getuid()))
    #expect(application.seat == "user-\(getuid())")
    try agent.report([agent.window(program.pid, .hidden, id: adopted)])
    try monitor.transition(adopted, to: .suspended)
    #expect(try daemon.state(of: program.pid) == .stopped)
    #expect(try daemon.state(of: child) == .stopped)
    try agent.report([agent.window(program.pid, .focused, id: adopted)])
    try monitor.transition(adopted, to: .active)
    #expect(try daemon.state(of: child) != .stopped)
  }

  @Test("§20: An app id that is no reverse-DNS name gets the prefix `desktop.`")
  func derivedID() throws {
    let daemon = try DaemonFixture(settings(("adopt", "[\"Gimp-2.10\"]")))
    let monitor = try Monitor(daemon)
    let agent = try TestAgent(daemon)
    let program = try daemon.shell("read line")
    try agent.report([agent.window(program.pid, .focused, id: "Gimp-2.10")])
    try monitor.transition("desktop.Gimp-2-10", to: .active)
  }

  @Test(
    """
    §20: A hidden program is adopted in the background, and a visible program without the focus \
    becomes inactive
    """)
  func withoutFocus() throws {
    let daemon = try DaemonFixture(settings(("adopt", "\"all\"")))
    let monitor = try Monitor(daemon)
    let agent = try TestAgent(daemon)
    let hidden = try daemon.shell("read line"), visible = try daemon.shell("read line")
    try agent.report([agent.window(hidden.pid, .hidden, id: adopted)])
    try monitor.transition(adopted, to: .suspended)
    let both = try [
      agent.window(hidden.pid, .hidden, id: adopted),
      agent.window(visible.pid, .visible, id: "org.test.visible"),
    ]
    try agent.report(both, hasFocus: true)
    try monitor.transition("org.test.visible", to: .inactive)
  }

  @Test(
    """
    §20: With adopt = "all", the daemon adopts no program that the setting `except` or `never` \
    names, no part of the desktop, and no program whose window has no app id
    """)
  func exceptions() throws {
    let daemon = try DaemonFixture(
      settings(
        ("adopt", "\"all\""), ("except", "[\"org.test.except\"]"), ("never", "[\"sleep\"]")))
    let monitor = try Monitor(daemon)
    let agent = try TestAgent(daemon)
    let programs = try (0..<3).map { _ in try daemon.shell("read line") }
    let child = try TestProcess("/bin/sleep", ["sleep", "1000"])
    let windows = try [
      agent.window(programs[0].pid, .visible, id: "org.test.except"),
      agent.window(programs[1].pid, .visible, id: "waybar"),
      agent.window(programs[2].pid, .visible), agent.window(child.pid, .visible, id: adopted),
    ]
    let other = try decide(daemon, monitor, agent, windows)
    #expect(try daemon.applications().map(\.application) == [witness])
    #expect(daemon.logged.contains("is \"sleep\""), "\(daemon.logged)")
    withExtendedLifetime(other) {}
  }

  @Test("§20: Of several programs with the same app id, the daemon adopts the first")
  func sameID() throws {
    let daemon = try DaemonFixture(settings(("adopt", "\"all\"")))
    let monitor = try Monitor(daemon)
    let agent = try TestAgent(daemon)
    let first = try daemon.shell("read line"), second = try daemon.shell("read line")
    let window = try agent.window(first.pid, .visible, id: adopted)
    try agent.report([window])
    try monitor.transition(adopted, to: .inactive)
    let other = try decide(
      daemon, monitor, agent, [window, agent.window(second.pid, .visible, id: adopted)])
    #expect(try daemon.application(adopted).instance?.pid == Int(first.pid))
    #expect(daemon.logged.contains("another process is already managed as \(adopted)"))
    withExtendedLifetime(other) {}
  }

  @Test("§20: The daemon does not adopt a terminal")
  func terminal() throws {
    let daemon = try DaemonFixture(settings(("adopt", "\"all\"")))
    let monitor = try Monitor(daemon)
    let agent = try TestAgent(daemon)
    let terminal = try daemon.python(
      """
      import os, pty
      pid, screen = pty.fork()
      if pid == 0:
          os.write(1, b"x")
          os.execvp("sleep", ["sleep", "1000"])
      # After this read, the new terminal is certainly the controlling terminal of the child.
      os.read(screen, 1)
      print("ready", flush=True)
      input()
      """)
    _ = try terminal.nextLine()
    let other = try decide(
      daemon, monitor, agent, [agent.window(terminal.pid, .visible, id: adopted)])
    #expect(try daemon.applications().map(\.application) == [witness])
    #expect(daemon.logged.contains("it is a terminal"), "\(daemon.logged)")
    withExtendedLifetime(other) {}
  }

  // MARK: Connections

  /// A program that reads the paths of sockets, one in each line, and connects to each socket.
  private static let client = """
    import socket, sys
    kept = []
    print("ready", flush=True)
    for line in sys.stdin:
        kept.append(socket.socket(socket.AF_UNIX))
        kept[-1].connect(line.strip())
        print("connected", flush=True)
    """

  /// The socket of an audio server.
  private struct AudioServer: ~Copyable {
    let path: String
    private let socket: FileDescriptor

    init(_ daemon: DaemonFixture) throws {
      mkdir(daemon.folder.file("pulse"), 0o755)
      path = daemon.folder.file("pulse/native")
      socket = try UnixSocket.listen(path: path, mode: 0o666)
    }

    /// Makes a program that runs ``client`` connect to this socket.
    ///
    /// - Returns: The server's end of the connection. This function accepts the connection, because
    ///   until then the kernel does not report which server the program is connected to.
    func connect(_ program: TestProcess) throws -> FileDescriptor {
      try program.writeLine(path)
      #expect(try program.nextLine() == "connected")
      guard let connection = try UnixSocket.accept(socket.rawValue) else {
        throw SystemError(call: "accept \(path)", errno: EAGAIN)
      }
      return connection
    }
  }

  @Test(
    "§20: The daemon adopts no program that is connected to an audio server or to the daemon")
  func connected() throws {
    let daemon = try DaemonFixture(settings(("adopt", "\"all\"")))
    let server = try AudioServer(daemon)
    let monitor = try Monitor(daemon)
    let agent = try TestAgent(daemon)
    let player = try daemon.python(Self.client), aware = try daemon.python(Self.client)
    for program in [player, aware] { _ = try program.nextLine() }
    let connection = try server.connect(player)
    try aware.writeLine(daemon.socketPath)
    #expect(try aware.nextLine() == "connected")
    let other = try decide(
      daemon, monitor, agent,
      [
        agent.window(player.pid, .visible, id: adopted),
        agent.window(aware.pid, .visible, id: "org.test.aware"),
      ])
    #expect(try daemon.applications().map(\.application) == [witness])
    #expect(daemon.logged.contains("it is connected to the audio server"), "\(daemon.logged)")
    #expect(daemon.logged.contains("it is connected to taskschedd"), "\(daemon.logged)")
    withExtendedLifetime(other) {}
    withExtendedLifetime(connection) {}
  }

  @Test(
    """
    §20: An adopted program that has connected to an audio server is released instead of \
    suspended, also by a later daemon, and continues to run
    """, arguments: [false, true])
  func released(_ isLater: Bool) throws {
    var daemon = try DaemonFixture(settings(("adopt", "\"all\"")))
    let server = try AudioServer(daemon)
    let program = try daemon.python(Self.client)
    _ = try program.nextLine()
    do {
      let monitor = try Monitor(daemon)
      let agent = try TestAgent(daemon)
      try agent.report([agent.window(program.pid, .focused, id: adopted)])
      try monitor.transition(adopted, to: .active)
    }
    if isLater { daemon = try daemon.killed() }
    let monitor = try Monitor(daemon)
    let agent = try TestAgent(daemon)
    let connection = try server.connect(program)
    try agent.report([agent.window(program.pid, .hidden, id: adopted)])
    #expect(try monitor.end(adopted) == "released")
    try waitUntil("the program waits for input again") {
      try daemon.state(of: program.pid) == .sleeping
    }
    let why = try daemon.taskctl("why", adopted).text
    #expect(why.contains("it is connected to the audio server"), "\(why)")
    withExtendedLifetime(connection) {}
  }

  // MARK: Groups and owners

  @Test(
    """
    §20: The scope that a desktop created for a program is the instance, and the freezer suspends \
    it
    """, .enabled(
      if: TestControlGroup.isPossible, Comment(rawValue: TestControlGroup.missing ?? "possible")))
  func scope() throws {
    let daemon = try DaemonFixture(settings(("adopt", "\"all\"")))
    let parent = try TestControlGroup()
    let scope = parent.group.child("app-test-1.scope")
    try scope.create()
    let monitor = try Monitor(daemon)
    let agent = try TestAgent(daemon)
    let program = try daemon.shell("read line"), sibling = try daemon.shell("read line")
    for process in [program, sibling] { try scope.add(process.pid) }
    try agent.report([agent.window(program.pid, .focused, id: adopted)])
    try monitor.transition(adopted, to: .active)
    try agent.report([agent.window(sibling.pid, .hidden, id: adopted)])
    try monitor.transition(adopted, to: .suspended)
    #expect(try scope.isFrozen())
    try agent.report([agent.window(sibling.pid, .focused, id: adopted)])
    try monitor.transition(adopted, to: .active)
    #expect(try !scope.isFrozen())
    try daemon.terminate(adopted)
    #expect(try program.waitForExit() != nil)
    #expect(scope.exists, "the scope belongs to the desktop")
    try daemon.stop()
    _ = try sibling.pidfd.send(signal: SIGKILL)
    _ = try sibling.waitForExit()
    try scope.remove()
  }

  @Test("§20: The daemon does not adopt a program of another user, or one that a daemon launched")
  func foreign() throws {
    let daemon = try DaemonFixture(settings(("adopt", "\"all\"")))
    let monitor = try Monitor(daemon)
    let agent = try TestAgent(daemon)
    let launched = try daemon.python("input()", marker: "otherDaemon")
    var windows = try [agent.window(launched.pid, .visible, id: adopted)]
    var foreign: TestProcess?
    if geteuid() == 0 {
      let process = try daemon.shell("read line", uid: 65534)
      windows.append(try agent.window(process.pid, .visible, id: "org.test.foreign"))
      foreign = process
    }
    let other = try decide(daemon, monitor, agent, windows)
    #expect(try daemon.applications().map(\.application) == [witness])
    withExtendedLifetime((other, foreign)) {}
  }
}
