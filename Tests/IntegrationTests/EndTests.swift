import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §14, and contract §15: the states of the processes after the daemon has stopped.
@Suite("§14: Every end has exactly one reason, logged and kept")
struct EndTests {
  private let id = "org.test.program"

  /// The way in which a program ends.
  enum Ending {
    case code(Int)
    case signal(Int32)

    var script: String {
      switch self {
      case .code(let code): "exit \(code)"
      case .signal(let number): "kill -\(number) $$"
      }
    }

    /// The sentence that the log has for this end.
    var sentence: String {
      switch self {
      case .code(let code): "exited with code \(code)"
      case .signal(SIGSEGV): "crashed with SIGSEGV"
      case .signal(SIGTERM): "was terminated by SIGTERM"
      case .signal(let number): "was ended by signal \(number)"
      }
    }

    var name: String { exitCode == nil ? "crashed" : "exited" }

    var exitCode: Int? {
      if case .code(let code) = self { code } else { nil }
    }

    var signalNumber: Int? {
      if case .signal(let number) = self { Int(number) } else { nil }
    }
  }

  @Test(
    "A process that is not a child of the daemon ends as exited(code) or crashed(signal)",
    arguments: [Ending.code(3), .code(0), .signal(SIGSEGV), .signal(SIGTERM)])
  func adopted(_ ending: Ending) throws {
    let daemon = try DaemonFixture()
    let monitor = try Monitor(daemon)
    let program = try daemon.shell("read line; \(ending.script)")
    try daemon.adopt(id, program)
    try program.writeLine("go")
    #expect(try monitor.end(id) == (ending.name))
    let end = try daemon.application(id).lastEnd
    #expect(end?.code == ending.exitCode)
    #expect(end?.signal == ending.signalNumber)
    // If the daemon reported a second end, the report would precede the adoption of the next
    // application.
    try daemon.adopt("org.test.next", daemon.shell("read line"))
    try monitor.transition("org.test.next", to: .active)
    #expect(monitor.seen.count { $0.kind == .ended && $0.application == id } == 1)
    #expect(daemon.logged.contains("\(id) \(ending.sentence)"))
  }

  @Test(
    "A program that the daemon launched ends as exited(code) or crashed(signal)",
    arguments: [Ending.code(3), .signal(SIGSEGV)])
  func launched(_ ending: Ending) throws {
    let daemon = try DaemonFixture(
      .init(manifests: [(id, "command = [\"/bin/sh\", \"-c\", \"\(ending.script)\"]")]))
    let monitor = try Monitor(daemon)
    try daemon.launch(id)
    #expect(try monitor.end(id) == (ending.name))
    let end = try daemon.application(id).lastEnd
    #expect(end?.code == ending.exitCode)
    #expect(end?.signal == ending.signalNumber)
  }

  @Test("An application that ended while no daemon ran has the reason unknown")
  func unseen() throws {
    let first = try DaemonFixture()
    let program = try first.shell("read line; exit 3")
    try first.adopt(id, program)
    let daemon = try first.killed {
      try program.writeLine("go")
      #expect(try program.waitForExit() == .exited(code: 3))
    }
    let end = try #require(try daemon.application(id).lastEnd)
    #expect(end.reason == .unknown && end.code == nil)
    #expect(daemon.logged.contains("\(id) ended for an unknown reason"))
    let why = try daemon.taskctl("why", id).text
    #expect(why.contains("ended for an unknown reason"), "\(why)")
  }

