/// Reads what ``BinaryEncoding`` wrote. Whatever else it is given is refused with a
/// `DecodingError`; nothing is reserved for lengths that are not there.
public enum BinaryDecoding {
  /// The value that the bytes are, all of them.
  public static func decode<T: Decodable>(
    _ type: T.Type, from bytes: UnsafeRawBufferPointer
  ) throws -> T {
    let decoder = BinaryDecoder(bytes)
    let value = try T(from: decoder)
    guard try decoder.end(of: 0) == bytes.count else {
      throw BinaryDecoder.corrupted("bytes follow the value")
    }
    return value
  }

  /// The value that the bytes are, all of them.
  public static func decode<T: Decodable>(_ type: T.Type, from bytes: [UInt8]) throws -> T {
    try bytes.withUnsafeBytes { try decode(type, from: $0) }
  }
}

final class BinaryDecoder: Decoder {
  private let bytes: UnsafeRawBufferPointer
  /// Where the value that is being decoded stands.
  private var place = 0

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
  }

  static func corrupted(_ problem: String) -> DecodingError {
    .dataCorrupted(.init(codingPath: [], debugDescription: problem))
  }

  func decode<T: Decodable>(_ type: T.Type, at place: Int) throws -> T {
    let outer = self.place
    self.place = place
    defer { self.place = outer }
    return try T(from: self)
  }

  // MARK: Bytes

  private func byte(at place: Int) throws -> UInt8 {
    guard place < bytes.count else { throw Self.corrupted("it ends early, at byte \(place)") }
    return bytes[place]
  }

  func kind(at place: Int) throws -> Kind {
    let byte = try byte(at: place)
    guard let kind = Kind(rawValue: byte) else {
      throw Self.corrupted("no value begins with \(byte), at byte \(place)")
    }
    return kind
  }

  private func varint(at place: Int) throws -> (value: UInt64, end: Int) {
    var value: UInt64 = 0
    var place = place
    var shift: UInt64 = 0
    while true {
      let byte = try byte(at: place)
      place += 1
      let bits = UInt64(byte & 0x7F)
      guard shift < 63 || (shift == 63 && bits <= 1) else {
        throw Self.corrupted("a number is too large, before byte \(place)")
      }
      value |= bits << shift
      if byte < 0x80 { return (value, place) }
      shift += 7
    }
  }

  private func range(_ count: UInt64, at start: Int) throws -> Range<Int> {
    guard count <= UInt64(bytes.count - start) else {
      throw Self.corrupted("\(count) bytes are missing, at byte \(start)")
    }
    return start..<start + Int(count)
  }

  func nameRange(at place: Int) throws -> Range<Int> {
    let (count, start) = try varint(at: place)
    return try range(count, at: start)
  }

  /// The bytes of the elements.
  func contents(at place: Int) throws -> Range<Int> {
    var length: UInt64 = 0
    for index in 0..<4 { length |= UInt64(try byte(at: place + 1 + index)) << UInt64(8 * index) }
    return try range(length, at: place + 5)
  }

  /// Where the value ends that begins there.
  func end(of place: Int) throws -> Int {
    switch try kind(at: place) {
    case .null, .no, .yes: return place + 1
    case .natural, .negative: return try varint(at: place + 1).end
    case .text: return try nameRange(at: place + 1).upperBound
    case .double: return try range(8, at: place + 1).upperBound
    case .list, .object: return try contents(at: place).upperBound
    }
  }

  func text(in range: Range<Int>) throws -> String {
    let bytes = UnsafeRawBufferPointer(rebasing: bytes[range])
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw Self.corrupted("a text is not UTF-8, at byte \(range.lowerBound)")
    }
    return text
  }

  func isName(_ name: String, in range: Range<Int>) -> Bool {
    var name = name
    return name.withUTF8 { $0.elementsEqual(bytes[range]) }
  }

  // MARK: Values

  private func mismatch(_ expected: String, at place: Int) -> DecodingError {
    Self.corrupted("\(expected) is missing, at byte \(place)")
  }

  func isNil(at place: Int) throws -> Bool { try kind(at: place) == .null }

  func bool(at place: Int) throws -> Bool {
    switch try kind(at: place) {
    case .yes: return true
    case .no: return false
    case .null, .natural, .negative, .text, .list, .object, .double:
      throw mismatch("true or false", at: place)
    }
  }

  func string(at place: Int) throws -> String {
    guard try kind(at: place) == .text else { throw mismatch("a text", at: place) }
    return try text(in: nameRange(at: place + 1))
  }

  func double(at place: Int) throws -> Double {
    guard try kind(at: place) == .double else { throw mismatch("a double", at: place) }
    let range = try range(8, at: place + 1)
    let bits = range.reversed().reduce(0 as UInt64) { $0 << 8 | UInt64(bytes[$1]) }
    return Double(bitPattern: bits)
  }

  func integer<T: FixedWidthInteger>(_ type: T.Type, at place: Int) throws -> T {
    let kind = try kind(at: place)
    guard kind == .natural || kind == .negative else { throw mismatch("a number", at: place) }
    let value = try varint(at: place + 1).value
    let exact =
      kind == .natural
      ? T(exactly: value) : Int64(exactly: value).flatMap { T(exactly: -1 - $0) }
    guard let exact else { throw Self.corrupted("a number is no \(type), at byte \(place)") }
    return exact
  }

  // MARK: Decoder

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(try FieldReader<Key>(self, at: place))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try ElementReader(self, at: place)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    ScalarReader(decoder: self, place: place)
  }
}
