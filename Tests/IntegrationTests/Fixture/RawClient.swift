import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// A client that can write arbitrary bytes.
final class RawClient {
  private let socket: FileDescriptor
  private var buffer = MessageBuffer(messageBytesMax: 1 << 24)

  init(_ daemon: DaemonFixture) throws {
    socket = try UnixSocket.connect(path: daemon.socketPath)
  }

  /// Sends all bytes. Returns false if the daemon has closed the connection.
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

  /// Sends a message with its terminating NUL.
  @discardableResult
  func send(_ text: String, descriptors: [Int32] = []) throws -> Bool {
    try send(Array(text.utf8) + [0], descriptors: descriptors)
  }

  /// Sets the size of the send buffer. The kernel enforces a minimum.
  func setSendBuffer(_ bytesCount: Int32) throws {
    var bytesCount = bytesCount
    let result = setsockopt(
      socket.rawValue, SOL_SOCKET, SO_SNDBUF, &bytesCount, socklen_t(MemoryLayout<Int32>.size))
    try #require(result == 0)
  }

  /// Waits until poll(2) reports room for sending, as the event loop of a client does. The kernel
  /// reports room when at most a quarter of the send buffer is in use.
  func waitForRoom() throws { try waitFor(POLLOUT, on: socket.rawValue) }

  /// Sends the bytes that the socket accepts without blocking. Returns their number.
  func sendWhatFits(_ bytes: [UInt8]) throws -> Int {
    let count = bytes.withUnsafeBytes {
      Glibc.send(
        socket.rawValue, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
    }
    return max(0, count)
  }

  /// Returns the next message, or nil if the daemon has closed the connection.
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

  /// Returns the next message with the descriptors that arrived with it.
  func receiveDescriptors() throws -> (message: JSONValue, descriptors: [Int32]) {
    var bag = DescriptorBag()
    while true {
      if let message = try buffer.next() {
        let numbers = (0..<bag.count).compactMap { bag.take($0)?.take() }
        return (try JSONParser.parse(message), numbers)
      }
      try waitFor(POLLIN, on: socket.rawValue)
      var bytes = [UInt8](repeating: 0, count: 65536)
      let transfer = try bytes.withUnsafeMutableBytes {
        try UnixSocket.receive(socket.rawValue, into: $0, descriptors: &bag)
      }
      guard case .bytes(let count) = transfer else {
        throw SystemError(call: "receive", errno: ECONNRESET)
      }
      buffer.append(Array(bytes[..<count]))
    }
  }

  /// Sends one call, and returns its answer.
  func call(_ text: String, descriptors: [Int32] = []) throws -> JSONValue? {
    try send(text, descriptors: descriptors)
    return try receive()
  }

  func shutDownWriting() throws { try UnixSocket.shutdown(socket.rawValue, Int(SHUT_WR)) }
}