  @Test(
    """
    An operator's order is the reason of the end even if the application does not acknowledge a \
    callback within CallbackTimeout. The command why and the log name the callback
    """)
  func terminateWithoutAnswer() throws {
    let daemon = try DaemonFixture(.init(policy: [("CallbackTimeout", "2s")]))
    let application = try TestApplication(daemon, id, "manual")
    try application.registered()
    for _ in 0..<2 { _ = try application.acknowledge(application.nextCallback().id) }
    try daemon.sendToBackground(id)
    let resign = try application.nextCallback()
    let terminate = try daemon.startTaskctl(["terminate", id])
    try waitUntil("the application is terminating") {
      try daemon.application(id).instance?.ending != nil
    }
    _ = try application.acknowledge(resign.id)
    let told = try terminate.remainingText()
    #expect(
      told == """
        \(id): was terminated by an operator
          It did not acknowledge didEnterBackground in time, and was killed.

        """)
    #expect(try application.process.waitForExit() == .signaled(signal: SIGKILL))
    let why = try daemon.taskctl("why", id).text
    #expect(why.contains("It did not acknowledge didEnterBackground in time, and was killed."))
    #expect(
      daemon.logged.contains(
        "\(id) was terminated by an operator; it did not acknowledge didEnterBackground in time"))
  }

  @Test("A launched application is asked to end by the signal that its manifest names")
  func stopSignal() throws {
    let folder = TemporaryDirectory()
    mkfifo(folder.file("fifo"), 0o600)
    let script = """
      exec > \(folder.file("fifo")); trap 'echo interrupted; exit 0' INT; echo ready; \
      while :; do sleep 1000 & wait; done
      """
    let daemon = try DaemonFixture(
      .init(manifests: [
        (id, "stop-signal = \"SIGINT\"\ncommand = [\"/bin/sh\", \"-c\", \"\(script)\"]")
      ]))
    let reader = try daemon.shell("exec cat \(folder.file("fifo"))")
    try daemon.launch(id)
    #expect(try reader.readLine() == "ready")
    let end = try daemon.terminate(id)
    #expect(end.reason == .terminatedByOperator)
    #expect(end.stopSignal == nil, "the application ended by its stop signal")
    #expect(try reader.remainingText() == "interrupted\n")
  }

  @Test("An application that does not end by its stop signal is killed, and the log says so")
  func stubborn() throws {
    let daemon = try DaemonFixture(.init(policy: [("TerminateTimeout", "100ms")]))
    let program = try daemon.shell("trap '' TERM; echo ready; while :; do sleep 1000; done")
    #expect(try program.readLine() == "ready")
    try daemon.adopt(id, program)
    let end = try daemon.terminate(id)
    #expect(end.reason == .terminatedByOperator)
    #expect(end.stopSignal == "SIGTERM")
    #expect(end.stopLimitUSec == 100_000)
    #expect(
      daemon.logged.contains(
        "\(id) was terminated by an operator; it did not exit within 100ms of SIGTERM, "
          + "so SIGKILL was sent"))
  }

  @Test("systemctl status shows how many applications run, and how many are suspended")
  func status() throws {
    var settings = DaemonFixture.Settings(policy: [("LaunchTime", "50ms")])
    settings.hearsNotifications = true
    let daemon = try DaemonFixture(settings)
    let notifications = try unwrap(daemon.notifications)
    try notifications.wait(for: "STATUS=0 applications", orEndOf: daemon.process.rawValue)
    let first = try daemon.shell("read line")
    let second = try daemon.shell("read line")
    try daemon.adopt("org.test.first", first)
    try daemon.adopt("org.test.second", second, background: true)
    try notifications.wait(
      for: "STATUS=2 applications, 1 suspended", orEndOf: daemon.process.rawValue)
    try first.writeLine("go")
    try notifications.wait(
      for: "STATUS=1 application, 1 suspended", orEndOf: daemon.process.rawValue)
  }

  @Test("The log escapes the name that an application gives to its task")
  func hostileNames() throws {
    let daemon = try DaemonFixture(.init(options: [("log-level", "\"info\"")]))
    let program = try daemon.shell("read line")
    try daemon.adopt(id, program, task: "a\u{202e}\u{200b}\u{e0041}b")
    // The daemon may reply to the adoption before it writes to the log.
    try waitUntil("the log has the escaped name") {
      daemon.logged.contains(#"began background task 1 'a\u202e\u200b\U000e0041b'"#)
    }
  }

  @Test("The daemon ends the processes that a launched program leaves behind")
  func leftovers() throws {
    let folder = TemporaryDirectory()
    mkfifo(folder.file("fifo"), 0o600)
    // The reader reaches the end of the FIFO only when all children have ended, because each child
    // holds the FIFO open.
    let manifest = """
      command = ["/bin/sh", "-c", \
      "exec > \(folder.file("fifo")); sleep 1000 & setsid sleep 1000 & echo started; exit 0"]
      """
    let daemon = try DaemonFixture(.init(manifests: [(id, manifest)]))
    let monitor = try Monitor(daemon)
    let reader = try daemon.shell("exec cat \(folder.file("fifo"))")
    try daemon.launch(id)
    #expect(try monitor.end(id) == "exited")
    #expect(try reader.remainingText() == "started\n")
  }

  @Test("A terminated application leaves no process behind, not even an orphan")
  func orphans() throws {
    let daemon = try DaemonFixture()
    let program = try daemon.shell("setsid sleep 1000 & echo $!; read line")
    let child = try unwrap(try PIDFD.open(unwrap(Int32(unwrap(try program.readLine())))))
    try daemon.adopt(id, program)
    #expect(try daemon.terminate(id).reason == .terminatedByOperator)
    try waitFor(POLLIN, on: child.rawValue)
  }

  @Test(
    """
    No process stays suspended when no daemon manages it: SIGTERM makes the daemon resume all \
    processes, log schedulerStopped and remove its socket
    """,
    arguments: [SIGTERM, SIGINT])
  func stop(_ signal: Int32) throws {
    // An unaware program that starts in the background is suspended after LaunchTime.
    let daemon = try DaemonFixture(.init(policy: [("LaunchTime", "50ms")]))
    let monitor = try Monitor(daemon)
    var programs: [TestProcess] = []
    var pids: [Int32] = []
    for number in 1...3 {
      let program = try daemon.shell("sleep 1000 & echo $!; wait")
      pids += [program.pid, try program.nextPID()]
      try daemon.adopt("org.test.p\(number)", program, background: true)
      try monitor.transition("org.test.p\(number)", to: .suspended)
      programs.append(program)
    }
    let aware = try TestApplication(daemon, id)
    try aware.registered()
    for pid in pids { #expect(try daemon.state(of: pid) == .stopped) }
    _ = try daemon.process.send(signal: signal)
    try waitFor(POLLIN, on: daemon.process.rawValue)
    #expect(try daemon.process.exitStatus(in: daemon.proc) == .exited(code: 0))
    for pid in pids {
      let state = try daemon.state(of: pid)
      #expect(state != .stopped && state != nil, "process \(pid)")
    }
    #expect(access(daemon.socketPath, F_OK) != 0)
    #expect(daemon.logged.contains("is no longer managed: taskschedd has stopped"))
    #expect(try daemon.state(of: aware.pid)?.hasEnded == false)
  }
}
