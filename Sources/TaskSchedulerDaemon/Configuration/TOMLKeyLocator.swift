import TaskSchedulerCore

/// A step of a path into a TOML document.
public enum TOMLPathComponent: Hashable, Sendable {
  case key(String)
  case index(Int)
}

/// A scanner that finds the line of each key and array element of a TOML document. The parser does
/// not report these lines.
///
/// The locator checks the outline of the text: keys, headers, brackets and quotes. A text with a
/// malformed outline must not reach the parser. The parser (toml++, inside TOMLKit) fails
/// assertions on some malformed texts, such as a dot without a key or an incomplete time of day.
/// The parser also needs hundreds of megabytes for a key with thousands of parts. The locator
/// refuses dates and times, because no setting needs them. It collects duplicate keys and escaped
/// NULs, because the parser's reports of these are poor.
public struct TOMLKeyLocator: Sendable {
  /// A key that occurs more than once.
  public struct Duplicate: Hashable, Sendable {
    public var path: [TOMLPathComponent]
    public var line: Int
    public var firstLine: Int
  }

  /// A fault of the outline, and the text that the locator expected at that place.
  public struct Fault: Hashable, Sendable {
    public var line: Int
    /// The column in bytes, counted from 1.
    public var column: Int
    public var expected: String
  }

  /// A key with more parts than allowed.
  public struct LongKey: Hashable, Sendable {
    /// The path of the key; possibly only its first parts.
    public var path: [TOMLPathComponent]
    public var line: Int
  }

  /// The maximum number of parts of a key. Each name of a table or key, and each array index, is
  /// one part. Every setting has fewer parts.
  public static let partsMax = 16

  /// The first key with too many parts; the scan ends there.
  public private(set) var longKey: LongKey?
  /// The first fault of the outline; the scan ends there.
  public private(set) var fault: Fault?
  /// The line, counted from 1, of the first occurrence of each key, table and array element.
  public private(set) var lines: [[TOMLPathComponent]: Int] = [:]
  /// Duplicate keys and tables, in the order of the file.
  public private(set) var duplicates: [Duplicate] = []
  /// The lines with a string that contains an escaped NUL.
  public private(set) var nullEscapeLines: [Int] = []

  private let text: [UInt8]
  private var position = 0
  private var line = 1
  /// The paths that a header or a key defines explicitly. Tables that a dotted key implies are not
  /// among them.
  private var explicit: Set<[TOMLPathComponent]> = []
  /// The number of tables that the scan has found so far in each array of tables.
  private var tableCounts: [[TOMLPathComponent]: Int] = [:]

  /// Scans a whole document.
  public init(text: [UInt8]) {
    self.text = text
    if text.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    _ = scanDocument()
  }

  /// Returns the line of `path`, or of the nearest element that contains it.
  public func line(of path: [TOMLPathComponent]) -> Int? {
    var path = path
    while !path.isEmpty {
      if let line = lines[path] { return line }
      path.removeLast()
    }
    return nil
  }

  // Each scanning step returns nil after it has recorded a fault or a key with too many parts.

  private mutating func fail<Value>(_ expected: String) -> Value? {
    let lineStart = text[..<position].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    if fault == nil {
      fault = Fault(line: line, column: position - lineStart + 1, expected: expected)
    }
    return nil
  }

  private mutating func endLongKey<Value>(_ path: [TOMLPathComponent], line: Int) -> Value? {
    longKey = LongKey(path: path, line: line)
    return nil
  }

  private mutating func scanDocument() -> Void? {
    var table: [TOMLPathComponent] = []
    while true {
      skipBlank()
      guard position < text.count else { return () }
      if peek == UInt8(ascii: "[") {
        guard let header = scanHeader() else { return nil }
        table = header
      } else {
        guard scanKeyValue(in: table) != nil else { return nil }
      }
      skipSpaces()
      guard position == text.count || peek == UInt8(ascii: "#") || isAtLineEnd else {
        return fail("the end of the line")
      }
    }
  }

