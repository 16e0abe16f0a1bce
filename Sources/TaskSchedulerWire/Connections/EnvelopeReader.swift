/// A field of a Varlink call or of a Varlink reply.
enum EnvelopeField: UInt8, CaseIterable {
  case method, parameters, more, oneway, upgrade, continues, error

  var name: String {
    String(
      decoding: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount),
      as: UTF8.self)
  }

  fileprivate var text: StaticString {
    switch self {
    case .method: "method"
    case .parameters: "parameters"
    case .more: "more"
    case .oneway: "oneway"
    case .upgrade: "upgrade"
    case .continues: "continues"
    case .error: "error"
    }
  }

  /// All fields. This is a constant, because `allCases` makes a new array each time.
  private static let all = allCases

  fileprivate static func named(_ bytes: UnsafeBufferPointer<UInt8>) -> EnvelopeField? {
    all.first { $0.isNamed(bytes) }
  }

  private func isNamed(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    guard text.utf8CodeUnitCount == bytes.count else { return false }
    for index in bytes.indices where text.utf8Start[index] != bytes[index] { return false }
    return true
  }
}

/// Reads the fields of a message one by one, without building a JSON object.
struct EnvelopeReader {
  private var parser: JSONParser
  private var isOpen = false
  /// A set of the fields that were read, one bit each.
  private var seen: UInt8 = 0

  init(_ message: UnsafeRawBufferPointer) {
    parser = JSONParser(message)
  }

  /// Moves the parser to the value of the next field. Returns nil at the end of the message.
  mutating func nextField() throws(ProtocolViolation) -> EnvelopeField? {
    do throws(JSONError) {
      if try !advance() { return nil }
    } catch {
      throw violation(error)
    }
    let name: Name
    do throws(JSONError) {
      name = try self.name()
    } catch {
      throw .malformed(error)
    }
    switch name {
    case .known(let field):
      let bit = 1 << field.rawValue as UInt8
      if seen & bit != 0 { throw .duplicateField(field.name) }
      seen |= bit
      return field
    case .unknown(let name):
      throw .unknownField(name)
    }
  }

  private enum Name {
    case known(EnvelopeField)
    case unknown(String)
  }

  /// Moves the parser to the next name. Returns false at the end of the message.
  private mutating func advance() throws(JSONError) -> Bool {
    if !isOpen {
      isOpen = true
      parser.skipWhiteSpace()
      if parser.peek() != UInt8(ascii: "{") { throw parser.error("an object was expected") }
      try parser.enter(depth: 0)
      if !parser.skip(UInt8(ascii: "}")) { return true }
    } else {
      parser.skipWhiteSpace()
      if try !parser.separatorOrEnd(UInt8(ascii: "}")) { return true }
    }
    try parser.end()
    return false
  }

  /// Returns `notAnObject` if the message is valid JSON but not an object, otherwise `malformed`.
  private func violation(_ error: JSONError) -> ProtocolViolation {
    guard seen == 0, (try? JSONParser.parse(UnsafeRawBufferPointer(parser.bytes))) != nil else {
      return .malformed(error)
    }
    return .notAnObject
  }

  private mutating func name() throws(JSONError) -> Name {
    try parser.expectName()
    let start = parser.offset
    if let contents = try parser.plainContents() {
      if let field = EnvelopeField.named(UnsafeBufferPointer(rebasing: parser.bytes[contents])) {
        try parser.colon()
        return .known(field)
      }
      parser.offset = start
    }
    var name = try parser.string()
    try parser.colon()
    let field = name.withUTF8 { EnvelopeField.named($0) }
    return field.map { .known($0) } ?? .unknown(name)
  }

  // MARK: - Values

  private mutating func value() throws(ProtocolViolation) -> JSONValue {
    do throws(JSONError) {
      return try parser.value(depth: 1)
    } catch {
      throw .malformed(error)
    }
  }

  mutating func string(_ field: EnvelopeField) throws(ProtocolViolation) -> String {
    if case .string(let string) = try value() { return string }
    throw .wrongType(field: field.name, wanted: "a string")
  }

  mutating func bool(_ field: EnvelopeField) throws(ProtocolViolation) -> Bool {
    if case .bool(let bool) = try value() { return bool }
    throw .wrongType(field: field.name, wanted: "a bool")
  }

  mutating func object(_ field: EnvelopeField) throws(ProtocolViolation) -> JSONValue {
    let value = try value()
    if case .object = value { return value }
    throw .wrongType(field: field.name, wanted: "an object")
  }
}
