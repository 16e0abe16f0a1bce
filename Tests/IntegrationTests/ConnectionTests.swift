import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §15 and §16 at the real socket: slow, flooding and vanishing clients.
@Suite("§16: The daemon disconnects only the client that does not read")
struct ConnectionTests {
  private static let list = #"{"method":"org.taskschedd.Control.ListApplications"}"#
  private static let info = #"{"method":"org.varlink.service.GetInfo"}"#

  @Test("A long message that is written byte by byte is answered")
  func byteByByte() throws {
    let daemon = try DaemonFixture()
    let client = try RawClient(daemon)
    let padding = String(repeating: " ", count: 3000)
    for byte in Array(Self.list.utf8) + Array(padding.utf8) + [0] { try client.send([byte]) }
    #expect(try client.receive()?["parameters"]?["applications"] == [])
  }

  @Test(
    "A call that arrives in single bytes is answered, even if the client's send buffer is small",
    arguments: [4096, 212_992], [false, true])
  func patientByteByByte(sendBuffer: Int32, withDescriptor: Bool) throws {
    let daemon = try DaemonFixture()
    let client = try RawClient(daemon)
    try client.setSendBuffer(sendBuffer)
    let padding = String(repeating: " ", count: 1000)
    var descriptors: [Int32] = withDescriptor ? [0] : []
    for byte in Array(Self.list.utf8) + Array(padding.utf8) + [0] {
      try client.waitForRoom()
      try client.send([byte], descriptors: descriptors)
      descriptors = []
    }
    let answer = try client.receive()?["parameters"]
    #expect(withDescriptor ? answer?["parameter"] != nil : answer?["applications"] == [])
  }

