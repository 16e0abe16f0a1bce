import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §8, with real programs that exit, crash and cannot be started.
@Suite("§8: Launch and relaunch")
struct RelaunchTests {
  private let id = "org.test.voip"
  /// Shorter delays than those of the contract: the delay doubles from 250 ms to 1 s, not from 1 s
  /// to 5 min.
  private static let policy = [
    ("RelaunchDelay", "250ms"), ("RelaunchDelayMax", "1s"), ("RelaunchResetTime", "1h"),
  ]

  /// Returns a manifest with a shell script as its program, by default with mode voip.
  ///
  /// - Parameter script: the script that sh runs.
  private func manifest(_ script: String, modes: String = "\"voip\"") -> String {
    """
    command = ["/bin/sh", "-c", '''
    \(script)''']
    background-modes = [\(modes)]
    """
  }

  private func settings(
    _ script: String, policy: [(String, String)] = Self.policy
  ) -> DaemonFixture.Settings {
    .init(policy: policy, manifests: [(id, manifest(script))])
  }

  /// Waits until the daemon shows the application as running, and returns its status.
  private func running(
    _ daemon: DaemonFixture, _ monitor: Monitor
  ) throws -> ControlInterface.Instance {
    while true {
      if let instance = try daemon.application(id).instance { return instance }
      try monitor.transition(id, to: .background)
    }
  }

  /// Waits until the daemon has started the application again.
  @discardableResult
  private func start(_ monitor: Monitor) throws -> ControlInterface.Change {
    try monitor.next("the relaunch") { $0.kind == .transition && $0.from == .notRunning }
  }

  /// Returns a daemon that will relaunch a failed application in an hour.
  private func waitingForRelaunch(
    _ script: String, _ gate: TemporaryDirectory
  ) throws -> DaemonFixture {
    let policy = Self.policy.map { ($0.0, "1h") }
    let daemon = try DaemonFixture(settings(script, policy: policy))
    let monitor = try Monitor(daemon)
    _ = try running(daemon, monitor)
    try open(gate.file("gate"))
    try monitor.next(.relaunchPlanned, of: id)
    return daemon
  }

  /// Creates a FIFO in the directory. A program that reads from it waits until the test calls
  /// `open`.
  private func gate(_ folder: TemporaryDirectory) -> String {
    let path = folder.file("gate")
    mkfifo(path, 0o600)
    return path
  }

  /// Opens the FIFO, so that the waiting program continues.
  private func open(_ gate: String) throws {
    let program = try TestProcess.shell("echo go > \(gate)")
    _ = try program.waitForExit()
  }

  // MARK: Launches when the daemon starts

  @Test(
    """
    An application with mode voip is launched in the background when the daemon starts (boot). The \
    launch reason reaches the program as an environment variable
    """)
  func boot() throws {
    let folder = TemporaryDirectory()
    mkfifo(folder.file("said"), 0o600)
    let reader = try TestProcess.shell("exec cat \(folder.file("said"))")
    let script = "echo \"$TASKSCHEDD_LAUNCH_REASON $TASKSCHEDD_APPLICATION\" > "
      + "\(folder.file("said")); exec sleep 1000"
    var settings = settings(script)
    settings.manifests += [
      ("org.test.audio", manifest("sleep 1000", modes: "\"audio\", \"location\"")),
      ("org.test.plain", "command = [\"/bin/sleep\", \"1000\"]"),
      ("org.test.modest", manifest("sleep 1000") + "\nmultitasking = false"),
      ("org.test.program", "background-modes = [\"voip\"]"),
    ]
    let daemon = try DaemonFixture(settings)
    #expect(try reader.nextLine() == "boot org.test.voip")
    let shown = try daemon.applications()
    let it = try #require(shown.first { $0.application == id })
    #expect([.background, .suspended].contains(it.state))
    #expect(it.instance?.launchReason == .boot)
    #expect(it.nextLaunch == nil)
    // The daemon launched none of the other four applications: each lacks the mode voip,
    // multitasking or a program.
    #expect(shown.filter { $0.instance != nil }.map(\.application) == [id])
    #expect(shown.count == 5)
  }

