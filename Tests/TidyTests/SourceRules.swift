/// The rules for sources, which tests check without a compiler (see ARCHITECTURE.md).
enum SourceRules {
  static let columnsMax = 100
  static let linesMax = 500

  /// The modules that each target may import. No target may import the full Foundation.
  static let imports: [String: Set<String>] = [
    "TaskSchedulerCore": ["DequeModule", "HeapModule"],
    "TaskSchedulerWire": ["Glibc"],
    "generate-interfaces": ["FoundationEssentials", "TaskSchedulerWire"],
    "TaskSchedulerEventLog": ["TaskSchedulerCore"],
    "LinuxSystem": ["CLinux", "FoundationEssentials", "Glibc"],
    "EventLoop": ["CSystemd", "Glibc", "LinuxSystem"],
    "TaskSchedulerClient": [
      "Dispatch", "FoundationEssentials", "Glibc", "LinuxSystem", "Synchronization",
      "TaskSchedulerWire",
    ],
    "TaskSchedulerServiceLifecycle": ["ServiceLifecycle", "TaskSchedulerClient"],
    "TaskSchedulerDaemon": [
      "CLinux", "CSQLite", "CSystemd", "DequeModule", "EventLoop", "Glibc", "LinuxSystem",
      "TOMLKit", "TaskSchedulerCore", "TaskSchedulerEventLog", "TaskSchedulerWire",
    ],
    "TaskSchedulerSession": [
      "CPulse", "CXCB", "EventLoop", "Glibc", "LinuxSystem", "TaskSchedulerWire",
    ],
    "taskschedd": ["ArgumentParser", "FoundationEssentials", "Glibc", "TaskSchedulerDaemon"],
    "taskschedd-session": [
      "ArgumentParser", "EventLoop", "Glibc", "LinuxSystem", "TaskSchedulerSession",
      "TaskSchedulerWire",
    ],
    "taskctl": [
      "ArgumentParser", "FoundationEssentials", "Glibc", "LinuxSystem", "TaskSchedulerClient",
      "TaskSchedulerCore", "TaskSchedulerEventLog", "TaskSchedulerSimulation", "TaskSchedulerWire",
    ],
    "TaskSchedulerSimulation": ["HeapModule", "TaskSchedulerCore", "TaskSchedulerEventLog"],
  ]

  /// Modules that only the files of one directory may import. The value is the directory.
  static let placeOfModule = ["CSQLite": "Sources/TaskSchedulerDaemon/Storage/"]

  /// The targets whose results depend only on their input, and not on a clock, randomness or the
  /// environment.
  static let pureTargets: Set<Substring> = ["TaskSchedulerCore", "TaskSchedulerSimulation"]

  /// Words whose occurrence shows that a source uses a clock, randomness or the environment.
  static let wordsForbiddenInCore = ["now()", "random", "Date(", "sleep", "getenv", "Task {"]

  /// A violation of a rule, with its place.
  struct Violation: Hashable, CustomStringConvertible {
    let path: String
    let line: Int
    let rule: String
    var description: String { "\(path):\(line): \(rule)" }
  }

  /// Returns the violations in a file. `path` is relative to the package's root.
  static func violations(in path: String, text: String) -> [Violation] {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    var violations: [Violation] = []
    func report(_ index: Int, _ rule: String) {
      violations.append(Violation(path: path, line: index + 1, rule: rule))
    }
    let lineCount = lines.last == "" ? lines.count - 1 : lines.count
    if lineCount > linesMax, !path.contains("/Generated/") {
      report(linesMax, "\(lineCount) lines; a file has \(linesMax) at most")
    }
    for (index, line) in lines.enumerated() {
      if line.count > columnsMax, !isVerbatim(line, in: path) {
        report(index, "\(line.count) columns; a line has \(columnsMax) at most")
      }
      for mark in unfinishedMarks where contains(mark, in: line) {
        report(index, "\(mark): open an issue instead of a comment")
      }
      if path.hasSuffix(".swift") {
        for rule in swiftRules(path, lines, index) { report(index, rule) }
      }
    }
    return violations
  }

  /// Returns whether a line of a test consists of a protocol message in a transcript or a literal.
  /// Such a line may exceed ``columnsMax``, because a message must stay on one line.
  private static func isVerbatim(_ line: String, in path: String) -> Bool {
    let text = trimmed(line)
    return path.hasPrefix("Tests/") && ["< {", "> {", "#\"{"].contains { text.hasPrefix($0) }
  }

  /// The marks of unfinished work. Each is divided into two parts, so that this file does not
  /// violate the rule.
  private static let unfinishedMarks = ["TO" + "DO", "FIX" + "ME"]

