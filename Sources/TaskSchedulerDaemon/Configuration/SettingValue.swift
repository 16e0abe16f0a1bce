import TaskSchedulerCore
import TaskSchedulerWire

/// The kind of value that a setting takes.
public enum SettingKind: Hashable, Sendable {
  case timeSpan(ClosedRange<Duration>)
  case count(ClosedRange<Int>)
  case bytes(ClosedRange<Int>)
  case flag
  case choice([String])
  /// A group of the machine's account database, or empty for none.
  case groupName
  /// The id of an application, or empty for none.
  case applicationID
  /// Absolute paths of files.
  case paths
  /// A list of app ids or names of programs; with `allowsAll`, alternatively the string `all`.
  case programs(allowsAll: Bool)
  /// A list of ids of applications; with `allowsAll`, alternatively the string `all`.
  case applications(allowsAll: Bool)
  /// The absolute path of a Unix socket, or empty for none.
  case socketPath
}

/// A setting's value, valid for its kind.
public enum SettingValue: Hashable, Sendable, CustomStringConvertible {
  case timeSpan(Duration)
  case count(Int)
  case bytes(Int)
  case flag(Bool)
  case text(String)
  case paths([String])
  case names([String])

  /// The value as written in the file; without quotes, unless the value is a list.
  public var description: String {
    switch self {
    case .timeSpan(let span): TimeSpan.format(span)
    case .count(let count): String(count)
    case .bytes(let bytes): ByteCount.format(bytes)
    case .flag(let flag): flag ? "true" : "false"
    case .text(let text): text
    case .paths, .names: tomlText
    }
  }

  /// The value as written in the file.
  public var tomlText: String {
    switch self {
    case .count, .flag: description
    case .timeSpan, .bytes, .text: "\"\(description)\""
    case .paths(let texts), .names(let texts):
      "[\(texts.map { PrintableText.quotedWhole($0) }.joined(separator: ", "))]"
    }
  }
}

/// The reason why a value is refused: what is wrong, and what would be right.
public struct SettingRefusal: Error, Hashable, Sendable {
  public var message: String
}

extension SettingKind {
  /// Returns the value of a TOML node if it is valid for this kind of setting, and otherwise
  /// throws.
  public func value(of node: TOMLNode) throws(SettingRefusal) -> SettingValue {
    switch self {
    case .timeSpan(let bounds): .timeSpan(try Self.timeSpan(node, bounds))
    case .count(let bounds): .count(try Self.count(node, bounds))
    case .bytes(let bounds): .bytes(try Self.bytes(node, bounds))
    case .flag: .flag(try Self.flag(node))
    case .choice(let names): .text(try Self.choice(node, names))
    case .groupName: .text(try Self.groupName(node))
    case .applicationID: .text(try Self.applicationID(node))
    case .paths: .paths(try Self.paths(node))
    case .programs(let allowsAll): try Self.programs(node, allowsAll: allowsAll)
    case .applications(let allowsAll): try Self.applications(node, allowsAll: allowsAll)
    case .socketPath: .text(try Self.socketPath(node))
    }
  }

  private static func timeSpan(
    _ node: TOMLNode, _ bounds: ClosedRange<Duration>
  ) throws(SettingRefusal) -> Duration {
    let text: String
    switch node {
    case .string(let string): text = string
    case .integer(let seconds): text = String(seconds)
    // Swift prints the shortest text that reads back as the same number. For a valid time span, the
    // text has no exponent, so `TimeSpan.parse` can read it.
    case .number(let seconds): text = String(seconds)
    case .table, .array, .boolean, .date:
      throw SettingRefusal(
        message: "is \(node.kindName), not a time span; write one such as \"6s\" (systemd.time(7))")
    }
    let lowest = TimeSpan.format(bounds.lowerBound)
    let range = "from \(lowest) to \(TimeSpan.format(bounds.upperBound))"
    if text == "infinity" {
      throw SettingRefusal(message: "\"infinity\" is not allowed; use a time span \(range)")
    }
    guard let span = TimeSpan.parse(text) else {
      throw SettingRefusal(
        message: "\(quoted(text)) is not a time span; "
          + "write one such as \"6s\" or \"1min 30s\" (systemd.time(7))")
    }
    guard bounds.contains(span) else {
      throw SettingRefusal(
        message: "\(TimeSpan.format(span)) is out of range; use a value \(range)")
    }
    return span
  }

