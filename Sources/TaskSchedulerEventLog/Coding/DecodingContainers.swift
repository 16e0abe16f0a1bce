/// The fields of an object, in any order; unknown ones are stepped over.
struct FieldReader<Key: CodingKey>: KeyedDecodingContainerProtocol {
  private let decoder: BinaryDecoder
  private let frame: BinaryDecoder.Frame
  var codingPath: [any CodingKey] { [] }

  init(_ decoder: BinaryDecoder, at place: Int) throws {
    self.decoder = decoder
    frame = try decoder.frame(at: place)
  }

  var allKeys: [Key] { decoder.keys(Key.self, in: frame) }

  private func find(_ key: Key) -> Int? { decoder.find(key.stringValue, in: frame) }

  private func place(_ key: Key) throws -> Int {
    guard let place = find(key) else {
      throw BinaryDecoder.corrupted("the field '\(key.stringValue)' is missing")
    }
    return place
  }

  func contains(_ key: Key) -> Bool { find(key) != nil }
  func decodeNil(forKey key: Key) throws -> Bool { try decoder.isNil(at: place(key)) }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    try decoder.bool(at: place(key))
  }

  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    try decoder.string(at: place(key))
  }

  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
    try decoder.integer(type, at: place(key))
  }

  func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    try decoder.integer(type, at: place(key))
  }

  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
    try decoder.integer(type, at: place(key))
  }

  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
    try decoder.integer(type, at: place(key))
  }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try decoder.decode(type, at: place(key))
  }

  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    guard let place = find(key), try !decoder.isNil(at: place) else { return nil }
    return try decoder.decode(type, at: place)
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    KeyedDecodingContainer(try FieldReader<NestedKey>(decoder, at: place(key)))
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try ElementReader(decoder, at: place(key))
  }

  func superDecoder() throws -> any Decoder { throw BinaryDecoder.noClasses }
  func superDecoder(forKey key: Key) throws -> any Decoder { throw BinaryDecoder.noClasses }
}

extension BinaryDecoder {
  /// No class that inherits is ever written.
  static var noClasses: DecodingError { corrupted("a class's own fields are asked for") }
}

/// The elements of a list.
struct ElementReader: UnkeyedDecodingContainer {
  private let decoder: BinaryDecoder
  private let end: Int
  private var place: Int
  private(set) var currentIndex = 0
  var codingPath: [any CodingKey] { [] }
  /// Not written.
  var count: Int? { nil }
  var isAtEnd: Bool { place >= end }

  init(_ decoder: BinaryDecoder, at place: Int) throws {
    self.decoder = decoder
    guard try decoder.kind(at: place) == .list else {
      throw BinaryDecoder.corrupted("a list is missing, at byte \(place)")
    }
    let contents = try decoder.contents(at: place)
    self.place = contents.lowerBound
    end = contents.upperBound
  }

  /// Steps over the next element and says where it stands.
  private mutating func next() throws -> Int {
    let start = place
    guard start < end else { throw BinaryDecoder.corrupted("a list ends early") }
    let after = try decoder.end(of: start)
    guard after <= end else {
      throw BinaryDecoder.corrupted("a list's last value is longer than it, at byte \(start)")
    }
    place = after
    currentIndex += 1
    return start
  }

  mutating func decodeNil() throws -> Bool {
    guard !isAtEnd, try decoder.isNil(at: place) else { return false }
    _ = try next()
    return true
  }

  mutating func decode(_ type: String.Type) throws -> String {
    try decoder.string(at: next())
  }

  mutating func decode(_ type: UInt64.Type) throws -> UInt64 {
    try decoder.integer(type, at: next())
  }

  mutating func decode(_ type: UInt32.Type) throws -> UInt32 {
    try decoder.integer(type, at: next())
  }

  mutating func decode(_ type: Int32.Type) throws -> Int32 {
    try decoder.integer(type, at: next())
  }

  mutating func decode(_ type: Int.Type) throws -> Int {
    try decoder.integer(type, at: next())
  }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    try decoder.decode(type, at: next())
  }

  mutating func nestedContainer<Key: CodingKey>(
    keyedBy type: Key.Type
  ) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(try FieldReader<Key>(decoder, at: next()))
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try ElementReader(decoder, at: next())
  }

  mutating func superDecoder() throws -> any Decoder { throw BinaryDecoder.noClasses }
}

/// One value.
struct ScalarReader: SingleValueDecodingContainer {
  let decoder: BinaryDecoder
  let place: Int
  var codingPath: [any CodingKey] { [] }

  func decodeNil() -> Bool { (try? decoder.isNil(at: place)) ?? false }
  func decode(_ type: Bool.Type) throws -> Bool { try decoder.bool(at: place) }
  func decode(_ type: String.Type) throws -> String { try decoder.string(at: place) }
  func decode(_ type: Double.Type) throws -> Double { try decoder.double(at: place) }
  func decode(_ type: Float.Type) throws -> Float { Float(try decoder.double(at: place)) }
  func decode(_ type: Int.Type) throws -> Int { try decoder.integer(type, at: place) }
  func decode(_ type: Int8.Type) throws -> Int8 { try decoder.integer(type, at: place) }
  func decode(_ type: Int16.Type) throws -> Int16 { try decoder.integer(type, at: place) }
  func decode(_ type: Int32.Type) throws -> Int32 { try decoder.integer(type, at: place) }
  func decode(_ type: Int64.Type) throws -> Int64 { try decoder.integer(type, at: place) }
  func decode(_ type: UInt.Type) throws -> UInt { try decoder.integer(type, at: place) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try decoder.integer(type, at: place) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try decoder.integer(type, at: place) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try decoder.integer(type, at: place) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try decoder.integer(type, at: place) }
  func decode<T: Decodable>(_ type: T.Type) throws -> T { try decoder.decode(type, at: place) }
}
