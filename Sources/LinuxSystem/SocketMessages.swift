import CLinux
import Glibc

/// The reason why a message that was peeked could not be received.
public enum ReceiveError: Error, Hashable, Sendable, CustomStringConvertible {
  case system(SystemError)
  /// The message had too many file descriptors, or the descriptor table of this process is full.
  /// The receiver has closed the descriptors that arrived.
  case descriptorsLost
  /// The kernel returned only this number of the peeked bytes.
  case short(received: Int)

  public var description: String {
    switch self {
    case .system(let error): error.description
    case .descriptorsLost:
      "recvmsg: the message has too many file descriptors, or the descriptor table is full"
    case .short(let received): "recvmsg: returned only \(received) of the peeked bytes"
    }
  }
}

/// The result of a peek at, or a write to, a non-blocking socket.
public enum Transfer: Hashable, Sendable {
  /// The number of bytes, at least 1.
  case bytes(Int)
  /// The call would block. The caller waits until the socket is ready.
  case wouldBlock
  /// The peer closed or reset the connection.
  case closed
}

/// Operations that the daemon performs for each message. They allocate memory only for arriving
/// descriptors.
extension UnixSocket {
  /// The maximum number of file descriptors in a message: SCM_MAX_FD of the kernel.
  public static let descriptorsMax = Int(CLINUX_FDS_MAX)

  /// Sets SO_PEEK_OFF: the number of unreceived bytes that the next `peek` skips. Each `peek`
  /// advances this offset, and each `receive` reduces it. The offset stays with the socket, so a
  /// process that takes over the socket learns how much of a message was received.
  ///
  /// - Parameter offset: The offset; nil makes each peek begin with the first unreceived byte.
  public static func setPeekMark(_ number: Int32, _ offset: Int?) throws(SystemError) {
    var offset = offset.map { Int32(clamping: $0) } ?? -1
    try check("setsockopt SO_PEEK_OFF") {
      setsockopt(
        number, SOL_SOCKET, Int32(CLINUX_SO_PEEK_OFF), &offset,
        socklen_t(MemoryLayout<Int32>.size))
    }
  }

  /// Returns the present offset of the next `peek`; nil if ``setPeekMark(_:_:)`` has set none.
  public static func peekMark(_ number: Int32) throws(SystemError) -> Int? {
    var offset: Int32 = -1
    var length = socklen_t(MemoryLayout<Int32>.size)
    try check("getsockopt SO_PEEK_OFF") {
      getsockopt(number, SOL_SOCKET, Int32(CLINUX_SO_PEEK_OFF), &offset, &length)
    }
    return offset < 0 ? nil : Int(offset)
  }

  /// Reads bytes without receiving them (MSG_PEEK, MSG_DONTWAIT). Passes no control buffer, so file
  /// descriptors stay in the kernel with their bytes. Calls recv(2) once, so there may be more
  /// bytes.
  ///
  /// With a peek mark (SO_PEEK_OFF), begins at the mark. Returns `.closed` if the stream ends
  /// there, even if the bytes before the mark were not received yet.
  public static func peek(
    _ number: Int32, into buffer: UnsafeMutableRawBufferPointer
  ) throws(SystemError) -> Transfer {
    let flags = Int32(MSG_PEEK | MSG_DONTWAIT)
    let result = attempt("recv") { recv(number, buffer.baseAddress, buffer.count, flags) }
    return try transfer(result)
  }

  /// Reads bytes without receiving them. Sets `hasDescriptors` to true if file descriptors belong
  /// to the peeked bytes or to the next byte.
  public static func peek(
    _ number: Int32, into buffer: UnsafeMutableRawBufferPointer, hasDescriptors: inout Bool
  ) throws(SystemError) -> Transfer {
    var truncated: Int32 = 0
    let result = attempt("recvmsg") {
      clinux_peek(number, buffer.baseAddress, buffer.count, &truncated)
    }
    hasDescriptors = truncated != 0
    return try transfer(result)
  }

  /// Returns the offset of the first NUL, which ends a message; nil if there is none.
  public static func firstZero(in bytes: UnsafeRawBufferPointer) -> Int? {
    guard let start = bytes.baseAddress, let end = memchr(start, 0, bytes.count) else { return nil }
    return UnsafeRawPointer(end) - start
  }

  /// Returns SO_COOKIE, a number that no other socket has had since boot.
  public static func cookie(_ number: Int32) throws(SystemError) -> UInt64 {
    var cookie: UInt64 = 0
    var length = socklen_t(MemoryLayout<UInt64>.size)
    try check("getsockopt SO_COOKIE") {
      getsockopt(number, SOL_SOCKET, Int32(CLINUX_SO_COOKIE), &cookie, &length)
    }
    return cookie
  }

  /// Returns the number of unread bytes, including those that a peek does not show (FIONREAD).
  public static func readableCount(_ number: Int32) throws(SystemError) -> Int {
    var count: Int32 = 0
    try check("ioctl FIONREAD") { clinux_readable_count(number, &count) }
    return Int(count)
  }

