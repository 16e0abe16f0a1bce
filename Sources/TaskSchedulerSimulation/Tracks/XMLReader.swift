import TaskSchedulerCore

/// Reads the part of XML that GPX files use: elements, attributes, text, comments, CDATA sections
/// and processing instructions.
///
/// The reader limits the depth of the elements. It refuses a document type declaration, because its
/// entities could expand to a huge text. It does not replace references such as `&amp;`, because
/// numbers and times contain none. It works on bytes, in every encoding in which ASCII characters
/// are single bytes.
struct XMLReader {
  /// The start of an element.
  struct Element: Equatable {
    /// The name without the prefix of its namespace.
    var name: String
    /// The values of the attributes, by the name with its prefix.
    var attributes: [(name: String, value: String)]

    static func == (lhs: Element, rhs: Element) -> Bool {
      lhs.name == rhs.name && lhs.attributes.elementsEqual(rhs.attributes, by: ==)
    }

    func attribute(_ name: String) -> String? { attributes.first { $0.name == name }?.value }
  }

  enum Item: Equatable {
    case start(Element)
    case end
    /// The end of the document.
    case finished
  }

  /// The maximum depth of the elements. GPX needs 4, and extensions few more. Source: this project.
  static let depthMax = 64
  /// The maximum length of the text that ``text`` collects, in bytes. Source: this project; a time
  /// with nanoseconds and a zone has 35.
  static let textBytesMax = 128
  /// The maximum number of attributes of an element. Source: this project.
  static let attributesMax = 64

  /// The text that the reader has passed since the caller set this property to an empty array; nil
  /// if the caller does not need the text.
  var text: [UInt8]?
  /// The line of the next byte, from 1.
  private(set) var line = 1
  private let bytes: [UInt8]
  private var index = 0
  /// The names of the open elements, the outermost first.
  private var open: [Range<Int>] = []
  /// Whether the innermost open element has no content, such as `<a/>`.
  private var isEmptyElement = false
  private var hasRoot = false

