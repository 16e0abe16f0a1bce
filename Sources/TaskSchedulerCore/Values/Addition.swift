/// A part of the state that is mostly as it begins, or that an earlier version did not have: where
/// it is missing in what was written, it is as it begins. So it is written only where it is not.
protocol Addition: Codable {
  init()
  /// Whether it is as it begins.
  var isNew: Bool { get }
}

extension Addition {
  var isNew: Bool { false }
}

extension Addition where Self: Equatable {
  var isNew: Bool { self == Self() }
}

extension KeyedDecodingContainer {
  /// What the compiler's own decoding calls for a property of such a type.
  func decode<Part: Addition>(_ type: Part.Type, forKey key: Key) throws -> Part {
    try decodeIfPresent(type, forKey: key) ?? Part()
  }
}

extension KeyedEncodingContainer {
  /// What the compiler's own encoding calls for a property of such a type.
  mutating func encode<Part: Addition>(_ part: Part, forKey key: Key) throws {
    if !part.isNew { try encodeIfPresent(part, forKey: key) }
  }
}