  private static func count(
    _ node: TOMLNode, _ bounds: ClosedRange<Int>
  ) throws(SettingRefusal) -> Int {
    let range = "from \(bounds.lowerBound) to \(bounds.upperBound)"
    guard case .integer(let count) = node else {
      throw SettingRefusal(
        message: "is \(node.kindName), not an integer; "
          + "use a number without quotes, \(range)")
    }
    guard bounds.contains(count) else {
      throw SettingRefusal(message: "\(count) is out of range; use a value \(range)")
    }
    return count
  }

  private static func bytes(
    _ node: TOMLNode, _ bounds: ClosedRange<Int>
  ) throws(SettingRefusal) -> Int {
    let count: Int?
    switch node {
    case .integer(let integer): count = integer
    case .string(let text): count = ByteCount.parse(text)
    case .table, .array, .number, .boolean, .date: count = nil
    }
    guard let count else {
      let found = if case .string(let text) = node { quoted(text) } else { node.kindName }
      throw SettingRefusal(
        message: "\(found) is not a number of bytes; write one such as "
          + "65536, \"64K\" or \"1M\"")
    }
    guard bounds.contains(count) else {
      throw SettingRefusal(
        message: "\(ByteCount.format(count)) is out of range; use a value from "
          + "\(ByteCount.format(bounds.lowerBound)) to \(ByteCount.format(bounds.upperBound))")
    }
    return count
  }

  private static func flag(_ node: TOMLNode) throws(SettingRefusal) -> Bool {
    guard case .boolean(let flag) = node else {
      throw SettingRefusal(
        message: "is \(node.kindName); write true or false, without quotes")
    }
    return flag
  }

  /// Returns one of the allowed names, or refuses the value with the nearest name as a suggestion.
  static func choice(_ node: TOMLNode, _ names: [String]) throws(SettingRefusal) -> String {
    let allowed = names.map { "\"\($0)\"" }.joined(separator: ", ")
    guard case .string(let name) = node else {
      throw SettingRefusal(message: "is \(node.kindName), not a string; write one of \(allowed)")
    }
    guard names.contains(name) else {
      let hint = nearestName(to: name, among: names).map { "; did you mean \"\($0)\"?" } ?? ""
      throw SettingRefusal(message: "\(quoted(name)) is not one of \(allowed)\(hint)")
    }
    return name
  }

  private static func paths(_ node: TOMLNode) throws(SettingRefusal) -> [String] {
    let right = "write absolute paths of files, such as [\"/var/lib/contacts.db\"]"
    guard case .array(let elements) = node else {
      throw SettingRefusal(message: "is \(node.kindName), not an array; \(right)")
    }
    guard elements.count <= 256 else {
      throw SettingRefusal(message: "has \(elements.count) paths; the maximum is 256")
    }
    var paths: [String] = []
    for element in elements {
      guard case .string(let path) = element else {
        throw SettingRefusal(message: "contains \(element.kindName); \(right)")
      }
      if let problem = problem(of: path) {
        throw SettingRefusal(message: "\(quoted(path)) \(problem); \(right)")
      }
      paths.append(path)
    }
    return paths
  }

  /// The maximum length of a path, in bytes (PATH_MAX without the terminating NUL).
  private static let pathMax = 4095

  /// Returns the reason why a text is not the path of a file; nil if it is.
  private static func problem(of path: String) -> String? {
    if !path.hasPrefix("/") { return "is not an absolute path" }
    if path.utf8.contains(0) { return "contains a NUL" }
    if path.contains(where: { "*?[".contains($0) }) { return "has wildcards" }
    guard path.utf8.count > pathMax else { return nil }
    return "has \(path.utf8.count) bytes, and a path has at most \(pathMax)"
  }

  private static func programs(
    _ node: TOMLNode, allowsAll: Bool
  ) throws(SettingRefusal) -> SettingValue {
    let right = "write names, such as [\"org.gnome.TextEditor\", \"mpv\"]"
      + (allowsAll ? ", or \"all\"" : "")
    if allowsAll, case .string("all") = node { return .text("all") }
    return .names(
      try names(node, right) { name throws(SettingRefusal) in
        let isName = (1...256).contains(name.utf8.count)
          && !name.unicodeScalars.contains { $0.properties.generalCategory == .control }
        guard isName else {
          throw SettingRefusal(
            message: "\(quoted(name)) is not the app id or name of a program; \(right)")
        }
        if allowsAll, name == "all" {
          throw SettingRefusal(message: "contains \"all\"; write adopt = \"all\" without brackets")
        }
      })
  }