  private static func swiftRules(_ path: String, _ lines: [String], _ index: Int) -> [String] {
    let parts = path.split(separator: "/")
    let isSource = parts.first == "Sources" && parts.count > 2
    let code = withoutComment(lines[index])
    var rules: [String] = []
    if let module = importedModule(code) {
      if module == "Foundation" {
        rules.append("imports Foundation; use FoundationEssentials")
      } else if isSource, !(imports[String(parts[1])] ?? []).contains(module) {
        rules.append("\(parts[1]) may not import \(module)")
      } else if isSource, let place = placeOfModule[module], !path.hasPrefix(place) {
        rules.append("imports \(module), which only \(place)*.swift may")
      }
    }
    if isSource, pureTargets.contains(parts[1]) {
      for word in wordsForbiddenInCore where contains(word, in: code) {
        rules.append("\(parts[1]) may not use \(word)")
      }
    }
    if isSource, isDefault(code), selectsCases(lines, index) {
      rules.append("a switch over an enum must list the cases, without default: or case _")
    }
    if isSource, needsDocumentation(code), !isDocumented(lines, index) {
      rules.append("public declaration without a doc comment")
    }
    return rules
  }

  private static func isDefault(_ code: String) -> Bool {
    let code = trimmed(code)
    return code.hasPrefix("default:") || code.hasPrefix("case _:")
  }

  /// Returns whether the `switch` statement around a line selects cases of an enum. Such a
  /// statement has a pattern like `case .done` or `case (_, .done)`.
  private static func selectsCases(_ lines: [String], _ index: Int) -> Bool {
    let depth = lines[index].count - trimmed(lines[index]).count
    for line in lines[..<index].reversed() {
      let code = trimmed(withoutComment(line))
      guard !code.isEmpty, line.count - trimmed(line).count <= depth else { continue }
      guard code.hasPrefix("case ") else { return false }
      let pattern = code.dropFirst(5).split(separator: ":")[0]
      for part in pattern.split(separator: ",") {
        let first = part.drop { " (".contains($0) }
        let bare = first.hasPrefix("let ") ? first.dropFirst(4) : first
        if bare.first == ".", bare.dropFirst().first?.isLetter == true { return true }
      }
    }
    return false
  }

  // MARK: Reading Swift

  static func trimmed(_ line: String) -> String {
    String(line.drop { $0 == " " })
  }

  /// Returns a line without its comment. In a string, `//` does not begin a comment.
  static func withoutComment(_ line: String) -> String {
    var code = ""
    var isInString = false
    for character in line {
      if character == "\"", code.last != "\\" { isInString.toggle() }
      if character == "/", code.last == "/", !isInString { return String(code.dropLast()) }
      code.append(character)
    }
    return code
  }

  /// Returns whether `word` occurs in a line. The end of a longer name does not count.
  static func contains(_ word: String, in line: String) -> Bool {
    var rest = line[...]
    var before: Character = " "
    while !rest.isEmpty {
      if rest.hasPrefix(word), !(before.isLetter || before.isNumber || before == "_") {
        return true
      }
      before = rest.removeFirst()
    }
    return false
  }

  /// Returns the module that a line imports. For `import struct M.Name`, this is M.
  static func importedModule(_ code: String) -> String? {
    var words = code.split(separator: " ")
    while let first = words.first,
      first.hasPrefix("@") || ["public", "package", "internal", "private", "fileprivate"]
        .contains(first)
    {
      words.removeFirst()
    }
    guard words.first == "import", words.count >= 2 else { return nil }
    let kinds: Set<Substring> = [
      "struct", "class", "enum", "protocol", "func", "var", "let", "typealias",
    ]
    let path = kinds.contains(words[1]) && words.count > 2 ? words[2] : words[1]
    return path.split(separator: ".").first.map(String.init)
  }

  /// The names of declarations that need no doc comment, because a protocol of the standard library
  /// or of the generated interface types requires and documents them. An operator has an empty name
  /// here.
  private static let witnesses: Set<Substring> = [
    "", "encode", "hash", "makeAsyncIterator", "next", "run", "Input", "Output", "write",
    "writeFields", "writeParameters",
  ]

  /// Returns whether a line declares a public type or function, which needs a doc comment.
  /// Properties and initializers do not need one.
  private static func needsDocumentation(_ code: String) -> Bool {
    var words = trimmed(code).split(separator: " ")
    guard words.first == "public" || words.first == "open" else { return false }
    let modifiers: Set<Substring> = [
      "public", "open", "static", "class", "final", "mutating", "consuming", "borrowing",
      "indirect", "nonisolated", "override", "convenience",
    ]
    while words.count > 2, modifiers.contains(words[0]),
      words[0] != "class" || words[1] == "func" || words[1] == "var"
    {
      words.removeFirst()
    }
    guard words.count > 1 else { return false }
    let types: Set<Substring> = ["struct", "enum", "class", "protocol", "actor", "typealias"]
    guard types.contains(words[0]) || words[0] == "func" else { return false }
    return !witnesses.contains(words[1].prefix { $0.isLetter || $0.isNumber || $0 == "_" })
  }

  /// Returns whether a doc comment ends directly above a declaration. There may be attributes
  /// between the comment and the declaration.
  private static func isDocumented(_ lines: [String], _ index: Int) -> Bool {
    var above = index - 1
    while above >= 0, trimmed(lines[above]).hasPrefix("@") { above -= 1 }
    guard above >= 0 else { return false }
    let line = trimmed(lines[above])
    return line.hasPrefix("///") || line.hasSuffix("*/")
  }
}
