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
    /// Nothing has arrived, or `isPartial` of a message.
    case incomplete(isPartial: Bool)
    case closed
    /// The peer broke the protocol, or the connection is of no more use.
    case failed(any Error)
  }

  /// From how many bytes on an unfinished message is taken out of the kernel.
  private static let partialBytesMax = 1 << 14
  /// After how many looks at the same unfinished message it is.
  private static let partialLooksMax = 64
  /// After how many looks that found nothing new it is: one comes from the change to waiting for
  /// changes, the next from bytes that a peek cannot show.
  private static let stallsMax = 2

  /// What came with the last message and is not claimed yet.
  var descriptors = DescriptorBag()
  /// Whether bytes after the last message have been seen already.
  private(set) var hasSeenMore = false
  private var collected: [UInt8] = []
  private var isCollecting = false
  private var partialCount = 0
  private var looks = 0
  private var stalls = 0

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
        case .wouldBlock: return .incomplete(isPartial: false)
        case .closed: return .closed
        }
        let bytes = UnsafeMutableRawBufferPointer(rebasing: buffer.bytes[..<peeked])
        if isCollecting {
          if let message = try collect(socket, bytes) { return .message(message) }
        } else if let end = bytes[min(partialCount, peeked)...].firstIndex(of: 0) {
          resetPartial()
          hasSeenMore = end + 1 < peeked
          let whole = UnsafeMutableRawBufferPointer(rebasing: bytes[...end])
          try UnixSocket.receive(socket, exactly: whole, descriptors: &descriptors)
          return .message(UnsafeRawBufferPointer(rebasing: whole[..<end]))
        } else if isStuck(peeked) {
          resetPartial()
          isCollecting = true
        } else {
          return .incomplete(isPartial: true)
        }
      }
    } catch {
      return .failed(error)
    }
  }

  private mutating func isStuck(_ peeked: Int) -> Bool {
    looks += 1
    if peeked <= partialCount { stalls += 1 }
    partialCount = min(peeked, ReadBuffer.bytesCount)
    return peeked >= Self.partialBytesMax || looks >= Self.partialLooksMax
      || stalls >= Self.stallsMax
  }

  private mutating func resetPartial() {
    partialCount = 0
    looks = 0
    stalls = 0
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
    hasSeenMore = count < peeked.count
    isCollecting = false
    // `collected` is not touched before the next step, which is what `message` promises.
    return collected.withUnsafeBytes { UnsafeRawBufferPointer(rebasing: $0.dropLast()) }
  }
}
