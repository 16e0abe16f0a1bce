import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// A process that gets the pid of a process that has ended.
private enum PIDReuser {
  /// Starts a process with the given pid. The process prints `born`, stops itself, and prints
  /// `continued` when a program resumes it.
  static let program = """
    import ctypes, os, signal, sys
    libc, tid = ctypes.CDLL(None, use_errno=True), ctypes.c_int(int(sys.argv[1]))
    args = (ctypes.c_uint64 * 11)(0, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, ctypes.addressof(tid), 1, 0)
    pid = libc.syscall(435, args, ctypes.sizeof(args))
    if pid == 0:
        os.setpgid(0, 0)
        print("born", flush=True)
        os.kill(os.getpid(), signal.SIGSTOP)
        print("continued", flush=True)
        os._exit(0)
    if pid < 0:
        print("failed", os.strerror(ctypes.get_errno()), flush=True)
    else:
        print("ended", os.waitpid(pid, 0)[1], flush=True)
    """

  static let isPossible: Bool = {
    guard let child = try? TestProcess.shell("exit"), (try? child.waitForExit()) != nil,
      let other = try? TestProcess.python(program, ["\(child.pid)"])
    else { return false }
    let isBorn = (try? other.readLine()) == "born"
    if isBorn { kill(child.pid, SIGKILL) }
    _ = try? other.waitForExit()
    return isBorn
  }()
}

/// Contract §15. The kernel really assigns the pid of an ended process to another process
/// (clone3(2) with `set_tid`).
@Suite(
  "§15: A signal reaches only processes of its application (pid reuse included)",
  .enabled(if: PIDReuser.isPossible, "this machine forbids processes to choose a pid (clone3)"))
struct PIDReuseTests {
  private let id = "org.test.mail"

  /// Checks that the process with the given pid is still stopped, that it has received no signal
  /// since it stopped itself, and that it continues on SIGCONT.
  private func checkUntouched(_ pid: Int32, _ other: TestProcess, _ daemon: DaemonFixture) throws {
    #expect(try daemon.state(of: pid) == .stopped)
    #expect(kill(pid, SIGCONT) == 0)
    #expect(try other.nextLine() == "continued")
    #expect(try other.nextLine() == "ended 0")
  }

  private func bear(_ pid: Int32, _ daemon: DaemonFixture) throws -> TestProcess {
    let other = try daemon.python(PIDReuser.program, ["\(pid)"])
    #expect(try other.nextLine() == "born")
    try waitUntil("the new process has stopped itself") { try daemon.state(of: pid) == .stopped }
    return other
  }

  @Test(
    "A stopped daemon sends no signal to a new process with the pid of an ended leader",
    arguments: ["Activate", "Terminate", "SendToBackground"])
  func leader(_ method: String) throws {
    // With this limit, a daemon that mistook the new process for the old one would kill it soon.
    let daemon = try DaemonFixture(.init(policy: [("TerminateTimeout", "50ms")]))
    let program = try daemon.shell("read line")
    let monitor = try Monitor(daemon)
    try daemon.adopt(id, program)
    if method != "SendToBackground" {
      try daemon.sendToBackground(id)
      try monitor.transition(id, to: .suspended)
    }
    let client = try RawClient(daemon)
    _ = try client.call(#"{"method":"org.varlink.service.GetInfo"}"#)
    // While the daemon is stopped, the leader ends, and a new process gets the leader's pid. The
    // daemon observes this only after it continues.
    _ = try daemon.process.send(signal: SIGSTOP)
    try waitUntil("the daemon stands") { try daemon.state(of: daemon.process.pid) == .stopped }
    let parameters = "{\"application\":\"\(id)\"}"
    try client.send(
      "{\"method\":\"org.taskschedd.Control.\(method)\",\"parameters\":\(parameters)}")
    _ = try program.pidfd.send(signal: SIGKILL)
    #expect(try program.waitForExit() == .signaled(signal: SIGKILL))
    let other = try bear(program.pid, daemon)
    _ = try daemon.process.send(signal: SIGCONT)
    _ = try client.receive()
    try monitor.end(id)
    #expect(try daemon.application(id).state == .notRunning)
    // Waits for longer than TerminateTimeout.
    try beBusy(milliseconds: 100)
    try checkUntouched(program.pid, other, daemon)
  }

  @Test(
    "Resuming or ending an application sends no signal to a new process with a child's pid",
    arguments: [true, false])
  func child(_ resumes: Bool) throws {
    let daemon = try DaemonFixture()
    let program = try daemon.python(
      """
      import os, signal, time
      child = os.fork()
      if child == 0:
          time.sleep(1000)
      signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # a child that ends is reaped at once
      print(child, flush=True)
      time.sleep(1000)
      """)
    let child = try program.nextPID()
    let monitor = try Monitor(daemon)
    try daemon.adopt(id, program)
    try daemon.sendToBackground(id)
    try monitor.transition(id, to: .suspended)
    kill(child, SIGKILL)
    try waitUntil("the child's pid is free") { try daemon.state(of: child) == nil }
    let other = try bear(child, daemon)
    if resumes {
      try daemon.activate(id)
      try monitor.transition(id, to: .active)
      #expect(try daemon.state(of: program.pid) != .stopped)
    } else {
      try daemon.terminate(id)
      try monitor.end(id)
    }
    try checkUntouched(child, other, daemon)
  }
}
