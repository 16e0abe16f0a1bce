import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §7, with real connections over loopback and Unix sockets.
@Suite("§7: Managed sockets")
struct ManagedSocketTests {
  private static let id = "org.test.voip"
  private let id = Self.id

  /// An application of mode voip with connections to a server that the test runs.
  private struct Scene {
    let daemon: DaemonFixture
    let application: TestApplication
    let server: StreamServer
    let monitor: Monitor

    init(
      _ kind: StreamKind = .unix, _ flags: String..., policy: [(String, String)] = []
    ) throws {
      // By default, EventTime is too long to expire during a test.
      let limits = policy.isEmpty ? [("EventTime", "1h")] : policy
      daemon = try DaemonFixture(.voip(ManagedSocketTests.id, policy: limits))
      application = try TestApplication(daemon, ManagedSocketTests.id, flags: flags)
      try application.registered()
      #expect(try application.callbackKinds(2) == ["didFinishLaunching", "didBecomeActive"])
      server = try StreamServer(kind, in: daemon.folder)
      monitor = try Monitor(daemon)
    }

    func suspend() throws { try daemon.suspend(ManagedSocketTests.id, monitor) }

    /// Acknowledges the event, and waits until the application is suspended again. Does not wait
    /// for the answer, because the application may be suspended before it can print the answer.
    func acknowledge(_ event: TestApplication.SocketEvent) throws {
      try application.send("Acknowledge", ["callback": .integer(Int64(event.id))])
      try monitor.transition(ManagedSocketTests.id, to: .suspended)
    }

    var wakeUpCount: Int {
      monitor.seen.count { $0.kind == .transition && $0.from == .suspended && $0.cause == "event" }
    }
  }

  @Test(
    """
    An application passes a connected stream socket. When data arrives, the application is resumed \
    and learns the socket's id. The daemon reads no byte. The acknowledgement suspends the \
    application
    """,
    arguments: StreamKind.allCases)
  func data(_ kind: StreamKind) throws {
    let it = try Scene(kind)
    let (peer, socket) = try it.application.connect(to: it.server)
    #expect(try it.daemon.application(id).instance?.managedSockets == 1)
    try it.suspend()
    #expect(try it.daemon.state(of: it.application.pid) == .stopped)
    let sentAt = Int(BootClock.now() / 1000)
    try peer.send("hello")
    let arrival = try it.monitor.next(.socketsReady, of: id)
    // The delay is some tenths of a millisecond on an idle machine.
    #expect((sentAt...sentAt + 500_000).contains(arrival.atUSec))
    let event = try it.application.nextSocketEvent()
    #expect(event.sockets == [socket: ["data"]])
    #expect(try it.daemon.application(id).state == .background)
    #expect(try it.daemon.application(id).instance?.entitlements == [.event])
    #expect(try it.application.read() == .init(text: "hello", isAtEnd: false))
    try it.acknowledge(event)
    #expect(try it.daemon.state(of: it.application.pid) == .stopped)
    #expect(it.wakeUpCount == 1)
  }

  @Test("An application is suspended EventTime after a socket event, and new data wakes it again")
  func eventTime() throws {
    let it = try Scene(policy: [("EventTime", "700ms")])
    let (peer, socket) = try it.application.connect(to: it.server)
    try it.suspend()
    for _ in 0..<2 {
      try peer.send("x")
      let arrival = try it.monitor.next(.socketsReady, of: id)
      #expect(try it.application.nextSocketEvent().sockets == [socket: ["data"]])
      let suspension = try it.monitor.transition(id, to: .suspended)
      let took = suspension.atUSec - arrival.atUSec
      #expect(took >= 700_000, "\(took)")
      #expect(try it.daemon.state(of: it.application.pid) == .stopped)
    }
  }

  @Test("An application may begin a background task to handle a socket event")
  func backgroundTask() throws {
    let it = try Scene()
    let (peer, _) = try it.application.connect(to: it.server)
    try it.suspend()
    try peer.send("x")
    let event = try it.application.nextSocketEvent()
    let task = try it.application.begin()
    #expect(try it.application.acknowledge(event.id).errorName == nil)
    let instance = try #require(try it.daemon.application(id).instance)
    #expect(instance.entitlements == [.backgroundTask])
    #expect(try #require(instance.backgroundTimeRemainingUSec) > 0)
    #expect(try it.daemon.application(id).state == .background)
    try it.application.send("EndBackgroundTask", ["task": .integer(Int64(task))])
    try it.monitor.transition(id, to: .suspended)
  }

