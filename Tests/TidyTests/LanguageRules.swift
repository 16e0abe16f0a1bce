/// The rules for texts that people read: comments, messages, units and documents.
///
/// The word list does not apply to identifiers, so that a text can be corrected without a change of
/// code.
enum LanguageRules {
  static let functionLinesMax = 70

  /// The files and directories that the word list applies to.
  static let places = [
    ".ci",
    "ARCHITECTURE.md",
    "Benchmarks",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Chaos",
    "Examples",
    "Fuzz/Dictionaries",
    "Fuzz/README.md",
    "Fuzz/Sources",
    "Fuzz/ignore.txt",
    "Fuzz/probe",
    "Fuzz/run.py",
    "Makefile",
    "Package.swift",
    "README.md",
    "Sources/CLinux",
    "Sources/CPulse",
    "Sources/CSQLite",
    "Sources/CSystemd",
    "Sources/CXCB",
    "Sources/EventLoop",
    "Sources/LinuxSystem",
    "Sources/TaskSchedulerClient",
    "Sources/TaskSchedulerCore",
    "Sources/TaskSchedulerDaemon",
    "Sources/TaskSchedulerEventLog",
    "Sources/TaskSchedulerServiceLifecycle",
    "Sources/TaskSchedulerSession",
    "Sources/TaskSchedulerSimulation",
    "Sources/TaskSchedulerWire",
    "Sources/generate-interfaces",
    "Sources/taskctl",
    "Sources/taskschedd",
    "Sources/taskschedd-session",
    "Tests/FuzzTests",
    "Tests/IntegrationTests",
    "Tests/LinuxSystemTests",
    "Tests/Support",
    "Tests/SystemdTests",
    "Tests/TaskSchedulerClientTests",
    "Tests/TaskSchedulerCoreTests",
    "Tests/TaskSchedulerDaemonTests",
    "Tests/TaskSchedulerEventLogTests",
    "Tests/TaskSchedulerSessionTests",
    "Tests/TaskSchedulerSimulationTests",
    "Tests/TaskSchedulerWireTests",
    "Tests/TaskctlTests",
    "docs",
    "man",
    "scripts",
    "systemd",
  ]

  /// The files that may contain the word `nobody`, because they use the user account of this name.
  static let filesWithUserNobody: Set<String> = [
    "Tests/IntegrationTests/ManifestTests.swift",
    "Tests/IntegrationTests/PermissionTests.swift",
    "Tests/IntegrationTests/RefusedSignalTests.swift",
  ]

  /// The files that contain the names of stored cases and fields. In these files, the name
  /// `processor` is not an avoided word.
  private static let filesWithStoredNames: Set<String> = [
    "Sources/TaskSchedulerCore/Stored/StoredApplications.swift", "docs/event-log.md",
  ]

  /// The words and phrases to avoid, each with its replacement.
  static let words: [(avoided: String, better: String)] = [
    ("whoever", "the application, process, client or user"),
    ("whom", "the application, process, client or user"),
    ("nobody", "no application, process, client or user"),
    ("somebody", "an application, process, client or user"),
    ("folder", "directory"),
    ("folders", "directories"),
    ("processor", "CPU"),
    ("processors", "CPUs"),
    ("let run", "resume"),
    ("lets run", "resumes"),
    ("let go on", "resume"),
    ("goes on from", "takes over, recovers"),
    ("torn", "malformed"),
    ("made-up", "simulated"),
    ("house", "module, layer"),
    ("rooms", "modules, layers"),
    ("see there", "the name of the thing"),
    ("looked at", "read, examined, measured"),
    ("stood still", "were stopped"),
  ]

  /// Returns the problems in a file. `path` is relative to the package's root.
  static func violations(in path: String, text: String) -> [SourceRules.Violation] {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    var violations = path.hasSuffix(".swift") ? longFunctions(in: path, lines) : []
    guard places.contains(where: { path == $0 || path.hasPrefix($0 + "/") }) else {
      return violations
    }
    for (index, line) in lines.enumerated() {
      let prose = path.hasSuffix(".swift") ? self.prose(of: line) : line
      for (avoided, better) in words where contains(avoided, in: prose) {
        if avoided == "nobody", filesWithUserNobody.contains(path) { continue }
        if avoided == "processor", filesWithStoredNames.contains(path) { continue }
        violations.append(
          .init(path: path, line: index + 1, rule: "\"\(avoided)\": write \(better)"))
      }
    }
    return violations
  }

  /// Returns whether a word or phrase occurs in a text as a whole, in any case.
  static func contains(_ words: String, in text: String) -> Bool {
    func isLetter(_ character: Character?) -> Bool {
      character.map { $0.isLetter || $0.isNumber || $0 == "_" } ?? false
    }
    let text = text.lowercased()
    var rest = text[...]
    while let range = rest.firstRange(of: words) {
      let before = text[..<range.lowerBound].last
      let after = text[range.upperBound...].first
      if !isLetter(before), !isLetter(after) { return true }
      rest = rest[range.upperBound...]
    }
    return false
  }

  /// Returns the comment and the string literals of a line of Swift, without interpolations. A line
  /// of a multi-line literal counts as code, except for its parts in quotes.
  static func prose(of line: String) -> String {
    var prose = ""
    var depth = 0
    var isInString = false
    var last: Character = " "
    var rest = line[...]
    while let character = rest.popFirst() {
      if depth > 0 {
        if character == "(" { depth += 1 }
        if character == ")" { depth -= 1 }
      } else if isInString, last == "\\", character == "(" {
        depth = 1
      } else if character == "\"", last != "\\" {
        isInString.toggle()
        prose.append(" ")
      } else if isInString {
        prose.append(character)
      } else if character == "/", last == "/" {
        return prose + rest
      }
      last = character
    }
    return prose
  }

  /// Returns the functions and initializers with more than ``functionLinesMax`` lines.
  private static func longFunctions(in path: String, _ lines: [String]) -> [SourceRules.Violation] {
    var violations: [SourceRules.Violation] = []
    for (index, line) in lines.enumerated() where beginsFunction(line) {
      let indentation = line.prefix { $0 == " " }
      guard hasBody(lines[index...], String(indentation)),
        let end = lines[index...].firstIndex(where: { $0 == indentation + "}" })
      else { continue }
      let count = end - index + 1
      if count > functionLinesMax {
        violations.append(
          .init(
            path: path, line: index + 1,
            rule: "a function of \(count) lines; the maximum is \(functionLinesMax)"))
      }
    }
    return violations
  }

  /// Returns whether a declaration has a body, unlike the requirement of a protocol.
  private static func hasBody(_ lines: ArraySlice<String>, _ indentation: String) -> Bool {
    for (offset, line) in lines.enumerated() {
      let isSignature =
        offset == 0 || line.hasPrefix(indentation + " ") || line.hasPrefix(indentation + ")")
      if !isSignature { return false }
      if line.hasSuffix("{") { return true }
    }
    return false
  }

  private static func beginsFunction(_ line: String) -> Bool {
    let code = SourceRules.withoutComment(line)
    guard !SourceRules.trimmed(code).hasPrefix("}"), !code.hasSuffix("}") else { return false }
    return code.split(separator: " ").contains { word in
      word == "func" || word.hasPrefix("init(") || word.hasPrefix("init?(")
    }
  }
}
