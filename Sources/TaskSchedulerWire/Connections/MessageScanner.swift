/// Finds the end of the message at the head of a byte stream that grows, looking at each byte once.
///
/// Messages end in a NUL, which no JSON text holds. The daemon peeks at its socket and takes a
/// message out only when it is whole; a client collects bytes in a `MessageBuffer`.
public struct MessageScanner: Hashable, Sendable {
  /// The longest message, NUL included, unless told otherwise: 1 MiB, a thousand times what the
  /// interfaces need.
  public static let messageBytesMaxDefault = 1 << 20

  /// The longest message that is let through, its NUL included.
  public let messageBytesMax: Int
  /// Bytes from the start of the message that are known to hold no NUL.
  public private(set) var scannedCount = 0

  public init(messageBytesMax: Int = MessageScanner.messageBytesMaxDefault) {
    self.messageBytesMax = messageBytesMax
  }

  /// The length of the first message, its NUL included; nil if it is not whole yet.
  ///
  /// `stream` starts where the message starts, at every call; the scanner skips what it has seen.
  /// After it has returned a length it is at the start of the next message: those bytes must be
  /// taken from the stream before the next call.
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

/// The bytes that have been read from a stream and not yet been taken as messages.
public struct MessageBuffer: Hashable, Sendable {
  private var bytes: [UInt8] = []
  /// Where the first message that has not been taken starts.
  private var start = 0
  private var scanner: MessageScanner

  public init(messageBytesMax: Int = MessageScanner.messageBytesMaxDefault) {
    scanner = MessageScanner(messageBytesMax: messageBytesMax)
  }

  /// Bytes that are held.
  public var count: Int { bytes.count - start }

  /// Adds what has been read.
  public mutating func append(_ read: UnsafeRawBufferPointer) {
    bytes.append(contentsOf: read)
  }

  /// Adds what has been read.
  public mutating func append(_ read: [UInt8]) {
    bytes.append(contentsOf: read)
  }

  /// Takes the first message, without its NUL; nil if it is not whole yet.
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

  /// Forgets what has been taken, once per exhausted read rather than once per message.
  private mutating func compact() {
    if start == 0 { return }
    bytes.removeSubrange(..<start)
    start = 0
  }
}
