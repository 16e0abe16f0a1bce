/// Reads the types of an interface out of the JSON of a message.
///
/// It serves the interface types, which are plain `Codable` structs of fields, and no more than
/// they need. It is strict where `JSONDecoder` is not: a float is no int, a string that holds
/// U+0000 is refused (it would end early where it becomes a path or a name), and every refusal
/// names the field by its dotted path.
enum ParameterDecoding {
  /// What becomes of fields that the type does not know.
  enum UnknownFields {
    /// In calls: a field that is mistyped, or that a newer peer relies on, is never overlooked.
    case refused
    /// In replies: a program of today goes on when the daemon of tomorrow says more.
    case ignored
  }

  /// Decodes the parameters of a message that came with `fileDescriptorCount` descriptors.
  static func decode<T: Decodable>(
    _ type: T.Type, from value: JSONValue, fileDescriptorCount: Int = 0,
    unknownFields: UnknownFields
  ) throws(ParameterError) -> T {
    let claims =
      fileDescriptorCount == 0 ? nil : FileDescriptorClaims(count: fileDescriptorCount)
    let decoder = ParameterDecoder(
      value, parent: nil, name: nil, claims: claims, unknownFields: unknownFields)
    let result: T
    do {
      result = try decoder.decode(type)
    } catch let error as ParameterError {
      throw error
    } catch {
      throw ParameterError(parameter: "", problem: "\(error)")
    }
    if let unclaimed = claims?.firstUnclaimed {
      throw FileDescriptorClaims.unclaimedError(unclaimed)
    }
    return result
  }
}

/// One value on the way down, and the way up to name it.
final class ParameterDecoder: Decoder {
  let value: JSONValue
  let parent: ParameterDecoder?
  /// Its name or index within the parent; nil at the top.
  let name: String?
  let claims: FileDescriptorClaims?
  let unknownFields: ParameterDecoding.UnknownFields
  /// Whether the type has looked at the value. A struct without fields never does.
  private var wasOpened = false

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  init(
    _ value: JSONValue, parent: ParameterDecoder?, name: String?, claims: FileDescriptorClaims?,
    unknownFields: ParameterDecoding.UnknownFields
  ) {
    self.value = value
    self.parent = parent
    self.name = name
    self.claims = claims
    self.unknownFields = unknownFields
  }

  // MARK: - Decoding

  func decode<T: Decodable>(_ type: T.Type) throws -> T {
    let result: T
    do {
      result = try T(from: self)
    } catch let error as ParameterError {
      throw error
    } catch DecodingError.dataCorrupted(let context) {
      throw error(context.debugDescription)
    } catch {
      throw self.error("\(error)")
    }
    if !wasOpened { try requireEmptyObject() }
    return result
  }

  /// The value as it stands, for a field that may hold anything.
  func rawValue() -> JSONValue {
    wasOpened = true
    return value
  }

  /// Claims the descriptor of the message that this int is the index of.
  func fileDescriptor() throws(ParameterError) -> FileDescriptorIndex {
    wasOpened = true
    let index = try integer()
    guard let index = Int(exactly: index), let claims, claims.claim(index) else {
      throw error(
        claims.map {
          "the message came with \($0.count) file descriptors, each of which one field names once"
        } ?? "the message came without file descriptors")
    }
    return FileDescriptorIndex(index)
  }

  private func requireEmptyObject() throws(ParameterError) {
    guard case .object(let members) = value else { throw mismatch("an object") }
    if unknownFields == .refused, let member = members.first { throw unknownField(member.name) }
  }

  func child(_ name: String, _ value: JSONValue) -> ParameterDecoder {
    ParameterDecoder(
      value, parent: self, name: name, claims: claims, unknownFields: unknownFields)
  }

  /// A loop over memory: a text may have a megabyte.
  private func holdsZero(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { bytes in
      for byte in bytes where byte == 0 { return true }
      return false
    }
  }

  func string() throws(ParameterError) -> String {
    guard case .string(let string) = value else { throw mismatch("a string") }
    if holdsZero(string) { throw error("the text holds U+0000") }
    return string
  }

  func integer() throws(ParameterError) -> Int64 {
    guard case .integer(let integer) = value else { throw mismatch("an int") }
    return integer
  }

  func bool() throws(ParameterError) -> Bool {
    guard case .bool(let bool) = value else { throw mismatch("a bool") }
    return bool
  }

  /// An int is a float too: writers drop the fraction that is zero.
  func double() throws(ParameterError) -> Double {
    switch value {
    case .number(let double):
      if !double.isFinite { throw error("the number is too large") }
      return double
    case .integer(let integer): return Double(integer)
    case .null, .bool, .string, .array, .object: throw mismatch("a float")
    }
  }

