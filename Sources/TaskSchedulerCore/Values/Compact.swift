/// What the state has thousands of, as plain bytes: a new daemon reads all of it before it serves,
/// and `Codable` takes two to four times as long.
///
/// Numbers are varints (LEB128; those with a sign zigzag), texts and lists begin with their count,
/// what may be missing with whether it is there. Nothing says what comes next, so a change of any
/// of it needs a new ``CompactBytes/form`` and a reader of the old one. What a version adds had
/// better stand beside it, as ``InstanceDetails`` do.
package protocol Compact {
  init(from reader: inout CompactReader) throws(MalformedBytes)
  func write(to writer: inout CompactWriter)
}

/// Bytes that are not what was written.
package struct MalformedBytes: Error {
  package let problem: String

  package init(_ problem: String) {
    self.problem = problem
  }

  package var asDecodingError: DecodingError {
    .dataCorrupted(.init(codingPath: [], debugDescription: problem))
  }
}

/// A list of ``Compact`` values, as a `Codable` value. Encoders that know plain bytes write them as
/// they are, others as a text of hexadecimal digits.
package struct CompactBytes: Codable {
  /// The first byte of all: what follows, and how.
  private static let form: UInt8 = 2

  private let bytes: [UInt8]

  package init(_ values: [some Compact]) {
    var writer = CompactWriter()
    writer.write(byte: Self.form)
    values.write(to: &writer)
    bytes = writer.bytes
  }

  package func encode(to encoder: any Encoder) throws {
    if let encoder = encoder as? any PlainBytesEncoder { return encoder.append(plain: bytes) }
    let digits = bytes.flatMap { [$0 >> 4, $0 & 15] }.map { String($0, radix: 16) }
    try digits.joined().encode(to: encoder)
  }

  package init(from decoder: any Decoder) throws {
    if let decoder = decoder as? any PlainBytesDecoder {
      bytes = Array(try decoder.plainBytes())
      return
    }
    let digits = Array(try String(from: decoder).utf8)
    bytes = try stride(from: 0, to: digits.count, by: 2).map { place in
      let pair = String(decoding: digits[place..<min(place + 2, digits.count)], as: UTF8.self)
      guard pair.utf8.count == 2, let byte = UInt8(pair, radix: 16) else {
        throw MalformedBytes("\(pair) are no two digits").asDecodingError
      }
      return byte
    }
  }

  /// Hands out each value, and how many are left with it. No list of them is made: there are
  /// thousands, and some are large.
  package func forEach<Value: Compact>(
    _ take: (consuming Value, _ left: Int) throws(MalformedBytes) -> Void
  ) throws {
    try bytes.withUnsafeBytes { bytes in
      var reader = CompactReader(bytes)
      do throws(MalformedBytes) {
        let form = try reader.readByte()
        guard form == Self.form else { throw MalformedBytes("plain bytes are of form \(form)") }
        for left in (0..<(try reader.readCount())).reversed() {
          try take(try reader.read(), left + 1)
        }
        guard reader.isAtEnd else { throw MalformedBytes("bytes follow the last value") }
      } catch {
        throw error.asDecodingError
      }
    }
  }

}

extension KeyedDecodingContainer {
  /// What was written as ``CompactBytes``, or by an earlier version as a list; handed out as
  /// ``CompactBytes/forEach(_:)`` does.
  func forEach<Value: Compact & Decodable>(
    in key: Key, _ take: (consuming Value, _ left: Int) throws(MalformedBytes) -> Void
  ) throws {
    guard (try? nestedUnkeyedContainer(forKey: key)) != nil else {
      return try decode(CompactBytes.self, forKey: key).forEach(take)
    }
    let list = try decode([Value].self, forKey: key)
    do throws(MalformedBytes) {
      for (index, value) in list.enumerated() { try take(value, list.count - index) }
    } catch {
      throw error.asDecodingError
    }
  }
}

/// An encoder that writes bytes as they are.
package protocol PlainBytesEncoder: Encoder {
  /// Writes them as the value that is being encoded.
  func append(plain bytes: [UInt8])
}

/// A decoder of what such an encoder wrote.
package protocol PlainBytesDecoder: Decoder {
  /// Valid for as long as what is decoded.
  func plainBytes() throws -> UnsafeRawBufferPointer
}

/// Puts values one behind the other.
package struct CompactWriter {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  package mutating func write(byte: UInt8) { bytes.append(byte) }

  package mutating func write(number: UInt64) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  package mutating func write(bytes content: some Collection<UInt8>) {
    write(number: UInt64(content.count))
    bytes.append(contentsOf: content)
  }

  package mutating func write(text: String) {
    var text = text
    text.withUTF8 { write(bytes: $0) }
  }
}

