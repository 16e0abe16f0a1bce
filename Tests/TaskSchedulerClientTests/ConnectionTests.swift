import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerClient

/// A connection of the library to a peer that the test controls.
private final class Script {
  private let directory: TemporaryDirectory
  let connection: Connection
  let peer: Int32

  init() throws {
    directory = TemporaryDirectory()
    let path = directory.file("socket")
    let listener = try UnixSocket.listen(path: path, mode: 0o600)
    connection = try Connection.connect(to: SocketPath(path))
    guard let accepted = try UnixSocket.accept(listener.rawValue) else {
      throw SystemError(call: "accept", errno: EAGAIN)
    }
    peer = accepted.take()
  }

  deinit { Glibc.close(peer) }

  /// Sends the text to the library. Each `|` of the text is sent as a NUL, which ends a message.
  func send(_ text: String) throws {
    let bytes = text.utf8.map { $0 == UInt8(ascii: "|") ? 0 : $0 }
    try bytes.withUnsafeBytes { _ = try UnixSocket.send(peer, $0) }
  }

  /// Returns the next message without its NUL, and adds its descriptors to `descriptors`.
  func receive(_ descriptors: inout DescriptorBag) throws -> String {
    var received: [UInt8] = []
    while received.last != 0 {
      try waitFor(POLLIN, on: peer)
      var bytes = [UInt8](repeating: 0, count: 65536)
      let transfer = try bytes.withUnsafeMutableBytes {
        try UnixSocket.receive(peer, into: $0, descriptors: &descriptors)
      }
      guard case .bytes(let count) = transfer else { break }
      received += bytes[..<count]
    }
    return String(decoding: received.dropLast(), as: UTF8.self)
  }
}

private typealias GetStatus = ApplicationInterface.GetStatus
private typealias End = ApplicationInterface.EndBackgroundTask
private typealias Monitor = ControlInterface.Monitor

