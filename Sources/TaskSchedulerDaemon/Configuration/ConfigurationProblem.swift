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
    var text = file
    if let line { text += ":\(line)" }
    if let key { text += ": \(key)" }
    return text + ": " + message
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
    case .file(let path, let line): line.map { "\(path):\($0)" } ?? path
    }
  }
}
