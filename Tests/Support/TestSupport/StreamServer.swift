import Glibc
import LinuxSystem

/// The kinds of connections that the tests use.
public enum StreamKind: String, CaseIterable, Sendable {
  /// TCP over loopback.
  case tcp
  case unix
}

/// A server to which applications connect. A test sends data with the accepted ends.
public final class StreamServer: Sendable {
  public let kind: StreamKind
  /// "127.0.0.1:PORT" for TCP, or the path of the Unix socket.
  public let address: String
  /// The listening socket.
  public let number: Int32
  private let port: in_port_t

  /// Creates the listening socket.
  ///
  /// - Parameter backlog: the backlog of listen(2). The kernel queues one connection more.
  public init(
    _ kind: StreamKind, in directory: TemporaryDirectory, backlog: Int32 = SOMAXCONN
  ) throws {
    self.kind = kind
    switch kind {
    case .unix:
      address = directory.file("stream-server")
      port = 0
      number = try UnixSocket.listen(path: address, mode: 0o666, backlog: backlog).take()
      try setBlocking(number)
    case .tcp:
      (number, port) = try listenOnLoopback(backlog)
      address = "127.0.0.1:\(port)"
    }
  }

  deinit { close(number) }

  /// Returns the application's end of a new connection.
  public func connect() throws -> StreamEnd {
    switch kind {
    case .unix: return StreamEnd(taking: try UnixSocket.connect(path: address).take())
    case .tcp:
      let end = StreamEnd(taking: try must("socket", socket(AF_INET, streamType, 0)))
      try withLoopback(port: port) { address, length throws(SystemError) in
        try must("connect", Glibc.connect(end.number, address, length))
      }
      return end
    }
  }

  /// Begins to connect by TCP without waiting. While the backlog is full, the connection stays
  /// incomplete.
  public func beginToConnect() throws -> StreamEnd {
    let type = streamType | Int32(SOCK_NONBLOCK.rawValue)
    let end = StreamEnd(taking: try must("socket", socket(AF_INET, type, 0)))
    try withLoopback(port: port) { address, length throws(SystemError) in
      guard Glibc.connect(end.number, address, length) == -1, errno == EINPROGRESS else {
        throw SystemError(call: "a connect that must wait", errno: errno)
      }
    }
    return end
  }

  /// Returns the server's end of the next connection.
  public func accept() throws -> StreamEnd {
    try waitFor(POLLIN, on: number)
    return StreamEnd(taking: try must("accept", Glibc.accept(number, nil, nil)))
  }

  /// Returns both ends of a new connection.
  public func pair() throws -> (application: StreamEnd, peer: StreamEnd) {
    let application = try connect()
    return (application, try accept())
  }
}

/// One end of a connection, with blocking calls. It is closed when the value is destroyed.
public final class StreamEnd {
  /// The descriptor; -1 once it is closed.
  public private(set) var number: Int32

  public init(taking number: Int32) {
    self.number = number
  }

  deinit { close() }

  /// Closes the connection. If the peer's data is unread, this resets the connection.
  public func close() {
    if number >= 0 { Glibc.close(number) }
    number = -1
  }

  /// Closes a TCP connection with a reset.
  public func reset() throws {
    var option = linger(l_onoff: 1, l_linger: 0)
    let size = socklen_t(MemoryLayout<linger>.size)
    try must("setsockopt", setsockopt(number, SOL_SOCKET, SO_LINGER, &option, size))
    close()
  }

  /// Shuts down sending. The peer then reads the end of the stream, but can still send.
  public func finish() throws {
    try must("shutdown", shutdown(number, Int32(SHUT_WR)))
  }

  /// Sends the whole text.
  public func send(_ text: String) throws {
    try send(text, flags: 0)
  }

  /// Sends the text as urgent data. TCP marks its last byte as urgent.
  public func sendUrgent(_ text: String) throws {
    try send(text, flags: Int32(MSG_OOB))
  }

  private func send(_ text: String, flags: Int32) throws {
    let bytes = Array(text.utf8)
    let flags = flags | Int32(MSG_NOSIGNAL)
    let count = try must("send", Glibc.send(number, bytes, bytes.count, flags))
    precondition(count == bytes.count, "the kernel did not accept all bytes")
  }

