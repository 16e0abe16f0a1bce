/// Finds the end of the first message in a growing byte stream. Examines each byte once.
///
/// Messages end with a NUL, which JSON text never contains. The daemon peeks at its socket and
/// reads a message only when it is complete; a client collects bytes in a `MessageBuffer`.
public struct MessageScanner: Hashable, Sendable {
  /// The default maximum length of a message, including its terminating NUL: 1 MiB, about five
  /// times the length of a report of 1024 audio streams.
  public static let messageBytesMaxDefault = 1 << 20

  /// The maximum length of a message, including its terminating NUL, in bytes.
  public let messageBytesMax: Int
  /// The number of examined bytes at the start of the message, none of which is a NUL.
  public private(set) var scannedCount = 0

  public init(messageBytesMax: Int = MessageScanner.messageBytesMaxDefault) {
    self.messageBytesMax = messageBytesMax
  }

  /// Returns the length of the first message, including its terminating NUL; nil if the message is
  /// incomplete.
  ///
  /// Until the function returns a length, each `stream` must start with the same message, because
  /// the scanner skips the bytes that it has examined. When the function has returned a length, the
  /// caller must remove the message from the stream before the next call.
  public mutating func scan(
    _ stream: UnsafeRawBufferPointer
  ) throws(ProtocolViolation) -> Int? {
    let end = min(stream.count, messageBytesMax)
    if scannedCount < end,
      let index = UnsafeRawBufferPointer(rebasing: stream[scannedCount..<end]).firstIndex(of: 0)
    {
      let length = scannedCount + index + 1
      scannedCount = 0
      return length
    }
    scannedCount = max(scannedCount, end)
    if scannedCount >= messageBytesMax { throw .oversized(bytesMax: messageBytesMax) }
    return nil
  }
}

/// The bytes that were read from a stream and not yet returned as messages.
public struct MessageBuffer: Hashable, Sendable {
  private var bytes: [UInt8] = []
  /// The offset of the first message that ``next()`` has not returned.
  private var start = 0
  private var scanner: MessageScanner

  public init(messageBytesMax: Int = MessageScanner.messageBytesMaxDefault) {
    scanner = MessageScanner(messageBytesMax: messageBytesMax)
  }

  /// The number of bytes in the buffer.
  public var count: Int { bytes.count - start }

  /// Appends bytes that were read.
  public mutating func append(_ read: UnsafeRawBufferPointer) {
    bytes.append(contentsOf: read)
  }

  /// Appends bytes that were read.
  public mutating func append(_ read: [UInt8]) {
    bytes.append(contentsOf: read)
  }

  /// Removes and returns the first message, without its terminating NUL; nil if the message is
  /// incomplete.
  public mutating func next() throws(ProtocolViolation) -> [UInt8]? {
    let start = start
    var scanner = scanner
    let length = try bytes.withUnsafeBytesTyped { (all) throws(ProtocolViolation) in
      try scanner.scan(UnsafeRawBufferPointer(rebasing: all[start...]))
    }
    self.scanner = scanner
    guard let length else {
      compact()
      return nil
    }
    self.start += length
    return Array(bytes[start..<start + length - 1])
  }

  /// Removes the returned messages from the buffer. ``next()`` does this when no complete message
  /// is left, rather than once for each message.
  private mutating func compact() {
    if start == 0 { return }
    bytes.removeSubrange(..<start)
    start = 0
  }
}
