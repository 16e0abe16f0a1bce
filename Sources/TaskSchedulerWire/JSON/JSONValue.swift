/// A JSON value as it stands in a message.
///
/// Numbers keep the difference that Varlink makes between `int` and `float`: only a number without
/// fraction and exponent that fits 64 bits is an `integer`; `1.0` is not.
public enum JSONValue: Hashable, Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSONValue])
  /// The members in the order of the text. The parser lets no name appear twice.
  case object([Member])

  /// One name and its value within an object.
  public struct Member: Hashable, Sendable {
    public var name: String
    public var value: JSONValue

    public init(name: String, value: JSONValue) {
      self.name = name
      self.value = value
    }
  }

  /// What the value is, in the words of error messages: "null", "a bool", "an int", …
  public var kind: String {
    switch self {
    case .null: "null"
    case .bool: "a bool"
    case .integer: "an int"
    case .number: "a float"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }

  /// The member of that name; nil where there is none, or where this is not an object.
  public subscript(name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.value(named: name)
  }
}

extension Array where Element == JSONValue.Member {
  /// The value of the member of that name. Objects in messages are small: a walk beats a table.
  @inlinable
  func value(named name: String) -> JSONValue? {
    for member in self where member.name == name {
      return member.value
    }
    return nil
  }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral,
  ExpressibleByFloatLiteral, ExpressibleByNilLiteral
{
  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(floatLiteral value: Double) { self = .number(value) }
  public init(nilLiteral: ()) { self = .null }
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(elements.map { Member(name: $0, value: $1) })
  }
}

extension JSONValue: CustomStringConvertible {
  /// The value as JSON text.
  public var description: String {
    var bytes: [UInt8] = []
    bytes.append(json: self)
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// Why a text is not the JSON that a message may hold, and where.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Offset of the offending byte from the start of the text.
  public let offset: Int
  /// What is wrong there, in one sentence without a full stop.
  public let problem: String

  public init(offset: Int, problem: String) {
    self.offset = offset
    self.problem = problem
  }

  public var description: String { "byte \(offset): \(problem)" }
}
