import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerEventLog
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

@Suite("§15: Work on the processes of instances is done in steps")
struct ProcessWorkQueueTests {
  private let loop: EventLoop
  private let steps: ProcessWorkQueue

  init() throws {
    loop = try EventLoop()
    steps = try ProcessWorkQueue(loop: loop)
  }

  @Test("Users take turns, and so does the work of one user; work of the rank later comes last")
  func turns() throws {
    var done: [String] = []
    func work(_ name: String, _ rank: ProcessWorkQueue.Rank, user: UInt32) {
      var left = 2
      steps.begin(rank, user: user) {
        done.append(name)
        left -= 1
        return left > 0
      }
    }
    work("later", .later, user: 1)
    work("a", .first, user: 1)
    work("b", .first, user: 1)
    work("other", .later, user: 2)
    #expect(done.isEmpty)
    try loop.turn(within: deadline)
    #expect(done == ["a", "other", "b", "other", "a", "b", "later", "later"])
  }

  @Test("A turn of the loop performs a limited number of steps, and no step of cancelled work")
  func bound() throws {
    var count = 0
    let work = steps.begin(.first, user: 1) {
      count += 1
      return true
    }
    for turn in 1...3 {
      let before = count
      try loop.turn(within: deadline)
      #expect(count > before, "turn \(turn)")
      #expect(count - before <= ProcessWorkQueue.stepsMax, "turn \(turn)")
    }
    work.cancel()
    let before = count
    try loop.turn(within: deadline)
    #expect(count == before)
    #expect(!work.isUnderWay)
  }

  @Test("Short work is done at once, but not while the user's other work is in progress")
  func atOnce() throws {
    var done: [String] = []
    func work(_ name: String) -> ProcessWorkQueue.Work {
      steps.begin(.first, user: 1, atOnce: true) {
        done.append(name)
        return false
      }
    }
    #expect(!work("first").isUnderWay)
    #expect(done == ["first"])
    steps.begin(.first, user: 1) {
      done.append("long")
      return false
    }
    #expect(work("second").isUnderWay)
    try loop.turn(within: deadline)
    #expect(done == ["first", "long", "second"])
  }
}

/// Tests with a real application that has more processes than the daemon handles in one turn of its
/// loop.
@Suite("§15: No turn of the loop handles all processes of an application")
struct ManyProcessesTests {
  private static let count = 5 * ProcessWorkQueue.stepsMax
  private let scene: Scene

  private final class Scene {
    let loop: EventLoop
    let proc: ProcFS
    let program: TestProcess
    private(set) var pids: [Int32] = []
    private(set) var reported: [Event] = []
    private(set) var controller: ProcessController?
    let id = InstanceID(1)

    init(count: Int) throws {
      loop = try EventLoop()
      proc = try ProcFS()
      program = try TestProcess.python(
        """
        import os, signal, sys
        for _ in range(int(sys.argv[1])):
            if os.fork() == 0:
                while True: signal.pause()
        print("ready", flush=True)
        while True: signal.pause()
        """, ["\(count)"])
      #expect(try program.readLine() == "ready")
      let log = Log(target: .stderr, level: .error)
      let eventLog = EventLog(
        nil, boot: BootID(""), scheduler: Scheduler(), at: Instant(nanoseconds: 0), log: log)
      var options = DaemonOptions()
      options.suspendMechanism = .signal
      // On a busy machine, hundreds of processes take longer than the default of 2 s to stop.
      options.suspendTimeout = deadline
      let controller = try ProcessController(
        proc: proc, loop: loop, options: options, eventLog: eventLog,
        scans: DescriptorScans(proc: proc, loop: loop), store: DescriptorStore(),
        state: { _ in .notRunning }
      ) { [unowned self] in reported.append($0) }
      self.controller = controller
      let identity = try #require(try proc.identity(program.pid))
      try controller.manage(
        id, of: "org.test.many", leader: try #require(try ProcessHandle(identity, in: proc)),
        uid: geteuid(), origin: .init())
      pids = [program.pid] + (try proc.children(program.pid) ?? [])
    }

    deinit {
      for pid in pids.dropFirst() { Glibc.kill(pid, SIGKILL) }
    }

    func count(_ isWanted: (ProcessStat) -> Bool) throws -> Int {
      try pids.count { try proc.stat($0).map(isWanted) ?? false }
    }

    func stopped() throws -> Int { try count { (stat: ProcessStat) in stat.state == .stopped } }
    func lowered() throws -> Int {
      try pids.count { try (ThreadPriority(of: $0)?.nice ?? 0) > 0 }
    }

    /// Runs the loop until the condition holds. Returns the largest change of `count` in one turn.
    func turn(_ count: () throws -> Int, until isReached: () throws -> Bool) throws -> Int {
      let end = ContinuousClock.now + deadline
      var most = 0
      while try !isReached(), ContinuousClock.now < end {
        let before = try count()
        try loop.turn(within: .milliseconds(100))
        most = max(most, abs(try count() - before))
      }
      #expect(try isReached())
      return most
    }
  }

