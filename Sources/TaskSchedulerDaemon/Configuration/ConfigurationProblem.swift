import TaskSchedulerCore

/// A problem in a configuration file or a manifest.
public struct ConfigurationProblem: Hashable, Sendable, CustomStringConvertible {
  /// The path of the file or directory that contains the problem.
  public var file: String
  /// The line, counted from 1; nil if the problem concerns the whole file.
  public var line: Int?
  /// The key with its table, like `policy.CallbackTimeout`; nil if the problem concerns no key.
  public var key: String?
  /// A sentence that says what is wrong and what would be right.
  public var message: String

  public init(file: String, line: Int? = nil, key: String? = nil, message: String) {
    self.file = file
    self.line = line
    self.key = key
    self.message = message
  }

  /// `FILE:LINE: KEY: MESSAGE`, without the parts that are nil.
  public var description: String {
    var text = PrintableText.of(file)
    if let line { text += ":\(line)" }
    if let key { text += ": \(PrintableText.of(key))" }
    return text + ": " + PrintableText.of(message)
  }
}

/// The source of a setting's value.
public enum SettingSource: Hashable, Sendable, CustomStringConvertible {
  /// The built-in default; no file sets the value.
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
  /// Returns the text escaped for a terminal or a log.
  public static func printable(_ text: String) -> String { PrintableText.of(text) }
}
