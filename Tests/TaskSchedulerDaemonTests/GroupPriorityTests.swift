import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerEventLog
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

/// Few test machines have the controllers `cpu` and `io`. The files of the group are therefore
/// simulated; its one process is real.
@Suite("§12: The weights of a simulated control group")
struct GroupPriorityTests {
  private let folder = TemporaryDirectory()
  private let program: TestProcess
  private let instance: InstanceResources
  private let priorities: Priorities
  private let loop: EventLoop
  private let proc: ProcFS

  init() throws {
    program = try TestProcess.shell("exec sleep 1000")
    proc = try ProcFS()
    loop = try EventLoop()
    let log = Log(target: .stderr, level: .error)
    let eventLog = EventLog(
      nil, boot: BootID(""), scheduler: Scheduler(), at: Instant(nanoseconds: 0), log: log)
    // A write does not truncate these files. A number with fewer digits than the previous number
    // would therefore leave digits behind.
    folder.write("cgroup.procs", "\(program.pid)\n")
    folder.write("cpu.weight", "200\n")
    folder.write("io.weight", "default 500\n8:0 300\n")
    folder.write("cpu.max", "90000 100000\n")
    var options = DaemonOptions()
    options.backgroundNice = 1
    let membership = try InstanceMembership(proc: proc)
    priorities = try Priorities(
      membership: membership, steps: try ProcessWorkQueue(loop: loop), loop: loop,
      eventLog: eventLog,
      options: options
    ) { Issue.record("\($0)") }
    let identity = try #require(try proc.identity(program.pid))
    let leader = try #require(try ProcessHandle(identity, in: proc))
    instance = InstanceResources(
      InstanceProcesses(
        InstanceID(1), of: "org.test.group", leader: leader, uid: geteuid(),
        origin: .init(group: ControlGroup(path: folder.path)), stat: try proc.stat(program.pid)))
  }

  private func text(_ file: String) throws -> String {
    String(
      decoding: try FileDescriptor.open(reading: folder.file(file)).readToEnd(), as: UTF8.self)
  }

  @Test(
    "With both controllers, the daemon lowers cpu.weight and io.weight, and no thread's priority")
  func weights() throws {
    let before = try ThreadPriority(of: program.pid)
    for _ in 0..<2 {
      priorities.prioritize(instance, .background)
      // A nice value of 1, as in `backgroundNice`, corresponds to four fifths of the weight.
      #expect(try text("cpu.weight") == "160\n")
      #expect(try text("io.weight") == "default 400\n8:0 300\n")
      #expect(try ThreadPriority(of: program.pid) == before)
      let words = ["CPU weight 160, from 200", "I/O weight 400, from 500"]
      #expect(words.allSatisfy { instance.lowered.words(instance.priority).contains($0) })
      priorities.prioritize(instance, .suspended)
      #expect(try text("cpu.weight") == "160\n")
      priorities.prioritize(instance, .foreground)
      #expect(try text("cpu.weight") == "200\n")
      #expect(try text("io.weight") == "default 500\n8:0 300\n")
      #expect(instance.lowered.words(instance.priority) == [])
    }
  }

  @Test("The daemon does not restore a weight that another program has changed")
  func changed() throws {
    priorities.prioritize(instance, .background)
    folder.write("cpu.weight", "170\n")
    priorities.prioritize(instance, .foreground)
    #expect(try text("cpu.weight") == "170\n")
    #expect(try text("io.weight") == "default 500\n8:0 300\n")
  }

  @Test("Without io.weight, the daemon lowers the I/O priority of the threads")
  func processorsOnly() throws {
    unlink(folder.file("io.weight"))
    priorities.prioritize(instance, .background)
    #expect(try text("cpu.weight") == "160\n")
    let lowered = try #require(try ThreadPriority(of: program.pid))
    #expect(lowered.ioPriority == ThreadPriority.ioPriorityLast)
    #expect(lowered.nice == 0)
    priorities.prioritize(instance, .foreground)
    #expect(try ThreadPriority(of: program.pid)?.ioPriority == 0)
  }

  @Test("A throttle sets cpu.max; the end of the throttle restores cpu.max")
  func throttle() throws {
    #expect(try priorities.limit(instance, percent: 25))
    #expect(try text("cpu.max") == "25000 100000\n")
    #expect(try priorities.limit(instance, percent: nil))
    #expect(try text("cpu.max") == "90000 100000\n")
    unlink(folder.file("cpu.max"))
    #expect(
      try !priorities.limit(instance, percent: 25),
      "without cpu.max, the daemon throttles by signals")
  }
}
