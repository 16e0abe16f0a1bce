import TaskSchedulerWire

/// The Swift files of a set of interfaces.
///
/// If two interfaces declare the same type, the second one uses the Swift type of the first. A
/// program can therefore compare values of both interfaces, and pass a value of one interface to
/// the other.
struct InterfaceFiles {
  private let interfaces: [InterfaceDescription]
  /// The texts, by paths relative to the directory of generated files.
  private(set) var texts: [String: String] = [:]

  /// Generates the files.
  ///
  /// - Parameter interfaces: The interfaces; the owner of a shared type comes first.
  init(_ interfaces: [InterfaceDescription]) throws(GeneratorError) {
    self.interfaces = interfaces
    for interface in interfaces {
      try Self.requireComments(interface)
      try write(interface)
    }
  }

  /// Throws an error if a declaration has no comment. The Swift types are public, so they need doc
  /// comments.
  private static func requireComments(
    _ interface: InterfaceDescription
  ) throws(GeneratorError) {
    let declared =
      [(interface.name, interface.comment)] + interface.types.map { ($0.name, $0.comment) }
      + interface.methods.map { ($0.name, $0.comment) }
      + interface.errors.map { ($0.name, $0.comment) }
    for (name, comment) in declared where comment.isEmpty {
      throw GeneratorError(description: "\(interface.name): '\(name)' has no comment above it")
    }
  }

  private mutating func write(_ interface: InterfaceDescription) throws(GeneratorError) {
    let swiftName = SwiftNames.type(of: interface.name)
    try add(interface, swiftName) { (text) throws(GeneratorError) in
      try text.interface(interface, swiftName)
    }
    try addExtension(interface, "Failure") { (text) throws(GeneratorError) in
      try text.failure(interface)
    }
    try writeTypes(interface)
  }

  /// Writes a file for each structure. One more file contains the short types: enumerations,
  /// structures without fields, and types that an earlier interface declares.
  private mutating func writeTypes(_ interface: InterfaceDescription) throws(GeneratorError) {
    var short: [(InterfaceDescription.TypeDeclaration, owner: String?)] = []
    for type in interface.types {
      if let owner = firstOwner(of: type, before: interface) {
        short.append((type, owner))
      } else if case .structure(let fields) = type.type, !fields.isEmpty {
        try addExtension(interface, type.name) { (text) throws(GeneratorError) in
          text.documentation(type.comment)
          try text.structure(type.name, fields)
        }
      } else {
        short.append((type, nil))
      }
    }
    if short.isEmpty { return }
    try addExtension(interface, "Values") { (text) throws(GeneratorError) in
      for (index, entry) in short.enumerated() {
        if index > 0 { text.line() }
        try text.short(entry.0, owner: entry.owner)
      }
    }
  }

  /// Returns the Swift name of the first earlier interface that declares the same type.
  private func firstOwner(
    of type: InterfaceDescription.TypeDeclaration, before interface: InterfaceDescription
  ) -> String? {
    let earlier = interfaces.prefix { $0.name != interface.name }
    let owner = earlier.first { other in
      other.types.contains { $0.name == type.name && $0.type.isSame(as: type.type) }
    }
    return owner.map { SwiftNames.type(of: $0.name) }
  }

  // MARK: Files

  private mutating func addExtension(
    _ interface: InterfaceDescription, _ name: String,
    _ body: (inout SwiftText) throws(GeneratorError) -> Void
  ) throws(GeneratorError) {
    let swiftName = SwiftNames.type(of: interface.name)
    try add(interface, "\(swiftName)+\(name)") { (text) throws(GeneratorError) in
      try text.block("extension \(swiftName)", body)
    }
  }

  private mutating func add(
    _ interface: InterfaceDescription, _ name: String,
    _ body: (inout SwiftText) throws(GeneratorError) -> Void
  ) throws(GeneratorError) {
    var text = SwiftText()
    text.line("// Generated from \(interface.name).varlink by 'make interfaces'; not to be edited.")
    text.line()
    try body(&text)
    texts["\(SwiftNames.type(of: interface.name))/\(name).swift"] = text.text
  }
}

