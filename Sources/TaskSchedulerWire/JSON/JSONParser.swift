/// A strict parser of JSON (RFC 8259). The bytes must not move while it parses.
///
/// It is stricter than most parsers. A name may appear only once in an object, objects and arrays
/// may be nested at most `depthMax` levels deep, and text must be valid UTF-8 without lone
/// surrogates. Only white space may follow the value.
public struct JSONParser {
  /// The maximum depth of nested objects and arrays, which limits the recursion of the parser. The
  /// interfaces need 6.
  public static let depthMax = 64

  let bytes: UnsafeBufferPointer<UInt8>
  /// The offset of the next byte.
  var offset = 0

  init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes.bindMemory(to: UInt8.self)
  }

  /// Parses a text that contains one value.
  public static func parse(_ text: UnsafeRawBufferPointer) throws(JSONError) -> JSONValue {
    var parser = JSONParser(text)
    parser.skipWhiteSpace()
    let value = try parser.value(depth: 0)
    try parser.end()
    return value
  }

  /// Parses a text that contains one value.
  public static func parse(_ text: [UInt8]) throws(JSONError) -> JSONValue {
    try text.withUnsafeBytesTyped { (bytes) throws(JSONError) in try parse(bytes) }
  }

  // MARK: - Structure

  /// Parses the value at `offset`. The caller has skipped white space before it.
  mutating func value(depth: Int) throws(JSONError) -> JSONValue {
    guard let byte = peek() else { throw error("a value was expected") }
    switch byte {
    case UInt8(ascii: "\""):
      return .string(try string())
    case UInt8(ascii: "{"):
      return .object(try object(depth: depth))
    case UInt8(ascii: "["):
      return .array(try array(depth: depth))
    case UInt8(ascii: "t"):
      try literal("true")
      return .bool(true)
    case UInt8(ascii: "f"):
      try literal("false")
      return .bool(false)
    case UInt8(ascii: "n"):
      try literal("null")
      return .null
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      return try number()
    default:
      throw error("a value was expected")
    }
  }

  private mutating func array(depth: Int) throws(JSONError) -> [JSONValue] {
    try enter(depth: depth)
    var elements: [JSONValue] = []
    if skip(UInt8(ascii: "]")) { return elements }
    while true {
      elements.append(try value(depth: depth + 1))
      skipWhiteSpace()
      if try separatorOrEnd(UInt8(ascii: "]")) { return elements }
    }
  }

  private mutating func object(depth: Int) throws(JSONError) -> [JSONValue.Member] {
    try enter(depth: depth)
    var members: [JSONValue.Member] = []
    var names: Set<String> = []
    if skip(UInt8(ascii: "}")) { return members }
    while true {
      let start = offset
      let name = try self.name()
      if isDuplicate(name, of: members, &names) {
        throw JSONError(offset: start, problem: "the name '\(name)' appears twice in this object")
      }
      members.append(JSONValue.Member(name: name, value: try value(depth: depth + 1)))
      skipWhiteSpace()
      if try separatorOrEnd(UInt8(ascii: "}")) { return members }
    }
  }

  /// Returns whether the object already has a member with this name.
  ///
  /// Compares the names one by one while the object is small. For a larger object, uses a set, so
  /// that an object with many names does not take quadratic time.
  private func isDuplicate(
    _ name: String, of members: [JSONValue.Member], _ names: inout Set<String>
  ) -> Bool {
    if members.count < 16 { return members.contains { $0.name == name } }
    if names.isEmpty { names = Set(members.map(\.name)) }
    return !names.insert(name).inserted
  }

  /// Skips the opening bracket at `offset` and the white space after it.
  mutating func enter(depth: Int) throws(JSONError) {
    if depth >= Self.depthMax {
      throw error("objects and arrays are nested more than \(Self.depthMax) levels deep")
    }
    offset += 1
    skipWhiteSpace()
  }

  /// Parses a member's name and the colon, and moves `offset` to the start of the value.
  private mutating func name() throws(JSONError) -> String {
    try expectName()
    let name = try string()
    try colon()
    return name
  }

  func expectName() throws(JSONError) {
    if peek() != UInt8(ascii: "\"") { throw error("a name in double quotes was expected") }
  }

  mutating func colon() throws(JSONError) {
    skipWhiteSpace()
    if !skip(UInt8(ascii: ":")) { throw error("a colon was expected after the name") }
    skipWhiteSpace()
  }

  /// Skips the separator after an element. Returns true at the closing bracket, and false after a
  /// comma and its white space.
  mutating func separatorOrEnd(_ closing: UInt8) throws(JSONError) -> Bool {
    if skip(UInt8(ascii: ",")) {
      skipWhiteSpace()
      return false
    }
    if skip(closing) { return true }
    throw error("a comma or '\(Character(Unicode.Scalar(closing)))' was expected")
  }

  /// Throws unless only white space remains.
  mutating func end() throws(JSONError) {
    skipWhiteSpace()
    if offset != bytes.count { throw error("unexpected text after the value") }
  }

  // MARK: - Bytes

  @inline(__always)
  func peek() -> UInt8? {
    offset < bytes.count ? bytes[offset] : nil
  }

  @inline(__always)
  mutating func skip(_ byte: UInt8) -> Bool {
    guard offset < bytes.count, bytes[offset] == byte else { return false }
    offset += 1
    return true
  }

  @inline(__always)
  mutating func skipWhiteSpace() {
    while offset < bytes.count {
      switch bytes[offset] {
      case 0x20, 0x09, 0x0A, 0x0D: offset += 1
      default: return
      }
    }
  }

  func error(_ problem: String) -> JSONError {
    if offset >= bytes.count {
      return JSONError(offset: offset, problem: "the text ends too early: \(problem)")
    }
    return JSONError(offset: offset, problem: problem)
  }

  private mutating func literal(_ word: StaticString) throws(JSONError) {
    let count = word.utf8CodeUnitCount
    for index in 0..<count {
      guard let byte = peek(), byte == word.utf8Start[index] else {
        throw error("'\(word)' was expected")
      }
      offset += 1
    }
  }
}

extension Array where Element == UInt8 {
  /// Calls `withUnsafeBytes` with a closure that throws a typed error.
  func withUnsafeBytesTyped<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let result = withUnsafeBytes { bytes -> Swift.Result<Result, Failure> in
      do throws(Failure) {
        return .success(try body(bytes))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }
}