  private static func applications(
    _ node: TOMLNode, allowsAll: Bool
  ) throws(SettingRefusal) -> SettingValue {
    let right = "write ids of applications, such as [\"org.example.navigator\"]"
      + (allowsAll ? ", or \"all\"" : "")
    if allowsAll, case .string("all") = node { return .text("all") }
    return .names(
      try names(node, right) { name throws(SettingRefusal) in
        if allowsAll, name == "all" {
          throw SettingRefusal(message: "contains \"all\"; write allow = \"all\" without brackets")
        }
        guard ApplicationID(name) != nil else {
          throw SettingRefusal(
            message: "\(quoted(name)) is not the id of an application; \(right)")
        }
      })
  }

  /// Returns the elements of an array of at most 256 strings.
  ///
  /// - Parameters:
  ///   - right: The part of a message that says what would be right.
  ///   - check: Throws if a string is not allowed.
  private static func names(
    _ node: TOMLNode, _ right: String, _ check: (String) throws(SettingRefusal) -> Void
  ) throws(SettingRefusal) -> [String] {
    guard case .array(let elements) = node else {
      throw SettingRefusal(message: "is \(node.kindName), not an array; \(right)")
    }
    guard elements.count <= 256 else {
      throw SettingRefusal(message: "has \(elements.count) names; the maximum is 256")
    }
    var names: [String] = []
    for element in elements {
      guard case .string(let name) = element else {
        throw SettingRefusal(message: "contains \(element.kindName); \(right)")
      }
      try check(name)
      names.append(name)
    }
    return names
  }

  /// The maximum length of the path of a Unix socket, in bytes (unix(7)).
  private static let socketPathMax = 107

  private static func socketPath(_ node: TOMLNode) throws(SettingRefusal) -> String {
    let right = "write an absolute path, such as \"/run/taskschedd/gpsd\", or \"\" for none"
    guard case .string(let path) = node else {
      throw SettingRefusal(message: "is \(node.kindName), not a string; \(right)")
    }
    if path.isEmpty { return path }
    guard path.hasPrefix("/"), path.utf8.contains(where: { $0 != UInt8(ascii: "/") }),
      !path.utf8.contains(0)
    else {
      throw SettingRefusal(message: "\(quoted(path)) is not an absolute path; \(right)")
    }
    guard path.utf8.count <= socketPathMax else {
      throw SettingRefusal(
        message: "has \(path.utf8.count) bytes; the path of a socket has at most \(socketPathMax)")
    }
    return path
  }

  private static func applicationID(_ node: TOMLNode) throws(SettingRefusal) -> String {
    let right = "write one such as \"org.example.phone\", or \"\" for none"
    guard case .string(let name) = node else {
      throw SettingRefusal(message: "is \(node.kindName), not a string; \(right)")
    }
    guard name.isEmpty || ApplicationID(name) != nil else {
      throw SettingRefusal(
        message: "\(quoted(name)) is not the id of an application; \(right)")
    }
    return name
  }

  private static func groupName(_ node: TOMLNode) throws(SettingRefusal) -> String {
    guard case .string(let name) = node else {
      throw SettingRefusal(
        message: "is \(node.kindName), not a string; write the name of a group, or \"\" for none")
    }
    // systemd-sysusers accepts only these names in its strict mode.
    let isName =
      name.utf8.count <= 31
      && name.unicodeScalars.enumerated().allSatisfy { index, scalar in
        switch scalar {
        case "a"..."z", "A"..."Z", "_": true
        case "0"..."9", "-": index > 0
        default: false
        }
      }
    guard isName else {
      throw SettingRefusal(
        message: "\(quoted(name)) is not the name of a group; use up to 31 letters, digits, - "
          + "and _, starting with a letter or _, or \"\" for none")
    }
    return name
  }
}

/// Returns the text in quotes, escaped for a message.
func quoted(_ text: String) -> String { PrintableText.quoted(text) }

/// Numbers of bytes in systemd's notation, with suffixes to base 1024.
public enum ByteCount {
  private static let units: [(suffix: Character, bytes: Int)] = [
    ("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10), ("B", 1),
  ]

  /// Returns the number for a text such as `65536`, `64K`, `1M` or `2G`; nil for other texts.
  public static func parse(_ text: String) -> Int? {
    let unit = units.first { $0.suffix == text.last }
    let digits = unit == nil ? text[...] : text.dropLast()
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let count = Int(digits)
    else { return nil }
    let (bytes, overflow) = count.multipliedReportingOverflow(by: unit?.bytes ?? 1)
    return overflow ? nil : bytes
  }

  /// Returns the number in the largest unit that divides it.
  public static func format(_ bytes: Int) -> String {
    let unit = units.first { bytes >= $0.bytes && bytes % $0.bytes == 0 && $0.bytes > 1 }
    return unit.map { "\(bytes / $0.bytes)\($0.suffix)" } ?? String(bytes)
  }
}
