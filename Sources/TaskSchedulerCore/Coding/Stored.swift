/// A value that an event log contains.
///
/// Most structs conform by a ``Form``, and most enums by the list of their cases
/// (``StoredByCases``). A test compares `docs/event-log.md` with these forms and lists. The
/// simulation hashes the same bytes to compare traces.
///
/// A number is a varint (LEB128; signed numbers are zigzag-encoded). A text and a list begin with
/// the number of their bytes or elements. An optional value begins with a byte: 1 if the value
/// exists, otherwise 0. An enum begins with the number of its case, from 0; an enum with raw values
/// is stored as the name of its case. The bytes contain no types, so every change of a form
/// requires a new version of the event log's format.
package protocol Stored: SendableMetatype {
  init(from reader: inout StoredReader) throws(MalformedBytes)
  func write(to writer: inout StoredWriter)
}

/// Bytes that are not a value of the expected type.
package struct MalformedBytes: Error, Equatable {
  package let problem: String

  package init(_ problem: String) {
    self.problem = problem
  }
}

/// Encodes values as bytes.
package struct StoredWriter {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  /// Returns the bytes of one value.
  package static func bytes(of value: some Stored) -> [UInt8] {
    var writer = StoredWriter()
    value.write(to: &writer)
    return writer.bytes
  }

  /// Removes all bytes, and keeps their memory for the next values.
  package mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  package mutating func write(byte: UInt8) { bytes.append(byte) }

  package mutating func write(number: UInt64) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  /// Writes a number as 8 bytes in little-endian order.
  package mutating func write(littleEndian number: UInt64) {
    withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
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

/// Decodes values from untrusted bytes.
package struct StoredReader {
  private let bytes: UnsafeRawBufferPointer
  private var place = 0

  /// Creates a reader of bytes. The memory must outlive the reader.
  package init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
  }

  /// Returns the value that the bytes encode. Throws if bytes follow the value.
  package static func read<Value: Stored>(
    _ type: Value.Type, from bytes: UnsafeRawBufferPointer
  ) throws(MalformedBytes) -> Value {
    var reader = StoredReader(bytes)
    let value = try Value(from: &reader)
    try reader.finish()
    return value
  }

  /// Throws if unread bytes remain.
  package func finish() throws(MalformedBytes) {
    guard place == bytes.count else {
      throw MalformedBytes("\(bytes.count - place) bytes follow the last value")
    }
  }

  /// Returns the value that the bytes encode. Throws if bytes follow the value.
  package static func read<Value: Stored>(
    _ type: Value.Type, from bytes: [UInt8]
  ) throws(MalformedBytes) -> Value {
    try bytes.withUnsafeBytes { bytes in
      Result { () throws(MalformedBytes) in try read(type, from: bytes) }
    }.get()
  }

  package mutating func readByte() throws(MalformedBytes) -> UInt8 {
    guard place < bytes.count else {
      throw MalformedBytes("the bytes end early, at byte \(place)")
    }
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
        throw MalformedBytes("the number before byte \(place) exceeds 64 bits")
      }
      number |= bits << shift
      if byte < 0x80 { return number }
      shift += 7
    }
  }

  /// Reads the length of a text or of a list whose elements have at least one byte each. Throws if
  /// the length exceeds the number of remaining bytes.
  package mutating func readCount() throws(MalformedBytes) -> Int {
    let number = try readNumber()
    guard number <= UInt64(bytes.count - place) else {
      throw MalformedBytes(
        "the count before byte \(place) is \(number), but only \(bytes.count - place) bytes follow")
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
      throw MalformedBytes("the text before byte \(place) is not UTF-8")
    }
    return text
  }
}
