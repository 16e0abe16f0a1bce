import Glibc
import LinuxSystem
import TestSupport
import Testing

@Suite("A pidfd")
struct PIDFDTests {
  private let proc: ProcFS

  init() throws { proc = try ProcFS() }

  @Test("A pidfd delivers a signal to its process, and reports when the process was reaped")
  func signals() throws {
    let process = try TestProcess.shell("trap 'echo got; exit 5' USR1; echo ready; read x")
    let other = try PIDFD(adopting: unwrap(PIDFD.open(process.pid)).take())
    #expect(try process.readLine() == "ready")
    #expect(try other.hasEnded() == false)
    #expect(try other.send(signal: SIGUSR1) == .delivered)
    try process.writeLine("")
    #expect(try process.readLine() == "got")
    #expect(try other.waitForEnd(timeout: deadline))
    // The process is a zombie, which still exists until it is reaped.
    #expect(try other.send(signal: 0) == .delivered)
    #expect(try process.waitForExit() == .exited(code: 5))
    #expect(try other.send(signal: 0) == .gone)
  }

  @Test("A pidfd of a missing process is nil; a descriptor that is not a pidfd is refused")
  func refused() throws {
    let process = try TestProcess.shell("exit 0")
    _ = try process.waitForExit()
    if try PIDFD.open(process.pid) != nil { Issue.record("the process was reaped") }
    if try PIDFD.open(0) != nil { Issue.record("no process has pid 0") }
    #expect(throws: SystemError(call: "pidfd", errno: EINVAL)) {
      _ = try PIDFD(adopting: FileDescriptor.event())
    }
    let folder = try FileDescriptor.open(reading: "/proc/self", flags: O_DIRECTORY)
    #expect(throws: SystemError(call: "pidfd", errno: EINVAL)) {
      _ = try PIDFD(adopting: folder.duplicate())
    }
    #expect(throws: SystemError(call: "pidfd", errno: ESRCH)) {
      _ = try PIDFD(adopting: FileDescriptor.duplicate(of: process.pidfd.rawValue))
    }
  }

  @Test("A pidfd reports how a child of this process changed its state and ended")
  func child() throws {
    let process = try TestProcess.shell("kill -STOP $$; read x; exit 3")
    #expect(try process.pidfd.wait([.stopped]) == .stopped(signal: SIGSTOP))
    #expect(try proc.stat(process.pid)?.state == .stopped)
    #expect(try process.pidfd.exitStatus(in: proc) == nil)
    try process.pidfd.send(signal: SIGCONT)
    #expect(try process.pidfd.wait([.continued]) == .continued)
    try process.writeLine("")
    #expect(try process.pidfd.waitForEnd(timeout: deadline))
    #expect(try process.pidfd.exitStatus(in: proc) == .exited(code: 3))
    #expect(throws: SystemError(call: "waitid", errno: ECHILD)) { _ = try process.pidfd.wait() }
  }

  /// A Python program that starts a child and prints the child's pid. At the first line of input,
  /// the child ends itself. At the second line, the program reaps the child.
  private static let parent = """
    import os, signal, sys
    pid = os.fork()
    if pid == 0:
        sys.stdin.readline()
        os.kill(os.getpid(), signal.SIGTERM) if sys.argv[1] == "signal" else os._exit(9)
    print(pid)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    print("zombie")
    sys.stdin.readline()
    os.waitpid(pid, 0)
    print("reaped")
    sys.stdin.readline()
    """

  @Test(
    """
    A pidfd reports how another process's child ended: from /proc while it is a zombie, later \
    from the kernel
    """,
    arguments: [("code", ProcessExit.exited(code: 9)), ("signal", .signaled(signal: SIGTERM))])
  func nonChild(way: String, expected: ProcessExit) throws {
    let parent = try TestProcess.python(Self.parent, [way])
    let pid = try #require(try parent.readLine().flatMap { Int32($0) })
    let pidfd = try unwrap(PIDFD.open(pid))
    #expect(try pidfd.exitStatus(in: proc) == nil)
    try parent.writeLine("end")
    #expect(try parent.readLine() == "zombie")
    #expect(try pidfd.waitForEnd(timeout: deadline))
    #expect(try pidfd.exitStatus(in: proc) == expected)
    try parent.writeLine("reap")
    #expect(try parent.readLine() == "reaped")
    let status = try pidfd.exitStatus(in: proc)
    if status == nil { print("skipped: this kernel keeps no exit status (PIDFD_INFO_EXIT)") }
    #expect(status == nil || status == expected)
    #expect(status != nil || !Kernel.isAtLeast(6, 15))
  }

  @Test("A process is identified by its pid and start time, and not by the pid alone")
  func reuse() throws {
    let process = try TestProcess.shell("read x")
    let identity = try #require(try process.pidfd.identity(in: proc))
    #expect(try proc.exists(identity))
    let other = ProcessIdentity(pid: identity.pid, startTime: identity.startTime - 1)
    #expect(other != identity)
    #expect(try !proc.exists(other))
    try process.pidfd.send(signal: SIGKILL)
    _ = try process.waitForExit()
    #expect(try !proc.exists(identity))
  }

  @Test("An exit status is decoded from wait(2), and is converted to the exit code of a shell")
  func status() {
    #expect(ProcessExit(waitStatus: 0x0700) == .exited(code: 7))
    #expect(ProcessExit(waitStatus: 0x8b) == .signaled(signal: SIGSEGV))
    #expect(ProcessExit.signaled(signal: SIGTERM).shellCode == 143)
    #expect(ProcessExit.exited(code: 7).shellCode == 7)
  }
}

/// The running kernel.
enum Kernel {
  static func isAtLeast(_ major: Int, _ minor: Int) -> Bool {
    var name = utsname()
    uname(&name)
    let release = withUnsafeBytes(of: &name.release) {
      String(decoding: $0.prefix(while: { $0 != 0 }), as: UTF8.self)
    }
    let numbers = release.split(whereSeparator: { !$0.isNumber }).prefix(2).compactMap { Int($0) }
    return numbers.count == 2 && (numbers[0], numbers[1]) >= (major, minor)
  }
}
