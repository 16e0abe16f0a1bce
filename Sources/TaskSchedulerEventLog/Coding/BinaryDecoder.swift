import TaskSchedulerCore

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

final class BinaryDecoder: PlainBytesDecoder {
  private let bytes: UnsafeRawBufferPointer
  // No access to these overlaps another: each is over before a type's own code is called. To check
  // that anew each time would take a tenth of the reading.
  /// Where the value that is being decoded stands.
  @exclusivity(unchecked) private var place = 0
  /// The fields of all objects that are being decoded, those of the innermost last: a new daemon
  /// decodes tens of thousands before it serves, and an array for each would take as long again.
  @exclusivity(unchecked) private var fields: [Field] = []

  private struct Field {
    var name: Range<Int>
    var value: Int
  }

  /// The fields of one object, for as long as the value is being decoded that it stands for.
  struct Frame {
    fileprivate let fields: Range<Int>
    /// Where the field was that was asked for last: they are mostly asked for in their order.
    fileprivate let hint: Int
  }

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
    let fieldCount = fields.count
    self.place = place
    defer {
      self.place = outer
      fields.removeSubrange(fieldCount...)
    }
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
    guard place + 5 <= bytes.count else {
      throw Self.corrupted("it ends early, at byte \(bytes.count)")
    }
    let length = bytes.loadUnaligned(fromByteOffset: place + 1, as: UInt32.self)
    return try range(UInt64(UInt32(littleEndian: length)), at: place + 5)
  }

  /// Where the value ends that begins there.
  func end(of place: Int) throws -> Int {
    switch try kind(at: place) {
    case .null, .no, .yes: return place + 1
    case .natural, .negative: return try varint(at: place + 1).end
    case .text: return try nameRange(at: place + 1).upperBound
    case .double: return try range(8, at: place + 1).upperBound
    case .list, .object, .bytes: return try contents(at: place).upperBound
    }
  }

  func text(in range: Range<Int>) throws -> String {
    let bytes = UnsafeRawBufferPointer(rebasing: bytes[range])
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw Self.corrupted("a text is not UTF-8, at byte \(range.lowerBound)")
    }
    return text
  }

  // MARK: Fields

  /// Looks where the fields of the object are that begins there.
  func frame(at place: Int) throws -> Frame {
    guard try kind(at: place) == .object else {
      throw Self.corrupted("an object is missing, at byte \(place)")
    }
    let contents = try contents(at: place)
    // The first place of the frame is for the hint.
    let hint = fields.count
    fields.append(Field(name: 0..<0, value: 0))
    var next = contents.lowerBound
    while next < contents.upperBound {
      let name = try nameRange(at: next)
      fields.append(Field(name: name, value: name.upperBound))
      next = try end(of: name.upperBound)
    }
    guard next == contents.upperBound else {
      throw Self.corrupted("an object's last value is longer than it, at byte \(place)")
    }
    return Frame(fields: hint + 1..<fields.count, hint: hint)
  }

  /// Where the value of a field stands; nil where there is none of that name.
  func find(_ name: String, in frame: Frame) -> Int? {
    var name = name
    return name.withUTF8 { name in
      let hint = frame.fields.lowerBound + fields[frame.hint].value
      return find(name, in: hint..<frame.fields.upperBound, frame)
        ?? find(name, in: frame.fields.lowerBound..<hint, frame)
    }
  }

  private func find(
    _ name: UnsafeBufferPointer<UInt8>, in range: Range<Int>, _ frame: Frame
  ) -> Int? {
    for index in range {
      let field = fields[index]
      guard isName(name, at: field.name) else { continue }
      fields[frame.hint].value = index - frame.fields.lowerBound
      return field.value
    }
    return nil
  }

  private func isName(_ name: UnsafeBufferPointer<UInt8>, at range: Range<Int>) -> Bool {
    guard range.count == name.count else { return false }
    for index in 0..<name.count where bytes[range.lowerBound + index] != name[index] {
      return false
    }
    return true
  }

  /// Those fields of the frame that are known by these keys.
  func keys<Key: CodingKey>(_ type: Key.Type, in frame: Frame) -> [Key] {
    var keys: [Key] = []
    for index in frame.fields {
      if let name = try? text(in: fields[index].name), let key = Key(stringValue: name) {
        keys.append(key)
      }
    }
    return keys
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
    case .null, .natural, .negative, .text, .list, .object, .double, .bytes:
      throw mismatch("true or false", at: place)
    }
  }

  func string(at place: Int) throws -> String {
    guard try kind(at: place) == .text else { throw mismatch("a text", at: place) }
    return try text(in: nameRange(at: place + 1))
  }

  func plainBytes() throws -> UnsafeRawBufferPointer {
    guard try kind(at: place) == .bytes else { throw mismatch("plain bytes", at: place) }
    return UnsafeRawBufferPointer(rebasing: bytes[try contents(at: place)])
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
