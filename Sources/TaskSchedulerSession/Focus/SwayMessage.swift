import TaskSchedulerWire

// The messages of sway's IPC (sway-ipc(7)), without I/O. A message consists of "i3-ipc", the
// payload's length and the type, and the payload, which is JSON text. The length and the type are
// 32-bit numbers in the machine's byte order.

/// The types of sway's messages that the agent uses, as sway-ipc(7) numbers them.
package enum SwayMessageType: UInt32, Sendable {
  case subscribe = 2
  case getTree = 4
  case workspaceEvent = 0x8000_0000
  case windowEvent = 0x8000_0003
  case shutdownEvent = 0x8000_0006
}

/// A message that sway sent.
package struct SwayMessage: Hashable, Sendable {
  package var type: SwayMessageType
  package var payload: JSONValue

  package init(type: SwayMessageType, payload: JSONValue) {
    self.type = type
    self.payload = payload
  }

  /// The kind of change that an event reports: `focus`, `close` and so on.
  var change: String? {
    guard case .string(let change)? = payload["change"] else { return nil }
    return change
  }
}

/// A violation of sway's protocol, after which the connection is unusable.
package enum SwayViolation: Error, Hashable, Sendable, CustomStringConvertible {
  case badMagic
  case oversized(bytes: Int)
  case unknownType(UInt32)
  case badJSON(type: SwayMessageType, JSONError)
  /// sway sent a reply without a request.
  case unexpectedReply(SwayMessageType)
  case subscriptionRefused
  case eventWithoutChange(SwayMessageType)
  /// A field of the tree of windows is missing or has the wrong type.
  case badTree(SwayTreeError)
  /// sway does not read what the agent sends.
  case notReading

  package var description: String {
    switch self {
    case .badMagic: "a message does not begin with \"i3-ipc\""
    case .oversized(let bytes):
      "a message has \(bytes) bytes; the maximum is \(SwayMessageBuffer.payloadBytesMax)"
    case .unknownType(let type): "a message has the unknown type \(type)"
    case .badJSON(let type, let error): "a message of type \(type.rawValue) is malformed: \(error)"
    case .unexpectedReply(let type): "a reply of type \(type.rawValue) answers no request"
    case .subscriptionRefused: "the compositor refused the subscription to events"
    case .eventWithoutChange(let type): "an event of type \(type.rawValue) names no change"
    case .badTree(let error): "the tree of windows is malformed: \(error)"
    case .notReading: "the compositor does not read requests"
    }
  }
}

/// A buffer that splits the stream of bytes from sway into messages.
package struct SwayMessageBuffer: Sendable {
  /// The maximum length of a message's payload in bytes. In a tree, a window takes about 1,500
  /// bytes.
  package static let payloadBytesMax = 16 << 20

  /// The bytes with which every message begins.
  private static let magic = Array("i3-ipc".utf8)
  private static let headerCount = magic.count + 8

  private var bytes: [UInt8] = []
  /// The offset of the first byte after the messages that ``next()`` has returned.
  private var start = 0

  package init() {}

  /// The number of bytes after the messages that ``next()`` has returned.
  package var count: Int { bytes.count - start }

  package mutating func append(_ more: UnsafeRawBufferPointer) {
    // This moves only the incomplete message at the end of the buffer, once for each read.
    if start > 0 {
      bytes.removeFirst(start)
      start = 0
    }
    bytes.append(contentsOf: more)
  }

  /// Returns the next message; nil until more bytes arrive. After an error, the stream is unusable.
  package mutating func next() throws(SwayViolation) -> SwayMessage? {
    guard let (type, payload) = try nextFrame() else { return nil }
    guard let type = SwayMessageType(rawValue: type) else { throw .unknownType(type) }
    do throws(JSONError) {
      return SwayMessage(type: type, payload: try JSONParser.parse(Array(bytes[payload])))
    } catch {
      throw .badJSON(type: type, error)
    }
  }

  /// Returns the type of the next message and the place of its payload in the buffer.
  private mutating func nextFrame() throws(SwayViolation) -> (UInt32, Range<Int>)? {
    let header = bytes[start...].prefix(Self.headerCount)
    guard header.prefix(Self.magic.count).elementsEqual(Self.magic.prefix(header.count)) else {
      throw .badMagic
    }
    guard header.count == Self.headerCount else { return nil }
    func number(_ offset: Int) -> UInt32 {
      bytes.withUnsafeBytes {
        $0.loadUnaligned(fromByteOffset: start + Self.magic.count + offset, as: UInt32.self)
      }
    }
    let length = Int(number(0))
    guard length <= Self.payloadBytesMax else { throw .oversized(bytes: length) }
    let type = number(4)
    let payloadStart = start + Self.headerCount
    guard bytes.count >= payloadStart + length else { return nil }
    start = payloadStart + length
    return (type, payloadStart..<start)
  }

  /// Returns the bytes of a request to sway.
  package static func request(_ type: SwayMessageType, _ payload: String = "") -> [UInt8] {
    var message = magic
    withUnsafeBytes(of: UInt32(payload.utf8.count)) { message.append(contentsOf: $0) }
    withUnsafeBytes(of: type.rawValue) { message.append(contentsOf: $0) }
    message.append(contentsOf: payload.utf8)
    return message
  }
}