  @Test("A second acknowledgement of a socket event, or one with another id, gets UnknownCallback")
  func acknowledgedTwice() throws {
    let it = try Scene()
    let (peer, _) = try it.application.connect(to: it.server)
    try it.suspend()
    try peer.send("x")
    let event = try it.application.nextSocketEvent()
    // The background task keeps the application running after the acknowledgement.
    try it.application.begin()
    #expect(try it.application.acknowledge(event.id + 1).errorName == "UnknownCallback")
    #expect(try it.application.acknowledge(event.id).errorName == nil)
    #expect(try it.application.acknowledge(event.id).errorName == "UnknownCallback")
  }

  // MARK: Errors and hang-ups

  @Test(
    "A hang-up resumes the application, which receives a socket event",
    arguments: StreamKind.allCases)
  func hangUp(_ kind: StreamKind) throws {
    let it = try Scene(kind)
    let (half, first) = try it.application.connect(to: it.server)
    let (whole, second) = try it.application.connect(to: it.server)
    try it.suspend()
    try half.finish()
    let event = try it.application.nextSocketEvent()
    #expect(event.sockets[first]?.contains("hangUp") == true, "\(event)")
    #expect(try it.application.read(0) == .init(text: "", isAtEnd: true))
    try it.acknowledge(event)
    try whole.send("last")
    whole.close()
    let last = try it.application.nextSocketEvent()
    #expect(last.sockets[second]?.contains("data") == true, "\(last)")
    #expect(last.sockets[first] == nil)
    #expect(try it.application.read(1) == .init(text: "last", isAtEnd: true))
  }

  @Test("A reset resumes the application, which receives a socket event")
  func reset() throws {
    let it = try Scene(.tcp)
    let (peer, socket) = try it.application.connect(to: it.server)
    try it.suspend()
    try peer.reset()
    let event = try it.application.nextSocketEvent()
    #expect(event.sockets[socket]?.contains("error") == true, "\(event)")
    // The application still reads the error from its socket.
    #expect(try it.application.read().error == "Connection reset by peer")
    try it.acknowledge(event)
  }

  @Test("Urgent data resumes the application, which receives a socket event")
  func urgent() throws {
    let it = try Scene(.tcp)
    let (peer, socket) = try it.application.connect(to: it.server)
    try it.suspend()
    try peer.sendUrgent("!")
    let event = try it.application.nextSocketEvent()
    #expect(event.sockets[socket]?.contains("urgentData") == true, "\(event)")
    #expect(try it.application.readUrgent().text == "!")
    try it.acknowledge(event)
  }

  // MARK: Data that arrives at the worst moment

