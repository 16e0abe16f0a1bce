import TOMLKit
import TaskSchedulerCore

/// A TOML value, independent of the parser.
public indirect enum TOMLNode: Hashable, Sendable {
  case table([String: TOMLNode])
  case array([TOMLNode])
  case string(String)
  case integer(Int)
  case number(Double)
  case boolean(Bool)
  case date

  /// The name of the kind in a message: "a string".
  public var kindName: String {
    switch self {
    case .table: "a table"
    case .array: "an array"
    case .string: "a string"
    case .integer: "an integer"
    case .number: "a number with a fraction"
    case .boolean: "true or false"
    case .date: "a date or time"
    }
  }
}

/// A parsed TOML file with the line number of each key.
public struct TOMLDocument: Sendable {
  /// The path of the file, for messages.
  public var file: String
  public var root: [String: TOMLNode]
  private var locator: TOMLKeyLocator

  /// Parses the bytes of a file.
  ///
  /// - Returns: The document and no problems, or nil and the problems. If the file contains NULs or
  ///   invalid UTF-8, the function reports only the first of them. Otherwise, the search for
  ///   problems ends at the first syntax error or overlong key. Up to there, it finds all escaped
  ///   NULs and all duplicate keys; ``ProblemList`` describes how many of these are reported.
  public static func parse(
    _ bytes: [UInt8], file: String
  ) -> (document: TOMLDocument?, problems: [ConfigurationProblem]) {
    if let problem = encodingProblem(bytes, file: file) { return (nil, [problem]) }
    let locator = TOMLKeyLocator(text: bytes)
    var problems = locator.nullEscapeLines.prefix(ProblemList.toldMax).map {
      ConfigurationProblem(
        file: file, line: $0, message: "the string contains an escaped NUL; remove it")
    }
    problems += ProblemList.rest(of: locator.nullEscapeLines.count, in: file)
    problems += locator.duplicates.prefix(ProblemList.toldMax).map {
      ConfigurationProblem(
        file: file, line: $0.line, key: $0.path.keyText,
        message: "is a duplicate of line \($0.firstLine); remove one of the two")
    }
    problems += ProblemList.rest(of: locator.duplicates.count, in: file)
    if let fault = locator.fault {
      problems.append(
        ConfigurationProblem(
          file: file, line: fault.line,
          message: "column \(fault.column): invalid TOML: expected \(fault.expected)"))
    }
    if let key = locator.longKey {
      problems.append(
        ConfigurationProblem(
          file: file, line: key.line, key: key.path.keyText.prefix(60) + "…",
          message: "has more than \(TOMLKeyLocator.partsMax) parts (names joined by dots, nested "
            + "tables and arrays); no known key has that many; remove the key"))
    }
    // TOMLKit cuts strings at a NUL, and aborts on some malformed texts.
    guard locator.nullEscapeLines.isEmpty, locator.fault == nil, locator.longKey == nil else {
      return (nil, problems)
    }
    do {
      let table = try TOMLTable(string: String(decoding: bytes, as: UTF8.self))
      guard problems.isEmpty else { return (nil, problems) }
      let document = TOMLDocument(file: file, root: TOMLNode.members(of: table), locator: locator)
      return (document, [])
    } catch let error as TOMLParseError {
      let position = error.source.begin
      // The parser stops at the first duplicate key. The locator has already reported that key with
      // a better message.
      if !locator.duplicates.contains(where: { $0.line == position.line }) {
        problems.append(
          ConfigurationProblem(
            file: file, line: position.line,
            message: "column \(position.column): invalid TOML: "
              + PrintableText.of(error.description)))
      }
    } catch {
      problems.append(ConfigurationProblem(file: file, message: "invalid TOML: \(error)"))
    }
    return (nil, problems)
  }

  /// Returns the line of a key, or of the nearest table that contains it.
  public func line(of path: [TOMLPathComponent]) -> Int? { locator.line(of: path) }

  private static func encodingProblem(_ bytes: [UInt8], file: String) -> ConfigurationProblem? {
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      if line.contains(0) {
        return ConfigurationProblem(
          file: file, line: index + 1, message: "contains a NUL byte; the file must be UTF-8 text")
      }
      if String(validating: line, as: UTF8.self) == nil {
        return ConfigurationProblem(
          file: file, line: index + 1, message: "is not UTF-8; save the file in that encoding")
      }
    }
    return nil
  }
}

extension TOMLNode {
  fileprivate static func members(of table: TOMLTable) -> [String: TOMLNode] {
    var members: [String: TOMLNode] = [:]
    for key in table.keys {
      if let value = table[key] { members[key] = TOMLNode(value) }
    }
    return members
  }

  fileprivate init(_ value: any TOMLValueConvertible) {
    switch value.type {
    case .table: self = .table(value.table.map(Self.members) ?? [:])
    case .array:
      guard let array = value.array else {
        self = .array([])
        return
      }
      self = .array((0..<array.count).map { TOMLNode(array[$0]) })
    case .string: self = .string(value.string ?? "")
    case .int: self = .integer(value.int ?? 0)
    case .double: self = .number(value.double ?? 0)
    case .bool: self = .boolean(value.bool ?? false)
    case .date, .time, .dateTime: self = .date
    }
  }
}

extension [TOMLPathComponent] {
  /// The path as messages write it: `policy.CallbackTimeout`, `command[1]`, `environment."A B"`.
  public var keyText: String {
    var text = ""
    for component in self {
      switch component {
      case .index(let index): text += "[\(index)]"
      case .key(let name):
        let isBare = !name.isEmpty && name.utf8.allSatisfy(TOMLKeyLocator.isBareKeyByte)
        // Keys come from the file: control characters must be escaped.
        text += (text.isEmpty ? "" : ".") + (isBare ? name : PrintableText.quotedWhole(name))
      }
    }
    return text
  }
}
