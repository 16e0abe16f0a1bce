import Testing

@testable import TaskSchedulerWire

/// Finds out the fields of a Swift type by decoding it from nothing: it notes what the type asks
/// for, and gives it made-up values.
final class FieldRecorder: Decoder {
  typealias Field = InterfaceDescription.Field
  typealias FieldType = InterfaceDescription.FieldType

  private(set) var fields: [Field] = []
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  static func fields<T: Decodable>(of type: T.Type) throws -> [Field] {
    let recorder = FieldRecorder()
    _ = try T(from: recorder)
    return recorder.fields
  }

  func note(_ name: String, _ type: any Decodable.Type, isOptional: Bool) {
    #expect(
      (type == FileDescriptorIndex.self) == name.hasSuffix("FileDescriptor"),
      "\(name): a file descriptor is known by its field's name")
    let fieldType = Self.fieldType(type)
    fields.append(Field(name: name, type: isOptional ? .optional(fieldType) : fieldType))
  }

  /// The interface's type that a Swift type stands for.
  static func fieldType(_ type: any Decodable.Type) -> FieldType {
    if type == Bool.self { return .bool }
    if type == Int.self || type == FileDescriptorIndex.self { return .int }
    if type == Double.self { return .float }
    if type == String.self { return .string }
    if let array = type as? any ArrayType.Type { return .array(of: fieldType(array.elementType)) }
    return .named(String(describing: type))
  }

  static func madeUp<T: Decodable>(_ type: T.Type) throws -> T {
    if let list = type as? any CaseIterable.Type { return first(list) as! T }
    return try T(from: FieldRecorder())
  }

  private static func first<T: CaseIterable>(_ type: T.Type) -> Any { type.allCases.first! }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(RecordingFields<Key>(recorder: self))
  }

  func unkeyedContainer() -> any UnkeyedDecodingContainer { NoElements() }
  func singleValueContainer() -> any SingleValueDecodingContainer { MadeUpScalar() }
}

protocol ArrayType {
  static var elementType: any Decodable.Type { get }
}

extension Array: ArrayType where Element: Decodable {
  static var elementType: any Decodable.Type { Element.self }
}

private struct RecordingFields<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let recorder: FieldRecorder
  var codingPath: [any CodingKey] { [] }
  var allKeys: [Key] { [] }

  func contains(_ key: Key) -> Bool { true }
  func decodeNil(forKey key: Key) -> Bool { false }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    recorder.note(key.stringValue, type, isOptional: false)
    return try FieldRecorder.madeUp(type)
  }

  private func optional<T: Decodable>(_ type: T.Type, _ key: Key) -> T? {
    recorder.note(key.stringValue, type, isOptional: true)
    return nil
  }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) -> Bool? { optional(type, key) }
  func decodeIfPresent(_ type: Int.Type, forKey key: Key) -> Int? { optional(type, key) }
  func decodeIfPresent(_ type: Double.Type, forKey key: Key) -> Double? { optional(type, key) }
  func decodeIfPresent(_ type: String.Type, forKey key: Key) -> String? { optional(type, key) }
  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) -> T? {
    optional(type, key)
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) -> KeyedDecodingContainer<NestedKey> { fatalError("interface types do not nest containers") }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer { NoElements() }
  func superDecoder() -> any Decoder { recorder }
  func superDecoder(forKey key: Key) -> any Decoder { recorder }
}

private struct NoElements: UnkeyedDecodingContainer {
  var codingPath: [any CodingKey] { [] }
  var count: Int? { 0 }
  var isAtEnd: Bool { true }
  var currentIndex: Int { 0 }

  struct Empty: Error {}

  func decodeNil() -> Bool { false }
  func decode<T: Decodable>(_ type: T.Type) throws -> T { throw Empty() }
  func nestedContainer<Key: CodingKey>(
    keyedBy type: Key.Type
  ) throws -> KeyedDecodingContainer<Key> { throw Empty() }
  func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Empty() }
  func superDecoder() throws -> any Decoder { throw Empty() }
}

private struct MadeUpScalar: SingleValueDecodingContainer {
  var codingPath: [any CodingKey] { [] }

  struct Unknown: Error {}

  func decodeNil() -> Bool { false }
  func decode(_ type: Bool.Type) -> Bool { true }
  func decode(_ type: Int.Type) -> Int { 1 }
  func decode(_ type: Double.Type) -> Double { 1 }
  func decode(_ type: String.Type) -> String { "text" }
  func decode<T: Decodable>(_ type: T.Type) throws -> T { throw Unknown() }
}