@Suite struct ConnectionTests {
  @Test("A call sends its message and returns the answer")
  func call() throws {
    let script = try Script()
    try script.send(#"{"parameters":{"settings":[],"warnings":[]}}|"#)
    let output = try script.connection.call(ControlInterface.GetSettings.self, .init())
    #expect(output.settings == [])
    var descriptors = DescriptorBag()
    let sent = try script.receive(&descriptors)
    #expect(sent == #"{"method":"org.taskschedd.Control.GetSettings","parameters":{}}"#)
  }

  @Test("A call sends its descriptors with the message")
  func descriptors() throws {
    let script = try Script()
    try script.send(#"{"parameters":{"instance":5}}|"#)
    let pipe = try FileDescriptor.pipe()
    let output = try script.connection.call(
      ControlInterface.Adopt.self,
      .init(application: "org.example.test", processFileDescriptor: FileDescriptorIndex(0)),
      fileDescriptors: [pipe.reading.rawValue])
    #expect(output.instance == 5)
    var descriptors = DescriptorBag()
    let sent = try script.receive(&descriptors)
    #expect(sent.contains(#""processFileDescriptor":0"#))
    #expect(descriptors.count == 1)
  }

  @Test("A call with several replies returns one reply at a time, and nil after the last")
  func more() throws {
    let script = try Script()
    let replies = try script.connection.callMore(Monitor.self, .init())
    try script.send(
      #"{"parameters":{"ready":true},"continues":true}|{"parameters":{"ready":false},"conti"#)
    #expect(try replies.next()?.ready == true)
    try script.send(#"nues":true}|{"parameters":{}}|"#)
    #expect(try replies.next()?.ready == false)
    #expect(try replies.next()?.ready == nil)
    #expect(try replies.next() == nil)
    try script.send(#"{"parameters":{"settings":[],"warnings":[]}}|"#)
    _ = try script.connection.call(ControlInterface.GetSettings.self, .init())
  }

  @Test("While replies are outstanding, another call is refused and does not disturb them")
  func occupied() throws {
    let script = try Script()
    let replies = try script.connection.callMore(Monitor.self, .init())
    #expect(throws: ConnectionError.occupied(method: Monitor.name)) {
      _ = try script.connection.call(GetStatus.self, .init())
    }
    try script.send(#"{"parameters":{"ready":true},"continues":true}|"#)
    #expect(try replies.next()?.ready == true)
  }

  @Test("A call throws a refusal as the failure of its interface, and the connection stays")
  func failures() throws {
    let script = try Script()
    let connection = script.connection
    let call = End.Input(task: 3)
    try script.send(
      #"{"error":"org.taskschedd.Application.UnknownTask","parameters":{"task":3}}|"#)
    #expect(throws: ApplicationInterface.Failure.unknownTask(task: 3)) {
      _ = try connection.call(End.self, call)
    }
    try script.send(#"{"error":"org.varlink.service.PermissionDenied"}|"#)
    #expect(throws: StandardFailure.permissionDenied) { _ = try connection.call(End.self, call) }
    try script.send(
      #"{"error":"org.taskschedd.Control.NotLaunchable","parameters":{"application":"a.b"}}|"#)
    #expect(throws: ControlInterface.Failure.notLaunchable(application: "a.b")) {
      _ = try connection.call(End.self, call)
    }
    try script.send(#"{"error":"org.example.New","parameters":{"a":1}}|"#)
    #expect(throws: UnknownFailure(name: "org.example.New", parameters: ["a": 1])) {
      _ = try connection.call(End.self, call)
    }
  }

  @Test("A message that is not Varlink ends the connection for all later calls")
  func violation() throws {
    let script = try Script()
    try script.send("HTTP/1.1 400|")
    for _ in 0..<2 {
      let error = #expect(throws: ConnectionError.self) {
        _ = try script.connection.call(GetStatus.self, .init())
      }
      #expect(error?.description.hasPrefix("taskschedd does not speak Varlink: ") == true)
    }
  }

  @Test("The error for an answer that does not match the interface names the field")
  func unreadable() throws {
    let script = try Script()
    try script.send(#"{"parameters":{"settings":7}}|"#)
    let error = #expect(throws: ConnectionError.self) {
      _ = try script.connection.call(ControlInterface.GetSettings.self, .init())
    }
    #expect(error?.description.contains("settings") == true)
  }

  @Test("If a peer hangs up in the middle of an answer, the error is closedByDaemon")
  func hangUp() throws {
    let script = try Script()
    try script.send(#"{"parameters":"#)
    try UnixSocket.shutdown(script.peer, Int(SHUT_WR))
    #expect(throws: ConnectionError.closedByDaemon) {
      _ = try script.connection.call(GetStatus.self, .init())
    }
  }

  @Test("The error for an answer that does not arrive in time names the call")
  func timeout() throws {
    let script = try Script()
    let error = ConnectionError.timedOut(method: GetStatus.name, timeout: .milliseconds(1))
    #expect(throws: error) {
      _ = try script.connection.call(GetStatus.self, .init(), timeout: .milliseconds(1))
    }
    // The late answer may still arrive. The library could take it for the answer to the next call,
    // so it sends no further call on this connection.
    #expect(throws: error) {
      _ = try script.connection.call(GetStatus.self, .init())
    }
  }

  @Test("A call returns an answer that arrived before a suspension, even after its deadline")
  func readyAfterDeadline() throws {
    let script = try Script()
    try script.send(#"{"parameters":{"settings":[],"warnings":[]}}|"#)
    _ = try script.connection.call(
      ControlInterface.GetSettings.self, .init(), timeout: .zero)
  }

  @Test("A call with a message longer than the buffer of the socket waits for the peer")
  func longMessage() throws {
    let script = try Script()
    let name = String(repeating: "x", count: 900_000)
    let connection = script.connection
    let task = Watched<Int?>(nil)
    startThread {
      let output = try? connection.call(
        ApplicationInterface.BeginBackgroundTask.self, .init(name: name))
      task.update { $0 = output?.task }
    }
    var descriptors = DescriptorBag()
    #expect(try script.receive(&descriptors).utf8.count > 900_000)
    try script.send(#"{"parameters":{"task":9}}|"#)
    try task.wait("the answer") { $0 == 9 }
  }

  @Test("A call returns an answer of several MiB")
  func longAnswer() throws {
    let script = try Script()
    let padding = String(repeating: " ", count: 1 << 20)
    let peer = script.peer
    startThread {
      let text = "{\"parameters\":{" + String(repeating: padding, count: 3)
        + "\"settings\":[],\"warnings\":[]}}"
      var rest = (Array(text.utf8) + [0])[...]
      while !rest.isEmpty {
        guard (try? waitFor(POLLOUT, on: peer)) != nil else { return }
        let transfer = try? rest.withUnsafeBytes { try UnixSocket.send(peer, $0) }
        guard case .bytes(let count)? = transfer else { return }
        rest = rest.dropFirst(count)
      }
    }
    let output = try script.connection.call(ControlInterface.GetSettings.self, .init())
    #expect(output.settings == [])
  }

  @Test("A close ends a call that waits in another thread")
  func close() throws {
    let script = try Script()
    let connection = script.connection
    let thrown = Watched<ConnectionError?>(nil)
    startThread {
      do {
        _ = try connection.call(GetStatus.self, .init())
      } catch {
        thrown.update { $0 = error as? ConnectionError }
      }
    }
    var descriptors = DescriptorBag()
    _ = try script.receive(&descriptors)
    connection.close()
    try thrown.wait("the call throws closed") { $0 == .closed }
  }

  @Test("A connection without write permission throws notPermitted")
  func permissions() throws {
    #expect(
      ConnectionError(
        connectingTo: "/run/x", SystemError(call: "connect /run/x", errno: EACCES))
        == .notPermitted(path: "/run/x"))
  }
}
