/// The declarations of an interface, parsed from its text in Varlink's interface language.
public struct InterfaceDescription: Hashable, Sendable {
  /// The name in reverse DNS form, such as `org.taskschedd.Application`.
  public let name: String
  /// The lines of the comment directly above a declaration or a field, without `#`; empty if there
  /// is no comment.
  public typealias Comment = [String]
  public let comment: Comment
  /// The text of the interface, including comments. `GetInterfaceDescription` returns this text.
  public let text: String
  /// The types, in the order of the text. `methods` and `errors` are also in the order of the text.
  public let types: [TypeDeclaration]
  public let methods: [MethodDeclaration]
  public let errors: [ErrorDeclaration]

  /// A declaration `type Name (…)`.
  public struct TypeDeclaration: Hashable, Sendable {
    public let name: String
    public let comment: Comment
    /// The type: a `structure` or an `enumeration`.
    public let type: FieldType
  }

  /// A declaration `method Name(…) -> (…)`.
  public struct MethodDeclaration: Hashable, Sendable {
    public let name: String
    public let comment: Comment
    public let input: [Field]
    public let output: [Field]
  }

  /// A declaration `error Name (…)`.
  public struct ErrorDeclaration: Hashable, Sendable {
    public let name: String
    public let comment: Comment
    public let fields: [Field]
  }

  /// A field `name: type`.
  public struct Field: Hashable, Sendable {
    public let name: String
    public let comment: Comment
    public let type: FieldType

    public init(name: String, comment: Comment = [], type: FieldType) {
      self.name = name
      self.comment = comment
      self.type = type
    }
  }

  /// The type of a field.
  public indirect enum FieldType: Hashable, Sendable {
    case bool
    case int
    case float
    case string
    /// Any JSON object.
    case object
    /// Any JSON value.
    case any
    /// A type that the interface declares.
    case named(String)
    case array(of: FieldType)
    /// An object with any names, whose values all have one type.
    case dictionary(of: FieldType)
    /// A type whose values may be null or absent.
    case optional(FieldType)
    case structure([Field])
    case enumeration([String])
  }

  /// Parses the text of an interface. The thrown error names the line with the mistake.
  public init(text: String) throws(InterfaceTextError) {
    var parser = InterfaceParser(text)
    self = try parser.interface(text)
  }

  /// Parses the text of an interface of this project. The text is part of the program, so it must
  /// be valid.
  init(embedded text: [UInt8]) {
    let text = String(decoding: text, as: UTF8.self)
    do {
      try self.init(text: text)
    } catch {
      fatalError("the text of an interface of this project is not valid: \(error)")
    }
  }

  init(
    name: String, comment: Comment, text: String, types: [TypeDeclaration],
    methods: [MethodDeclaration], errors: [ErrorDeclaration]
  ) {
    self.name = name
    self.comment = comment
    self.text = text
    self.types = types
    self.methods = methods
    self.errors = errors
  }
}

/// An error in the text of an interface, and its line.
public struct InterfaceTextError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The line, counted from 1.
  public let line: Int
  /// The problem, as one sentence without a period.
  public let problem: String

  public var description: String { "line \(line): \(problem)" }
}
