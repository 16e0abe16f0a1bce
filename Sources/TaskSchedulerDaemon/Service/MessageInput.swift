import LinuxSystem
import TaskSchedulerWire

/// The buffers that all connections share: one for received data, one for answers.
package final class ReadBuffer {
  /// The size of the buffer for received data. All messages of the interfaces fit; longer messages
  /// are collected in memory.
  static let bytesCount = 1 << 16

  let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: bytesCount, alignment: 16)

  /// The maximum capacity that the buffer for answers keeps. The memory of a longer answer, which
  /// is rare, is freed.
  static let answerBytesMax = 1 << 12
  /// The empty buffer for answers. A connection borrows it until the answer is sent.
  var answer: [UInt8] = []

  package init() {}

  deinit {
    bytes.deallocate()
  }
}

/// A reader that finds whole messages in a socket, and receives them on request.
///
/// The daemon peeks first, and then receives exactly one message. The descriptors of a message are
/// thus never mistaken for those of another message. A message stays in the kernel until it has an
/// effect. Only the parts of an unfinished message are collected here. If they stayed in the
/// kernel, a message in many small pieces would fill the socket before its end arrives.
package struct MessageInput: ~Copyable {
  package enum Step {
    /// A whole message without its NUL, valid until the next step. The message, or the end of a
    /// collected message, stays in the socket until it is received.
    case message(UnsafeRawBufferPointer)
    /// A part of a message, which must be received now.
    case part(UnsafeRawBufferPointer)
    /// Nothing has arrived.
    case incomplete
    case closed
    /// The client violated the protocol, or the connection failed.
    case failed(any Error)
  }

  /// The maximum number of descriptors with one message. A call needs at most one. The descriptors
  /// of unfinished messages must not fill the daemon's descriptor table.
  private static let descriptorsMax = 8

  /// The unclaimed descriptors of the last message.
  package var descriptors = DescriptorBag(
    messageMax: descriptorsMax, closesElsewhere: true)
  /// The number of collected bytes of an unfinished message, or of the last message.
  var collectedCount: Int { collected.count }
  /// Whether the socket may contain data after the last message. The daemon cannot always see this
  /// data, because a peek ends at the buffer's end and at descriptors.
  package private(set) var mayHaveMore = false
  /// Whether descriptors are attached to the data of the last peek.
  package private(set) var hasDescriptors = false
  /// The number of bytes of the last step that are still in the socket, including a message's NUL.
  package private(set) var untakenCount = 0
  private var collected: [UInt8] = []
  /// The number of bytes received so far from a message whose end the daemon has not received.
  package private(set) var takenCount = 0

  package init() {}

  /// Creates an input that continues with the collected bytes of an unfinished message.
  package init(collected: [UInt8]) {
    self.collected = collected
    takenCount = collected.count
  }

  /// Whether the beginning of a message was collected, but not its end.
  package var isCollecting: Bool { takenCount > 0 }
  /// The collected beginning of a message.
  package var taken: ArraySlice<UInt8> { collected[..<takenCount] }

  package mutating func next(_ socket: Int32, _ buffer: ReadBuffer) -> Step {
    if !isCollecting {
      descriptors.removeAll()
      if !collected.isEmpty { collected = [] }
    }
    do {
      let peeked: Int
      switch try UnixSocket.peek(socket, into: buffer.bytes, hasDescriptors: &hasDescriptors) {
      case .bytes(let count): peeked = count
      case .wouldBlock: return .incomplete
      case .closed: return .closed
      }
      let bytes = UnsafeRawBufferPointer(rebasing: buffer.bytes[..<peeked])
      let end = UnixSocket.firstZero(in: bytes)
      untakenCount = end.map { $0 + 1 } ?? peeked
      guard takenCount + untakenCount <= MessageScanner.messageBytesMaxDefault else {
        throw ProtocolViolation.oversized(bytesMax: MessageScanner.messageBytesMaxDefault)
      }
      guard let end else { return .part(bytes) }
      mayHaveMore = end + 1 < peeked || peeked == ReadBuffer.bytesCount || hasDescriptors
      return .message(whole(UnsafeRawBufferPointer(rebasing: bytes[..<end])))
    } catch {
      return .failed(error)
    }
  }

  /// Returns the message that ends with these bytes.
  private mutating func whole(_ end: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    guard isCollecting else { return end }
    collected.append(contentsOf: end)
    // `collected` does not change before the next step, so the pointer stays valid.
    return collected.withUnsafeBytes { $0 }
  }

  /// Passes the whole messages in the socket to a closure, in order. Stops when the closure returns
  /// false, and at descriptors. The caller must not call this function while a message is being
  /// collected.
  ///
  /// - Returns: The number of bytes of the messages for which the closure returned true, and
  ///   whether there may be more.
  package mutating func wholeMessages(
    _ socket: Int32, _ buffer: ReadBuffer, goOn: (UnsafeRawBufferPointer) -> Bool
  ) -> (bytes: Int, mayHaveMore: Bool) {
    precondition(!isCollecting, "a message is being collected")
    guard
      case .bytes(let count)? = try? UnixSocket.peek(
        socket, into: buffer.bytes, hasDescriptors: &hasDescriptors),
      !hasDescriptors
    else { return (0, false) }
    var rest = UnsafeRawBufferPointer(rebasing: buffer.bytes[..<count])
    while let end = UnixSocket.firstZero(in: rest),
      goOn(UnsafeRawBufferPointer(rebasing: rest[..<end]))
    {
      rest = UnsafeRawBufferPointer(rebasing: rest[(end + 1)...])
    }
    return (count - rest.count, count == ReadBuffer.bytesCount)
  }

  /// Receives and discards some of the messages that `wholeMessages` has found.
  package mutating func drop(
    _ count: Int, _ socket: Int32, _ buffer: ReadBuffer
  ) throws(ReceiveError) {
    untakenCount = count
    _ = try receive(socket, buffer)
  }

  /// Receives the part of the last message that is still in the socket.
  package mutating func take(_ socket: Int32, _ buffer: ReadBuffer) throws(ReceiveError) {
    guard untakenCount > 0 else { return }
    _ = try receive(socket, buffer)
    takenCount = 0
  }

  /// Discards the last message, but keeps the collected beginning of an unfinished message.
  package mutating func forgetMessage() {
    if !isCollecting { collected = [] }
  }

  /// Receives from the socket the part that the last step returned.
  package mutating func takePart(_ socket: Int32, _ buffer: ReadBuffer) throws(ReceiveError) {
    collected.append(contentsOf: try receive(socket, buffer))
    takenCount = collected.count
  }

  private mutating func receive(
    _ socket: Int32, _ buffer: ReadBuffer
  ) throws(ReceiveError) -> UnsafeMutableRawBufferPointer {
    let bytes = UnsafeMutableRawBufferPointer(rebasing: buffer.bytes[..<untakenCount])
    untakenCount = 0
    if hasDescriptors {
      try UnixSocket.receive(socket, exactly: bytes, descriptors: &descriptors)
    } else {
      try UnixSocket.receive(socket, exactly: bytes)
    }
    return bytes
  }
}