  init() throws { scene = try Scene(count: Self.count) }

  private var instance: InstanceProcesses {
    get throws { try #require(scene.controller?[scene.id]) }
  }

  @Test("A suspension stops some processes in each turn, and is reported when all are stopped")
  func suspension() throws {
    scene.controller?.suspend(scene.id)
    let most = try scene.turn(scene.stopped) {
      scene.reported == [.process(.suspensionCompleted(scene.id))]
    }
    #expect(try scene.stopped() == Self.count + 1)
    #expect(most <= ProcessWorkQueue.stepsMax)
    scene.controller?.resume(scene.id)
    let left = try scene.stopped()
    #expect(left > 0 && left < Self.count / 2, "most processes run after the first step")
    #expect(try instance.held.stopped.count == left, "the next daemon finds the stopped processes")
    _ = try scene.turn(scene.stopped) { try scene.stopped() == 0 }
    #expect(try !instance.hasAnyStopped)
  }

  @Test("A suspension in the middle of a resume stops all processes again")
  func suspensionAgain() throws {
    let completed = Event.process(.suspensionCompleted(scene.id))
    scene.controller?.suspend(scene.id)
    _ = try scene.turn(scene.stopped) { scene.reported == [completed] }
    scene.controller?.resume(scene.id)
    #expect(try scene.stopped() > 0, "the resume is in progress")
    scene.controller?.suspend(scene.id)
    _ = try scene.turn(scene.stopped) { scene.reported == [completed, completed] }
    #expect(try scene.stopped() == Self.count + 1)
    #expect(try instance.held.stopped.count == Self.count + 1)
  }

  @Test("A daemon that ends during a resume resumes all processes")
  func end() throws {
    scene.controller?.suspend(scene.id)
    _ = try scene.turn(scene.stopped) {
      scene.reported == [.process(.suspensionCompleted(scene.id))]
    }
    scene.controller?.resumeAll()
    #expect(try scene.stopped() > 0, "the resume is in progress")
    scene.controller?.finish()
    #expect(try scene.stopped() == 0)
  }

  @Test("A termination that begins before the daemon has recorded all processes ends all of them")
  func termination() throws {
    scene.controller?.terminate(scene.id, by: .terminate)
    #expect(try instance.remembered.count < Self.count, "the recording is in progress")
    let leader = try instance.leader
    _ = try scene.turn({ 0 }) { try leader.pidfd.hasEnded() }
    #expect(try instance.remembered.count == Self.count + 1)
  }

  @Test("A resume during a suspension resumes all processes, and ends the suspension")
  func resume() throws {
    scene.controller?.suspend(scene.id)
    _ = try scene.turn(scene.stopped) { try scene.stopped() > 0 }
    #expect(try scene.stopped() < Self.count, "the suspension is in progress")
    scene.controller?.resume(scene.id)
    for _ in 0..<20 { try scene.loop.turn(within: .milliseconds(1)) }
    #expect(try scene.stopped() == 0)
    #expect(scene.reported.isEmpty)
    #expect(try instance.held.stopped.isEmpty, "the next daemon finds no stopped process")
  }

  @Test("A kill in the middle of a suspension ends all processes")
  func killing() throws {
    scene.controller?.suspend(scene.id)
    _ = try scene.turn(scene.stopped) { try scene.stopped() > 0 }
    scene.controller?.kill(scene.id)
    let hasEnded = { try scene.count { !$0.hasEnded } == 0 }
    _ = try scene.turn({ 0 }, until: hasEnded)
  }

  @Test(
    "Priorities are lowered and restored in steps, and none stays lowered after the last restore",
    .enabled(if: (try? ProcFS())?.mayRaisePriorities == true, "the test needs CAP_SYS_NICE"))
  func priorities() throws {
    let controller = try #require(scene.controller)
    let priorities = controller.priorities
    let instance = controller.resources(of: try instance)
    priorities.prioritize(instance, .background)
    let most = try scene.turn(scene.lowered) { try scene.lowered() == Self.count + 1 }
    #expect(most <= ProcessWorkQueue.stepsMax)
    priorities.prioritize(instance, .foreground)
    _ = try scene.turn(scene.lowered) { try scene.lowered() < Self.count + 1 }
    // The priorities are lowered again before the restore is complete.
    priorities.prioritize(instance, .background)
    _ = try scene.turn(scene.lowered) { try scene.lowered() == Self.count + 1 }
    priorities.prioritize(instance, .foreground)
    let leastAtOnce = try scene.turn(scene.lowered) { try scene.lowered() == 0 }
    #expect(leastAtOnce <= ProcessWorkQueue.stepsMax)
    _ = try scene.turn({ 0 }) { !instance.hasLowered }
    #expect(scene.reported.isEmpty)
  }
}
