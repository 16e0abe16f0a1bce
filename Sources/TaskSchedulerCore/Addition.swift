/// A part of the state that an earlier version did not have: where it is missing in what that
/// version wrote, it is empty.
protocol Addition: Codable {
  init()
}

extension KeyedDecodingContainer {
  /// What the compiler's own decoding calls for a property of such a type.
  func decode<Part: Addition>(_ type: Part.Type, forKey key: Key) throws -> Part {
    try decodeIfPresent(type, forKey: key) ?? Part()
  }
}
