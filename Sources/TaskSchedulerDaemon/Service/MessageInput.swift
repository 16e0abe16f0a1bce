import LinuxSystem
import TaskSchedulerWire

/// One buffer for all connections to look at what has arrived, and one for what is to be sent.
package final class ReadBuffer {
  /// More than the interfaces' messages need; longer ones are collected in memory.
  static let bytesCount = 1 << 16

  let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: bytesCount, alignment: 16)

  /// What is kept of a buffer for answers; a longer answer is rare.
  static let answerBytesMax = 1 << 12
  /// Empty; lent to the connection that writes an answer until that is sent.
  var answer: [UInt8] = []

  package init() {}

  deinit {
    bytes.deallocate()
  }
}

/// Shows whole messages on a socket, and takes them off it when that is asked.
///
/// It peeks first and receives exactly one message, so that a message's descriptors cannot be
/// taken for those of another, and one that nothing has come of yet stays in the kernel. What has
/// come of an unfinished message is collected here: left in the kernel, a message in many small
/// pieces would fill the socket and keep its own end from coming.
package struct MessageInput: ~Copyable {
  package enum Step {
    /// Without its NUL; valid until the next step. It, or the end of one that was collected, is in
    /// the socket still, until it is taken.
    case message(UnsafeRawBufferPointer)
    /// A part of one, that is to be taken now.
    case part(UnsafeRawBufferPointer)
    /// Nothing has arrived.
    case incomplete
    case closed
    /// The peer broke the protocol, or the connection is of no more use.
    case failed(any Error)
  }

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
  /// The bytes of the last step that are in the socket still, a message's NUL included.
  package private(set) var untakenCount = 0
  /// Whether descriptors ride on what was looked at last.
  package private(set) var hasDescriptors = false
  private var collected: [UInt8] = []
  /// How many of those were taken as parts of a message that is not off the socket yet.
  package private(set) var takenCount = 0

  package init() {}

  /// Goes on with what was collected of an unfinished message.
  package init(collected: [UInt8]) {
    self.collected = collected
    takenCount = collected.count
  }

  /// Whether the beginning of a message is here, and its end is not.
  package var isCollecting: Bool { takenCount > 0 }
  /// That beginning.
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

  /// The message of which this is the end.
  private mutating func whole(_ end: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    guard isCollecting else { return end }
    collected.append(contentsOf: end)
    // `collected` is not touched before the next step, which is what `message` promises.
    return collected.withUnsafeBytes { $0 }
  }

  /// Looks at the whole messages that are on the socket, one after the other, as long as it is told
  /// to go on, there are no descriptors, and none is being collected.
  ///
  /// - Returns: the bytes of those that it was told to go on after, and whether there may be more.
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

  /// Takes so many bytes of those off the socket.
  package mutating func drop(
    _ count: Int, _ socket: Int32, _ buffer: ReadBuffer
  ) throws(ReceiveError) {
    untakenCount = count
    _ = try receive(socket, buffer)
  }

  /// Takes the last message, or its end, off the socket, if it is there still.
  package mutating func take(_ socket: Int32, _ buffer: ReadBuffer) throws(ReceiveError) {
    guard untakenCount > 0 else { return }
    _ = try receive(socket, buffer)
    takenCount = 0
  }

  /// What the last step showed is needed no longer, but for the beginning of a message.
  package mutating func forgetMessage() {
    if !isCollecting { collected = [] }
  }

  /// Takes the part that the last step showed.
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
