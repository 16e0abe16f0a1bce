/// Converts the comment of a Varlink declaration into a Swift doc comment with new line breaks.
///
/// In a Varlink comment, the items of a list are indented by two spaces. Each item begins with one
/// or more names, separated by commas. Further lines of the item are indented by more than two
/// spaces.
struct DocComment {
  private enum Part {
    case paragraph([String])
    case item([String])
    case blank
  }

  private var parts: [Part] = []

  init(_ lines: [String]) {
    for line in lines { add(line) }
  }

  private mutating func add(_ line: String) {
    let words = line.split(separator: " ").map(String.init)
    let indent = line.prefix { $0 == " " }.count
    if words.isEmpty {
      parts.append(.blank)
    } else if indent == 2 {
      parts.append(.item(Self.item(words)))
    } else if indent > 2, case .item(let before)? = parts.last {
      parts[parts.count - 1] = .item(Self.continued(before) + words)
    } else if case .paragraph(let before)? = parts.last {
      parts[parts.count - 1] = .paragraph(before + words)
    } else {
      // Without the blank line, Markdown would make the paragraph a part of the item.
      if case .item? = parts.last { parts.append(.blank) }
      parts.append(.paragraph(words))
    }
  }

  /// Returns the words of an item, with its names as code and a colon before the description.
  private static func item(_ words: [String]) -> [String] {
    let nameCount = 1 + words.prefix { $0.hasSuffix(",") }.count
    let names = words.prefix(nameCount).map { word in
      if word == "..." { return word }
      return word.hasSuffix(",") ? "`\(word.dropLast())`," : "`\(word)`"
    }
    if nameCount >= words.count { return names }
    return names.dropLast() + [names[names.count - 1] + ":"] + words.dropFirst(nameCount)
  }

  /// Returns the words of an item that continues on another line. If the item has only names so
  /// far, adds the colon before the description.
  private static func continued(_ item: [String]) -> [String] {
    let isNamesOnly = item.dropLast().allSatisfy { $0.hasSuffix("`,") }
    guard isNamesOnly, let last = item.last, last.hasSuffix("`") else { return item }
    return item.dropLast() + [last + ":"]
  }

  /// Returns the lines of the doc comment, broken at a number of columns.
  func rows(columns: Int) -> [String] {
    let indent = SwiftText.columnsMax - columns
    return parts.flatMap { part -> [String] in
      switch part {
      case .blank: [""]
      case .paragraph(let words): SwiftText.rows(words, indent)
      case .item(let words):
        SwiftText.rows(words, indent + 2).enumerated().map { ($0 == 0 ? "- " : "  ") + $1 }
      }
    }
  }
}
