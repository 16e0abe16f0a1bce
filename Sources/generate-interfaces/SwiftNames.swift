import TaskSchedulerWire

/// The reason why the generator cannot translate an interface into Swift.
struct GeneratorError: Error, CustomStringConvertible {
  let description: String
}

/// The Swift names of declarations.
enum SwiftNames {
  /// Returns `ApplicationInterface` for `org.taskschedd.Application`.
  static func type(of interface: String) -> String {
    let last = interface.split(separator: ".").last ?? ""
    return last.prefix(1).uppercased() + last.dropFirst() + "Interface"
  }

  /// Returns `beginBackgroundTask` for `BeginBackgroundTask`.
  static func member(_ name: String) -> String {
    escaped(name.prefix(1).lowercased() + name.dropFirst())
  }

  /// Returns a name, in back quotes if it is a keyword of Swift.
  static func escaped(_ name: String) -> String {
    words.contains(name) ? "`\(name)`" : name
  }

  private static let words: Set<String> = [
    "as", "break", "case", "catch", "class", "continue", "default", "defer", "do", "else", "enum",
    "extension", "fallthrough", "false", "for", "func", "guard", "if", "import", "in", "init",
    "inout", "internal", "is", "let", "nil", "operator", "private", "protocol", "public", "repeat",
    "return", "self", "static", "struct", "super", "switch", "throw", "throws", "true", "try",
    "typealias", "var", "where", "while",
  ]
}

extension InterfaceDescription.Field {
  var isOptional: Bool {
    if case .optional = type { return true }
    return false
  }

  /// Returns the Swift type of the field: `FileDescriptorIndex` for an int whose name ends in
  /// `FileDescriptor`.
  func swiftType() throws(GeneratorError) -> String {
    let plain = try swiftType(of: type)
    guard name.hasSuffix("FileDescriptor") else { return plain }
    switch type {
    case .int: return "FileDescriptorIndex"
    case .optional(.int): return "FileDescriptorIndex?"
    case .bool, .float, .string, .object, .any, .named, .array, .dictionary, .optional, .structure,
      .enumeration:
      throw GeneratorError(
        description: "the field '\(name)' is not an int; a field whose name ends in FileDescriptor "
          + "must be an int")
    }
  }

  private func swiftType(
    of type: InterfaceDescription.FieldType, isWithin: Bool = false
  ) throws(GeneratorError) -> String {
    switch type {
    case .bool: return "Bool"
    case .int: return "Int"
    case .float: return "Double"
    case .string: return "String"
    case .any: return "JSONValue"
    case .named(let name): return name
    case .array(let element): return "[\(try swiftType(of: element, isWithin: true))]"
    case .optional(let type) where !isWithin:
      return try swiftType(of: type, isWithin: true) + "?"
    case .optional, .object, .dictionary, .structure, .enumeration:
      throw GeneratorError(
        description: "the field '\(name)' has an unsupported type; declare a named type instead")
    }
  }
}
