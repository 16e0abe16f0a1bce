import Glibc
import TestSupport
import Testing

@testable import LinuxSystem

@Suite("The memory of the machine and of processes")
struct MemoryTests {
  /// Returns all readings until the end of the scan.
  private func readAll(_ scan: borrowing MemoryScan) throws -> [MemoryScan.Reading] {
    var readings: [MemoryScan.Reading] = []
    while true {
      _ = try Readiness.wait(for: Int16(POLLIN), on: scan.rawValue)
      guard let some = try scan.take() else { return readings }
      readings += some
    }
  }

  /// Starts a process that holds the given amount of dirty memory in MiB. If `forks` is true, the
  /// process shares this memory with a child.
  private func holder(mebibytes: Int, forks: Bool = false) throws -> TestProcess {
    let script = """
      import os, sys
      held = bytearray(os.urandom(1 << 20) * \(mebibytes))
      child = os.fork() if \(forks ? "True" : "False") else 1
      if child:
        sys.stdout.write("held\\n")
        sys.stdout.flush()
      sys.stdin.read()
      """
    let process = try TestProcess.python(script)
    #expect(try process.readLine() == "held")
    return process
  }

  @Test("The machine's memory is read from /proc/meminfo in bytes")
  func machine() throws {
    let folder = TemporaryDirectory()
    folder.write(
      "meminfo",
      "MemTotal:  1000 kB\nMemAvailable:   100 kB\nSwapTotal:   10 kB\nSwapFree:  4 kB\n")
    let memory = try MachineMemory.read(path: folder.file("meminfo"))
    #expect(memory.total == 1_024_000 && memory.available == 102_400)
    #expect(memory.swapTotal == 10_240 && memory.swapFree == 4096)
    let real = try MachineMemory.read()
    #expect(real.available > 0 && real.available <= real.total)
  }

  @Test(
    "A file that is not like meminfo is refused with its path",
    arguments: ["", "MemTotal: 1 kB\n", "MemTotal: x kB\nMemAvailable: 1 kB\n", "\0\0"])
  func noMemInfo(_ text: String) throws {
    let folder = TemporaryDirectory()
    folder.write("meminfo", text)
    let error = #expect(throws: SystemError.self) {
      try MachineMemory.read(path: folder.file("meminfo"))
    }
    #expect(error?.errno == EINVAL && "\(error!)".contains(folder.file("meminfo")))
  }

  @Test("Memory that a process shares with its child is not dirty memory of either")
  func dirty() throws {
    let proc = try ProcFS()
    let own = try holder(mebibytes: 32)
    let shared = try holder(mebibytes: 32, forks: true)
    let child = try #require(try proc.children(shared.pid)?.first)
    let groups = try [[own.pid], [shared.pid, child]].map { pids in
      MemoryScan.Group(
        processes: try pids.map { try #require(try proc.identity($0)) }, bound: .max)
    }
    let readings = try readAll(MemoryScan(of: groups, in: proc))
    #expect(readings.count == 3)
    #expect(readings.allSatisfy { $0.error == nil })
    #expect(readings[0].dirty > 32 << 20 && readings[0].proportional >= readings[0].dirty)
    #expect(readings[1].dirty + readings[2].dirty < 32 << 20)
    let pages = try #require(try proc.pages(own.pid))
    #expect(pages.resident >= readings[0].dirty && pages.shared < pages.resident)
  }

  @Test("The scan does not read a group whose bound is below the dirty memory of an earlier group")
  func endsEarly() throws {
    let proc = try ProcFS()
    let large = try holder(mebibytes: 32)
    let small = try holder(mebibytes: 1)
    let groups = try [(large, UInt64.max), (small, 20 << 20)].map { process, bound in
      MemoryScan.Group(processes: [try #require(try proc.identity(process.pid))], bound: bound)
    }
    #expect(try readAll(MemoryScan(of: groups, in: proc)).map(\.group) == [0])
  }

  @Test("A process that has ended, or whose pid was reused, is reported as ESRCH")
  func gone() throws {
    let proc = try ProcFS()
    let process = try holder(mebibytes: 1)
    let identity = try #require(try proc.identity(process.pid))
    let other = ProcessIdentity(pid: identity.pid, startTime: identity.startTime - 1)
    let nobody = ProcessIdentity(pid: 0x3FFF_FFFF, startTime: 1)
    let groups = [MemoryScan.Group(processes: [other, nobody], bound: .max)]
    #expect(try readAll(MemoryScan(of: groups, in: proc)).map(\.error) == [ESRCH, ESRCH])
  }

  @Test("The memory of a process that has reused a pid does not end the scan early")
  func reused() throws {
    let proc = try ProcFS()
    let large = try holder(mebibytes: 32)
    let small = try holder(mebibytes: 1)
    var gone = try #require(try proc.identity(large.pid))
    gone = ProcessIdentity(pid: gone.pid, startTime: gone.startTime - 1)
    let groups = [
      MemoryScan.Group(processes: [gone], bound: .max),
      MemoryScan.Group(processes: [try #require(try proc.identity(small.pid))], bound: 20 << 20),
    ]
    let readings = try readAll(MemoryScan(of: groups, in: proc))
    #expect(readings.map(\.group) == [0, 1])
    #expect(readings[0].error == ESRCH && readings[0].dirty == 0)
  }

  @Test("A scan without processes ends at once, and tolerates a reader that closes its end")
  func edges() throws {
    let proc = try ProcFS()
    #expect(try readAll(MemoryScan(of: [], in: proc)).isEmpty)
    let own = try #require(try proc.identity(getpid()))
    for _ in 0..<8 {
      _ = try MemoryScan(
        of: [.init(processes: Array(repeating: own, count: 64), bound: .max)], in: proc)
    }
  }

  @Test("The memory of a killed process is freed")
  func release() throws {
    let process = try holder(mebibytes: 64)
    try process.pidfd.send(signal: SIGSTOP)
    try process.pidfd.send(signal: SIGKILL)
    ProcessMemory.release([process.pidfd.rawValue])
    #expect(try process.pidfd.waitForEnd())
    #expect(try ProcFS().pages(process.pid)?.resident ?? 0 == 0)
  }

  @Test("A pressure trigger is set with a stall and a window; an error names the path")
  func trigger() throws {
    let path = "/proc/pressure/memory"
    guard access(path, F_OK) == 0 else {
      return print("skipped: the kernel has no pressure stall information")
    }
    var trigger = try PressureTrigger(
      path: path, stall: .milliseconds(70), window: .milliseconds(500))
    let isPrivileged = trigger.window == .milliseconds(500)
    let isReliable = trigger.isTrue()
    #expect(isReliable || !isPrivileged, "a trigger with privileges counts from its creation")
    #expect(isPrivileged ? trigger.stall == .milliseconds(70) : trigger.window == .seconds(2))
    let folder = TemporaryDirectory()
    let missing = #expect(throws: SystemError.self) {
      _ = try PressureTrigger(
        path: folder.file("none"), stall: .milliseconds(70), window: .seconds(1))
    }
    #expect(missing?.errno == ENOENT && "\(missing!)".contains(folder.file("none")))
  }
}
