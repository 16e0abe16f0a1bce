/// A JSON value of a message.
///
/// Numbers keep Varlink's distinction between `int` and `float`. A number is an `integer` only if
/// it has no fraction and no exponent and fits into 64 bits; `1.0` is not an integer.
public enum JSONValue: Hashable, Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSONValue])
  /// The members in the order of the text. The parser refuses a name that appears twice.
  case object([Member])

  /// A name and its value in an object.
  public struct Member: Hashable, Sendable {
    public var name: String
    public var value: JSONValue

    public init(name: String, value: JSONValue) {
      self.name = name
      self.value = value
    }
  }

  /// The kind of the value in error messages: "null", "a bool", "an int", …
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

  /// Returns the value of the member with this name; nil if there is no such member, or if this
  /// value is not an object.
  public subscript(name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.value(named: name)
  }
}

extension Array where Element == JSONValue.Member {
  /// Returns the value of the member with this name. Objects in messages are small, so a linear
  /// search is faster than a table.
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

/// The reason why a text is not valid JSON for a message, and the place of the mistake.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The offset of the wrong byte from the start of the text.
  public let offset: Int
  /// The problem at that place, as one sentence without a period.
  public let problem: String

  public init(offset: Int, problem: String) {
    self.offset = offset
    self.problem = problem
  }

  public var description: String { "byte \(offset): \(problem)" }
}
