import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Whether the tests may raise priorities. Containers often forbid this.
private let mayRaise = (try? ProcFS())?.mayRaisePriorities == true

private let mayRaiseLimits = (try? ProcFS())?.mayExceedLimits == true

@Suite("§12: The foreground comes first", .enabled(if: mayRaise, "the test needs CAP_SYS_NICE"))
struct PriorityTests {
  private let id = "org.test.uses"

  /// Starts a program with a child and several threads of different priorities, one of them
  /// real-time.
  private func program(_ daemon: DaemonFixture) throws -> ResourceUsingProgram {
    let program = try ResourceUsingProgram(daemon)
    let thread = try program.ask("thread")
    _ = try program.ask("nice \(thread) -3")
    _ = try program.ask("fork")
    _ = try program.ask("real-time")
    _ = try program.ask("score 123")
    return program
  }

  @Test(
    "Priorities are lowered in the background, and restored exactly in the foreground")
  func returns() throws {
    let daemon = try DaemonFixture()
    let program = try program(daemon)
    let before = try program.priorities()
    #expect(before.count == 5)
    try daemon.adopt(id, program.process, background: true, task: "work")
    let words = try daemon.application(id).instance?.resources?.lowered.joined(separator: "\n")
    let lowered = try program.priorities()
    #expect(lowered.count == before.count)
    for (thread, priority) in lowered {
      #expect(priority.nice == 15, "thread \(thread)")
      #expect(priority.ioPriority == ThreadPriority.ioPriorityLast, "thread \(thread)")
    }
    #expect(try #require(words).contains("nice value 15 of 5 threads"), "\(words ?? "")")
    #expect(
      words?.contains("network priority unchanged: a change would need CAP_NET_ADMIN") == true)
    try daemon.activate(id)
    #expect(try daemon.application(id).instance?.resources == nil)
    #expect(try program.priorities() == before)
  }

  @Test(
    "The daemon removes real-time scheduling in the background, and restores it in the foreground",
    arguments: [true, false])
  func realTime(isOn: Bool) throws {
    // The daemon removes real-time scheduling even if it lowers no other priorities.
    let daemon = try DaemonFixture(.init(options: [("background-priority", "\(isOn)")]))
    let program = try program(daemon)
    let before = try program.priorities()
    func realTime(_ priorities: [Int32: ThreadPriority]) -> Int {
      priorities.values.count { ThreadPriority.isRealTime(policy: $0.policy) }
    }
    #expect(realTime(before) == 1)
    try daemon.adopt(id, program.process, background: true, task: "work")
    _ = try daemon.application(id)
    let lowered = try program.priorities()
    #expect(realTime(lowered) == 0)
    #expect(lowered.values.contains { $0.nice == 15 } == isOn)
    try daemon.activate(id)
    _ = try daemon.application(id)
    #expect(try program.priorities() == before)
  }

  @Test("A process forked in the background is lowered, and restored in the foreground")
  func born() throws {
    let daemon = try DaemonFixture()
    let program = try program(daemon)
    try daemon.adopt(id, program.process, background: true, task: "work")
    _ = try daemon.application(id)
    let child = try #require(Int32(try program.ask("fork")))
    let thread = try #require(Int32(try program.ask("thread")))
    let born = try daemon.proc.threads(child) ?? []
    #expect(born.count == 2)
    for thread in born + [thread] {
      #expect(try ThreadPriority(of: thread)?.nice == 15)
    }
    #expect(try daemon.score(child) == 500)
    try daemon.activate(id)
    _ = try daemon.application(id)
    for thread in born + [thread] {
      #expect(try ThreadPriority(of: thread)?.nice == 0)
      #expect(try ThreadPriority(of: thread)?.ioPriority == 0)
    }
    #expect(try daemon.score(child) == 123)
  }

  @Test("A process that is forked while its parent is being lowered is restored with its parent")
  func bornMeanwhile() throws {
    let daemon = try DaemonFixture()
    let program = try ResourceUsingProgram(daemon)
    let count = 300
    _ = try program.ask("storm \(count)")
    try waitUntil("the program forks processes") { try program.processes().count > count / 10 }
    try daemon.adopt(id, program.process, background: true, task: "work")
    _ = try program.ask("calm")
    _ = try daemon.application(id)
    let isLowered = { (priority: ThreadPriority) in priority.nice == 15 }
    try waitUntil("all are lowered") { try program.priorities().values.allSatisfy(isLowered) }
    #expect(try program.priorities().count == count + 1)
    try daemon.activate(id)
    try waitUntil("all are restored") {
      try program.priorities().allSatisfy {
        try $0.value.nice == 0 && $0.value.ioPriority == 0 && daemon.score($0.key) == 0
      }
    }
  }

  @Test(
    "The autogroup of an application's own session is lowered and restored",
    .enabled(if: (try? ProcFS())?.usesAutogroups == true, "this kernel has no autogroups"))
  func sessions() throws {
    let daemon = try DaemonFixture()
    let program = try ResourceUsingProgram(daemon)
    let own = try #require(Int32(try program.ask("session")))
    let other = try #require(Int32(try program.ask("session")))
    try daemon.proc.set(.autogroup, to: -4, thread: other, process: other, group: nil)
    func nice(_ leader: Int32) throws -> Int? {
      try daemon.proc.value(of: .autogroup, thread: leader, process: leader, group: nil)
    }
    // The session of the test itself contains other processes, so the daemon must not change the
    // autogroup of that session.
    let shared = try nice(program.process.pid)
    try daemon.adopt(id, program.process, background: true, task: "work")
    let words = try daemon.application(id).instance?.resources?.lowered.joined(separator: "\n")
    #expect(try [nice(own), nice(other)] == [15, 15])
    #expect(try nice(program.process.pid) == shared)
    #expect(words?.contains("nice value 15 of its 2 sessions") == true, "\(words ?? "")")
    try daemon.activate(id)
    _ = try daemon.application(id)
    #expect(try [nice(own), nice(other)] == [0, -4])
  }

  /// Starts a user's own daemon, which lowers the priorities of a real-time program in the
  /// background and restores them in the foreground.
  ///
  /// - Parameter limits: options of prlimit(1) for the program.
  private func lowerByUsers(
    _ limits: [String] = []
  ) throws -> (before: ThreadPriority?, lowered: ThreadPriority?, words: String, after: Bool) {
    let nobody: UInt32 = 65534
    let daemon = try DaemonFixture(uid: nobody)
    let program = try ResourceUsingProgram(daemon, uid: nobody)
    let pid = program.process.pid
    if !limits.isEmpty {
      let limiting = try TestProcess("/usr/bin/prlimit", ["prlimit", "--pid=\(pid)"] + limits)
      #expect(try limiting.waitForExit() == .exited(code: 0))
    }
    try daemon.proc.set(.policy, to: 1 | 5 << 16, thread: pid, process: pid, group: nil)
    let before = try ThreadPriority(of: pid)
    #expect(before.map { ThreadPriority.isRealTime(policy: $0.policy) } == true)
    try daemon.adopt(id, program.process, background: true, task: "work")
    let words = try daemon.application(id).instance?.resources?.lowered.joined(separator: "\n")
    let lowered = try ThreadPriority(of: pid)
    #expect(try daemon.score(pid) == 500)
    try daemon.activate(id)
    _ = try daemon.application(id)
    #expect(try daemon.score(pid) == 0)
    return (before, lowered, words ?? "", try ThreadPriority(of: pid) == before)
  }

  @Test(
    "A user's own daemon lowers nothing that it could not restore",
    .enabled(
      if: PriorityLimits(of: getpid()) == PriorityLimits(niceMin: 20, realTimeMax: 0),
      "programs may raise their priorities here"))
  func withoutRights() throws {
    let (before, lowered, words, isAsBefore) = try lowerByUsers()
    #expect(lowered?.nice == before?.nice)
    #expect(lowered?.policy == before?.policy)
    #expect(lowered?.ioPriority == ThreadPriority.ioPriorityLast)
    let reason = "the daemon could not restore it without CAP_SYS_NICE"
    #expect(words.contains("nice value unchanged: \(reason)"), "\(words)")
    #expect(words.contains("real-time scheduling unchanged: \(reason)"), "\(words)")
    #expect(isAsBefore)
  }

  @Test(
    "A user's own daemon lowers as far as the user's limits allow restoring",
    .enabled(if: mayRaiseLimits, "the test needs CAP_SYS_RESOURCE"))
  func withinLimits() throws {
    let (_, lowered, words, isAsBefore) = try lowerByUsers(["--nice=20", "--rtprio=5"])
    #expect(lowered?.nice == 15)
    #expect(lowered.map { ThreadPriority.isRealTime(policy: $0.policy) } == false)
    #expect(words.contains("no real-time scheduling of 1 thread"), "\(words)")
    #expect(isAsBefore)
  }

  @Test("An application that raises its own priority is lowered again")
  func changedBack() throws {
    let daemon = try DaemonFixture(.init(policy: [("BackgroundUseWindow", "100ms")]))
    let program = try program(daemon)
    let before = try program.priorities()
    try daemon.adopt(id, program.process, background: true, task: "work")
    _ = try daemon.application(id)
    let leader = program.process.pid
    for nice in [-20, 0, 5] {
      // The daemon may lower the priority before the program has answered, so the test does not
      // check the raised priority.
      _ = try program.ask("nice \(leader) \(nice)")
      try waitUntil("the priority is lowered again") { try ThreadPriority(of: leader)?.nice == 15 }
    }
    let thread = try #require(Int32(try program.ask("real-time")))
    try waitUntil("real-time scheduling is removed again") {
      try ThreadPriority(of: thread).map { !ThreadPriority.isRealTime(policy: $0.policy) } == true
    }
    try daemon.activate(id)
    _ = try daemon.application(id)
    let after = try program.priorities()
    for (thread, priority) in before { #expect(after[thread] == priority) }
    #expect(try ThreadPriority(of: thread).map { ThreadPriority.isRealTime(policy: $0.policy) }
      == true)
  }

  @Test("In the foreground, an application keeps the lower priority that it has set itself")
  func own() throws {
    let daemon = try DaemonFixture()
    let program = try program(daemon)
    try daemon.adopt(id, program.process, background: true, task: "work")
    _ = try daemon.application(id)
    _ = try program.ask("nice \(program.process.pid) 19")
    _ = try program.ask("score 950")
    try daemon.activate(id)
    _ = try daemon.application(id)
    #expect(try ThreadPriority(of: program.process.pid)?.nice == 19)
    #expect(try daemon.score(program.process.pid) == 950)
  }

  @Test(
      """
      oom_score_adj has the order in which the daemon terminates applications (suspended first, \
      foreground last), and is restored when the daemon releases an application
      """)
  func score() throws {
    let daemon = try DaemonFixture()
    let monitor = try Monitor(daemon)
    let program = try program(daemon)
    let pids = try program.processes()
    #expect(pids.count == 2)
    func scores() throws -> [Int?] { try pids.map { try daemon.score($0) } }
    let before = try scores()
    try daemon.adopt(id, program.process)
    try daemon.sendToBackground(id)
    try monitor.transition(id, to: .suspended)
    _ = try daemon.application(id)
    #expect(try scores() == [900, 900])
    try daemon.activate(id)
    _ = try daemon.application(id)
    #expect(try scores() == before)
    try daemon.sendToBackground(id)
    try monitor.transition(id, to: .suspended)
    let second = try program.copy()
    try daemon.adopt("org.test.other", second.process, background: true, task: "work")
    _ = try daemon.applications()
    #expect(try daemon.score(second.process.pid) == 500)
    // A clean stop restores all priorities.
    _ = try daemon.process.send(signal: SIGTERM)
    _ = try daemon.process.wait()
    #expect(try scores() == before)
    #expect(try daemon.score(second.process.pid) == 0)
  }

  @Test("After kill -9 of the daemon, the next one restores exactly the original priorities")
  func nextDaemon() throws {
    var daemon = try DaemonFixture()
    let program = try program(daemon)
    let before = try program.priorities()
    let score = try daemon.score(program.process.pid)
    try daemon.adopt(id, program.process, background: true, task: "work")
    _ = try daemon.application(id)
    for _ in 0..<3 {
      daemon = try daemon.killed()
      _ = try daemon.application(id)
    }
    try waitUntil("the priorities are as low as before") {
      try program.priorities().values.allSatisfy { $0.nice == 15 }
    }
    try daemon.activate(id)
    _ = try daemon.application(id)
    #expect(try program.priorities() == before)
    #expect(try daemon.score(program.process.pid) == score)
  }

  @Test("After kill -9 of the daemon, taskctl release restores exactly the original priorities")
  func release() throws {
    let daemon = try DaemonFixture()
    let program = try program(daemon)
    let before = try program.priorities()
    let score = try daemon.score(program.process.pid)
    let monitor = try Monitor(daemon)
    try daemon.adopt(id, program.process)
    try daemon.sendToBackground(id)
    try monitor.transition(id, to: .suspended)
    _ = try daemon.application(id)
    #expect(try program.priorities().values.allSatisfy { $0.nice == 15 })
    try daemon.die()
    let outcome = try daemon.taskctl("release", "--event-log", daemon.folder.file("event-log"))
    #expect(outcome.text.contains("priorities"), "\(outcome.text)")
    #expect(try program.priorities() == before)
    #expect(try daemon.score(program.process.pid) == score)
  }
}

