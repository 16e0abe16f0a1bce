/// What an interface declares, read from its text in Varlink's interface language.
public struct InterfaceDescription: Hashable, Sendable {
  /// Reverse-DNS, as `org.taskschedd.Application`.
  public let name: String
  /// The lines of the comment right above a declaration or a field, without their marks; empty
  /// where there is none.
  public typealias Comment = [String]
  public let comment: Comment
  /// The text it was read from, comments and all: what introspection serves.
  public let text: String
  /// In the order of the text, as are the others.
  public let types: [TypeDeclaration]
  public let methods: [MethodDeclaration]
  public let errors: [ErrorDeclaration]

  /// `type Name (…)`.
  public struct TypeDeclaration: Hashable, Sendable {
    public let name: String
    public let comment: Comment
    /// A `structure` or an `enumeration`.
    public let type: FieldType
  }

  /// `method Name(…) -> (…)`.
  public struct MethodDeclaration: Hashable, Sendable {
    public let name: String
    public let comment: Comment
    public let input: [Field]
    public let output: [Field]
  }

  /// `error Name (…)`.
  public struct ErrorDeclaration: Hashable, Sendable {
    public let name: String
    public let comment: Comment
    public let fields: [Field]
  }

  /// `name: type`.
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
    /// An object whose names are free and whose values are all of one type.
    case dictionary(of: FieldType)
    /// May be null or absent.
    case optional(FieldType)
    case structure([Field])
    case enumeration([String])
  }

  /// Reads the text of an interface; the error names the line.
  public init(text: String) throws(InterfaceTextError) {
    var parser = InterfaceParser(text)
    self = try parser.interface(text)
  }

  /// Reads the text of one of our own interfaces, which is part of the program and must parse.
  init(embedded text: [UInt8]) {
    let text = String(decoding: text, as: UTF8.self)
    do {
      try self.init(text: text)
    } catch {
      fatalError("the text of an interface of our own does not parse: \(error)")
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

/// Why a text is not an interface, and in which line.
public struct InterfaceTextError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Counted from 1.
  public let line: Int
  /// One sentence without a full stop.
  public let problem: String

  public var description: String { "line \(line): \(problem)" }
}
