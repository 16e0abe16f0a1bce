import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §2: no process of a suspended application runs, tested with real processes.
@Suite("§2: No process of a suspended instance executes an instruction")
struct SuspensionTests {
  private static let marker = "integration0tree"
  private let kinds: Set<String> = [
    "leader", "child", "grandchild", "orphan-group", "orphan-session", "orphan-marked",
  ]

  /// Returns the pids of the processes that Resources/process_tree.py has printed, by kind.
  private func members(_ tree: TestProcess, _ kinds: Set<String>) throws -> [String: Int32] {
    var found: [String: Int32] = [:]
    while found.count < kinds.count {
      let words = try tree.nextLine().split(separator: " ").map(String.init)
      found[words[2]] = try unwrap(Int32(words[1]))
    }
    #expect(Set(found.keys) == kinds)
    return found
  }

  private func cpuTicks(_ daemon: DaemonFixture, _ pids: some Sequence<Int32>) throws -> [UInt64] {
    try pids.map { try unwrap(try daemon.proc.stat($0)).cpuTicks }
  }

  /// Checks that the processes use no CPU time while suspended, and some after they are resumed.
  private func checkStandstill(
    _ daemon: DaemonFixture, _ id: String, _ pids: [Int32], _ monitor: Monitor
  ) throws {
    let before = try cpuTicks(daemon, pids)
    try beBusy(milliseconds: 200)
    #expect(try cpuTicks(daemon, pids) == before)
    try daemon.activate(id)
    try monitor.transition(id, to: .active)
    try waitUntil("each member uses CPU time again") {
      try zip(cpuTicks(daemon, pids), before).allSatisfy { $0 > $1 }
    }
  }

  @Test(
      """
      Signals suspend a busy program of many processes and threads, which then uses no CPU time \
      and later continues
      """)
  func treeBySignal() throws {
    let daemon = try DaemonFixture(.init(options: [("suspend-mechanism", "\"signal\"")]))
    let tree = try daemon.python(Programs.resource("process_tree.py"), marker: Self.marker)
    let members = try members(tree, kinds)
    let monitor = try Monitor(daemon)
    try daemon.adopt("org.test.tree", tree, marker: Self.marker)
    try daemon.sendToBackground("org.test.tree")
    try monitor.transition("org.test.tree", to: .suspended)
    for (kind, pid) in members {
      #expect(try daemon.state(of: pid) == .stopped, "\(kind)")
      let threads = try unwrap(try daemon.proc.threadStates(pid))
      #expect(threads.allSatisfy { $0.state == .stopped }, "\(kind)")
    }
    #expect(try daemon.proc.threads(members["leader"] ?? 0)?.count == 2)
    try checkStandstill(daemon, "org.test.tree", members.values.sorted(), monitor)
  }

