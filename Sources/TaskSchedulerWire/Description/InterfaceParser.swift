/// Parses Varlink's interface language by recursive descent.
///
/// White space and comments may separate any two words. The parser also refuses names that are
/// declared twice and types that are not declared, although the grammar allows both.
struct InterfaceParser {
  private typealias Description = InterfaceDescription
  /// The maximum depth of nested types, which limits the recursion of the parser.
  private static let depthMax = 64

  private let bytes: [UInt8]
  private var offset = 0
  private var namedTypes: [(name: String, offset: Int)] = []
  /// The lines of the comment above the word at `commentEnd`.
  private var commentLines: Description.Comment = []
  private var commentEnd = 0

  init(_ text: String) {
    bytes = Array(text.utf8)
  }

  // MARK: - Declarations

  mutating func interface(_ text: String) throws(InterfaceTextError) -> InterfaceDescription {
    let comment = self.comment()
    try expectKeyword("interface")
    let name = try interfaceName()
    var types: [Description.TypeDeclaration] = []
    var methods: [Description.MethodDeclaration] = []
    var errors: [Description.ErrorDeclaration] = []
    var declared: Set<String> = []
    while !atEnd() {
      let comment = self.comment()
      let keyword = try word("'type', 'method' or 'error'")
      let start = offset
      let name = try declaredName()
      if !declared.insert(name).inserted {
        throw error("'\(name)' is declared twice", at: start)
      }
      switch keyword {
      case "type":
        let type = try structureOrEnumeration(depth: 0)
        types.append(.init(name: name, comment: comment, type: type))
      case "method":
        let input = try structure(depth: 0)
        if !skip("->") { throw error("'->' was expected") }
        let output = try structure(depth: 0)
        methods.append(.init(name: name, comment: comment, input: input, output: output))
      case "error":
        errors.append(.init(name: name, comment: comment, fields: try structure(depth: 0)))
      default:
        throw error("'type', 'method' or 'error' was expected, not '\(keyword)'", at: start)
      }
    }
    for use in namedTypes where !types.contains(where: { $0.name == use.name }) {
      throw error("no type '\(use.name)' is declared", at: use.offset)
    }
    return InterfaceDescription(
      name: name, comment: comment, text: text, types: types, methods: methods, errors: errors)
  }

  // MARK: - Types

  private mutating func structure(
    depth: Int
  ) throws(InterfaceTextError) -> [Description.Field] {
    let start = offset
    switch try structureOrEnumeration(depth: depth) {
    case .structure(let fields): return fields
    case .bool, .int, .float, .string, .object, .any, .named, .array, .dictionary, .optional,
      .enumeration:
      throw error("each field needs a type: 'name: type'", at: start)
    }
  }

  /// Parses a structure or an enumeration. A colon after the first name makes it a structure.
  private mutating func structureOrEnumeration(
    depth: Int
  ) throws(InterfaceTextError) -> Description.FieldType {
    if depth > Self.depthMax { throw error("more than \(Self.depthMax) types are nested") }
    if !skip("(") { throw error("'(' was expected") }
    if skip(")") { return .structure([]) }
    var names: [String] = []
    var fields: [Description.Field] = []
    repeat {
      let comment = self.comment()
      let name = try fieldName()
      if names.contains(name) { throw error("'\(name)' appears twice in one declaration") }
      names.append(name)
      let hasType = skip(":")
      if names.count > 1, hasType == fields.isEmpty {
        throw error("either all names of a declaration have a type or none has")
      }
      if hasType {
        fields.append(.init(name: name, comment: comment, type: try type(depth: depth + 1)))
      }
    } while skip(",")
    if !skip(")") { throw error("',' or ')' was expected") }
    return fields.isEmpty ? .enumeration(names) : .structure(fields)
  }

  private mutating func type(depth: Int) throws(InterfaceTextError) -> Description.FieldType {
    if depth > Self.depthMax { throw error("more than \(Self.depthMax) types are nested") }
    if skip("?") {
      let start = offset
      if skip("?") { throw error("a type has two '?' in succession; write one", at: start) }
      return .optional(try type(depth: depth + 1))
    }
    if skip("[]") { return .array(of: try type(depth: depth + 1)) }
    if skip("[string]") { return .dictionary(of: try type(depth: depth + 1)) }
    skipSpace()
    if peek() == UInt8(ascii: "(") { return try structureOrEnumeration(depth: depth) }
    let start = offset
    let word = try word("a type")
    switch word {
    case "bool": return .bool
    case "int": return .int
    case "float": return .float
    case "string": return .string
    case "object": return .object
    case "any": return .any
    default:
      guard Self.isDeclaredName(word) else { throw error("'\(word)' is not a type", at: start) }
      namedTypes.append((word, start))
      return .named(word)
    }
  }