  @Test("A half-closed connection gets its replies and is then closed")
  func halfClosed() throws {
    let daemon = try DaemonFixture()
    let client = try RawClient(daemon)
    for _ in 0..<40 { try client.send(Self.list) }
    try client.shutDownWriting()
    for _ in 0..<40 { #expect(try client.receive()?["parameters"] != nil) }
    #expect(try client.receive() == nil)
  }

  @Test("A message with a descriptor that is split over many writes is received completely")
  func splitDescriptor() throws {
    let daemon = try DaemonFixture()
    let program = try daemon.shell("read line")
    let adopt = #"""
      {"method":"org.taskschedd.Control.Adopt","parameters":
      {"application":"org.test.program","processFileDescriptor":0}}
      """#
    let client = try RawClient(daemon)
    let bytes = Array(adopt.utf8) + [0]
    try client.send([bytes[0]], descriptors: [program.pidfd.rawValue])
    for byte in bytes.dropFirst() { try client.send([byte]) }
    #expect(try client.receive()?["parameters"]?["instance"] != nil)
    #expect(try daemon.application("org.test.program").instance?.pid == Int(program.pid))
  }

  @Test("A client that pipelines and never reads delays no other client")
  func pipelining() throws {
    let daemon = try DaemonFixture()
    let client = try RawClient(daemon)
    let call = Array(Self.info.utf8) + [0]
    let many = Array(repeatElement(call, count: 1000).joined())
    var sent = 0
    for _ in 0..<100 {
      sent += try client.sendWhatFits(many)
      #expect(try daemon.applications().isEmpty, "the daemon serves another client")
    }
    #expect(sent > 0)
    #expect(try daemon.process.hasEnded() == false)
  }

  @Test("The daemon disconnects only the monitor that never reads")
  func slowMonitor() throws {
    let daemon = try DaemonFixture(.init(policy: [("MaxQueuedBytesPerConnection", "4096")]))
    let slow = try RawClient(daemon)
    try slow.send(#"{"method":"org.taskschedd.Control.Monitor","more":true}"#)
    let application = try TestApplication(daemon, "org.test.busy")
    try application.registered()
    let name = TestApplication.fullName("EndBackgroundTask")
    // The daemon refuses each of these calls, and sends the refusal to monitors as a change.
    var isCutOff = false
    for round in 0..<3000 where !isCutOff {
      try application.process.writeLine(
        "pipeline" + String(repeating: " \(name) {\"task\":9}", count: 8))
      for _ in 0..<8 { #expect(try application.nextAnswer().errorName == "UnknownTask") }
      // Reading the growing log in every round would be slow.
      if round % 50 == 0 { isCutOff = daemon.logged.contains("does not read") }
    }
    #expect(isCutOff)
    #expect(try daemon.application("org.test.busy").state == .active)
    let fresh = try Monitor(daemon)
    #expect(fresh.snapshot.map(\.application) == ["org.test.busy"])
  }

  @Test("The flood of a client does not stop another client's round trip")
  func flood() throws {
    let daemon = try DaemonFixture()
    let flooding = try daemon.python(
      """
      import os, socket, sys
      s = socket.socket(socket.AF_UNIX); s.connect(os.environ["TASKSCHEDD_SOCKET"])
      call = b'{"method":"org.varlink.service.GetInfo"}\\0'
      print("floods", flush=True)
      while True:
          s.sendall(call * 100); n = 0
          while n < 100: n += s.recv(65536).count(b"\\0")
      """)
    #expect(try flooding.nextLine() == "floods")
    for _ in 0..<100 { #expect(try daemon.applications().isEmpty) }
  }

  @Test(
    "§15: The calls of a user who floods the daemon with lists wait for another user's calls",
    .enabled(if: geteuid() == 0, "only root can run other users' programs"))
  func floodOfAnotherUser() throws {
    let daemon = try DaemonFixture()
    let flooding = try daemon.python(
      """
      import os, select, socket, threading
      call = b'{"method":"org.taskschedd.Control.ListApplications"}\\0'
      sockets = [socket.socket(socket.AF_UNIX) for _ in range(100)]
      for s in sockets:
          s.connect(os.environ["TASKSCHEDD_SOCKET"]); s.sendall(call * 50)
      print("floods", flush=True)
      done = 0
      while True:
          for s in select.select(sockets, [], [])[0]:
              count = s.recv(65536).count(b"\\0"); done += count; s.sendall(call * count)
          if done > 2000: print("served", flush=True); done = 0
      """, uid: 65534)
    #expect(try flooding.nextLine() == "floods")
    let program = try daemon.shell("read line")
    try daemon.adopt("org.test.program", program)
    for _ in 0..<100 {
      try daemon.sendToBackground("org.test.program")
      try waitUntil("the program is suspended") {
        try daemon.application("org.test.program").state == .suspended
      }
      try daemon.activate("org.test.program")
    }
    #expect(try flooding.nextLine() == "served", "the daemon still serves the flooding user")
  }

  @Test("1000 connections that are opened and closed leave no descriptor open")
  func dropped() throws {
    let daemon = try DaemonFixture()
    _ = try daemon.applications()
    let before = try daemon.descriptorCount()
    for number in 0..<1000 {
      let client = try RawClient(daemon)
      if number % 3 == 1 { try client.send(Self.list) }
      if number % 3 == 2 { try client.send(Array(Self.list.utf8.prefix(20))) }
    }
    try waitUntil("the daemon has closed them") { try daemon.descriptorCount() <= before }
    #expect(try daemon.applications().isEmpty)
  }

  @Test("An unfinished message with too many descriptors closes its own connection")
  func descriptorHoard() throws {
    let daemon = try DaemonFixture()
    _ = try daemon.applications()
    let before = try daemon.descriptorCount()
    let atOnce = try RawClient(daemon)
    try atOnce.send([UInt8](repeating: 32, count: 200), descriptors: Array(repeating: 0, count: 9))
    #expect(try atOnce.receive() == nil)
    let inParts = try RawClient(daemon)
    try inParts.send([UInt8](repeating: 32, count: 200), descriptors: [0, 0, 0, 0, 0, 0, 0, 0])
    try inParts.send([UInt8](repeating: 32, count: 200), descriptors: [0])
    #expect(try inParts.receive() == nil)
    try waitUntil("the descriptors are closed") { try daemon.descriptorCount() <= before }
    #expect(daemon.logged.contains("the message has too many file descriptors"))
  }
}