  @Test(
    "The launch reason reaches the program in its registration", arguments: ["boot", "relaunch"])
  func registration(_ reason: String) throws {
    let folder = TemporaryDirectory()
    folder.write("application.py", try Programs.resource("application.py"))
    for name in ["said", "asked"] { mkfifo(folder.file(name), 0o600) }
    // With another launch reason, the program exits with an error, and the daemon relaunches it.
    let script = """
      [ "$TASKSCHEDD_LAUNCH_REASON" = \(reason) ] || exit 1
      exec python3 -I -u \(folder.file("application.py")) "$TASKSCHEDD_SOCKET" \(id) \
      < \(folder.file("asked")) > \(folder.file("said"))
      """
    let writer = try TestProcess.shell("exec 3> \(folder.file("asked")); read line")
    let reader = try TestProcess.shell("exec cat \(folder.file("said"))")
    let daemon = try DaemonFixture(settings(script))
    let registered = try JSONParser.parse(Array(try reader.nextLine().dropFirst(6).utf8))
    let told = try #require(registered["parameters"]?["registered"])
    #expect(told["launchReason"] == .string(reason))
    #expect(told["state"] == "background")
    #expect(told["backgroundModes"] == ["voip"])
    let callback = try JSONParser.parse(Array(try reader.nextLine().dropFirst(6).utf8))
    #expect(callback["parameters"]?["callback"]?["kind"] == "didFinishLaunching")
    #expect(callback["parameters"]?["callback"]?["launchReason"] == .string(reason))
    #expect(try daemon.application(id).instance?.launchReason.rawValue == reason)
    try writer.writeLine("end")
  }

  // MARK: Relaunches

  @Test(
      """
      An application is relaunched after a nonzero exit code or a signal of another program. The \
      delay doubles up to a maximum, and `status` shows it
      """,
    arguments: [("exit 3", "exited"), ("kill -SEGV $$", "crashed"), ("kill -KILL $$", "crashed")])
  func backsOff(_ end: String, _ reason: String) throws {
    let gate = TemporaryDirectory()
    let daemon = try DaemonFixture(settings("read line < \(self.gate(gate)); \(end)"))
    let monitor = try Monitor(daemon)
    var instance = try running(daemon, monitor)
    #expect(instance.launchReason == .boot)
    for delay in [250_000, 500_000, 1_000_000, 1_000_000] {
      try open(gate.file("gate"))
      let ended = try monitor.next(.ended, of: id)
      #expect(ended.reason == reason)
      let plan = try monitor.next(.relaunchPlanned, of: id)
      #expect(plan.atUSec == ended.atUSec)
      // The daemon shows no next launch if the program already runs again.
      if let next = try daemon.application(id).nextLaunch {
        #expect(next.delayUSec == delay)
        #expect(next.atUSec == ended.atUSec + delay)
      }
      let launch = try start(monitor)
      #expect(launch.to == .background)
      #expect(launch.atUSec >= ended.atUSec + delay)
      let next = try running(daemon, monitor)
      #expect(next.launchReason == .relaunch)
      #expect(next.pid != instance.pid)
      #expect(try daemon.application(id).nextLaunch == nil)
      instance = next
    }
  }

  @Test("The delay is 1 s again after the application has run for 10 min")
  func backToTheStart() throws {
    let gate = TemporaryDirectory()
    var policy = Self.policy
    policy[2].1 = "300ms"
    let script = "read line < \(self.gate(gate)); exit 1"
    let daemon = try DaemonFixture(settings(script, policy: policy))
    let monitor = try Monitor(daemon)
    var delays: [Int] = []
    for ranFor in [0, 0, 400_000, 0] {
      let instance = try running(daemon, monitor)
      let end = Duration.microseconds(instance.startedAtUSec + ranFor)
      let left = end - .nanoseconds(Int64(BootClock.now()))
      _ = try Readiness.wait(for: 0, on: daemon.process.rawValue, timeout: max(.zero, left))
      try open(gate.file("gate"))
      let ended = try monitor.next(.ended, of: id)
      let plan = try monitor.next(.relaunchPlanned, of: id)
      delays.append(try Self.delay(plan))
      // On a slow machine, the program may run for longer than `ranFor`, so the test measures the
      // time.
      let ran = ended.atUSec - instance.startedAtUSec
      let isLong = ran >= 300_000
      let before = delays.dropLast().last
      #expect(delays.last == (isLong ? 250 : min(1000, before.map { $0 * 2 } ?? 250)))
      try start(monitor)
    }
    #expect(delays[2] == 250)
  }

  /// Returns the delay in milliseconds that a change reports.
  private static func delay(_ change: ControlInterface.Change) throws -> Int {
    let words = change.message.split { $0 == " " || $0 == "," }.map(String.init)
    for word in words {
      if word.hasSuffix("ms"), let number = Int(word.dropLast(2)) { return number }
      if word.hasSuffix("s"), let number = Int(word.dropLast(1)) { return number * 1000 }
    }
    throw TestApplication.Unexpected(line: change.message)
  }

  @Test("An application that exits with code 0 is not relaunched")
  func exitsWell() throws {
    let gate = TemporaryDirectory()
    let daemon = try DaemonFixture(settings("read line < \(self.gate(gate)); exit 0"))
    let monitor = try Monitor(daemon)
    _ = try running(daemon, monitor)
    try open(gate.file("gate"))
    #expect(try monitor.end(id) == "exited")
    let shown = try daemon.application(id)
    #expect(shown.state == .notRunning)
    #expect(shown.nextLaunch == nil)
  }

