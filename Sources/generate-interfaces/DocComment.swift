/// The comment of a declaration as documentation of Swift: paragraphs and lists, broken anew.
///
/// In a comment of an interface a list is indented by two spaces: each item begins with its names,
/// with commas between them, and goes on further in.
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
      // Else it would belong to the item.
      if case .item? = parts.last { parts.append(.blank) }
      parts.append(.paragraph(words))
    }
  }

  /// The names as code, and a colon between them and what is said of them.
  private static func item(_ words: [String]) -> [String] {
    let nameCount = 1 + words.prefix { $0.hasSuffix(",") }.count
    let names = words.prefix(nameCount).map { word in
      if word == "..." { return word }
      return word.hasSuffix(",") ? "`\(word.dropLast())`," : "`\(word)`"
    }
    if nameCount >= words.count { return names }
    return names.dropLast() + [names[names.count - 1] + ":"] + words.dropFirst(nameCount)
  }

  /// An item whose names have a line of their own gets its colon when more follows.
  private static func continued(_ item: [String]) -> [String] {
    let isNamesOnly = item.dropLast().allSatisfy { $0.hasSuffix("`,") }
    guard isNamesOnly, let last = item.last, last.hasSuffix("`") else { return item }
    return item.dropLast() + [last + ":"]
  }

  /// The lines of the documentation, of so many columns at most.
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