  init(_ bytes: [UInt8]) throws(TrackProblem) {
    self.bytes = bytes
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { index = 3 }
    let isWide = bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE])
    if isWide || bytes.prefix(4).contains(0) {
      throw problem("the file is not text in UTF-8; save it in that encoding")
    }
  }

  mutating func next() throws(TrackProblem) -> Item {
    if isEmptyElement {
      isEmptyElement = false
      open.removeLast()
      return .end
    }
    while index < bytes.count {
      if bytes[index] != UInt8(ascii: "<") {
        try take(text: bytes[index...].firstIndex(of: UInt8(ascii: "<")) ?? bytes.count)
      } else if isNext("<!--") {
        _ = try content(from: "<!--", to: "-->", "comment")
      } else if isNext("<![CDATA[") {
        try take(section: try content(from: "<![CDATA[", to: "]]>", "CDATA section"))
      } else if isNext("<?") {
        _ = try content(from: "<?", to: "?>", "processing instruction")
      } else if isNext("<!") {
        throw problem("a document type declaration is not supported; remove it")
      } else if isNext("</") {
        try readEnd()
        return .end
      } else {
        return .start(try readStart())
      }
    }
    if let last = open.last { throw problem("the end </\(name(last))> of an element is missing") }
    guard hasRoot else { throw problem("the file contains no XML element") }
    return .finished
  }

  // MARK: Text

  private mutating func take(text end: Int) throws(TrackProblem) {
    let range = index..<end
    if open.isEmpty, let other = bytes[range].firstIndex(where: { !Self.isSpace($0) }) {
      advance(to: other)
      throw problem(
        hasRoot ? "the file has text after its last element" : "the file does not begin with XML")
    }
    try take(range)
  }

  private mutating func take(section range: Range<Int>) throws(TrackProblem) {
    if open.isEmpty { throw problem("a CDATA section is outside of the elements") }
    try take(range)
  }

  private mutating func take(_ range: Range<Int>) throws(TrackProblem) {
    if let count = text?.count {
      guard count + range.count <= Self.textBytesMax else {
        throw problem("the text is longer than \(Self.textBytesMax) bytes")
      }
      text?.append(contentsOf: bytes[range])
    }
    if index < range.upperBound { advance(to: range.upperBound) }
  }

  /// Moves past a comment, a CDATA section or a processing instruction. Returns the range of its
  /// content.
  private mutating func content(
    from start: StaticString, to end: StaticString, _ what: String
  ) throws(TrackProblem) -> Range<Int> {
    let first = index + start.utf8CodeUnitCount
    var last = first
    while last < bytes.count, !isNext(end, at: last) { last += 1 }
    guard last < bytes.count else { throw problem("the \(what) has no end \(end)") }
    advance(to: last + end.utf8CodeUnitCount)
    return first..<last
  }

  // MARK: Elements

  private mutating func readStart() throws(TrackProblem) -> Element {
    if open.isEmpty, hasRoot { throw problem("the file has a second outermost element") }
    index += 1
    let range = try readName("the name of an element")
    var element = Element(name: local(range), attributes: [])
    while true {
      skipSpace()
      if isNext("/>") {
        isEmptyElement = true
        index += 2
        break
      }
      if isNext(">") {
        index += 1
        break
      }
      guard element.attributes.count < Self.attributesMax else {
        throw problem("<\(name(range))> has more than \(Self.attributesMax) attributes")
      }
      let attribute = try readAttribute(of: range)
      guard element.attribute(attribute.name) == nil else {
        let name = PrintableText.of(String(attribute.name.prefix(40)))
        throw problem("<\(self.name(range))> has the attribute \(name) twice")
      }
      element.attributes.append(attribute)
    }
    hasRoot = true
    open.append(range)
    guard open.count <= Self.depthMax else {
      throw problem("more than \(Self.depthMax) elements contain each other")
    }
    return element
  }

  private mutating func readAttribute(
    of element: Range<Int>
  ) throws(TrackProblem) -> (name: String, value: String) {
    let range = try readName("an attribute, or the end of <\(name(element))>,")
    skipSpace()
    guard isNext("=") else { throw problem("the attribute \(name(range)) has no value") }
    index += 1
    skipSpace()
    let quote = index < bytes.count ? bytes[index] : 0
    guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
      throw problem("the value of the attribute \(name(range)) is not in quotation marks")
    }
    index += 1
    let start = index
    guard
      let end = bytes[start...].firstIndex(where: { $0 == quote || $0 == UInt8(ascii: "<") }),
      bytes[end] == quote
    else { throw problem("the value of the attribute \(name(range)) has no end") }
    advance(to: end + 1)
    let value = String(decoding: bytes[start..<end], as: UTF8.self)
    return (String(decoding: bytes[range], as: UTF8.self), value)
  }

  private mutating func readEnd() throws(TrackProblem) {
    index += 2
    let range = try readName("the name of an element")
    skipSpace()
    guard let last = open.popLast() else {
      throw problem("</\(name(range))> ends no element")
    }
    guard bytes[range] == bytes[last] else {
      throw problem("</\(name(range))> does not end the element <\(name(last))>")
    }
    guard isNext(">") else { throw problem("</\(name(range)) has no end >") }
    index += 1
  }

  private mutating func readName(_ what: String) throws(TrackProblem) -> Range<Int> {
    let start = index
    while index < bytes.count, Self.isNameByte(bytes[index]) { index += 1 }
    guard index > start else { throw problem("\(what) is missing") }
    return start..<index
  }

  // MARK: Bytes

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || (0x09...0x0D).contains(byte)
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "/"), UInt8(ascii: "="),
      UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "&"), UInt8(ascii: "!"),
      UInt8(ascii: "?"):
      false
    default: !isSpace(byte)
    }
  }

  private func isNext(_ text: StaticString) -> Bool { isNext(text, at: index) }

  private func isNext(_ text: StaticString, at place: Int) -> Bool {
    text.withUTF8Buffer { bytes[min(place, bytes.count)...].starts(with: $0) }
  }

  private mutating func skipSpace() {
    advance(to: bytes[index...].firstIndex { !Self.isSpace($0) } ?? bytes.count)
  }

  /// Moves to a later byte, and counts the lines.
  private mutating func advance(to end: Int) {
    for byte in bytes[index..<end] where byte == UInt8(ascii: "\n") { line += 1 }
    index = end
  }

  /// Returns the beginning of a name, for messages.
  private func name(_ range: Range<Int>) -> String {
    PrintableText.of(String(decoding: bytes[range].prefix(40), as: UTF8.self))
  }

  /// Returns a name without its prefix.
  private func local(_ range: Range<Int>) -> String {
    let start = bytes[range].lastIndex(of: UInt8(ascii: ":")).map { $0 + 1 } ?? range.lowerBound
    return String(decoding: bytes[start..<range.upperBound], as: UTF8.self)
  }

  func problem(_ message: String) -> TrackProblem { TrackProblem(line: line, message: message) }
}
