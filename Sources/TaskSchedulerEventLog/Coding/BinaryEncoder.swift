import TaskSchedulerCore

/// Writes values as compact bytes that name their fields, so that a later version with more
/// fields can still read them.
///
/// The form, a byte for its kind and then: nothing (nil, false, true); a varint (LEB128; of a
/// negative number -1 - n); a varint of its length and UTF-8; eight bytes of a double, little end
/// first; or, of a list, an object or plain bytes, four bytes of their length, little end first,
/// and their elements or pairs of name (a varint of its length, UTF-8) and value, or the bytes. So
/// whatever a reader does not know it can step over.
public enum BinaryEncoding {
  /// Appends the value. Throws what the value's own `encode(to:)` throws.
  public static func append(_ value: some Encodable, to bytes: inout [UInt8]) throws {
    let encoder = BinaryEncoder()
    swap(&encoder.bytes, &bytes)
    defer { swap(&encoder.bytes, &bytes) }
    try encoder.write(value)
  }

  /// The value as bytes. Throws what the value's own `encode(to:)` throws.
  public static func bytes(of value: some Encodable) throws -> [UInt8] {
    var bytes: [UInt8] = []
    try append(value, to: &bytes)
    return bytes
  }
}

/// What a value is written as.
enum Kind: UInt8 {
  case null, no, yes, natural, negative, text, list, object, double, bytes
}

final class BinaryEncoder: PlainBytesEncoder {
  var bytes: [UInt8] = []
  /// Where the lengths of the open lists and objects stand.
  private var open: [Int] = []

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func write<T: Encodable>(_ value: T) throws {
    let depth = open.count
    let start = bytes.count
    try value.encode(to: self)
    // A type without fields asks for no container.
    if bytes.count == start { _ = begin(.object) }
    close(to: depth)
  }

  /// Returns the depth at which the elements are written.
  func begin(_ kind: Kind) -> Int {
    bytes.append(kind.rawValue)
    open.append(bytes.count)
    bytes.append(contentsOf: [0, 0, 0, 0])
    return open.count
  }

  /// Ends what was opened below.
  func close(to depth: Int) {
    while open.count > depth {
      let place = open.removeLast()
      let length = UInt32(bytes.count - place - 4)
      for index in 0..<4 {
        bytes[place + index] = UInt8(truncatingIfNeeded: length >> (8 * UInt32(index)))
      }
    }
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(FieldWriter<Key>(encoder: self, depth: begin(.object)))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    ElementWriter(encoder: self, depth: begin(.list))
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { ScalarWriter(encoder: self) }

  // MARK: Scalars

  func append(_ kind: Kind) { bytes.append(kind.rawValue) }

  func append(varint value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  func append(name text: String) {
    var text = text
    text.withUTF8 {
      append(varint: UInt64($0.count))
      bytes.append(contentsOf: $0)
    }
  }

  func append(integer value: some BinaryInteger) {
    if let natural = UInt64(exactly: value) {
      append(.natural)
      append(varint: natural)
    } else {
      append(.negative)
      append(varint: UInt64(-1 - Int64(value)))
    }
  }

  func append(text: String) {
    append(.text)
    append(name: text)
  }

  func append(plain content: [UInt8]) {
    let depth = begin(.bytes) - 1
    bytes.append(contentsOf: content)
    close(to: depth)
  }

  func append(bool: Bool) { append(bool ? .yes : .no) }

  func append(double: Double) {
    append(.double)
    let bits = double.bitPattern
    for index in 0..<8 as Range<UInt64> {
      bytes.append(UInt8(truncatingIfNeeded: bits >> (8 * index)))
    }
  }
}

private struct FieldWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let encoder: BinaryEncoder
  let depth: Int
  var codingPath: [any CodingKey] { [] }

  private func name(_ key: Key) {
    encoder.close(to: depth)
    encoder.append(name: key.stringValue)
  }

  mutating func encodeNil(forKey key: Key) {
    name(key)
    encoder.append(.null)
  }

  mutating func encode(_ value: Bool, forKey key: Key) {
    name(key)
    encoder.append(bool: value)
  }

  mutating func encode(_ value: String, forKey key: Key) {
    name(key)
    encoder.append(text: value)
  }

  mutating func encode(_ value: UInt64, forKey key: Key) {
    name(key)
    encoder.append(integer: value)
  }

  mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
    name(key)
    try encoder.write(value)
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy keyType: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    name(key)
    return encoder.container(keyedBy: keyType)
  }

  mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    name(key)
    return encoder.unkeyedContainer()
  }

  mutating func superEncoder() -> any Encoder { encoder }
  mutating func superEncoder(forKey key: Key) -> any Encoder { encoder }
}

private struct ElementWriter: UnkeyedEncodingContainer {
  let encoder: BinaryEncoder
  let depth: Int
  var count = 0
  var codingPath: [any CodingKey] { [] }

  init(encoder: BinaryEncoder, depth: Int) {
    self.encoder = encoder
    self.depth = depth
  }

  private mutating func next() {
    encoder.close(to: depth)
    count += 1
  }

  mutating func encodeNil() {
    next()
    encoder.append(.null)
  }

  mutating func encode<T: Encodable>(_ value: T) throws {
    next()
    try encoder.write(value)
  }

  mutating func nestedContainer<Key: CodingKey>(
    keyedBy keyType: Key.Type
  ) -> KeyedEncodingContainer<Key> {
    next()
    return encoder.container(keyedBy: keyType)
  }

  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    next()
    return encoder.unkeyedContainer()
  }

  mutating func superEncoder() -> any Encoder { encoder }
}

private struct ScalarWriter: SingleValueEncodingContainer {
  let encoder: BinaryEncoder
  var codingPath: [any CodingKey] { [] }

  mutating func encodeNil() { encoder.append(.null) }
  mutating func encode(_ value: String) { encoder.append(text: value) }
  mutating func encode(_ value: Bool) { encoder.append(bool: value) }
  mutating func encode(_ value: Double) { encoder.append(double: value) }
  mutating func encode(_ value: Float) { encoder.append(double: Double(value)) }
  mutating func encode(_ value: Int) { encoder.append(integer: value) }
  mutating func encode(_ value: Int8) { encoder.append(integer: value) }
  mutating func encode(_ value: Int16) { encoder.append(integer: value) }
  mutating func encode(_ value: Int32) { encoder.append(integer: value) }
  mutating func encode(_ value: Int64) { encoder.append(integer: value) }
  mutating func encode(_ value: UInt) { encoder.append(integer: value) }
  mutating func encode(_ value: UInt8) { encoder.append(integer: value) }
  mutating func encode(_ value: UInt16) { encoder.append(integer: value) }
  mutating func encode(_ value: UInt32) { encoder.append(integer: value) }
  mutating func encode(_ value: UInt64) { encoder.append(integer: value) }
  mutating func encode<T: Encodable>(_ value: T) throws { try encoder.write(value) }
}