  private mutating func scanHeader() -> [TOMLPathComponent]? {
    let headerLine = line
    position += 1
    let isArray = peek == UInt8(ascii: "[")
    if isArray { position += 1 }
    guard let names = scanKeyPath() else { return nil }
    guard take("]"), !isArray || takeNow("]") else { return fail(isArray ? "]]" : "]") }
    var path: [TOMLPathComponent] = []
    for (offset, name) in names.enumerated() {
      path.append(.key(name))
      let isLast = offset == names.count - 1
      if isLast && isArray {
        let count = tableCounts[path, default: 0]
        tableCounts[path] = count + 1
        if lines[path] == nil { lines[path] = headerLine }
        path.append(.index(count))
        record(path, line: headerLine, isExplicit: true)
      } else {
        record(path, line: headerLine, isExplicit: isLast)
        if !isLast, let count = tableCounts[path] { path.append(.index(count - 1)) }
      }
    }
    return path
  }

  private mutating func scanKeyValue(in table: [TOMLPathComponent]) -> Void? {
    let keyLine = line
    guard let names = scanKeyPath() else { return nil }
    guard take("=") else { return fail("= after the key") }
    var path = table
    for (offset, name) in names.enumerated() {
      path.append(.key(name))
      record(path, line: keyLine, isExplicit: offset == names.count - 1)
    }
    return scanValue(at: path)
  }

  private mutating func record(_ path: [TOMLPathComponent], line: Int, isExplicit: Bool) {
    if isExplicit, !explicit.insert(path).inserted {
      duplicates.append(Duplicate(path: path, line: line, firstLine: lines[path] ?? line))
    }
    if lines[path] == nil { lines[path] = line }
  }

  private mutating func scanKeyPath() -> [String]? {
    var names: [String] = []
    while true {
      skipSpaces()
      guard let name = scanKey() else { return nil }
      names.append(name)
      guard take(".") else { return names }
      guard names.count < Self.partsMax else {
        return endLongKey(names.map { .key($0) }, line: line)
      }
    }
  }

  private mutating func scanKey() -> String? {
    guard let first = peek else { return fail("a key") }
    if first == UInt8(ascii: "\"") || first == UInt8(ascii: "'") {
      return scanString(quote: first, isMultiline: false)
    }
    let start = position
    while let byte = peek, Self.isBareKeyByte(byte) { position += 1 }
    if start == position { return fail("a key of letters, digits, - and _, or in quotes") }
    return String(decoding: text[start..<position], as: UTF8.self)
  }

  private mutating func scanValue(at path: [TOMLPathComponent]) -> Void? {
    guard path.count <= Self.partsMax else { return endLongKey(path, line: line) }
    skipSpaces()
    guard let first = peek else { return fail("a value") }
    switch first {
    case UInt8(ascii: "\""), UInt8(ascii: "'"):
      let isMultiline =
        position + 2 < text.count && text[position + 1] == first && text[position + 2] == first
      return scanString(quote: first, isMultiline: isMultiline).map { _ in () }
    case UInt8(ascii: "["): return scanArray(at: path)
    case UInt8(ascii: "{"): return scanInlineTable(at: path)
    default:
      let ends = Array(",]}#\n\r".utf8)
      let start = position
      while let byte = peek, !ends.contains(byte) { position += 1 }
      if TOMLBareValue.isValid(text[start..<position]) { return () }
      position = start
      return fail("a number, true or false, or text in quotes")
    }
  }

  private mutating func scanArray(at path: [TOMLPathComponent]) -> Void? {
    position += 1
    var index = 0
    while true {
      skipBlank()
      if take("]") { return () }
      let element = path + [.index(index)]
      lines[element] = line
      guard scanValue(at: element) != nil else { return nil }
      index += 1
      skipBlank()
      guard take(",") || peek == UInt8(ascii: "]") else { return fail(", or ]") }
    }
  }

  private mutating func scanInlineTable(at path: [TOMLPathComponent]) -> Void? {
    position += 1
    while true {
      skipSpaces()
      if take("}") { return () }
      guard scanKeyValue(in: path) != nil else { return nil }
      skipSpaces()
      guard take(",") || peek == UInt8(ascii: "}") else { return fail(", or }") }
    }
  }