  // MARK: - Containers

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    wasOpened = true
    guard case .object(let members) = value else { throw mismatch("an object") }
    if unknownFields == .refused {
      for member in members where Key(stringValue: member.name) == nil {
        throw unknownField(member.name)
      }
    }
    return KeyedDecodingContainer(FieldContainer<Key>(decoder: self, members: members))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    wasOpened = true
    guard case .array(let elements) = value else { throw mismatch("an array") }
    return ElementContainer(decoder: self, elements: elements)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    wasOpened = true
    return ScalarContainer(decoder: self)
  }

  // MARK: - Errors

  /// The dotted path from the parameters down to this value: `tasks[0].name`.
  var path: String {
    guard let parent, let name else { return "" }
    let above = parent.path
    if above.isEmpty || name.hasPrefix("[") { return above + name }
    return above + "." + name
  }

  func error(_ problem: String) -> ParameterError {
    ParameterError(parameter: path, problem: problem)
  }

  func mismatch(_ wanted: String) -> ParameterError {
    error("\(wanted) is wanted here, not \(value.kind)")
  }

  func missing(_ name: String) -> ParameterError {
    child(name, .null).error("the field is missing")
  }

  private func unknownField(_ name: String) -> ParameterError {
    child(name, .null).error("there is no such field")
  }
}

/// The fields of one object. null is the same as absent.
private struct FieldContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let decoder: ParameterDecoder
  let members: [JSONValue.Member]

  var codingPath: [any CodingKey] { [] }
  var allKeys: [Key] { members.compactMap { Key(stringValue: $0.name) } }

  func contains(_ key: Key) -> Bool { optional(key) != nil }
  func decodeNil(forKey key: Key) -> Bool { optional(key) == nil }

  private func optional(_ key: Key) -> ParameterDecoder? {
    let name = key.stringValue
    guard let value = members.value(named: name), value != .null else { return nil }
    return decoder.child(name, value)
  }

  private func required(_ key: Key) throws(ParameterError) -> ParameterDecoder {
    guard let child = optional(key) else { throw decoder.missing(key.stringValue) }
    return child
  }

  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    try required(key).string()
  }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try required(key).bool() }

  func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    Int(try required(key).integer())
  }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try required(key).decode(type)
  }

  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try optional(key)?.string()
  }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try optional(key)?.bool()
  }

  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try (optional(key)?.integer()).map { Int($0) }
  }

  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    try optional(key)?.decode(type)
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try required(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try required(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { decoder }
  func superDecoder(forKey key: Key) throws -> any Decoder { try required(key) }
}

/// The elements of one array.
private struct ElementContainer: UnkeyedDecodingContainer {
  let decoder: ParameterDecoder
  let elements: [JSONValue]
  var currentIndex = 0

  var codingPath: [any CodingKey] { [] }
  var count: Int? { elements.count }
  var isAtEnd: Bool { currentIndex == elements.count }

  private mutating func next() throws(ParameterError) -> ParameterDecoder {
    if isAtEnd { throw decoder.missing("[\(currentIndex)]") }
    defer { currentIndex += 1 }
    return decoder.child("[\(currentIndex)]", elements[currentIndex])
  }

  mutating func decodeNil() -> Bool {
    guard !isAtEnd, elements[currentIndex] == .null else { return false }
    currentIndex += 1
    return true
  }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try next().decode(type) }

  mutating func nestedContainer<Key: CodingKey>(
    keyedBy type: Key.Type
  ) throws -> KeyedDecodingContainer<Key> {
    try next().container(keyedBy: type)
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try next().unkeyedContainer()
  }

  mutating func superDecoder() throws -> any Decoder { try next() }
}

/// One value that is no container.
private struct ScalarContainer: SingleValueDecodingContainer {
  let decoder: ParameterDecoder

  var codingPath: [any CodingKey] { [] }

  func decodeNil() -> Bool { decoder.value == .null }
  func decode(_ type: String.Type) throws -> String { try decoder.string() }
  func decode(_ type: Bool.Type) throws -> Bool { try decoder.bool() }
  func decode(_ type: Double.Type) throws -> Double { try decoder.double() }
  func decode(_ type: Float.Type) throws -> Float { Float(try decoder.double()) }
  func decode(_ type: Int64.Type) throws -> Int64 { try decoder.integer() }
  func decode(_ type: Int.Type) throws -> Int { try integer(type) }
  func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
  func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
  func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
  func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }
  func decode<T: Decodable>(_ type: T.Type) throws -> T { try decoder.decode(type) }

  private func integer<T: FixedWidthInteger>(_ type: T.Type) throws(ParameterError) -> T {
    if let value = T(exactly: try decoder.integer()) { return value }
    throw decoder.error("the number is not within \(T.min)...\(T.max)")
  }
}
