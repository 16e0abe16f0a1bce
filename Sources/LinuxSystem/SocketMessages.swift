import CLinux
import Glibc

/// Why a message that was peeked could not be received.
public enum ReceiveError: Error, Hashable, Sendable, CustomStringConvertible {
  case system(SystemError)
  /// File descriptors of the message were lost: too many, or our own table is full. All that
  /// arrived were closed.
  case descriptorsLost
  /// The peer closed, or the bytes were not there, after this many.
  case short(received: Int)

  public var description: String {
    switch self {
    case .system(let error): error.description
    case .descriptorsLost: "recvmsg: file descriptors of the message were lost (MSG_CTRUNC)"
    case .short(let received): "recvmsg: only \(received) of the peeked bytes were there"
    }
  }
}

/// What a look at, or a write to, a non-blocking socket gave.
public enum Transfer: Hashable, Sendable {
  /// At least one byte.
  case bytes(Int)
  /// Nothing now: wait for readiness.
  case wouldBlock
  /// The peer closed (or reset) its end.
  case closed
}

/// The hot path. Nothing here allocates, but for file descriptors that arrive.
extension UnixSocket {
  /// The most file descriptors that one message carries: SCM_MAX_FD of the kernel.
  public static let descriptorsMax = Int(CLINUX_FDS_MAX)

  /// SO_PEEK_OFF: where the next `peek` begins, so many bytes behind the next to be taken. Each
  /// `peek` moves that mark on by what it saw, and each `receive` back by what it took: so it also
  /// tells whoever gets the socket later how much of something was taken.
  ///
  /// - Parameter offset: nil is no mark: each peek begins with the next byte to be taken.
  public static func setPeekMark(_ number: Int32, _ offset: Int?) throws(SystemError) {
    var offset = offset.map { Int32(clamping: $0) } ?? -1
    try check("setsockopt SO_PEEK_OFF") {
      setsockopt(
        number, SOL_SOCKET, Int32(CLINUX_SO_PEEK_OFF), &offset,
        socklen_t(MemoryLayout<Int32>.size))
    }
  }

  /// Where that mark is; nil where there is none.
  public static func peekMark(_ number: Int32) throws(SystemError) -> Int? {
    var offset: Int32 = -1
    var length = socklen_t(MemoryLayout<Int32>.size)
    try check("getsockopt SO_PEEK_OFF") {
      getsockopt(number, SOL_SOCKET, Int32(CLINUX_SO_PEEK_OFF), &offset, &length)
    }
    return offset < 0 ? nil : Int(offset)
  }

  /// Looks at what is there without taking it (MSG_PEEK, MSG_DONTWAIT, no control buffer: file
  /// descriptors stay in the kernel with their bytes). One recv(2): there may be more.
  ///
  /// `.closed` at the end of the stream, also where unread bytes were peeked before.
  public static func peek(
    _ number: Int32, into buffer: UnsafeMutableRawBufferPointer
  ) throws(SystemError) -> Transfer {
    let flags = Int32(MSG_PEEK | MSG_DONTWAIT)
    let result = attempt("recv") { recv(number, buffer.baseAddress, buffer.count, flags) }
    return try transfer(result)
  }

  /// The same, and whether file descriptors ride on what was looked at, or on the byte after it.
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

  /// Where the first byte is that is 0, with which a message ends; nil where there is none.
  public static func firstZero(in bytes: UnsafeRawBufferPointer) -> Int? {
    guard let start = bytes.baseAddress, let end = memchr(start, 0, bytes.count) else { return nil }
    return UnsafeRawPointer(end) - start
  }

  /// SO_COOKIE: a number that no other socket has had since the machine was started.
  public static func cookie(_ number: Int32) throws(SystemError) -> UInt64 {
    var cookie: UInt64 = 0
    var length = socklen_t(MemoryLayout<UInt64>.size)
    try check("getsockopt SO_COOKIE") {
      getsockopt(number, SOL_SOCKET, Int32(CLINUX_SO_COOKIE), &cookie, &length)
    }
    return cookie
  }

  /// The bytes that wait to be read, also those that a peek does not show (FIONREAD).
  public static func readableCount(_ number: Int32) throws(SystemError) -> Int {
    var count: Int32 = 0
    try check("ioctl FIONREAD") { clinux_readable_count(number, &count) }
    return Int(count)
  }

  /// Takes exactly as many bytes as the buffer has, all of which were peeked, with the file
  /// descriptors that ride on them (MSG_CMSG_CLOEXEC). Those of the next message stay with it.
  ///
  /// - Throws: `descriptorsLost` and `short` leave a stream that cannot be used any further.
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

  /// Takes exactly as many bytes as the buffer has, all of which were peeked, where no file
  /// descriptors ride on them: a control buffer would cost more than the bytes.
  ///
  /// - Throws: `short` leaves a stream that cannot be used any further.
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

  /// Takes what is there, at most as much as the buffer has, with the file descriptors that ride
  /// on it: for a client that does not mind where a message ends.
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

  /// Sends what fits (MSG_DONTWAIT, MSG_NOSIGNAL). The file descriptors ride on the first byte:
  /// after a partial send, send the rest without them. They stay open here.
  ///
  /// - Parameter bytes: at least one.
  /// - Parameter descriptors: at most `descriptorsMax`; more is EINVAL.
  /// - Throws: ETOOMANYREFS where too many of our file descriptors are in flight.
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

  /// Before a socket is closed: ends both directions and takes what nobody will read. Descriptors
  /// in it would be closed with the socket, and we would wait for them.
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
      // Room was for all: what there is no room for the kernel closes, and we would wait for it. A
      // message that is taken in parts brings no more than one that is taken at once.
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
