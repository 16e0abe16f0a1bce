/// Swift source text, with the indentation and the line breaks of the package's other sources.
struct SwiftText {
  static let columnsMax = 100

  private(set) var lines: [String] = []
  private var indent = 0

  /// The whole text, including the last line break.
  var text: String { lines.joined(separator: "\n") + "\n" }

  mutating func line(_ code: String = "") {
    lines.append(code.isEmpty ? "" : String(repeating: " ", count: indent) + code)
  }

  /// Adds `opening` with a brace, the lines of `body` with more indentation, and the closing brace.
  mutating func block(
    _ opening: String, _ body: (inout SwiftText) throws(GeneratorError) -> Void
  ) throws(GeneratorError) {
    line(opening + " {")
    try nested(body)
    line("}")
  }

  /// Indents the lines that `body` adds.
  mutating func nested(
    _ body: (inout SwiftText) throws(GeneratorError) -> Void
  ) throws(GeneratorError) {
    indent += 2
    try body(&self)
    indent -= 2
  }

  /// Adds items between two brackets, on one line if the line is short enough. On several lines,
  /// the last item of an array literal also gets a comma.
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

  /// Adds an assignment, on one line if the line is short enough.
  mutating func assignment(_ target: String, _ value: String) {
    let whole = "\(target) = \(value)"
    if indent + whole.count <= Self.columnsMax { return line(whole) }
    line("\(target) =")
    line("  \(value)")
  }

  /// Adds a doc comment.
  mutating func documentation(_ comment: [String]) {
    for row in DocComment(comment).rows(columns: Self.columnsMax - indent - "/// ".count) {
      line(row.isEmpty ? "///" : "/// " + row)
    }
  }

  /// Returns the words in rows. With the indentation, a row has at most `columnsMax` columns.
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