  @Test(
    """
    Data that arrives between the application's last read and its suspension wakes the \
    application: no data is lost while it is sent to the background
    """,
    arguments: StreamKind.allCases)
  func sentAway(_ kind: StreamKind) throws {
    let it = try Scene(kind, "drain")
    let (peer, _) = try it.application.connect(to: it.server)
    let control = try RawClient(it.daemon)
    let sendAway = #"""
      {"method":"org.taskschedd.Control.SendToBackground","parameters":{"application":"\#(id)"}}
      """#
    var sent = "", received = ""
    for round in 0..<150 {
      let text = String(UnicodeScalar(UInt8(97 + round % 26)))
      sent += text
      try control.send(sendAway)
      // Each round sends the data at another time. These times cover the interval from the first
      // callback to the suspension.
      try peer.send(text, at: BootClock.now() + UInt64(round * 7919 % 12_000) * 1000)
      #expect(try control.receive()?.errorName == nil)
      // The application reads only when it receives a socket event.
      while received.utf8.count < sent.utf8.count {
        received += try it.application.nextReading().text
      }
      try it.daemon.activate(id)
    }
    #expect(received == sent)
  }

  @Test(
    """
    Data that arrives between the application's last read and its suspension wakes the \
    application, at whatever moment after its last action
    """,
    arguments: StreamKind.allCases)
  func afterLastRead(_ kind: StreamKind) throws {
    let it = try Scene(kind, "drain")
    let (peer, _) = try it.application.connect(to: it.server)
    try it.suspend()
    var sent = "-", received = ""
    try peer.send(sent)
    for round in 0..<300 {
      let text = String(UnicodeScalar(UInt8(97 + round % 26)))
      sent += text
      // The application has read the data and sent a byte. It acknowledges the event next.
      try peer.answer(text, after: .microseconds(round * 7919 % 4000))
      received += try it.application.nextReading().text
    }
    received += try it.application.nextReading().text
    #expect(received == sent)
    try waitUntil("the application is suspended") {
      try it.daemon.application(id).state == .suspended
    }
  }

  @Test("Data that stays unread does not wake the application again; new data does")
  func oldData() throws {
    let it = try Scene()
    let (peer, first) = try it.application.connect(to: it.server)
    let (other, second) = try it.application.connect(to: it.server)
    try it.suspend()
    try peer.send("old")
    var event = try it.application.nextSocketEvent()
    #expect(event.sockets == [first: ["data"]])
    try it.acknowledge(event)
    // If the old data resumed the application again, an event for it would precede this event.
    try other.send("x")
    event = try it.application.nextSocketEvent()
    #expect(event.sockets == [second: ["data"]])
    #expect(try it.application.read(1).text == "x")
    try it.acknowledge(event)
    try peer.send(", new")
    event = try it.application.nextSocketEvent()
    #expect(event.sockets == [first: ["data"]])
    #expect(try it.application.read(0).text == "old, new")
    try it.acknowledge(event)
    #expect(it.wakeUpCount == 3)
  }

  @Test("Data read before the suspension does not wake; one event reports two ready sockets")
  func twoSockets() throws {
    let it = try Scene()
    let (peer, first) = try it.application.connect(to: it.server)
    let (other, second) = try it.application.connect(to: it.server)
    try peer.send("read")
    try waitUntil("the data has arrived") { try it.application.read(0).text == "read" }
    try it.suspend()
    try other.send("x")
    var event = try it.application.nextSocketEvent()
    #expect(event.sockets == [second: ["data"]])
    try it.acknowledge(event)
    try it.daemon.activate(id)
    #expect(
      try it.application.callbackKinds(2) == ["willEnterForeground", "didBecomeActive"])
    try peer.send("1")
    try other.send("2")
    try it.suspend()
    event = try it.application.nextSocketEvent()
    #expect(event.sockets == [first: ["data"], second: ["data"]])
    try it.acknowledge(event)
    #expect(it.wakeUpCount == 2)
  }

  // MARK: The life of a managed socket

  @Test("A released socket does not wake the application, which can still use the socket")
  func released() throws {
    let it = try Scene()
    let (peer, first) = try it.application.connect(to: it.server)
    let (other, second) = try it.application.connect(to: it.server)
    let parameters: JSONValue = ["socket": .integer(Int64(first))]
    #expect(try it.application.call("ReleaseSocket", parameters) == ["parameters": [:]])
    #expect(try it.application.call("ReleaseSocket", parameters).errorName == "UnknownSocket")
    #expect(try it.daemon.application(id).instance?.managedSockets == 1)
    try it.suspend()
    try peer.send("unheard")
    try other.send("x")
    let event = try it.application.nextSocketEvent()
    #expect(event.sockets == [second: ["data"]])
    #expect(try it.application.read(0) == .init(text: "unheard", isAtEnd: false))
    // The application may pass the socket again, and receives the same id.
    #expect(try it.application.handOver("0")["parameters"]?["socket"] == .integer(Int64(first)))
    #expect(try it.application.handOver("0")["parameters"]?["socket"] == .integer(Int64(first)))
    #expect(try it.daemon.application(id).instance?.managedSockets == 2)
  }

  @Test(
    "The daemon keeps no connection open: the peer sees that the application closed it",
    arguments: StreamKind.allCases)
  func closed(_ kind: StreamKind) throws {
    let it = try Scene(kind)
    let (peer, _) = try it.application.connect(to: it.server)
    try it.application.close()
    #expect(try peer.receive(1) == "")
    #expect(try it.application.begin() > 0)
  }

  @Test(
      """
      Managed sockets end with the instance: the peer sees the hang-up, and the next instance has \
      none
      """,
    arguments: StreamKind.allCases, ["exits", "is terminated", "is terminated while suspended"])
  func ended(_ kind: StreamKind, _ way: String) throws {
    let it = try Scene(kind)
    // Both counts include the test's own connection to the daemon, so the connection does not
    // affect the comparison.
    let before = try it.daemon.descriptorCount()
    let (peer, _) = try it.application.connect(to: it.server)
    if way == "is terminated while suspended" { try it.suspend() }
    if way == "exits" {
      try it.application.process.writeLine("exit 0")
    } else {
      try it.daemon.terminate(id)
    }
    #expect(try peer.receive(1) == "")
    try it.monitor.end(id)
    let next = try TestApplication.active(it.daemon, id)
    #expect(try it.daemon.application(id).instance?.managedSockets == 0)
    try waitUntil("the daemon has closed its descriptors") {
      try it.daemon.descriptorCount() <= before
    }
    #expect(try next.process.pidfd.hasEnded() == false)
  }

  // MARK: Bad input

  @Test(
    "A descriptor that is not a connected stream socket is refused with the reason",
    arguments: [
      ("file", "a file"), ("path", "O_PATH"), ("pipe", "a pipe"), ("epoll", "a kernel object"),
      ("listening", "a listening socket"), ("datagram", "SOCK_DGRAM"),
      ("packets", "a sequenced-packet socket"), ("unconnected", "not connected"),
      ("own", "taskschedd"), ("events", "taskschedd"),
    ])
  func noConnection(_ what: String, _ reason: String) throws {
    let it = try Scene()
    let before = try it.daemon.descriptorCount()
    let answer = try it.application.handOver(what)
    #expect(answer.errorName == "InvalidSocket", "\(answer)")
    guard case .string(let said)? = answer["parameters"]?["reason"] else {
      throw TestApplication.Unexpected(line: "\(answer)")
    }
    #expect(said.contains(reason), "\(said)")
    #expect(try it.daemon.application(id).instance?.managedSockets == 0)
    try waitUntil("the daemon has closed its descriptors") {
      try it.daemon.descriptorCount() <= before
    }
  }

  @Test("A connection that has ended is refused")
  func noLongerConnected() throws {
    let it = try Scene(.tcp)
    let (peer, socket) = try it.application.connect(to: it.server)
    let parameters: JSONValue = ["socket": .integer(Int64(socket))]
    #expect(try it.application.call("ReleaseSocket", parameters).errorName == nil)
    try peer.reset()
    try waitUntil("the reset has arrived") { try it.application.read().error != nil }
    #expect(try it.application.handOver("0").errorName == "InvalidSocket")
  }

  @Test(
    "A call without the descriptor that it names is refused with InvalidParameter and the field",
    arguments: ["none", "negative", "two"])
  func noDescriptor(_ what: String) throws {
    let it = try Scene()
    let before = try it.daemon.descriptorCount()
    let answer = try it.application.handOver(what)
    #expect(answer.errorName == "InvalidParameter", "\(answer)")
    #expect(answer["parameters"]?["parameter"] == "socketFileDescriptor")
    // If no field of a message names a descriptor, the daemon closes the descriptor.
    #expect(try it.application.begin() > 0)
    try waitUntil("the daemon has closed its descriptors") {
      try it.daemon.descriptorCount() <= before
    }
  }

  @Test("A managed socket needs the mode voip and an instance")
  func withoutMode() throws {
    let daemon = try DaemonFixture()
    let server = try StreamServer(.unix, in: daemon.folder)
    let application = try TestApplication(daemon, "org.test.plain")
    try application.registered()
    try application.process.writeLine("connect \(server.address)")
    let answer = try application.nextAnswer()
    #expect(answer.errorName == "ModeNotDeclared")
    #expect(answer["parameters"]?["mode"] == "voip")
    #expect(try daemon.application("org.test.plain").instance?.managedSockets == 0)
    let stranger = try TestApplication(daemon, id, "silent")
    try stranger.process.writeLine("connect \(server.address)")
    #expect(try stranger.nextAnswer().errorName == "NotRegistered")
  }

  @Test("At MaxSocketsPerApplication, the daemon refuses a socket until another one is closed")
  func quota() throws {
    let it = try Scene(policy: [("MaxSocketsPerApplication", "2")])
    let peers = try (0..<2).map { _ in try it.application.connect(to: it.server).peer }
    try it.application.process.writeLine("connect \(it.server.address)")
    let answer = try it.application.nextAnswer()
    #expect(answer.errorName == "QuotaExceeded")
    #expect(answer["parameters"]?["quota"] == "MaxSocketsPerApplication")
    #expect(answer["parameters"]?["limit"] == 2)
    #expect(try it.application.handOver("1").errorName == nil)
    try it.application.close(0)
    #expect(try peers[0].receive(1) == "")
    #expect(try it.application.handOver("2").errorName == nil)
    #expect(try it.daemon.application(id).instance?.managedSockets == 2)
  }

  // MARK: The daemon's death

  @Test(
      """
      §15: After kill -9 of a daemon without a descriptor store, the application learns that its \
      socket is unwatched, and passes it again
      """,
    arguments: StreamKind.allCases)
  func daemonKilled(_ kind: StreamKind) throws {
    let it = try Scene(kind)
    let (peer, socket) = try it.application.connect(to: it.server)
    try it.suspend()
    try it.daemon.die()
    #expect(try it.daemon.state(of: it.application.pid) == .stopped)
    try peer.send("hello")
    let daemon = try DaemonFixture(.voip(id, policy: [("EventTime", "1h")]), after: it.daemon)
    try it.application.streamEnd()
    try it.application.reconnect()
    let event = try it.application.nextSocketEvent()
    #expect(event.sockets == [socket: ["unwatched"]])
    #expect(try it.application.read().text == "hello")
    let again = try it.application.handOver("0")
    #expect(again["parameters"]?["socket"] == .integer(Int64(socket)))
    let monitor = try Monitor(daemon)
    try it.application.send("Acknowledge", ["callback": .integer(Int64(event.id))])
    try monitor.transition(id, to: .suspended)
    try peer.send("again")
    #expect(try it.application.nextSocketEvent().sockets == [socket: ["data"]])
    #expect(try it.application.read().text == "again")
  }
}
