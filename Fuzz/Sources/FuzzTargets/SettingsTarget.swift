import TaskSchedulerDaemon

/// A file `taskschedd.toml`. The parser must either refuse the file with problems that are safe to
/// log, or return settings that are unchanged after writing and reading them again.
enum SettingsTarget {
  static func run(_ input: UnsafeRawBufferPointer) throws {
    let bytes = Array(input)
    let (configuration, problems) = Configuration.parse(bytes, file: "taskschedd.toml")
    if !problems.isEmpty { return try ProblemCheck.run(problems, of: bytes) }
    let text = SettingDescription.Section.allCases.map { section in
      let settings = SettingDescription.all.filter { $0.section == section }
      let lines = settings.map { "\($0.name) = \($0.tomlText(in: configuration))\n" }.joined()
      return section == .daemon ? lines : "[\(section.rawValue)]\n\(lines)"
    }.joined()
    let (again, refused) = Configuration.parse(Array(text.utf8), file: "written.toml")
    try require(refused.isEmpty, "the written settings are refused: \(refused)")
    for setting in SettingDescription.all {
      let value = setting.value(in: configuration)
      try require(
        setting.value(in: again) == value,
        "\(setting.name) = \(value) changed when it was written and read")
    }
  }
}

/// Checks that each problem is safe to print, and that the file has the line that the problem
/// names.
enum ProblemCheck {
  static func run(_ problems: [ConfigurationProblem], of bytes: [UInt8]) throws {
    let lineCount = 1 + bytes.count { $0 == 0x0A }
    for problem in problems {
      try require(!problem.message.isEmpty, "the problem has no message")
      if let line = problem.line {
        try require((1...lineCount).contains(line), "line \(line) of \(lineCount): \(problem)")
      }
      try require(
        isPrintable(problem.description),
        "the problem contains unprintable characters: \(String(reflecting: problem.description))")
    }
  }

  /// Whether a text contains no character that breaks a line, controls a terminal or changes the
  /// writing direction.
  static func isPrintable(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy {
      switch $0.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator: false
      default: true
      }
    }
  }
}