  /// Receives exactly as many bytes as the buffer has, with their file descriptors
  /// (MSG_CMSG_CLOEXEC). The caller must have peeked all of the bytes. The descriptors of the next
  /// message stay in the kernel.
  ///
  /// - Throws: `descriptorsLost` or `short`, after which the stream is unusable.
  public static func receive(
    _ number: Int32, exactly buffer: UnsafeMutableRawBufferPointer,
    descriptors: inout DescriptorBag
  ) throws(ReceiveError) {
    var received = 0
    while received < buffer.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[received...])
      switch try receive(number, into: rest, descriptors: &descriptors) {
      case .bytes(let count): received += count
      case .wouldBlock, .closed: throw .short(received: received)
      }
    }
  }

  /// Receives exactly as many bytes as the buffer has. The caller has peeked all of them, and knows
  /// that no descriptors belong to them. Without a control buffer, the call costs much less.
  ///
  /// - Throws: `short`, after which the stream is unusable.
  public static func receive(
    _ number: Int32, exactly buffer: UnsafeMutableRawBufferPointer
  ) throws(ReceiveError) {
    var received = 0
    while received < buffer.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[received...])
      let result = attempt("recv") {
        recv(number, rest.baseAddress, rest.count, Int32(MSG_DONTWAIT))
      }
      switch try transferred(result) {
      case .bytes(let count): received += count
      case .wouldBlock, .closed: throw .short(received: received)
      }
    }
  }

  /// Receives bytes, at most as many as the buffer has, with their descriptors. Use this in a
  /// client, which need not stop at the end of a message.
  public static func receive(
    _ number: Int32, into buffer: UnsafeMutableRawBufferPointer,
    descriptors: inout DescriptorBag
  ) throws(ReceiveError) -> Transfer {
    try transferred(receiveOnce(number, into: buffer, descriptors: &descriptors))
  }

  private static func transferred(
    _ result: Result<Int, SystemError>
  ) throws(ReceiveError) -> Transfer {
    do throws(SystemError) {
      return try transfer(result)
    } catch {
      throw .system(error)
    }
  }

  /// Sends bytes until the socket is full (MSG_DONTWAIT, MSG_NOSIGNAL). The descriptors are
  /// attached to the first byte. If some bytes remain, send them later without descriptors. The
  /// descriptors stay open in this process.
  ///
  /// - Parameter bytes: At least one byte.
  /// - Parameter descriptors: At most `descriptorsMax`; more cause EINVAL.
  /// - Throws: ETOOMANYREFS if too many descriptors of this user are in flight.
  public static func send(
    _ number: Int32, _ bytes: UnsafeRawBufferPointer,
    descriptors: UnsafeBufferPointer<Int32> = UnsafeBufferPointer(start: nil, count: 0)
  ) throws(SystemError) -> Transfer {
    precondition(!bytes.isEmpty, "a stream cannot carry an empty message")
    let result = attempt("sendmsg") {
      clinux_send(
        number, bytes.baseAddress, bytes.count, descriptors.baseAddress, descriptors.count)
    }
    return try transfer(result)
  }

  /// Prepares a socket for closing: shuts down both directions and receives the unread bytes.
  /// Otherwise, close(2) would close the descriptors that belong to unread bytes, which can block.
  public static func abandon(_ number: Int32) {
    try? shutdown(number)
    guard let waiting = try? readableCount(number), waiting > 0 else { return }
    var descriptors = DescriptorBag(closesElsewhere: true)
    withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
      while case .bytes = try? receive(number, into: buffer, descriptors: &descriptors) {
        descriptors.removeAll()
      }
    }
  }

  private static func transfer(
    _ result: Result<Int, SystemError>
  ) throws(SystemError) -> Transfer {
    switch result {
    case .success(0): return .closed
    case .success(let count): return .bytes(count)
    case .failure(let error):
      switch error.errno {
      case EAGAIN: return .wouldBlock
      case EPIPE, ECONNRESET: return .closed
      default: throw error
      }
    }
  }

  private static func receiveOnce(
    _ number: Int32, into buffer: UnsafeMutableRawBufferPointer,
    descriptors: inout DescriptorBag
  ) throws(ReceiveError) -> Result<Int, SystemError> {
    var truncated: Int32 = 0
    var lost = false
    let result = withUnsafeTemporaryAllocation(of: Int32.self, capacity: descriptorsMax) { fds in
      var fdsCount = 0
      let result = attempt("recvmsg") {
        clinux_receive(
          number, buffer.baseAddress, buffer.count, fds.baseAddress, descriptorsMax, &fdsCount,
          &truncated)
      }
      if case .success = result, fdsCount > 0 {
        descriptors.append(taking: UnsafeBufferPointer(rebasing: fds[..<fdsCount]))
      }
      // The buffer has room for as many descriptors as a message can have. Otherwise the kernel
      // would close some, which can block. `messageMax` also applies to a message that arrives in
      // parts.
      lost = truncated != 0 || descriptors.count > descriptors.messageMax
      return result
    }
    if lost {
      descriptors.removeAll()
      throw .descriptorsLost
    }
    return result
  }
}
