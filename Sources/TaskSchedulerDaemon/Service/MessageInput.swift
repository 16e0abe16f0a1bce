import LinuxSystem
import TaskSchedulerWire

/// One buffer for all connections to look at what has arrived.
package final class ReadBuffer {
  /// More than the interfaces' messages need; longer ones are collected in memory.
  static let bytesCount = 1 << 16

  let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: bytesCount, alignment: 16)

  package init() {}

  deinit {
    bytes.deallocate()
  }
}

/// Shows whole messages on a socket, and takes them off it when that is asked.
///
/// It peeks first and receives exactly one message, so that a message's descriptors cannot be
/// taken for those of another, and an unfinished message, or one that nothing has come of yet,
/// stays in the kernel. Only where the kernel cannot show or hold more of it (descriptors end
/// a peek, many small writes fill the socket) is it collected here.
package struct MessageInput: ~Copyable {
  package enum Step {
    /// Without its NUL; valid until the next step. It is in the socket still, until it is taken.
    case message(UnsafeRawBufferPointer)
    /// A part of one, that is to be taken now.
    case part(UnsafeRawBufferPointer)
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
  package var descriptors = DescriptorBag(
    messageMax: descriptorsMax, closesElsewhere: true)
  /// The bytes that are kept here, of an unfinished message or the last one.
  var collectedCount: Int { collected.count }
  /// Whether more may have been there already when the last message was looked at: a peek ends at
  /// the buffer's end, and at descriptors.
  package private(set) var mayHaveMore = false
  /// The bytes of the last message that are in the socket still, its NUL included.
  package private(set) var untakenCount = 0
  /// Whether descriptors ride on what was looked at last.
  package private(set) var hasDescriptors = false
  package private(set) var collected: [UInt8] = []
  package private(set) var isCollecting = false
  private var partialCount = 0

  package init() {}

  /// Goes on with what was collected of an unfinished message.
  package init(collected: [UInt8]) {
    self.collected = collected
    isCollecting = !collected.isEmpty
  }

  /// Takes the last message off the socket, if it is there still.
  package mutating func take(_ socket: Int32, _ buffer: ReadBuffer) throws(ReceiveError) {
    guard untakenCount > 0 else { return }
    let message = UnsafeMutableRawBufferPointer(rebasing: buffer.bytes[..<untakenCount])
    untakenCount = 0
    try UnixSocket.receive(socket, exactly: message, descriptors: &descriptors)
  }

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
      if isCollecting { return part(bytes) }
      if let end = bytes[min(partialCount, peeked)...].firstIndex(of: 0) {
        partialCount = 0
        untakenCount = end + 1
        mayHaveMore = end + 1 < peeked || peeked == ReadBuffer.bytesCount || hasDescriptors
        return .message(UnsafeRawBufferPointer(rebasing: bytes[..<end]))
      }
      guard try isStuck(socket, peeked) else { return .incomplete }
      partialCount = 0
      isCollecting = true
      return part(bytes)
    } catch {
      return .failed(error)
    }
  }

  private mutating func part(_ peeked: UnsafeRawBufferPointer) -> Step {
    let count = peeked.firstIndex(of: 0).map { $0 + 1 } ?? peeked.count
    untakenCount = count
    return .part(UnsafeRawBufferPointer(rebasing: peeked[..<count]))
  }

  /// Takes the part that the last step showed; the message, without its NUL, where it is whole now.
  package mutating func takePart(
    _ socket: Int32, _ buffer: ReadBuffer
  ) throws -> UnsafeRawBufferPointer? {
    let part = UnsafeMutableRawBufferPointer(rebasing: buffer.bytes[..<untakenCount])
    untakenCount = 0
    try UnixSocket.receive(socket, exactly: part, descriptors: &descriptors)
    collected.append(contentsOf: part)
    guard collected.count <= MessageScanner.messageBytesMaxDefault else {
      throw ProtocolViolation.oversized(bytesMax: MessageScanner.messageBytesMaxDefault)
    }
    guard part.last == 0 else { return nil }
    mayHaveMore = true
    isCollecting = false
    // `collected` is not touched before the next step, which is what `message` promises.
    return collected.withUnsafeBytes { UnsafeRawBufferPointer(rebasing: $0.dropLast()) }
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
}
