import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §15. The tests count calls in the order in which the daemon reports them to its
/// monitors. The result therefore depends neither on a clock nor on the load of the machine.
@Suite(
  "§15: A flood is limited to its fair share",
  .enabled(if: geteuid() == 0, "only root can run other users' programs"))
struct FairShareTests {
  private let flooder = 65534
  /// Keeps 50 calls outstanding on each of 50 connections. The daemon refuses each call, and
  /// reports the refusal to its monitors as a change.
  private static let flood = """
    import os, select, socket
    def connect():
        s = socket.socket(socket.AF_UNIX); s.connect(os.environ["TASKSCHEDD_SOCKET"]); return s
    events, sockets = connect(), [connect() for _ in range(50)]
    call = b'{"method":"org.taskschedd.Application.EndBackgroundTask","parameters":{"task":9}}\\0'
    events.sendall(b'{"method":"org.taskschedd.Application.Register","more":true,'
                   b'"parameters":{"application":"org.test.flood"}}\\0')
    events.recv(65536)
    for s in sockets: s.sendall(call * 50)
    print("floods", flush=True)
    while True:
        for s in select.select(sockets, [], [])[0]:
            s.sendall(call * s.recv(65536).count(b"\\0"))
    """

  @Test("Between two calls of another user, a flooding user's connections are served at most once")
  func share() throws {
    // With a low limit, the daemon would disconnect the monitor while the test does not read the
    // monitor's stream.
    let daemon = try DaemonFixture(.init(policy: [("MaxQueuedBytesPerConnection", "64M")]))
    let quiet = try TestApplication(daemon, "org.test.quiet")
    try quiet.registered()
    let monitor = try Monitor(daemon)
    let flooding = try daemon.python(Self.flood, uid: UInt32(flooder))
    #expect(try flooding.nextLine() == "floods")
    // After 3000 calls, the flooding user has spent the credit with which each user starts.
    for _ in 0..<3000 {
      try monitor.next("the flood") { $0.kind == .refused && $0.owner == flooder }
    }
    // All calls are pending at once, so that only the daemon decides when it serves each of them.
    let calls = 300
    let name = TestApplication.fullName("EndBackgroundTask")
    try quiet.process.writeLine(
      "pipeline" + String(repeating: " \(name) {\"task\":9}", count: calls))
    func nextRefusal() throws -> Bool {
      try monitor.next("a refusal") { $0.kind == .refused }.owner == 0
    }
    while try !nextRefusal() {}
    var floodersCalls = 0
    var quietCalls = 1
    while quietCalls < calls {
      if try nextRefusal() { quietCalls += 1 } else { floodersCalls += 1 }
    }
    #expect(
      floodersCalls <= calls, "\(floodersCalls) calls of the flooding user within \(calls) calls")
    try monitor.next("a later call of the flooding user") {
      $0.kind == .refused && $0.owner == flooder
    }
  }

  @Test("A new connection is served before the waiting calls of another user's many connections")
  func newConnection() throws {
    let connections = 300
    let daemon = try DaemonFixture(.init(policy: [("MaxQueuedBytesPerConnection", "64M")]))
    let quiet = try TestApplication(daemon, "org.test.quiet")
    try quiet.registered()
    let monitor = try Monitor(daemon)
    let flooding = try daemon.python(
      Self.oneway, [String(connections)], uid: UInt32(flooder))
    #expect(try flooding.nextLine() == "floods")
    for _ in 0..<100 {
      try monitor.next("the flood") { $0.kind == .refused && $0.owner == flooder }
    }
    #expect(try quiet.end(9).errorName == "UnknownTask")
    let client = try RawClient(daemon)
    #expect(try client.call(#"{"method":"org.varlink.service.GetInfo"}"#)?["parameters"] != nil)
    #expect(try quiet.end(9).errorName == "UnknownTask")
    func nextIsQuiets() throws -> Bool {
      try monitor.next("a refusal") { $0.kind == .refused }.owner == 0
    }
    while try !nextIsQuiets() {}
    var floodersCalls = 0
    while try !nextIsQuiets() { floodersCalls += 1 }
    #expect(
      floodersCalls < connections, "the new connection does not wait for a call of each connection")
  }

  /// Opens the given number of connections, and sends 40 oneway calls on each.
  private static let oneway = """
    import os, socket, sys, time
    def connect():
        s = socket.socket(socket.AF_UNIX); s.connect(os.environ["TASKSCHEDD_SOCKET"]); return s
    events, sockets = connect(), []
    events.sendall(b'{"method":"org.taskschedd.Application.Register","more":true,'
                   b'"parameters":{"application":"org.test.flood"}}\\0')
    events.recv(65536)
    for _ in range(int(sys.argv[1])):
        sockets.append(connect())
        sockets[-1].sendall(b'{"method":"org.taskschedd.Application.EndBackgroundTask",'
                            b'"parameters":{"task":9},"oneway":true}\\0' * 40)
    print("floods", flush=True)
    time.sleep(1000)
    """

  @Test("A client that connects and closes repeatedly is accepted when no other client waits")
  func storm() throws {
    let daemon = try DaemonFixture(.init(policy: [("MaxQueuedBytesPerConnection", "64M")]))
    let storming = try daemon.python(
      """
      import os, socket
      call = b'{"method":"org.varlink.service.GetInfo"}\\0'
      count = 0
      while True:
          sockets = [socket.socket(socket.AF_UNIX) for _ in range(50)]
          for s in sockets: s.connect(os.environ["TASKSCHEDD_SOCKET"])
          sockets[0].sendall(call); sockets[0].recv(65536)
          count += 1
          if count % 10 == 0: print("storms", flush=True)
      """, uid: UInt32(flooder))
    for _ in 0..<3 { #expect(try storming.nextLine() == "storms") }
    let quiet = try TestApplication(daemon, "org.test.quiet")
    try quiet.registered()
    for _ in 0..<500 { #expect(try quiet.end(9).errorName == "UnknownTask") }
    #expect(
      try storming.nextLine() == "storms",
      "the daemon still accepts the connections of the other user")
  }
}
