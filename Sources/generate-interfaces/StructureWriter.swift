import TaskSchedulerWire

extension SwiftText {
  typealias Field = InterfaceDescription.Field

  /// Writes a structure with its fields and the functions that decode and encode them. A structure
  /// without fields becomes an alias of `NoFields`.
  mutating func structure(_ name: String, _ fields: [Field]) throws(GeneratorError) {
    if fields.isEmpty { return line("public typealias \(name) = NoFields") }
    try block("public struct \(name): WireStructure") { (text) throws(GeneratorError) in
      for field in fields {
        text.documentation(field.comment)
        text.line("public var \(SwiftNames.escaped(field.name)): \(try field.swiftType())")
      }
      text.line()
      text.list("public static let fieldNames = [", fields.map { "\"\($0.name)\"" }, "]")
      text.line()
      try text.memberwiseInitializer(fields)
      text.line()
      try text.reading(fields)
      text.line()
      try text.writing(fields)
    }
  }

  private mutating func memberwiseInitializer(_ fields: [Field]) throws(GeneratorError) {
    var parameters: [String] = []
    for field in fields {
      let type = try field.swiftType()
      let value = field.isOptional ? " = nil" : ""
      parameters.append("\(SwiftNames.escaped(field.name)): \(type)\(value)")
    }
    list("public init(", parameters, ") {")
    try nested { (text) in
      for field in fields {
        text.line("self.\(field.name) = \(SwiftNames.escaped(field.name))")
      }
    }
    line("}")
  }

  private mutating func reading(_ fields: [Field]) throws(GeneratorError) {
    try block("public init(_ fields: FieldReader) throws(ParameterError)") { (text) in
      for field in fields {
        text.line("\(SwiftNames.escaped(field.name)) = \(Self.reading(field))")
      }
    }
  }

  static func reading(_ field: Field) -> String {
    "try fields.\(field.isOptional ? "optional" : "required")(\"\(field.name)\")"
  }

  private mutating func writing(_ fields: [Field]) throws(GeneratorError) {
    try block("public func writeFields(to object: inout [UInt8])") { (text) in
      for field in fields { text.line(Self.writing(field)) }
    }
  }

  static func writing(_ field: Field) -> String {
    "object.append(field: \"\(field.name)\", \(SwiftNames.escaped(field.name)))"
  }

  /// Writes an enumeration, on one line if the line is short enough.
  mutating func enumeration(_ name: String, _ names: [String]) throws(GeneratorError) {
    try block("public enum \(name): String, WireEnumeration") { (text) in
      let cases = names.map { SwiftNames.escaped($0) }
      let whole = "case " + cases.joined(separator: ", ")
      if whole.count <= Self.columnsMax - 4 { return text.line(whole) }
      for name in cases { text.line("case \(name)") }
    }
  }
}
