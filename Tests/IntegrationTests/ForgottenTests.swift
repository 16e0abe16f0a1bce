import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// After a client or process has ended without notice, no process stays suspended
/// (contract.md#never-stay-suspended), and the daemon keeps no descriptor and no memory for the
/// client or process.
@Suite("§15: No process stays suspended when no daemon manages it")
struct ForgottenTests {
  private let id = "org.test.program"

  @Test("When another program kills a suspended leader, the other processes run again")
  func leaderKilled() throws {
    let daemon = try DaemonFixture()
    // The processes are in separate sessions. Otherwise the kernel itself would send SIGHUP and
    // SIGCONT to the stopped members of an orphaned process group.
    let program = try daemon.shell(
      """
      setsid sh -c 'echo $$; exec sleep 1000' &
      setsid sh -c 'sleep 1000 & echo $!; echo $$; wait' &
      wait
      """)
    let children = try (0..<3).map { _ in try program.nextPID() }
    let monitor = try Monitor(daemon)
    try daemon.adopt(id, program)
    try daemon.sendToBackground(id)
    try monitor.transition(id, to: .suspended)
    for pid in children { #expect(try daemon.state(of: pid) == .stopped) }
    _ = try program.pidfd.send(signal: SIGKILL)
    #expect(try monitor.end(id) == "crashed")
    try waitUntil("the children run again") {
      try children.allSatisfy { try daemon.state(of: $0) == .sleeping }
    }
    #expect(try daemon.application(id).lastEnd?.signal == Int(SIGKILL))
  }

  @Test("An application is killed even if the daemon has no free file descriptor")
  func withoutDescriptors() throws {
    let daemon = try DaemonFixture(.init(policy: [("TerminateTimeout", "100ms")]))
    let program = try daemon.shell("trap '' TERM; sleep 1000 & echo $!; wait; wait")
    let child = try program.nextPID()
    let monitor = try Monitor(daemon)
    let connection = try daemon.connect()
    try daemon.adopt(id, program)
    _ = try connection.call(
      ControlInterface.GetApplication.self, .init(application: id), timeout: deadline)
    // The kernel assigns only descriptors below this limit. The daemon uses 0, 1 and 2, so none is
    // free.
    let limit = try daemon.openFiles(limit: 3)
    let end = try connection.call(
      ControlInterface.Terminate.self, .init(application: id), timeout: deadline
    ).end
    #expect(end?.reason == .terminatedByOperator)
    #expect(try program.pidfd.hasEnded())
    _ = try daemon.openFiles(limit: limit)
    #expect(try monitor.end(id) == "terminatedByOperator")
    try waitUntil("the child is not frozen") { try daemon.state(of: child) != .stopped }
    kill(child, SIGKILL)
  }

  @Test("Connections that close while their call waits leave no descriptor behind")
  func waitingCalls() throws {
    let daemon = try DaemonFixture(.init(policy: [("TerminateTimeout", "1h")]))
    let program = try daemon.shell("trap '' TERM; echo ready; while true; do read line; done")
    #expect(try program.nextLine() == "ready")
    try daemon.adopt(id, program)
    _ = try daemon.applications()
    let before = try daemon.descriptorCount()
    let terminate = """
      {"method":"org.taskschedd.Control.Terminate","parameters":{"application":"\(id)"}}
      """
    for _ in 0..<50 {
      let client = try RawClient(daemon)
      try client.send(terminate)
    }
    try waitUntil("the application is terminating") {
      try daemon.application(id).instance?.ending != nil
    }
    try waitUntil("the daemon has closed the connections") {
      try daemon.descriptorCount() <= before
    }
    #expect(try daemon.state(of: program.pid)?.hasEnded == false)
  }

  @Test(
      """
      The unread event stream of a suspended application does not block the daemon: 10,000 changes \
      of other applications need no memory
      """)
  func suspendedStream() throws {
    // The busy application acknowledges no callback. With a short CallbackTimeout, the daemon would
    // kill it.
    let daemon = try DaemonFixture(.init(policy: [("CallbackTimeout", "1h")]))
    let monitor = try Monitor(daemon)
    let suspended = try TestApplication(daemon, "org.test.still", "background")
    try suspended.registered()
    try monitor.transition("org.test.still", to: .suspended)
    let busy = try daemon.python(Self.churner, ["org.test.busy"])
    #expect(try busy.nextLine() == "registered")
    func churn(_ tasks: Int) throws -> Int {
      try busy.writeLine("\(tasks)")
      #expect(try busy.nextLine() == "done")
      return try daemon.anonymousKiB()
    }
    // During the first round, the daemon allocates all memory that it keeps permanently.
    let before = try churn(1000)
    let after = try churn(5000)
    #expect(after - before < 512, "\(before) KiB, then \(after) KiB")
    #expect(try daemon.state(of: suspended.pid) == .stopped)
    try daemon.activate("org.test.still")
    _ = try suspended.callbackKinds(3)
  }

  /// An application that reads numbers. For each number, it begins and ends that many tasks. A task
  /// causes two changes: its beginning and its end.
  private static let churner = """
    import json, os, socket, sys
    def connect():
        s = socket.socket(socket.AF_UNIX); s.connect(os.environ["TASKSCHEDD_SOCKET"]); return s
    def send(s, method, parameters, **flags):
        call = {"method": "org.taskschedd.Application." + method, "parameters": parameters, **flags}
        s.sendall(json.dumps(call).encode() + b"\\0")
    def receive(s):
        data = b""
        while not data.endswith(b"\\0"): data += s.recv(65536)
        return data
    stream, calls = connect(), connect()
    send(stream, "Register", {"application": sys.argv[1]}, more=True); receive(stream)
    print("registered", flush=True)
    for line in sys.stdin:
        for _ in range(int(line)):
            send(calls, "BeginBackgroundTask", {"name": "work"})
            task = json.loads(receive(calls)[:-1])["parameters"]["task"]
            send(calls, "EndBackgroundTask", {"task": task}); receive(calls)
        print("done", flush=True)
    """
}

extension DaemonFixture {
  /// Sets the daemon's soft limit on open files, and returns the previous limit.
  fileprivate func openFiles(limit: Int) throws -> Int {
    let program = """
      import resource, sys
      pid, files, limit = int(sys.argv[1]), resource.RLIMIT_NOFILE, int(sys.argv[2])
      soft, hard = resource.prlimit(pid, files)
      resource.prlimit(pid, files, (limit, hard))
      print(soft)
      """
    let setter = try TestProcess.python(program, ["\(process.pid)", "\(limit)"])
    return try unwrap(Int(try setter.nextLine()))
  }

  /// Returns the anonymous memory of the daemon in KiB.
  fileprivate func anonymousKiB() throws -> Int {
    let file = try FileDescriptor.open(reading: "/proc/\(process.pid)/status")
    let lines = String(decoding: try file.readToEnd(), as: UTF8.self).split(separator: "\n")
    let line = try unwrap(lines.first { $0.hasPrefix("RssAnon:") })
    return try unwrap(Int(line.split(separator: " ")[1]))
  }
}
