import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §15: the kernel refuses the daemon's SIGCONT, because the process has changed its user.
///
/// A stopped process cannot change its user, but the daemon must believe that the process is
/// stopped. A debugger therefore holds the process at the daemon's SIGSTOP until the daemon has
/// suspended the application, and then lets the process run.
@Suite(
  "§15: No process stays suspended because the kernel refuses SIGCONT",
  .enabled(if: geteuid() == 0, "only root makes a process another user's"))
struct RefusedSignalTests {
  private let id = "org.test.changing"
  private static let nobody: UInt32 = 65534

  /// A leader that runs as the user nobody. Its child changes its user on request: to nobody or to
  /// root.
  private static let program = """
    import os, signal, sys
    uid = int(sys.argv[1])
    child = os.fork()
    if child:
        os.setresuid(uid, uid, uid)
        while True: signal.pause()
    # Leaves the session, because the kernel allows every SIGCONT between processes of one session.
    os.setsid()
    os.setresuid(uid, 0, uid)
    print(os.getpid(), flush=True)
    for line in sys.stdin:
        os.setresuid(*((0, 0, 0) if line.strip() == "root" else (uid, 0, uid)))
        print(line.strip(), flush=True)
    """

  /// A debugger that holds a process at its SIGSTOP until the debugger reads a line, and then
  /// resumes the process.
  private static let holder = """
    import ctypes, os, signal, sys
    libc, pid = ctypes.CDLL(None, use_errno=True), int(sys.argv[1])
    def ptrace(request, data):
        arguments = [ctypes.c_long(value) for value in (request, pid, 0, data)]
        if libc.ptrace(*arguments): sys.exit(f"ptrace: {os.strerror(ctypes.get_errno())}")
    SEIZE, CONT, DETACH = 0x4206, 7, 17
    ptrace(SEIZE, 0)
    print("attached", flush=True)
    while True:
        _, status = os.waitpid(pid, 0x40000000)
        if os.WIFSTOPPED(status) and os.WSTOPSIG(status) == signal.SIGSTOP: break
        ptrace(CONT, os.WSTOPSIG(status))
    print("stopped", flush=True)
    sys.stdin.readline()
    ptrace(DETACH, 0)
    print("gone", flush=True)
    """

  @Test(
      """
      The daemon reports a refused SIGCONT as a problem, and repeats the signal until it succeeds, \
      after a resume and after the application's end
      """,
    arguments: ["resume", "release"])
  func refused(_ way: String) throws {
    let daemon = try DaemonFixture(
      .init(options: [("suspend-mechanism", "\"signal\"")]), uid: Self.nobody)
    let program = try daemon.python(Self.program, ["\(Self.nobody)"])
    let child = try program.nextPID()
    let monitor = try Monitor(daemon)
    try daemon.adopt(id, program)
    let holder = try TestProcess.python(Self.holder, ["\(child)"])
    #expect(try holder.nextLine() == "attached")
    try daemon.sendToBackground(id)
    #expect(try holder.nextLine() == "stopped")
    try monitor.transition(id, to: .suspended)
    try holder.writeLine("let go")
    #expect(try holder.nextLine() == "gone")
    try program.writeLine("root")
    #expect(try program.nextLine() == "root")
    if way == "resume" {
      try daemon.activate(id)
    } else {
      _ = try program.pidfd.send(signal: SIGKILL)
      try monitor.end(id)
    }
    let problem = try #require(try daemon.application(id).problem)
    #expect(problem.contains("process \(child) cannot be resumed: "), "\(problem)")
    #expect(problem.contains("(EPERM)"), "\(problem)")
    #expect(try daemon.taskctl("status", id).text.contains("      Problem: \(problem)\n"))
    try program.writeLine("nobody")
    #expect(try program.nextLine() == "nobody")
    try waitUntil("the child is resumed") { try daemon.application(id).problem == nil }
    #expect(try daemon.state(of: child)?.hasEnded == false)
    kill(child, SIGKILL)
  }
}