  @Test("An application without the mode voip is not relaunched")
  func withoutMode() throws {
    let daemon = try DaemonFixture(
      .init(policy: Self.policy, manifests: [(id, manifest("exit 1", modes: "\"audio\""))]))
    let monitor = try Monitor(daemon)
    #expect(try daemon.application(id).state == .notRunning)
    try daemon.launch(id, background: true)
    #expect(try monitor.end(id) == "exited")
    #expect(try daemon.application(id).nextLaunch == nil)
  }

  @Test("An application with the mode voip is relaunched after the daemon killed it")
  func daemonsKill() throws {
    var policy = Self.policy
    policy += [("CallbackTimeout", "300ms")]
    let folder = TemporaryDirectory()
    folder.write("application.py", try Programs.resource("application.py"))
    mkfifo(folder.file("asked"), 0o600)
    let script = """
      exec python3 -I -u \(folder.file("application.py")) "$TASKSCHEDD_SOCKET" \(id) manual \
      < \(folder.file("asked"))
      """
    let writer = try TestProcess.shell("exec 3> \(folder.file("asked")); read line")
    let daemon = try DaemonFixture(settings(script, policy: policy))
    let monitor = try Monitor(daemon)
    if try daemon.application(id).lastEnd == nil { try monitor.end(id) }
    #expect(try daemon.application(id).lastEnd?.reason == .callbackTimeout)
    let launch = try monitor.next("the relaunch") {
      $0.kind == .relaunchPlanned || $0.cause == "launch"
    }
    #expect(launch.application == id)
    #expect(try running(daemon, monitor).launchReason == .relaunch)
    try writer.writeLine("end")
  }

  @Test("An application that the operator terminated is not relaunched until it is launched again")
  func terminated() throws {
    let gate = TemporaryDirectory()
    let daemon = try DaemonFixture(settings("read line < \(self.gate(gate)); exit 1"))
    let monitor = try Monitor(daemon)
    _ = try running(daemon, monitor)
    #expect(try daemon.terminate(id).reason == .terminatedByOperator)
    #expect(try daemon.application(id).nextLaunch == nil)
    // A reload of settings and manifests must not relaunch the application.
    try daemon.call(ControlInterface.Reload.self, .init())
    #expect(try daemon.application(id).state == .notRunning)
    try daemon.launch(id, background: true)
    try open(gate.file("gate"))
    try monitor.end(id)
    try monitor.next(.relaunchPlanned, of: id)
    #expect(try running(daemon, monitor).launchReason == .relaunch)
  }