  @Test(
      """
      In a control group, the freezer or signals suspend a busy program of many processes and \
      threads, which then uses no CPU time and later continues
      """,
    .enabled(
      if: TestControlGroup.isPossible, Comment(rawValue: TestControlGroup.missing ?? "possible")),
    arguments: ["auto", "freezer", "signal"])
  func treeInCgroup(_ mechanism: String) throws {
    let output = TemporaryDirectory()
    output.write("tree.py", try Programs.resource("process_tree.py"))
    let manifest = """
      command = ["/bin/sh", "-c", \
      "exec python3 -I -u \(output.file("tree.py")) > \(output.file("fifo"))"]
      """
    mkfifo(output.file("fifo"), 0o600)
    let daemon = try DaemonFixture(
      .init(
        options: [("suspend-mechanism", "\"\(mechanism)\"")],
        manifests: [("org.test.tree", manifest)]), ownGroup: true)
    let reader = try daemon.shell("exec cat \(output.file("fifo"))")
    let monitor = try Monitor(daemon)
    let leader = try daemon.launch("org.test.tree")
    let members = try members(reader, kinds)
    #expect(members["leader"] == leader)
    let group = try unwrap(try ControlGroup.of(leader, in: daemon.proc))
    #expect(group != (try ControlGroup.of(daemon.process.pid, in: daemon.proc)))
    try daemon.sendToBackground("org.test.tree")
    try monitor.transition("org.test.tree", to: .suspended)
    #expect(try group.isFrozen() == (mechanism != "signal"))
    if mechanism == "signal" {
      for pid in members.values { #expect(try daemon.state(of: pid) == .stopped) }
    }
    try checkStandstill(daemon, "org.test.tree", members.values.sorted(), monitor)
    #expect(try !group.isFrozen())
    #expect(try daemon.terminate("org.test.tree").reason == .terminatedByOperator)
    try waitUntil("the cgroup is removed") { !group.exists }
  }

  @Test("A process that another program had stopped before stays stopped after a resume")
  func stoppedBefore() throws {
    let daemon = try DaemonFixture()
    let program = try daemon.shell(
      "sh -c 'echo $$; kill -STOP $$; echo continued; exec sleep 1000' & echo $!; wait")
    _ = try program.readLine()
    let child = try program.nextPID()
    try waitUntil("the child has stopped itself") { try daemon.state(of: child) == .stopped }
    let monitor = try Monitor(daemon)
    try daemon.adopt("org.test.job", program)
    try daemon.sendToBackground("org.test.job")
    try monitor.transition("org.test.job", to: .suspended)
    #expect(try daemon.state(of: program.pid) == .stopped)
    try daemon.activate("org.test.job")
    try monitor.transition("org.test.job", to: .active)
    try waitUntil("the leader runs") { try daemon.state(of: program.pid) == .sleeping }
    #expect(try daemon.state(of: child) == .stopped)
  }

  @Test("A program that forks without end is stopped completely")
  func forkStorm() throws {
    let daemon = try DaemonFixture()
    // Besides the leader, four processes run at any time. Each process forks a successor and then
    // exits, so every successor is an orphan.
    let storm = try daemon.python(
      """
      import os, time
      for _ in range(4):
          if os.fork() == 0:
              break
      else:
          os.write(1, b"started\\n")
          while True: time.sleep(1000)
      while True:
          time.sleep(0.01)
          if os.fork() != 0:
              os._exit(0)
      """, marker: "integration0storm")
    #expect(try storm.readLine() == "started")
    let monitor = try Monitor(daemon)
    try daemon.adopt("org.test.storm", storm, marker: "integration0storm")
    try daemon.sendToBackground("org.test.storm")
    try monitor.transition("org.test.storm", to: .suspended)
    let members = try storming(daemon)
    #expect(members.contains(storm.pid))
    for pid in members {
      let state = try daemon.state(of: pid)
      #expect(state == .stopped || state?.hasEnded == true, "process \(pid)")
    }
    try beBusy(milliseconds: 50)
    #expect(try storming(daemon) == members)
    try daemon.terminate("org.test.storm")
    try monitor.end("org.test.storm")
    try waitUntil("all processes of the storm have ended") { try storming(daemon).isEmpty }
  }

  /// Returns the processes of the fork storm, which have inherited its environment.
  private func storming(_ daemon: DaemonFixture) throws -> Set<Int32> {
    var found: Set<Int32> = []
    for pid in try daemon.proc.pids() {
      // Not even root may read the environment of some system processes.
      let marker = try? daemon.proc.environmentValue(pid, of: "TASKSCHEDD_INSTANCE")
      if marker == "integration0storm", try daemon.state(of: pid)?.hasEnded == false {
        found.insert(pid)
      }
    }
    return found
  }

  @Test(
      """
      A status call detects that another program has resumed a stopped process, and the daemon \
      stops the process again
      """)
  func resumedBySignal() throws {
    let id = "org.test.woken"
    let daemon = try DaemonFixture(.init(options: [("suspend-mechanism", "\"signal\"")]))
    let program = try daemon.shell("sleep 1000 & echo $!; wait")
    let child = try program.nextPID()
    let monitor = try Monitor(daemon)
    try daemon.adopt(id, program)
    try daemon.sendToBackground(id)
    try monitor.transition(id, to: .suspended)
    let other = try unwrap(try PIDFD.open(child))
    try other.send(signal: SIGCONT)
    try waitUntil("the child runs") { try daemon.state(of: child) != .stopped }
    #expect(try daemon.applications().map(\.state) == [.background])
    #expect(try monitor.transition(id, to: .background).cause == "suspensionLost")
    let told = try monitor.next("the reason") { $0.kind == .suspensionFailed }
    #expect(told.reason?.contains("another program resumed its process \(child)") == true)
    try monitor.transition(id, to: .suspended)
    #expect(try daemon.state(of: child) == .stopped)
    #expect(try daemon.application(id).problem == nil)
    // After the second SIGCONT of another program, the daemon reports a problem, and the
    // application runs until the daemon's next attempt.
    try other.send(signal: SIGCONT)
    try waitUntil("the child runs") { try daemon.state(of: child) != .stopped }
    let status = try daemon.application(id)
    #expect(status.state == .background)
    #expect(status.problem?.contains("does not stay suspended") == true)
  }

  @Test(
    "A control group that another program thaws is frozen again at once",
    .enabled(
      if: TestControlGroup.isPossible, Comment(rawValue: TestControlGroup.missing ?? "possible")))
  func thawed() throws {
    let id = "org.test.thawed"
    let daemon = try DaemonFixture(
      .init(manifests: [(id, "command = [\"/bin/sleep\", \"1000\"]")]), ownGroup: true)
    let monitor = try Monitor(daemon)
    let leader = try daemon.launch(id)
    let group = try unwrap(try ControlGroup.of(leader, in: daemon.proc))
    try daemon.sendToBackground(id)
    try monitor.transition(id, to: .suspended)
    #expect(try group.isFrozen())
    try group.thaw()
    // The daemon notices the thaw without a request of a client.
    #expect(try monitor.transition(id, to: .background).cause == "suspensionLost")
    try monitor.transition(id, to: .suspended)
    #expect(try group.isFrozen())
    try daemon.activate(id)
    try waitUntil("the cgroup is thawed") { try !group.isFrozen() }
    #expect(try daemon.application(id).state == .active)
  }

  @Test("A process that is killed in a frozen control group does not end the suspension",
    .enabled(
      if: TestControlGroup.isPossible, Comment(rawValue: TestControlGroup.missing ?? "possible")))
  func killedWhileFrozen() throws {
    let id = "org.test.bereft"
    let daemon = try DaemonFixture(
      .init(manifests: [(id, "command = [\"/bin/sh\", \"-c\", \"sleep 1000 & wait\"]")]),
      ownGroup: true)
    let monitor = try Monitor(daemon)
    let leader = try daemon.launch(id)
    try waitUntil("the program's child runs") { try daemon.proc.children(leader)?.isEmpty == false }
    let child = try unwrap(try daemon.proc.children(leader)?.first)
    try daemon.sendToBackground(id)
    try monitor.transition(id, to: .suspended)
    try unwrap(try PIDFD.open(child)).send(signal: SIGKILL)
    try waitUntil("the child has ended") { try daemon.state(of: child)?.hasEnded != false }
    #expect(try daemon.application(id).state == .suspended)
    #expect(!monitor.seen.contains { $0.cause == "suspensionLost" })
  }

  @Test("A suspension that cannot complete is undone completely and reported")
  func undone() throws {
    // The freezer fails, because an adopted application has no cgroup of its own.
    let daemon = try DaemonFixture(.init(options: [("suspend-mechanism", "\"freezer\"")]))
    let program = try daemon.shell("sleep 1000 & echo $!; wait")
    let child = try program.nextPID()
    let monitor = try Monitor(daemon)
    try daemon.adopt("org.test.free", program)
    try daemon.sendToBackground("org.test.free")
    let failure = try monitor.next("the failure") { $0.kind == .suspensionFailed }
    #expect(failure.application == "org.test.free")
    #expect(failure.reason?.contains("no control group of its own") == true)
    #expect(try daemon.state(of: program.pid) != .stopped)
    #expect(try daemon.state(of: child) != .stopped)
    #expect(try daemon.application("org.test.free").state == .background)
  }
}