extension DaemonFixture {
  /// Returns the oom_score_adj of a process.
  fileprivate func score(_ pid: Int32) throws -> Int? {
    try proc.value(of: .outOfMemoryScore, thread: pid, process: pid, group: nil)
  }
}

/// A process that runs Resources/uses.py, which uses resources on request.
final class ResourceUsingProgram {
  let process: TestProcess
  private let daemon: DaemonFixture

  init(_ daemon: DaemonFixture, uid: UInt32? = nil) throws {
    self.daemon = daemon
    process = try daemon.python(Programs.resource("uses.py"), uid: uid)
    #expect(try process.nextPID() == process.pid)
  }

  /// Starts a second program of the same kind.
  func copy() throws -> ResourceUsingProgram { try ResourceUsingProgram(daemon) }

  /// Sends a command to the program, and returns its answer.
  @discardableResult
  func ask(_ line: String) throws -> String {
    try process.writeLine(line)
    return try process.nextLine()
  }

  /// Returns the program and its children.
  func processes() throws -> [Int32] {
    try [process.pid] + (daemon.proc.children(process.pid) ?? []).sorted()
  }

  /// Returns the priorities of each thread of each process.
  func priorities() throws -> [Int32: ThreadPriority] {
    var found: [Int32: ThreadPriority] = [:]
    for process in try processes() {
      for thread in try daemon.proc.threads(process) ?? [] {
        found[thread] = try ThreadPriority(of: thread)
      }
    }
    return found
  }
}