/// Takes values from bytes that may be anything.
package struct CompactReader {
  private let bytes: UnsafeRawBufferPointer
  private var place = 0

  package init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
  }

  package var isAtEnd: Bool { place == bytes.count }

  package mutating func readByte() throws(MalformedBytes) -> UInt8 {
    guard place < bytes.count else { throw MalformedBytes("it ends early, at byte \(place)") }
    defer { place += 1 }
    return bytes[place]
  }

  package mutating func readNumber() throws(MalformedBytes) -> UInt64 {
    var number: UInt64 = 0
    var shift: UInt64 = 0
    while true {
      let byte = try readByte()
      let bits = UInt64(byte & 0x7F)
      guard shift < 63 || (shift == 63 && bits <= 1) else {
        throw MalformedBytes("a number is too large, before byte \(place)")
      }
      number |= bits << shift
      if byte < 0x80 { return number }
      shift += 7
    }
  }

  /// A count of bytes, or of values, each of which takes one at least: no more than there are.
  package mutating func readCount() throws(MalformedBytes) -> Int {
    let number = try readNumber()
    guard number <= UInt64(bytes.count - place) else {
      throw MalformedBytes("\(number) bytes or values are missing, at byte \(place)")
    }
    return Int(number)
  }

  package mutating func readBytes() throws(MalformedBytes) -> UnsafeRawBufferPointer {
    let count = try readCount()
    defer { place += count }
    return UnsafeRawBufferPointer(rebasing: bytes[place..<place + count])
  }

  package mutating func readText() throws(MalformedBytes) -> String {
    guard let text = String(validating: try readBytes(), as: UTF8.self) else {
      throw MalformedBytes("a text is not UTF-8, before byte \(place)")
    }
    return text
  }

  package mutating func read<Value: Compact>() throws(MalformedBytes) -> Value {
    try Value(from: &self)
  }
}

// MARK: Values

extension Compact where Self: FixedWidthInteger & UnsignedInteger {
  package init(from reader: inout CompactReader) throws(MalformedBytes) {
    guard let number = Self(exactly: try reader.readNumber()) else {
      throw MalformedBytes("a number is no \(Self.self)")
    }
    self = number
  }

  package func write(to writer: inout CompactWriter) { writer.write(number: UInt64(self)) }
}

extension Compact where Self: FixedWidthInteger & SignedInteger {
  package init(from reader: inout CompactReader) throws(MalformedBytes) {
    let number = try reader.readNumber()
    let half = Int64(bitPattern: number >> 1)
    guard let value = Self(exactly: number & 1 == 0 ? half : -1 - half) else {
      throw MalformedBytes("a number is no \(Self.self)")
    }
    self = value
  }

  package func write(to writer: inout CompactWriter) {
    let value = Int64(self)
    writer.write(number: UInt64(bitPattern: value << 1 ^ value >> 63))
  }
}

extension UInt64: Compact {}
extension UInt32: Compact {}
extension Int64: Compact {}
extension Int32: Compact {}
extension Int: Compact {}

extension Bool: Compact {
  package init(from reader: inout CompactReader) throws(MalformedBytes) {
    switch try reader.readByte() {
    case 0: self = false
    case 1: self = true
    case let byte: throw MalformedBytes("\(byte) is neither yes nor no")
    }
  }

  package func write(to writer: inout CompactWriter) { writer.write(byte: self ? 1 : 0) }
}

extension String: Compact {
  package init(from reader: inout CompactReader) throws(MalformedBytes) {
    self = try reader.readText()
  }

  package func write(to writer: inout CompactWriter) { writer.write(text: self) }
}

extension Optional: Compact where Wrapped: Compact {
  package init(from reader: inout CompactReader) throws(MalformedBytes) {
    self = try Bool(from: &reader) ? Wrapped(from: &reader) : nil
  }

  package func write(to writer: inout CompactWriter) {
    (self != nil).write(to: &writer)
    self?.write(to: &writer)
  }
}

extension Array: Compact where Element: Compact {
  package init(from reader: inout CompactReader) throws(MalformedBytes) {
    self = []
    for _ in 0..<(try reader.readCount()) { append(try Element(from: &reader)) }
  }

  package func write(to writer: inout CompactWriter) {
    writer.write(number: UInt64(count))
    for element in self { element.write(to: &writer) }
  }
}

/// Written by their names.
extension Compact where Self: RawRepresentable<String> {
  package init(from reader: inout CompactReader) throws(MalformedBytes) {
    let name = try reader.readText()
    guard let value = Self(rawValue: name) else {
      throw MalformedBytes("no \(Self.self) is \(name)")
    }
    self = value
  }

  package func write(to writer: inout CompactWriter) { writer.write(text: rawValue) }
}

extension Compact where Self: NumberedID {
  package init(from reader: inout CompactReader) throws(MalformedBytes) {
    self.init(try reader.readNumber())
  }

  package func write(to writer: inout CompactWriter) { writer.write(number: number) }
}

/// Nanoseconds, as the kernel counts the time that was used.
extension Duration: Compact {
  package init(from reader: inout CompactReader) throws(MalformedBytes) {
    self = .nanoseconds(try reader.read() as Int64)
  }

  package func write(to writer: inout CompactWriter) {
    Int64(clamping: attoseconds / 1_000_000_000).write(to: &writer)
  }
}