  /// Scans a string with its quotes and returns its content. Decodes the escapes that a key can
  /// contain. Does not interpret a backslash that ends a line. Only values can contain one, and the
  /// locator does not use their content.
  private mutating func scanString(quote: UInt8, isMultiline: Bool) -> String? {
    let quoteCount = isMultiline ? 3 : 1
    let takesEscapes = quote == UInt8(ascii: "\"")
    position += quoteCount
    var content: [UInt8] = []
    while let byte = peek {
      if byte == quote {
        let run = text[position...].prefix { $0 == quote }.count
        if run >= quoteCount {
          // The content of a multi-line string may end in one or two quotes.
          position += isMultiline ? min(run, 5) : 1
          return String(decoding: content, as: UTF8.self)
        }
        content += text[position..<position + run]
        position += run
      } else if byte == UInt8(ascii: "\\") && takesEscapes {
        guard let decoded = scanEscape() else { return nil }
        content += decoded
      } else {
        if byte == UInt8(ascii: "\n") {
          guard isMultiline else { return fail("the quote that ends the string") }
          line += 1
        }
        content.append(byte)
        position += 1
      }
    }
    return fail("the quote that ends the string")
  }

  private mutating func scanEscape() -> [UInt8]? {
    position += 1
    guard let letter = peek else { return fail("the quote that ends the string") }
    // A TOML escape has only ASCII characters. TOMLKit's parser fails on some other characters.
    guard letter < 0x80 else {
      let found = String(decoding: text[position...].prefix(4), as: UTF8.self).prefix(1)
      return fail(
        "b, t, n, f, r, u, U, \\ or a quote after \\, not "
          + PrintableText.of(String(found)))
    }
    position += 1
    let digitCount = letter == UInt8(ascii: "u") ? 4 : letter == UInt8(ascii: "U") ? 8 : 0
    guard digitCount > 0 else {
      if letter == UInt8(ascii: "\n") { line += 1 }
      return [Self.simpleEscapes[letter] ?? letter]
    }
    guard position + digitCount <= text.count else {
      return fail("\(digitCount) hexadecimal digits")
    }
    let digits = String(decoding: text[position..<position + digitCount], as: UTF8.self)
    guard let value = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(value) else {
      return fail("\(digitCount) hexadecimal digits of a character")
    }
    position += digitCount
    if value == 0 { nullEscapeLines.append(line) }
    return Array(String(Character(scalar)).utf8)
  }

  private static let simpleEscapes: [UInt8: UInt8] = [
    UInt8(ascii: "b"): 8, UInt8(ascii: "t"): 9, UInt8(ascii: "n"): 10, UInt8(ascii: "f"): 12,
    UInt8(ascii: "r"): 13,
  ]

  private var peek: UInt8? { position < text.count ? text[position] : nil }

  /// Skips blanks and the mark that follows. Returns false if another character follows the blanks.
  private mutating func take(_ mark: Unicode.Scalar) -> Bool {
    skipSpaces()
    return takeNow(mark)
  }

  /// Skips the mark if it is the next character.
  private mutating func takeNow(_ mark: Unicode.Scalar) -> Bool {
    guard peek == UInt8(ascii: mark) else { return false }
    position += 1
    return true
  }

  /// Whether a line feed, or a carriage return and a line feed, comes next.
  private var isAtLineEnd: Bool {
    peek == UInt8(ascii: "\n")
      || peek == UInt8(ascii: "\r") && position + 1 < text.count
        && text[position + 1] == UInt8(ascii: "\n")
  }

  private mutating func skipSpaces() {
    while peek == UInt8(ascii: " ") || peek == UInt8(ascii: "\t") { position += 1 }
  }

  /// Skips blanks, comments and newlines.
  private mutating func skipBlank() {
    while true {
      skipSpaces()
      if isAtLineEnd {
        position += peek == UInt8(ascii: "\r") ? 2 : 1
        line += 1
      } else if peek == UInt8(ascii: "#") {
        while position < text.count, !isAtLineEnd { position += 1 }
      } else {
        return
      }
    }
  }

  /// Returns whether a key may contain this byte without quotes.
  static func isBareKeyByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