extension InterfaceDescription.FieldType {
  /// Returns whether two types are equal except for comments.
  func isSame(as other: InterfaceDescription.FieldType) -> Bool {
    guard case .structure(let fields) = self, case .structure(let others) = other else {
      return self == other
    }
    return fields.count == others.count
      && zip(fields, others).allSatisfy { $0.name == $1.name && $0.type == $1.type }
  }
}

extension SwiftText {
  /// Writes the interface itself: its name, its text and its methods.
  mutating func interface(
    _ interface: InterfaceDescription, _ swiftName: String
  ) throws(GeneratorError) {
    documentation(interface.comment)
    try block("public enum \(swiftName)") { (text) throws(GeneratorError) in
      text.line("public static let name = \"\(interface.name)\"")
      text.line()
      text.line("/// The contents of the `.varlink` file. Introspection returns its text.")
      text.line("public static let description = InterfaceDescription(")
      let resource = String(interface.name.map { $0 == "." ? "_" : $0 })
      text.line("  embedded: PackageResources.\(resource)_varlink)")
      text.line()
      text.line("/// The types of the methods.")
      text.list(
        "public static let methods: [any InterfaceMethod.Type] = [",
        interface.methods.map { "\($0.name).self" }, "]")
      text.line()
      try text.names(
        "MethodName", interface.methods.map(\.name), of: interface,
        "The full names of the methods, which identify calls.")
      // `ServerConnection` itself answers the methods of `org.varlink.service`.
      if !interface.name.hasPrefix("org.varlink.") {
        text.line()
        try text.implementation(interface)
      }
    }
    for method in interface.methods {
      line()
      try block("extension \(swiftName)") { (text) throws(GeneratorError) in
        try text.method(method, of: interface)
      }
    }
  }

  /// Writes the protocol `Implementation` for types that carry out the methods. Also writes the
  /// function that passes a received call to its method.
  private mutating func implementation(
    _ interface: InterfaceDescription
  ) throws(GeneratorError) {
    line(
      "/// A type that carries out the methods of the interface. A method replies to its caller, at"
    )
    line("/// once or later, or throws a ``MethodFailure``.")
    try block("public protocol Implementation") { (text) in
      text.line("/// The client that calls.")
      text.line("associatedtype Caller")
      text.line()
      for method in interface.methods {
        let name = SwiftNames.member(method.name)
        text.list(
          "func \(name)(", ["_ input: \(method.name).Input", "_ caller: Caller"], ") throws")
      }
    }
    line()
    line("/// Decodes the parameters of a call, and carries it out.")
    line("///")
    line("/// - Throws: ``ParameterError`` if the parameters are not those of the method.")
    line("public static func carryOut<Methods: Implementation>(")
    line("  _ method: MethodName, _ call: ReceivedCall, by methods: Methods,")
    line("  for caller: Methods.Caller")
    try block(") throws") { (text) throws(GeneratorError) in
      text.line("switch method {")
      for method in interface.methods {
        let name = SwiftNames.member(method.name)
        text.line("case .\(name):")
        try text.nested { (text) in
          text.list(
            "try methods.\(name)(", ["call.decode(\(method.name).Input.self)", "caller"], ")")
        }
      }
      text.line("}")
    }
  }

  private mutating func method(
    _ method: InterfaceDescription.MethodDeclaration, of interface: InterfaceDescription
  ) throws(GeneratorError) {
    documentation(method.comment)
    try block("public enum \(method.name): InterfaceMethod") { (text) throws(GeneratorError) in
      text.line("public static let name = \"\(interface.name).\(method.name)\"")
      text.line()
      try text.structure("Input", method.input)
      text.line()
      try text.structure("Output", method.output)
    }
  }

  mutating func short(
    _ type: InterfaceDescription.TypeDeclaration, owner: String?
  ) throws(GeneratorError) {
    documentation(type.comment)
    if let owner { return line("public typealias \(type.name) = \(owner).\(type.name)") }
    switch type.type {
    case .enumeration(let names): try enumeration(type.name, names)
    case .structure(let fields): try structure(type.name, fields)
    case .bool, .int, .float, .string, .object, .any, .named, .array, .dictionary, .optional:
      throw GeneratorError(
        description: "the type '\(type.name)' is neither a structure nor an enumeration")
    }
  }
}
