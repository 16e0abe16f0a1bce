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
    // Unlike the kernel's files, these are not truncated by a write, so each number must have at
    // least as many digits as the previous one.
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

  @Test("With both controllers, cpu.weight and io.weight are lowered, and no thread is")
  func weights() throws {
    let before = try ThreadPriority(of: program.pid)
    for _ in 0..<2 {
      priorities.prioritize(instance, .background)
      // Four fifths of the weight correspond to one step of nice.
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

  @Test("A weight that another program has set is not changed back")
  func changed() throws {
    priorities.prioritize(instance, .background)
    folder.write("cpu.weight", "170\n")
    priorities.prioritize(instance, .foreground)
    #expect(try text("cpu.weight") == "170\n")
    #expect(try text("io.weight") == "default 500\n8:0 300\n")
  }

  @Test("With only cpu.weight, the I/O priority of the threads is lowered")
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

  @Test("A throttle sets cpu.max, and is removed again")
  func throttle() throws {
    #expect(try priorities.limit(instance, percent: 25))
    #expect(try text("cpu.max") == "25000 100000\n")
    #expect(try priorities.limit(instance, percent: nil))
    #expect(try text("cpu.max") == "90000 100000\n")
    unlink(folder.file("cpu.max"))
    #expect(try !priorities.limit(instance, percent: 25), "then it is stopped by turns")
  }
}
