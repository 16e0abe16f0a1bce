/// A value that event logs contain.
///
/// Most types conform by one ``Form``, the list of their fields or cases: it writes values, reads
/// them, and says for the documentation what is stored. Traces are hashed from the bytes that it
/// writes.
///
/// Numbers are varints (LEB128; signed ones zigzag). A text and a list begin with their count. An
/// optional value begins with a byte, 1 where the value is there. An enum begins with the number of
/// its case, from 0, or is the name of its case where it has a raw value. Nothing in the bytes says
/// what comes next, so every change of a form changes the version of the event log's format.
package protocol Stored: SendableMetatype {
  init(from reader: inout StoredReader) throws(MalformedBytes)
  func write(to writer: inout StoredWriter)
}

/// Bytes that are not what was written.
package struct MalformedBytes: Error, Hashable {
  package let problem: String

  package init(_ problem: String) {
    self.problem = problem
  }
}

/// Appends values to bytes.
package struct StoredWriter {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  /// The bytes of one value.
  package static func bytes(of value: some Stored) -> [UInt8] {
    var writer = StoredWriter()
    value.write(to: &writer)
    return writer.bytes
  }

  /// Removes what was written, and keeps the memory for what comes next.
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

  /// Writes 8 bytes, for a number outside of values.
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

/// Takes values from bytes that may be anything.
package struct StoredReader {
  private let bytes: UnsafeRawBufferPointer
  private var place = 0

  /// - Parameter bytes: must outlive the reader.
  package init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
  }

  /// The value that the bytes are, all of them.
  package static func read<Value: Stored>(
    _ type: Value.Type, from bytes: UnsafeRawBufferPointer
  ) throws(MalformedBytes) -> Value {
    var reader = StoredReader(bytes)
    let value = try Value(from: &reader)
    try reader.finish()
    return value
  }

  /// Checks that no bytes are left.
  package func finish() throws(MalformedBytes) {
    guard place == bytes.count else {
      throw MalformedBytes("\(bytes.count - place) bytes follow the last value")
    }
  }

  /// The value that the bytes are, all of them.
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

  /// A count of bytes, or of values of at least one byte each: at most the bytes that are left.
  package mutating func readCount() throws(MalformedBytes) -> Int {
    let number = try readNumber()
    guard number <= UInt64(bytes.count - place) else {
      throw MalformedBytes(
        "byte \(place) announces \(number) bytes or values, and \(bytes.count - place) follow")
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