  // MARK: - Names

  /// Parses the name of an interface: two or more labels of letters, digits and inner hyphens,
  /// joined by dots. The first label starts with a letter.
  private mutating func interfaceName() throws(InterfaceTextError) -> String {
    skipSpace()
    let start = offset
    while let byte = peek(), Self.isLetterOrDigit(byte) || byte == 0x2D || byte == 0x2E {
      offset += 1
    }
    let labels = bytes[start..<offset].split(
      separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    let areGood = labels.allSatisfy { label in
      !label.isEmpty && label.first != UInt8(ascii: "-") && label.last != UInt8(ascii: "-")
    }
    guard labels.count > 1, areGood, Self.isLetter(bytes[start]) else {
      throw error("a name such as org.example.Thing was expected", at: start)
    }
    return String(decoding: bytes[start..<offset], as: UTF8.self)
  }

  private mutating func declaredName() throws(InterfaceTextError) -> String {
    skipSpace()
    let start = offset
    let name = try word("a name that starts with a capital")
    if Self.isDeclaredName(name) { return name }
    throw error("a name of letters and digits that starts with a capital was expected", at: start)
  }

  private static func isDeclaredName(_ name: String) -> Bool {
    name.utf8.first.map { (0x41...0x5A).contains($0) } == true && !name.utf8.contains(0x5F)
  }

  private mutating func fieldName() throws(InterfaceTextError) -> String {
    skipSpace()
    let start = offset
    let name = try word("a name")
    if Self.isLetter(name.utf8.first!), name.utf8.last != 0x5F, !isDoubled(name) { return name }
    throw error(
      "a name has letters, digits and single '_' between them, and starts with a letter", at: start)
  }

  private func isDoubled(_ name: String) -> Bool {
    zip(name.utf8, name.utf8.dropFirst()).contains { $0 == 0x5F && $1 == 0x5F }
  }

  private mutating func expectKeyword(_ keyword: String) throws(InterfaceTextError) {
    skipSpace()
    let start = offset
    if try word("'\(keyword)'") != keyword {
      throw error("'\(keyword)' was expected", at: start)
    }
  }

  private mutating func word(_ wanted: String) throws(InterfaceTextError) -> String {
    skipSpace()
    let start = offset
    while let byte = peek(), Self.isLetterOrDigit(byte) || byte == 0x5F { offset += 1 }
    if offset == start { throw error("\(wanted) was expected") }
    return String(decoding: bytes[start..<offset], as: UTF8.self)
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    isLetter(byte) || (0x30...0x39).contains(byte)
  }

  // MARK: - Bytes

  private func peek() -> UInt8? { offset < bytes.count ? bytes[offset] : nil }

  private mutating func atEnd() -> Bool {
    skipSpace()
    return offset == bytes.count
  }

  /// Skips white space and then `mark`. Returns false if anything other than `mark` follows.
  private mutating func skip(_ mark: String) -> Bool {
    skipSpace()
    guard bytes[offset...].starts(with: mark.utf8) else { return false }
    offset += mark.utf8.count
    return true
  }

  /// Skips white space and comments. A comment ends at the end of its line. Stores the comment
  /// directly above the next word in `commentLines`.
  private mutating func skipSpace() {
    let start = offset
    var lines: Description.Comment = []
    var newlines = 0
    while let byte = peek() {
      if byte == UInt8(ascii: "#") {
        let line = commentLine()
        // A comment that follows words on the same line belongs to those words, not to the next
        // one.
        if newlines > 0 || start == 0 { lines.append(line) }
        newlines = 0
      } else if byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D {
        if byte == 0x0A { newlines += 1 }
        if newlines > 1 { lines = [] }
        offset += 1
      } else {
        break
      }
    }
    guard offset > start else { return }
    commentLines = lines
    commentEnd = offset
  }

  /// Returns the text of the comment that begins at `offset` and ends at the end of the line.
  private mutating func commentLine() -> String {
    offset += 1
    if peek() == 0x20 { offset += 1 }
    let start = offset
    while let byte = peek(), byte != 0x0A, byte != 0x0D { offset += 1 }
    return String(decoding: bytes[start..<offset], as: UTF8.self)
  }

  /// Returns the comment above the next word.
  private mutating func comment() -> Description.Comment {
    skipSpace()
    return commentEnd == offset ? commentLines : []
  }

  private func error(_ problem: String, at start: Int? = nil) -> InterfaceTextError {
    let before = bytes[..<(start ?? offset)]
    let line = 1 + before.count { $0 == 0x0A }
    return InterfaceTextError(line: line, problem: problem)
  }
}
