import LinuxSystem
import TaskSchedulerWire

/// One buffer for all connections to look at what has arrived.
final class ReadBuffer {
  /// More than the interfaces' messages need; longer ones are collected in memory.
  static let bytesCount = 1 << 16

  let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: bytesCount, alignment: 16)

  deinit {
    bytes.deallocate()
  }
}

/// Takes whole messages off a socket.
///
/// It peeks first and receives exactly one message, so that a message's descriptors cannot be
/// taken for those of another, and an unfinished message stays in the kernel. Only where the kernel
/// cannot show or hold more of it (descriptors end a peek, many small writes fill the socket)
/// is it collected here.
struct MessageInput: ~Copyable {
  enum Step {
    /// Without its NUL; valid until the next step.
    case message(UnsafeRawBufferPointer)
    /// Nothing has arrived, or a part of a message.
    case incomplete
    case closed
    /// The peer broke the protocol, or the connection is of no more use.
    case failed(any Error)
  }

  /// From how many bytes on an unfinished message is taken out of the kernel. Written byte by byte,
  /// as many as these fill about half of a socket; a full one would keep its end from coming.
  private static let partialBytesMax = 128

  /// The most descriptors that one message may bring: a call needs one. What a client may make us
  /// keep while its message is unfinished must not fill our table.
  private static let descriptorsMax = 8

  /// What came with the last message and is not claimed yet.
  var descriptors = DescriptorBag(messageMax: descriptorsMax)
  /// The bytes that are kept here, of an unfinished message or the last one.
  var collectedCount: Int { collected.count }
  /// Whether more may have been there already when the last message was looked at: a peek ends at
  /// the buffer's end, and at descriptors.
  private(set) var mayHaveMore = false
  private var collected: [UInt8] = []
  private var isCollecting = false
  private var partialCount = 0

  mutating func next(_ socket: Int32, _ buffer: ReadBuffer) -> Step {
    if !isCollecting {
      descriptors.removeAll()
      if !collected.isEmpty { collected = [] }
    }
    do {
      while true {
        let peeked: Int
        switch try UnixSocket.peek(socket, into: buffer.bytes) {
        case .bytes(let count): peeked = count
        case .wouldBlock: return .incomplete
        case .closed: return .closed
        }
        let bytes = UnsafeMutableRawBufferPointer(rebasing: buffer.bytes[..<peeked])
        if isCollecting {
          if let message = try collect(socket, bytes) { return .message(message) }
        } else if let end = bytes[min(partialCount, peeked)...].firstIndex(of: 0) {
          partialCount = 0
          let whole = UnsafeMutableRawBufferPointer(rebasing: bytes[...end])
          try UnixSocket.receive(socket, exactly: whole, descriptors: &descriptors)
          mayHaveMore =
            end + 1 < peeked || peeked == ReadBuffer.bytesCount || descriptors.count > 0
          return .message(UnsafeRawBufferPointer(rebasing: whole[..<end]))
        } else if try isStuck(socket, peeked) {
          partialCount = 0
          isCollecting = true
        } else {
          return .incomplete
        }
      }
    } catch {
      return .failed(error)
    }
  }

  /// Whether an unfinished message is to be taken out of the kernel.
  ///
  /// Each look comes from a change: one that shows nothing new came from the end of the stream.
  private mutating func isStuck(_ socket: Int32, _ peeked: Int) throws(SystemError) -> Bool {
    let hasGrown = peeked > partialCount
    partialCount = peeked
    if !hasGrown || peeked >= Self.partialBytesMax { return true }
    return try UnixSocket.readableCount(socket) > peeked
  }

  /// Takes what was peeked, up to the end of the message; that message, where it is whole now.
  private mutating func collect(
    _ socket: Int32, _ peeked: UnsafeMutableRawBufferPointer
  ) throws -> UnsafeRawBufferPointer? {
    let end = peeked.firstIndex(of: 0)
    let count = end.map { $0 + 1 } ?? peeked.count
    let part = UnsafeMutableRawBufferPointer(rebasing: peeked[..<count])
    try UnixSocket.receive(socket, exactly: part, descriptors: &descriptors)
    collected.append(contentsOf: part)
    guard collected.count <= MessageScanner.messageBytesMaxDefault else {
      throw ProtocolViolation.oversized(bytesMax: MessageScanner.messageBytesMaxDefault)
    }
    guard end != nil else { return nil }
    mayHaveMore = true
    isCollecting = false
    // `collected` is not touched before the next step, which is what `message` promises.
    return collected.withUnsafeBytes { UnsafeRawBufferPointer(rebasing: $0.dropLast()) }
  }
}
