import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// A client that writes whatever bytes it likes.
final class RawClient {
  private let socket: FileDescriptor
  private var buffer = MessageBuffer(messageBytesMax: 1 << 24)

  init(_ daemon: DaemonFixture) throws {
    socket = try UnixSocket.connect(path: daemon.socketPath)
  }

  /// Sends all of it; false where the daemon has closed the connection.
  @discardableResult
  func send(_ bytes: [UInt8], descriptors: [Int32] = []) throws -> Bool {
    var rest = bytes[...]
    var riding = descriptors
    while !rest.isEmpty {
      let transfer = try rest.withUnsafeBytes { bytes in
        try riding.withUnsafeBufferPointer {
          try UnixSocket.send(socket.rawValue, bytes, descriptors: $0)
        }
      }
      riding = []
      switch transfer {
      case .bytes(let count): rest = rest.dropFirst(count)
      case .wouldBlock: try waitFor(POLLOUT, on: socket.rawValue)
      case .closed: return false
      }
    }
    return true
  }

  /// Sends a message with its NUL.
  @discardableResult
  func send(_ text: String, descriptors: [Int32] = []) throws -> Bool {
    try send(Array(text.utf8) + [0], descriptors: descriptors)
  }

  /// The least is what the kernel allows.
  func setSendBuffer(_ bytesCount: Int32) throws {
    var bytesCount = bytesCount
    let result = setsockopt(
      socket.rawValue, SOL_SOCKET, SO_SNDBUF, &bytesCount, socklen_t(MemoryLayout<Int32>.size))
    try #require(result == 0)
  }

  /// As a client's loop does: poll(2) tells of room while less than a quarter is used.
  func waitForRoom() throws { try waitFor(POLLOUT, on: socket.rawValue) }

  /// Sends what the socket takes without waiting; returns how much that was.
  func sendWhatFits(_ bytes: [UInt8]) throws -> Int {
    let count = bytes.withUnsafeBytes {
      Glibc.send(
        socket.rawValue, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
    }
    return max(0, count)
  }

  /// The next message; nil where the daemon has closed the connection.
  func receive() throws -> JSONValue? {
    while true {
      if let message = try buffer.next() { return try JSONParser.parse(message) }
      try waitFor(POLLIN, on: socket.rawValue)
      var bytes = [UInt8](repeating: 0, count: 65536)
      let count = recv(socket.rawValue, &bytes, bytes.count, 0)
      if count <= 0 { return nil }
      buffer.append(Array(bytes[..<count]))
    }
  }

  /// One call and its answer.
  func call(_ text: String, descriptors: [Int32] = []) throws -> JSONValue? {
    try send(text, descriptors: descriptors)
    return try receive()
  }

  func shutDownWriting() throws { try UnixSocket.shutdown(socket.rawValue, Int(SHUT_WR)) }
}