  @Test("An operator's terminate cancels a waiting relaunch, and returns the last end")
  func terminatedWhileWaiting() throws {
    let gate = TemporaryDirectory()
    let script = "read line < \(self.gate(gate)); exit 1"
    let daemon = try waitingForRelaunch(script, gate)
    #expect(try daemon.application(id).nextLaunch?.delayUSec == 3_600_000_000)
    let end = try daemon.terminate(id)
    #expect(end.reason == .exited && end.code == 1)
    #expect(try daemon.application(id).nextLaunch == nil)
    #expect(
      try daemon.terminate(id) == end, "the application neither runs nor waits for a relaunch")
    // A reload of settings and manifests must not relaunch the application.
    try daemon.call(ControlInterface.Reload.self, .init())
    #expect(try daemon.application(id).state == .notRunning)
    try daemon.launch(id)
    #expect(try daemon.application(id).nextLaunch == nil)
    #expect(try daemon.application(id).instance?.launchReason == .operator)
  }

  @Test("The daemon repeats a failed launch with increasing delays")
  func failure() throws {
    let folder = TemporaryDirectory()
    let manifest = "command = [\"\(folder.file("program"))\"]\nbackground-modes = [\"voip\"]"
    let daemon = try DaemonFixture(.init(policy: Self.policy, manifests: [(id, manifest)]))
    let monitor = try Monitor(daemon)
    let first = try monitor.next(.relaunchPlanned, of: id)
    let second = try monitor.next(.relaunchPlanned, of: id)
    #expect(second.atUSec - first.atUSec >= 250_000)
    #expect(try Self.delay(second) >= 2 * Self.delay(first) || Self.delay(second) == 1000)
    #expect(try daemon.application(id).lastEnd == nil)
    #expect(daemon.logged.contains("program: No such file or directory"))
    folder.write("program", "#!/bin/sh\nexec sleep 1000\n", mode: 0o755)
    #expect(try running(daemon, monitor).launchReason == .relaunch)
  }

  // MARK: Changes of manifests, and restarts of the daemon

  @Test(
    "A manifest that is removed or changed cancels the relaunch", arguments: [true, false])
  func manifestRemoved(_ isRemoved: Bool) throws {
    let gate = TemporaryDirectory()
    let script = "read line < \(self.gate(gate)); exit 1"
    let daemon = try waitingForRelaunch(script, gate)
    #expect(try daemon.application(id).nextLaunch != nil)
    let path = daemon.folder.file("manifests/\(id).toml")
    if isRemoved {
      unlink(path)
    } else {
      daemon.folder.write(
        "manifests/\(id).toml", "id = \"\(id)\"\n\(manifest(script, modes: "\"audio\""))\n")
    }
    try daemon.call(ControlInterface.Reload.self, .init())
    let shown = try daemon.applications().first { $0.application == id }
    #expect(shown?.nextLaunch == nil)
    #expect(shown?.instance == nil)
  }

  @Test("kill -9 of the daemon does not lose or delay a waiting relaunch")
  func daemonKilled() throws {
    var policy = Self.policy
    policy[0].1 = "3s"
    policy[1].1 = "3s"
    let gate = TemporaryDirectory()
    let settings = settings("read line < \(self.gate(gate)); exit 1", policy: policy)
    let first = try DaemonFixture(settings)
    var monitor = try Monitor(first)
    _ = try running(first, monitor)
    try open(gate.file("gate"))
    try monitor.next(.relaunchPlanned, of: id)
    let before = try #require(try first.application(id).nextLaunch)
    try first.die()
    let daemon = try DaemonFixture(settings, after: first)
    monitor = try Monitor(daemon)
    #expect(try daemon.application(id).nextLaunch == before)
    let launch = try start(monitor)
    #expect(launch.atUSec >= before.atUSec)
    #expect(try running(daemon, monitor).launchReason == .relaunch)
  }

  @Test(
      """
      After a regular stop, a new daemon manages processes that run on, and launches no second \
      instance
      """)
  func stoppedAndStarted() throws {
    let settings = settings("exec sleep 1000")
    let first = try DaemonFixture(settings)
    let before = try running(first, Monitor(first)).pid
    try first.stop()
    let daemon = try DaemonFixture(settings, after: first)
    let instance = try running(daemon, Monitor(daemon))
    #expect(instance.launchReason == .boot)
    #expect(instance.pid == before)
    #expect(try daemon.programs() == [Int32(before)])
    #expect(try daemon.application(id).lastEnd?.reason == .schedulerStopped)
    // The new daemon manages the application, although the previous daemon had started it.
    #expect(try daemon.terminate(id).reason == .terminatedByOperator)
    #expect(try daemon.programs() == [])
  }

  @Test(
    "A new daemon launches an application again only if its process has ended")
  func stoppedAndEnded() throws {
    let settings = settings("exec sleep 1000")
    let first = try DaemonFixture(settings)
    let before = Int32(try running(first, Monitor(first)).pid)
    try first.stop()
    kill(before, SIGKILL)
    try waitUntil("the process has ended") { try first.state(of: before)?.hasEnded ?? true }
    let second = try DaemonFixture(settings, after: first)
    let pid = Int32(try running(second, Monitor(second)).pid)
    #expect(pid != before)
    // The daemon stops twice more. The application runs on, so no new daemon launches it again.
    try second.stop()
    let third = try DaemonFixture(settings, after: second)
    #expect(Int32(try running(third, Monitor(third)).pid) == pid)
    try third.stop()
    let last = try DaemonFixture(settings, after: third)
    #expect(Int32(try running(last, Monitor(last)).pid) == pid)
    #expect(try last.programs() == [pid])
  }

  @Test("An application that survives the daemon is not launched again by the next daemon")
  func runsOn() throws {
    let settings = settings("exec sleep 1000")
    let first = try DaemonFixture(settings)
    let pid = try running(first, Monitor(first)).pid
    try first.die()
    let daemon = try DaemonFixture(settings, after: first)
    #expect(try daemon.application(id).instance?.pid == pid)
    #expect(try daemon.applications().count == 1)
  }

  @Test("Without an event log, an application that runs on is recognized by its environment")
  func runsOnWithoutEventLog() throws {
    let settings = settings("sleep 1000 & exec sleep 1000")
    let first = try DaemonFixture(settings)
    let pid = try running(first, Monitor(first)).pid
    let daemon = try first.killed {
      let eventLog = first.folder.file("event-log")
      for name in try Directory.names(path: eventLog) {
        try Directory.remove(path: "\(eventLog)/\(name)")
      }
    }
    let instance = try running(daemon, Monitor(daemon))
    #expect(instance.launchReason == .boot)
    #expect(instance.pid == pid)
    #expect(try daemon.programs() == [Int32(pid)])
    #expect(try daemon.terminate(id).reason == .terminatedByOperator)
    try waitUntil("all processes of the application have ended") { try daemon.programs() == [] }
  }
}
