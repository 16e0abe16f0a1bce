import Glibc
import LinuxSystem
import TaskSchedulerClient
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §12 and §15, with an application that has more descriptors than the daemon can
/// examine quickly.
@Suite("§12: The daemon serves other users, however many descriptors an application has")
struct DescriptorTests {
  private let attack = "org.test.attack"
  private let attacker: UInt32 = 65534
  /// Opens sockets, then listening sockets, and starts children that inherit all of them. The
  /// arguments are the numbers of sockets, children and listening sockets.
  private static let program = """
    import os, resource, signal, socket, sys
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    kept = [socket.socket(socket.AF_UNIX).detach() for _ in range(int(sys.argv[1]))]
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(int(sys.argv[3]))]
    for _ in range(int(sys.argv[2])):
        if os.fork() == 0:
            while True: signal.pause()
    print("ready", flush=True)
    while True: signal.pause()
    """

  private func start(
    _ daemon: DaemonFixture, sockets: Int, children: Int, listeners: Int = 0, uid: UInt32? = nil
  ) throws -> TestProcess {
    let program = try daemon.python(
      Self.program, ["\(sockets)", "\(children)", "\(listeners)"], uid: uid)
    #expect(try program.nextLine() == "ready")
    return program
  }

  @Test(
    "§15: Thousands of another user's calls are answered while 500,000 descriptors are examined",
    .enabled(if: geteuid() == 0, "only root can run other users' programs"))
  func served() throws {
    let daemon = try DaemonFixture()
    let program = try start(daemon, sockets: 5000, children: 100, uid: attacker)
    try daemon.adopt(attack, program)
    let victim = try daemon.connect()
    func state() throws -> ControlInterface.State {
      try victim.call(
        ControlInterface.GetApplication.self, .init(application: attack), timeout: deadline
      ).application.state
    }
    try daemon.sendToBackground(attack)
    // The client sends each call after the previous reply. If the descriptor scan blocked the event
    // loop, the daemon would answer no call between the stop and the suspension.
    var calls = 0
    while try state() != .suspended { calls += 1 }
    #expect(calls > 20, "calls answered during the scan: \(calls)")
    let resources = try daemon.application(attack).instance?.resources
    #expect(resources?.descriptorsExamined == false, "500,000 descriptors exceed the budget")
    let why = try daemon.taskctl("why", attack).text
    #expect(why.contains("could not examine all of its descriptors"))
    try daemon.terminate(attack)
  }

  @Test("A resume cancels the scan of descriptors, and the application can be suspended again")
  func resumed() throws {
    let daemon = try DaemonFixture()
    let monitor = try Monitor(daemon)
    let program = try start(daemon, sockets: 1000, children: 20)
    try daemon.adopt(attack, program)
    for _ in 0..<5 {
      try daemon.sendToBackground(attack)
      try daemon.activate(attack)
      #expect(try daemon.application(attack).state == .active)
      try waitUntil("the program runs") { try daemon.state(of: program.pid) != .stopped }
    }
    try daemon.sendToBackground(attack)
    try monitor.transition(attack, to: .suspended)
    try waitUntil("the program is stopped") { try daemon.state(of: program.pid) == .stopped }
  }

  @Test("§12: The log, `why` and `status` name ten of many listening sockets, and their number")
  func manyListeners() throws {
    let daemon = try DaemonFixture()
    let monitor = try Monitor(daemon)
    let program = try start(daemon, sockets: 0, children: 0, listeners: 800)
    try daemon.adopt(attack, program)
    try daemon.sendToBackground(attack)
    try monitor.transition(attack, to: .suspended)
    let resources = try #require(try daemon.application(attack).instance?.resources)
    #expect(resources.listening.count == 10 && resources.listeningCount == 800)
    let status = try daemon.taskctl("status", attack).text
    #expect(status.contains("and 790 more addresses") && status.utf8.count < 4096, "\(status)")
  }
}
