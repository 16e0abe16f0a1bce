import TOMLKit
import TaskSchedulerCore

/// A TOML value, taken out of the parser.
public indirect enum TOMLNode: Hashable, Sendable {
  case table([String: TOMLNode])
  case array([TOMLNode])
  case string(String)
  case integer(Int)
  case number(Double)
  case boolean(Bool)
  case date

  /// How a message calls it: "a string".
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

/// A parsed TOML file that knows on which line each key stands.
public struct TOMLDocument: Sendable {
  /// The path that problems name.
  public var file: String
  public var root: [String: TOMLNode]
  private var locator: TOMLKeyLocator

  /// Parses a file's bytes.
  ///
  /// - Returns: the document, or nil and every mistake that was found: a byte that is no UTF-8, a
  ///   NUL, keys given twice, and the first key of too many parts or thing that is no TOML.
  public static func parse(
    _ bytes: [UInt8], file: String
  ) -> (document: TOMLDocument?, problems: [ConfigurationProblem]) {
    if let problem = encodingProblem(bytes, file: file) { return (nil, [problem]) }
    let locator = TOMLKeyLocator(text: bytes)
    var problems = locator.nullEscapeLines.prefix(ProblemList.toldMax).map {
      ConfigurationProblem(
        file: file, line: $0, message: "a string holds an escaped NUL; take it out")
    }
    problems += ProblemList.rest(of: locator.nullEscapeLines.count, in: file)
    problems += locator.duplicates.prefix(ProblemList.toldMax).map {
      ConfigurationProblem(
        file: file, line: $0.line, key: $0.path.keyText,
        message: "is given again; it stands on line \($0.firstLine) already, keep one of the two")
    }
    problems += ProblemList.rest(of: locator.duplicates.count, in: file)
    if let fault = locator.fault {
      problems.append(
        ConfigurationProblem(
          file: file, line: fault.line,
          message: "column \(fault.column): this is not TOML: expected \(fault.expected)"))
    }
    if let key = locator.longKey {
      problems.append(
        ConfigurationProblem(
          file: file, line: key.line, key: key.path.keyText.prefix(60) + "…",
          message: "has more than \(TOMLKeyLocator.partsMax) parts (names joined by dots, tables "
            + "and arrays within each other); no key that is known has: take it out"))
    }
    // A NUL would cut short what TOMLKit hands out, and a wrong outline may end the process in it.
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
      // The parser stops at the first key given twice, which has been told of better above.
      if !locator.duplicates.contains(where: { $0.line == position.line }) {
        problems.append(
          ConfigurationProblem(
            file: file, line: position.line,
            message: "column \(position.column): this is not TOML: "
              + PrintableText.of(error.description)))
      }
    } catch {
      problems.append(ConfigurationProblem(file: file, message: "this is not TOML: \(error)"))
    }
    return (nil, problems)
  }

  /// The line of a key, or of the nearest table that holds it.
  public func line(of path: [TOMLPathComponent]) -> Int? { locator.line(of: path) }

  private static func encodingProblem(_ bytes: [UInt8], file: String) -> ConfigurationProblem? {
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      if line.contains(0) {
        return ConfigurationProblem(
          file: file, line: index + 1, message: "a NUL byte; the file must be text in UTF-8")
      }
      if String(validating: line, as: UTF8.self) == nil {
        return ConfigurationProblem(
          file: file, line: index + 1, message: "not UTF-8; save the file in that encoding")
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
  /// As a message names it: `policy.CallbackTimeout`, `command[1]`, `environment."A B"`.
  public var keyText: String {
    var text = ""
    for component in self {
      switch component {
      case .index(let index): text += "[\(index)]"
      case .key(let name):
        let isBare = !name.isEmpty && name.utf8.allSatisfy(TOMLKeyLocator.isBareKeyByte)
        // A key is somebody's text: what would break the line is shown escaped.
        text += (text.isEmpty ? "" : ".") + (isBare ? name : PrintableText.quotedWhole(name))
      }
    }
    return text
  }
}
