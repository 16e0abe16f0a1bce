import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// A daemon that the test operates step by step. The test accepts each connection of taskctl, and
/// sends each reply.
final class FakeDaemon: Sendable {
  let socket: String
  private let directory: TemporaryDirectory
  private let listener: FileDescriptor

  private static let service = Service(
    vendor: "test", product: "fake taskschedd", version: "0", url: "",
    interfaces: [ControlInterface.description])

  init() throws {
    directory = TemporaryDirectory()
    socket = directory.file("socket")
    listener = try UnixSocket.listen(path: socket, mode: 0o600)
  }

  /// Returns a path in the directory of this test.
  func file(_ name: String) -> String { directory.file(name) }

  /// Accepts the next connection of taskctl.
  func accept() throws -> FakeConnection {
    while true {
      try waitFor(POLLIN, on: listener.rawValue)
      if let socket = try UnixSocket.accept(listener.rawValue) {
        return FakeConnection(taking: socket, service: Self.service)
      }
    }
  }

  /// Accepts the next connection of taskctl and reads its first call, which must be of the given
  /// method.
  func accept<Method: InterfaceMethod>(
    _ method: Method.Type
  ) throws -> (connection: FakeConnection, input: Method.Input) {
    let connection = try accept()
    let call = try connection.receive()
    try #require(call.method == Method.name)
    return (connection, try call.decode(Method.Input.self))
  }
}

/// One connection of taskctl.
final class FakeConnection {
  private let socket: FileDescriptor
  private var peer: ServerConnection
  private var buffer = MessageBuffer()
  /// The descriptors that arrived with the messages.
  private var descriptors = DescriptorBag()

  init(taking socket: consuming FileDescriptor, service: Service) {
    self.socket = socket
    peer = ServerConnection(service: service)
  }

  /// Reads the next call.
  func receive() throws -> ReceivedCall {
    while true {
      if let message = try buffer.next() {
        var output: [UInt8] = []
        let action = peer.receive(
          message, fileDescriptorCount: descriptors.count, output: &output)
        if case .call(let call) = action { return call }
        Issue.record("taskctl sent a message that is not a call of the interface: \(action)")
        throw SystemError(call: "receive", errno: EPROTO)
      }
      guard try receiveBytes() else { throw SystemError(call: "receive", errno: ECONNRESET) }
    }
  }

  /// Waits until taskctl has closed its end.
  func waitForClose() throws {
    while try receiveBytes() {}
  }

  private func receiveBytes() throws -> Bool {
    try waitFor(POLLIN, on: socket.rawValue)
    var bytes = [UInt8](repeating: 0, count: 4096)
    let transfer = try bytes.withUnsafeMutableBytes {
      try UnixSocket.receive(socket.rawValue, into: $0, descriptors: &descriptors)
    }
    switch transfer {
    case .bytes(let count): buffer.append(Array(bytes[..<count]))
    case .wouldBlock: break
    case .closed: return false
    }
    return true
  }

  /// Takes the pidfd that arrived with the last call.
  func takeProcess(_ index: FileDescriptorIndex) throws -> PIDFD {
    guard let descriptor = descriptors.take(index.rawValue) else {
      throw SystemError(call: "no file descriptor arrived", errno: EBADMSG)
    }
    // The next call has its own descriptors.
    descriptors = DescriptorBag()
    return try PIDFD(adopting: descriptor)
  }

  func reply(_ output: some WireValue, continues: Bool = false) throws {
    var bytes: [UInt8] = []
    peer.reply(output, continues: continues, output: &bytes)
    try send(bytes)
  }

  func fail(_ failure: some MethodFailure) throws {
    var bytes: [UInt8] = []
    peer.fail(failure, output: &bytes)
    try send(bytes)
  }

  /// Sends bytes unchanged.
  func send(_ bytes: [UInt8]) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      switch try rest.withUnsafeBytes({ try UnixSocket.send(socket.rawValue, $0) }) {
      case .bytes(let count): rest = rest.dropFirst(count)
      case .wouldBlock: try waitFor(POLLOUT, on: socket.rawValue)
      case .closed: throw SystemError(call: "send", errno: EPIPE)
      }
    }
  }

  /// Shuts the connection down, so that taskctl reads the end of the stream.
  func close() throws { try UnixSocket.shutdown(socket.rawValue, Int(SHUT_RDWR)) }
}
