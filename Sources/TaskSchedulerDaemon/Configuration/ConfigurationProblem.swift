import TaskSchedulerCore

/// One mistake in a configuration file or a manifest, told so that a person can mend it.
public struct ConfigurationProblem: Hashable, Sendable, CustomStringConvertible {
  /// The path of the file (or folder) that the mistake is in.
  public var file: String
  /// The line, counted from 1; nil where the whole file is meant.
  public var line: Int?
  /// The key, with its table: `policy.CallbackTimeout`; nil where none is meant.
  public var key: String?
  /// What is wrong and what would be right.
  public var message: String

  public init(file: String, line: Int? = nil, key: String? = nil, message: String) {
    self.file = file
    self.line = line
    self.key = key
    self.message = message
  }

  /// `FILE:LINE: KEY: MESSAGE`, without what is not known.
  public var description: String {
    var text = PrintableText.of(file)
    if let line { text += ":\(line)" }
    if let key { text += ": \(PrintableText.of(key))" }
    return text + ": " + PrintableText.of(message)
  }
}

/// Where a setting's value came from.
public enum SettingSource: Hashable, Sendable, CustomStringConvertible {
  /// No file sets it.
  case builtIn
  case file(path: String, line: Int?)

  /// `FILE:LINE`, or `default`.
  public var description: String {
    switch self {
    case .builtIn: "default"
    case .file(let path, let line): PrintableText.of(path) + (line.map { ":\($0)" } ?? "")
    }
  }
}

extension Daemon {
  /// Returns text from outside fit for a terminal or a log: names of files, what was typed.
  public static func printable(_ text: String) -> String { PrintableText.of(text) }
}
