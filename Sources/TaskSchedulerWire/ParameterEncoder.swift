/// Writes the types of an interface as JSON straight into a message.
///
/// It serves the interface types, which are plain `Codable` structs of fields: fields that are nil
/// are left out, and nested containers, which such types never ask for, trap.
enum ParameterEncoding {
  /// Appends the parameters to the message.
  static func append<T: Encodable>(_ parameters: T, to output: inout [UInt8]) {
    let encoder = ParameterEncoder()
    swap(&encoder.bytes, &output)
    do {
      try encoder.encode(parameters)
    } catch {
      fatalError("the type \(T.self) cannot be written as a message: \(error)")
    }
    swap(&encoder.bytes, &output)
  }
}

final class ParameterEncoder: Encoder {
  var bytes: [UInt8] = []
  /// The bracket that closes what the value being written has opened.
  private var closing: UInt8?

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func encode<T: Encodable>(_ value: T) throws {
    let outer = closing
    let start = bytes.count
    closing = nil
    try value.encode(to: self)
    if let closing {
      bytes.append(closing)
    } else if bytes.count == start {
      // A struct without fields asks for no container.
      bytes.append(literal: "{}")
    }
    closing = outer
  }

  /// Opens the container unless the value has opened it before.
  private func open(_ bracket: UInt8, closing: UInt8) {
    if self.closing == nil {
      bytes.append(bracket)
      self.closing = closing
    }
    precondition(self.closing == closing, "a value is an object or an array, not both")
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    open(UInt8(ascii: "{"), closing: UInt8(ascii: "}"))
    return KeyedEncodingContainer(FieldWriter<Key>(encoder: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    open(UInt8(ascii: "["), closing: UInt8(ascii: "]"))
    return ElementWriter(encoder: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { ScalarWriter(encoder: self) }

  /// No element ends in an opening bracket, a string ends in its quote: so the last byte tells
  /// whether this is the first one.
  func separate() {
    if let last = bytes.last, last != UInt8(ascii: "{"), last != UInt8(ascii: "[") {
      bytes.append(UInt8(ascii: ","))
    }
  }

  static func refuseNesting() -> Never {
    fatalError("the types of an interface nest by their fields, not by nested containers")
  }
}

private struct FieldWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let encoder: ParameterEncoder
  var codingPath: [any CodingKey] { [] }

  private func name(_ key: Key) {
    encoder.separate()
    encoder.bytes.append(json: key.stringValue)
    encoder.bytes.append(UInt8(ascii: ":"))
  }

  mutating func encodeNil(forKey key: Key) {}

  mutating func encode(_ value: String, forKey key: Key) {
    name(key)
    encoder.bytes.append(json: value)
  }

  mutating func encode(_ value: Bool, forKey key: Key) {
    name(key)
    encoder.bytes.append(json: value)
  }

  mutating func encode(_ value: Int, forKey key: Key) {
    name(key)
    encoder.bytes.append(json: Int64(value))
  }

  mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
    name(key)
    try encoder.encode(value)
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy keyType: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> { ParameterEncoder.refuseNesting() }

  mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    ParameterEncoder.refuseNesting()
  }

  mutating func superEncoder() -> any Encoder { ParameterEncoder.refuseNesting() }
  mutating func superEncoder(forKey key: Key) -> any Encoder { ParameterEncoder.refuseNesting() }
}

private struct ElementWriter: UnkeyedEncodingContainer {
  let encoder: ParameterEncoder
  var count = 0
  var codingPath: [any CodingKey] { [] }

  init(encoder: ParameterEncoder) { self.encoder = encoder }

  mutating func encodeNil() {
    encoder.separate()
    encoder.bytes.append(literal: "null")
    count += 1
  }

  mutating func encode<T: Encodable>(_ value: T) throws {
    encoder.separate()
    try encoder.encode(value)
    count += 1
  }

  mutating func nestedContainer<Key: CodingKey>(
    keyedBy keyType: Key.Type
  ) -> KeyedEncodingContainer<Key> { ParameterEncoder.refuseNesting() }

  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    ParameterEncoder.refuseNesting()
  }

  mutating func superEncoder() -> any Encoder { ParameterEncoder.refuseNesting() }
}

private struct ScalarWriter: SingleValueEncodingContainer {
  let encoder: ParameterEncoder
  var codingPath: [any CodingKey] { [] }

  mutating func encodeNil() { encoder.bytes.append(literal: "null") }
  mutating func encode(_ value: String) { encoder.bytes.append(json: value) }
  mutating func encode(_ value: Bool) { encoder.bytes.append(json: value) }
  mutating func encode(_ value: Double) { encoder.bytes.append(json: value) }
  mutating func encode(_ value: Float) { encoder.bytes.append(json: Double(value)) }
  mutating func encode(_ value: Int64) { encoder.bytes.append(json: value) }
  mutating func encode(_ value: Int) { encoder.bytes.append(json: Int64(value)) }
  mutating func encode(_ value: Int8) { encoder.bytes.append(json: Int64(value)) }
  mutating func encode(_ value: Int16) { encoder.bytes.append(json: Int64(value)) }
  mutating func encode(_ value: Int32) { encoder.bytes.append(json: Int64(value)) }
  mutating func encode(_ value: UInt) { encoder.bytes.append(json: Int64(value)) }
  mutating func encode(_ value: UInt8) { encoder.bytes.append(json: Int64(value)) }
  mutating func encode(_ value: UInt16) { encoder.bytes.append(json: Int64(value)) }
  mutating func encode(_ value: UInt32) { encoder.bytes.append(json: Int64(value)) }
  mutating func encode(_ value: UInt64) { encoder.bytes.append(json: Int64(value)) }
  mutating func encode<T: Encodable>(_ value: T) throws { try encoder.encode(value) }
}