  /// Sends at an instant of CLOCK_BOOTTIME, with an accuracy of some microseconds. Uses the CPU
  /// until that instant.
  public func send(_ text: String, at nanoseconds: UInt64) throws {
    while BootClock.now() < nanoseconds {}
    try send(text)
  }

  /// Sends as soon as a condition holds. Checks the condition continuously until then.
  ///
  /// - Throws: ETIMEDOUT if the deadline passes first.
  public func send(_ text: String, when isSo: () throws -> Bool) throws {
    let end = BootClock.now() + UInt64(deadline.components.seconds) * 1_000_000_000
    while try !isSo() {
      if BootClock.now() > end {
        throw SystemError(call: "waiting for the moment to send", errno: ETIMEDOUT)
      }
    }
    try send(text)
  }

  /// Waits for one byte, and sends the text after the given delay.
  ///
  /// The application sends the byte after its last read, directly before its suspension. The text
  /// therefore arrives after the last read, and shortly before or shortly after the suspension.
  public func answer(_ text: String, after delay: Duration) throws {
    guard try receive(1).utf8.count == 1 else {
      throw SystemError(call: "waiting for the application's byte", errno: ECONNRESET)
    }
    try send(text, at: BootClock.now() + UInt64(delay / .nanoseconds(1)))
  }

  /// Waits for the given number of bytes. Returns fewer at the end of the stream.
  public func receive(_ count: Int) throws -> String {
    var bytes: [UInt8] = []
    while bytes.count < count {
      try waitFor(POLLIN, on: number)
      var part = [UInt8](repeating: 0, count: count - bytes.count)
      let got = try must("recv", recv(number, &part, part.count, 0))
      if got == 0 { break }
      bytes += part[..<got]
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Receives urgent data out of band.
  public func receiveUrgent() throws -> String {
    var byte: UInt8 = 0
    try must("recv", recv(number, &byte, 1, Int32(MSG_OOB)))
    return String(decoding: [byte], as: UTF8.self)
  }

  /// Returns the pending error of the socket (SO_ERROR). The kernel then resets the error to 0.
  public func takeError() throws -> Int32 {
    var code: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    try must("getsockopt", getsockopt(number, SOL_SOCKET, SO_ERROR, &code, &size))
    return code
  }

  /// Returns a duplicate of the descriptor, like one that arrives by SCM_RIGHTS.
  public func duplicate() throws(SystemError) -> FileDescriptor {
    try FileDescriptor.duplicate(of: number)
  }
}

private let streamType = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)

@discardableResult
private func must<Value: SignedInteger>(
  _ call: String, _ value: Value
) throws(SystemError) -> Value {
  if value == -1 { throw SystemError(call: call, errno: errno) }
  return value
}

private func setBlocking(_ number: Int32) throws(SystemError) {
  let flags = try must("fcntl", fcntl(number, F_GETFL))
  try must("fcntl", fcntl(number, F_SETFL, flags & ~O_NONBLOCK))
}

/// Returns a listening socket and its port.
private func listenOnLoopback(_ backlog: Int32) throws(SystemError) -> (Int32, in_port_t) {
  let number = try must("socket", socket(AF_INET, streamType, 0))
  try withLoopback(port: 0) { address, length throws(SystemError) in
    try must("bind", bind(number, address, length))
  }
  try must("listen", listen(number, backlog))
  var bound = sockaddr_in()
  var length = socklen_t(MemoryLayout<sockaddr_in>.size)
  try withUnsafeMutableBytes(of: &bound) { bytes throws(SystemError) in
    let address = bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self)
    try must("getsockname", getsockname(number, address, &length))
  }
  return (number, in_port_t(bigEndian: bound.sin_port))
}

@discardableResult
private func withLoopback<Result>(
  port: in_port_t, _ body: (UnsafePointer<sockaddr>, socklen_t) throws(SystemError) -> Result
) throws(SystemError) -> Result {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = port.bigEndian
  address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
  return try withUnsafeBytes(of: address) { bytes throws(SystemError) in
    let address = bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self)
    return try body(address, socklen_t(MemoryLayout<sockaddr_in>.size))
  }
}

/// The peer sends no more data (poll(2)). Glibc declares the constant only with _GNU_SOURCE.
public let POLLRDHUP: Int32 = 0x2000
