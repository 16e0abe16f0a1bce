/// Swift source that grows line by line, indented and broken as the rest of the package.
struct SwiftText {
  static let columnsMax = 100

  private(set) var lines: [String] = []
  private var indent = 0

  /// The whole text, with its last end of line.
  var text: String { lines.joined(separator: "\n") + "\n" }

  mutating func line(_ code: String = "") {
    lines.append(code.isEmpty ? "" : String(repeating: " ", count: indent) + code)
  }

  /// `opening {`, what the body adds, and the brace that closes it.
  mutating func block(
    _ opening: String, _ body: (inout SwiftText) throws(GeneratorError) -> Void
  ) throws(GeneratorError) {
    line(opening + " {")
    try nested(body)
    line("}")
  }

  /// What the body adds, one step further in.
  mutating func nested(
    _ body: (inout SwiftText) throws(GeneratorError) -> Void
  ) throws(GeneratorError) {
    indent += 2
    try body(&self)
    indent -= 2
  }

  /// The items between two brackets: on one line if that is not too long, else on lines of their
  /// own. The last item of a literal that is broken has a comma, too.
  mutating func list(_ opening: String, _ items: [String], _ closing: String) {
    let whole = opening + items.joined(separator: ", ") + closing
    if indent + whole.count <= Self.columnsMax { return line(whole) }
    line(opening)
    var words = items.map { $0 + "," }
    if closing != "]" { words = words.dropLast() + items.suffix(1) }
    for row in Self.rows(words, indent + 2) {
      line("  " + row)
    }
    line(closing)
  }

  /// A comment of documentation.
  mutating func documentation(_ comment: [String]) {
    for row in DocComment(comment).rows(columns: Self.columnsMax - indent - "/// ".count) {
      line(row.isEmpty ? "///" : "/// " + row)
    }
  }

  /// As many words on each row as fit behind the indentation.
  static func rows(_ words: [String], _ indent: Int) -> [String] {
    var rows: [String] = []
    for word in words {
      if let last = rows.last, indent + last.count + 1 + word.count <= columnsMax {
        rows[rows.count - 1] = last + " " + word
      } else {
        rows.append(word)
      }
    }
    return rows
  }
}
