import Glibc
import LinuxSystem

/// What a test's connection is made of.
public enum StreamKind: String, CaseIterable, Sendable {
  /// Over loopback.
  case tcp
  case unix
}

/// Listens, for applications to connect to; what it accepts sends when the test says so.
public final class StreamServer: Sendable {
  public let kind: StreamKind
  /// For TCP "127.0.0.1:PORT", else the path.
  public let address: String
  /// The listening socket.
  public let number: Int32
  private let port: in_port_t

  /// - Parameter backlog: how many connections wait to be accepted, less one.
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

  /// An application's end of a new connection.
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

  /// Begins to connect, and does not wait for it: where the backlog is full, it stays so.
  public func beginToConnect() throws -> StreamEnd {
    let type = streamType | Int32(SOCK_NONBLOCK.rawValue)
    let end = StreamEnd(taking: try must("socket", socket(AF_INET, type, 0)))
    try withLoopback(port: port) { address, length throws(SystemError) in
      guard Glibc.connect(end.number, address, length) == -1, errno == EINPROGRESS else {
        throw SystemError(call: "connect, which was to wait", errno: errno)
      }
    }
    return end
  }

  /// Our end of the next connection.
  public func accept() throws -> StreamEnd {
    try waitFor(POLLIN, on: number)
    return StreamEnd(taking: try must("accept", Glibc.accept(number, nil, nil)))
  }

  /// Both ends of a new connection.
  public func pair() throws -> (application: StreamEnd, peer: StreamEnd) {
    let application = try connect()
    return (application, try accept())
  }
}

/// One end of a connection, blocking, closed when the value ends.
public final class StreamEnd {
  /// -1 once it is closed.
  public private(set) var number: Int32

  public init(taking number: Int32) {
    self.number = number
  }

  deinit { close() }

  /// Closes it. Unread data of the peer makes that a reset.
  public func close() {
    if number >= 0 { Glibc.close(number) }
    number = -1
  }

  /// Closes a TCP connection by a reset.
  public func reset() throws {
    var option = linger(l_onoff: 1, l_linger: 0)
    let size = socklen_t(MemoryLayout<linger>.size)
    try must("setsockopt", setsockopt(number, SOL_SOCKET, SO_LINGER, &option, size))
    close()
  }

  /// Sends no more: the peer sees the end, and may go on sending.
  public func finish() throws {
    try must("shutdown", shutdown(number, Int32(SHUT_WR)))
  }

  /// Sends all of it.
  public func send(_ text: String) throws {
    try send(text, flags: 0)
  }

  /// Sends it as urgent data: of TCP, its last byte is.
  public func sendUrgent(_ text: String) throws {
    try send(text, flags: Int32(MSG_OOB))
  }

  private func send(_ text: String, flags: Int32) throws {
    let bytes = Array(text.utf8)
    let flags = flags | Int32(MSG_NOSIGNAL)
    let count = try must("send", Glibc.send(number, bytes, bytes.count, flags))
    precondition(count == bytes.count, "a test sends no more than the kernel takes")
  }

  /// Sends at an instant of CLOCK_BOOTTIME, to some microseconds: until then it is busy.
  public func send(_ text: String, at nanoseconds: UInt64) throws {
    while BootClock.now() < nanoseconds {}
    try send(text)
  }

  /// Sends as soon as something is so, which it looks for without pause.
  ///
  /// - Throws: ETIMEDOUT when the deadline passes first.
  public func send(_ text: String, when isSo: () throws -> Bool) throws {
    let end = BootClock.now() + UInt64(deadline.components.seconds) * 1_000_000_000
    while try !isSo() {
      if BootClock.now() > end {
        throw SystemError(call: "waiting for the moment to send", errno: ETIMEDOUT)
      }
    }
    try send(text)
  }

  /// Waits for one byte, which the application sends as its last act, and answers so long after it
  /// came: between the application's last read and its suspension, or about there.
  public func answer(_ text: String, after delay: Duration) throws {
    guard try receive(1).utf8.count == 1 else {
      throw SystemError(call: "waiting for the application's byte", errno: ECONNRESET)
    }
    try send(text, at: BootClock.now() + UInt64(delay / .nanoseconds(1)))
  }

  /// Waits for so many bytes; fewer at the end of the stream.
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

  /// Takes urgent data out of its turn.
  public func receiveUrgent() throws -> String {
    var byte: UInt8 = 0
    try must("recv", recv(number, &byte, 1, Int32(MSG_OOB)))
    return String(decoding: [byte], as: UTF8.self)
  }

  /// SO_ERROR, which is 0 from then on.
  public func takeError() throws -> Int32 {
    var code: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    try must("getsockopt", getsockopt(number, SOL_SOCKET, SO_ERROR, &code, &size))
    return code
  }

  /// Another descriptor of it, as one that arrives by SCM_RIGHTS.
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

/// A listening socket, and its port.
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

/// The peer sends no more (poll(2)); Glibc has it for GNU sources only.
public let POLLRDHUP: Int32 = 0x2000
