import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerClient

/// A peer that answers with bytes of the test's choosing.
private final class Script {
  private let folder: TemporaryDirectory
  let connection: Connection
  let peer: Int32

  init() throws {
    folder = TemporaryDirectory()
    let path = folder.file("socket")
    let listener = try UnixSocket.listen(path: path, mode: 0o600)
    connection = try Connection.connect(to: SocketPath(path))
    guard let accepted = try UnixSocket.accept(listener.rawValue) else {
      throw SystemError(call: "accept", errno: EAGAIN)
    }
    peer = accepted.take()
  }

  deinit { Glibc.close(peer) }

  /// Sends a message, or several, NULs as `|`.
  func send(_ text: String) throws {
    let bytes = text.utf8.map { $0 == UInt8(ascii: "|") ? 0 : $0 }
    try bytes.withUnsafeBytes { _ = try UnixSocket.send(peer, $0) }
  }

  /// What has been received: to the NUL, and the descriptors that came with it.
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
  @Test("A call sends its message and gives the answer")
  func call() throws {
    let script = try Script()
    try script.send(#"{"parameters":{"settings":[],"warnings":[]}}|"#)
    let output = try script.connection.call(ControlInterface.GetSettings.self, .init())
    #expect(output.settings == [])
    var descriptors = DescriptorBag()
    let sent = try script.receive(&descriptors)
    #expect(sent == #"{"method":"org.taskschedd.Control.GetSettings","parameters":{}}"#)
  }

  @Test("File descriptors ride on the message")
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

  @Test("Several replies are taken one at a time, in one read or in many; nil after the last")
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

  @Test("While replies are outstanding, another call is refused and the stream goes on")
  func occupied() throws {
    let script = try Script()
    let replies = try script.connection.callMore(Monitor.self, .init())
    #expect(throws: ConnectionError.occupied(method: Monitor.name)) {
      _ = try script.connection.call(GetStatus.self, .init())
    }
    try script.send(#"{"parameters":{"ready":true},"continues":true}|"#)
    #expect(try replies.next()?.ready == true)
  }

  @Test("A refusal is thrown as its interface's failure, and the connection goes on")
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

  @Test("What is not Varlink ends the connection: each later call throws the same")
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

  @Test("An answer that the interface does not declare names the field")
  func unreadable() throws {
    let script = try Script()
    try script.send(#"{"parameters":{"settings":7}}|"#)
    let error = #expect(throws: ConnectionError.self) {
      _ = try script.connection.call(ControlInterface.GetSettings.self, .init())
    }
    #expect(error?.description.contains("settings") == true)
  }

  @Test("A peer that hangs up, also in the middle of an answer, is closedByDaemon")
  func hangUp() throws {
    let script = try Script()
    try script.send(#"{"parameters":"#)
    try UnixSocket.shutdown(script.peer, Int(SHUT_WR))
    #expect(throws: ConnectionError.closedByDaemon) {
      _ = try script.connection.call(GetStatus.self, .init())
    }
  }

  @Test("An answer that does not come in time is an error that names the call")
  func timeout() throws {
    let script = try Script()
    let error = ConnectionError.timedOut(method: GetStatus.name, timeout: .milliseconds(1))
    #expect(throws: error) {
      _ = try script.connection.call(GetStatus.self, .init(), timeout: .milliseconds(1))
    }
    // Its answer may still come, so nothing else may be asked here.
    #expect(throws: error) {
      _ = try script.connection.call(GetStatus.self, .init())
    }
  }

  @Test("An answer that lies ready is taken though its time is up, as after a suspension")
  func readyAfterDeadline() throws {
    let script = try Script()
    try script.send(#"{"parameters":{"settings":[],"warnings":[]}}|"#)
    _ = try script.connection.call(
      ControlInterface.GetSettings.self, .init(), timeout: .zero)
  }

  @Test("A message longer than the socket's buffer waits for the peer to read")
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

  @Test("An answer of many MiB is taken: what a user runs must not blind the operators")
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

  @Test("Closing ends a call that waits in another thread")
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
    try thrown.wait("it throws closed") { $0 == .closed }
  }

  @Test("A socket that may not be written to is notPermitted")
  func permissions() throws {
    #expect(
      ConnectionError(
        connectingTo: "/run/x", SystemError(call: "connect /run/x", errno: EACCES))
        == .notPermitted(path: "/run/x"))
  }
}
