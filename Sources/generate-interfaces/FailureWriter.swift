import TaskSchedulerWire

extension SwiftText {
  /// Writes the errors of an interface as an enumeration with a case for each error.
  mutating func failure(_ interface: InterfaceDescription) throws(GeneratorError) {
    let errors = interface.errors
    line("/// An error of `\(interface.name)`, with its parameters.")
    try block("public enum Failure: InterfaceFailure") { (text) throws(GeneratorError) in
      for error in errors {
        text.documentation(error.comment)
        try text.failureCase(error)
      }
      text.line()
      try text.names("Name", errors.map(\.name), of: interface, "The full names of the errors.")
      text.line()
      text.line("public var name: String { errorName.rawValue }")
      text.line()
      try text.block("private var errorName: Name") { (text) throws(GeneratorError) in
        try text.cases(errors) { "case .\($0):" } body: { [".\($0.swiftName)"] }
      }
      text.line()
      try text.block("public func writeFields(to object: inout [UInt8])") {
        (text) throws(GeneratorError) in
        try text.cases(errors) { name in
          let error = errors.first { $0.swiftName == name }
          let names = (error?.fields ?? []).map { "let \(SwiftNames.escaped($0.name))" }
          return "case .\(name)\(names.isEmpty ? "" : "(\(names.joined(separator: ", ")))"):"
        } body: { error in
          error.fields.isEmpty ? ["break"] : error.fields.map { Self.writing($0) }
        }
      }
      text.line()
      try text.failureReading(errors)
    }
  }

  private mutating func failureCase(
    _ error: InterfaceDescription.ErrorDeclaration
  ) throws(GeneratorError) {
    if error.fields.isEmpty { return line("case \(error.swiftName)") }
    var parameters: [String] = []
    for field in error.fields {
      parameters.append("\(SwiftNames.escaped(field.name)): \(try field.swiftType())")
    }
    list("case \(error.swiftName)(", parameters, ")")
  }

  /// Writes a switch over all errors. A single statement follows its case on the same line if the
  /// line is short enough.
  private mutating func cases(
    _ errors: [InterfaceDescription.ErrorDeclaration], _ label: (String) -> String,
    body: (InterfaceDescription.ErrorDeclaration) -> [String]
  ) throws(GeneratorError) {
    line("switch self {")
    for error in errors {
      let label = label(error.swiftName)
      let statements = body(error)
      let whole = label + " " + statements[0]
      if statements.count == 1, whole.count <= Self.columnsMax - 6 {
        line(whole)
      } else {
        line(label)
        try nested { (text) in
          for statement in statements { text.line(statement) }
        }
      }
    }
    line("}")
  }

  private mutating func failureReading(
    _ errors: [InterfaceDescription.ErrorDeclaration]
  ) throws(GeneratorError) {
    try block("public init?(name: String, parameters: JSONValue) throws(ParameterError)") {
      (text) throws(GeneratorError) in
      text.line("guard let name = Name(rawValue: name) else { return nil }")
      text.line("let fields = try FieldReader(error: parameters)")
      text.line("switch name {")
      for error in errors {
        let label = "case .\(error.swiftName):"
        let fields = error.fields.map { "\($0.name): \(Self.reading($0))" }
        let value = fields.isEmpty ? "" : "(\(fields.joined(separator: ", ")))"
        let whole = "\(label) self = .\(error.swiftName)\(value)"
        if whole.count <= Self.columnsMax - 6 {
          text.line(whole)
        } else {
          text.line(label)
          try text.nested { (text) in text.list("self = .\(error.swiftName)(", fields, ")") }
        }
      }
      text.line("}")
    }
  }

  /// Writes an enumeration of the full names of some declarations of an interface.
  mutating func names(
    _ type: String, _ names: [String], of interface: InterfaceDescription, _ summary: String
  ) throws(GeneratorError) {
    line("/// \(summary)")
    try block("public enum \(type): String, CaseIterable, Sendable") { (text) in
      for name in names {
        text.assignment("case \(SwiftNames.member(name))", "\"\(interface.name).\(name)\"")
      }
    }
  }
}

extension InterfaceDescription.ErrorDeclaration {
  var swiftName: String { SwiftNames.member(name) }
}
