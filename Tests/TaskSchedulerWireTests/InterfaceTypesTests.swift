import Testing

@testable import TaskSchedulerWire

@Suite("The Swift types of the interfaces match the .varlink files")
struct InterfaceTypesTests {
  private typealias Field = InterfaceDescription.Field
  private static let ours = [
    ApplicationInterface.description, ControlInterface.description, SessionInterface.description,
  ]

  // MARK: - Methods

  @Test("A method's input and output are read and written as declared, with or without options")
  func methods() throws {
    try check(ApplicationInterface.description, ApplicationInterface.methods)
    try check(ControlInterface.description, ControlInterface.methods)
    try check(SessionInterface.description, SessionInterface.methods)
    try check(ServiceInterface.description, ServiceInterface.methods)
  }

  private func check(
    _ interface: InterfaceDescription, _ methods: [any InterfaceMethod.Type]
  ) throws {
    #expect(methods.map { $0.name } == interface.methods.map { "\(interface.name).\($0.name)" })
    for (method, swift) in zip(interface.methods, methods) {
      try checkMethod(swift, method, interface)
    }
  }

  private func checkMethod<Method: InterfaceMethod>(
    _ swift: Method.Type, _ method: InterfaceDescription.MethodDeclaration,
    _ interface: InterfaceDescription
  ) throws {
    try check(Method.Input.self, method.input, interface, "\(method.name) in")
    try check(Method.Output.self, method.output, interface, "\(method.name) out")
  }

  private func check<Structure: WireStructure>(
    _ swift: Structure.Type, _ fields: [Field], _ interface: InterfaceDescription, _ place: String
  ) throws {
    #expect(Structure.fieldNames == fields.map(\.name), "\(place)")
    for isFull in [true, false] {
      let descriptors = fields.count {
        if case .optional = $0.type, !isFull { return false }
        return $0.name.hasSuffix("FileDescriptor")
      }
      let json = try sample(fields, interface, isFull: isFull)
      let value = try Structure(
        parameters: json, fileDescriptorCount: descriptors, unknownFields: .refused)
      var text: [UInt8] = []
      value.write(to: &text)
      #expect(String(decoding: text, as: UTF8.self) == json.description, "\(place)")
    }
  }

  // MARK: - Values

  /// Returns an object with a sample value for each field. The object has the optional fields only
  /// if `isFull` is true.
  private func sample(
    _ fields: [Field], _ interface: InterfaceDescription, isFull: Bool
  ) throws -> JSONValue {
    var members: [JSONValue.Member] = []
    for field in fields {
      if case .optional = field.type, !isFull { continue }
      members.append(
        .init(name: field.name, value: try sample(field.type, interface, isFull: isFull)))
    }
    return .object(members)
  }

  private func sample(
    _ type: InterfaceDescription.FieldType, _ interface: InterfaceDescription, isFull: Bool
  ) throws -> JSONValue {
    switch type {
    case .bool: return true
    case .int: return 0
    case .float: return 1.5
    case .string: return "text"
    case .object, .any, .dictionary: return [:]
    case .structure(let fields): return try sample(fields, interface, isFull: isFull)
    case .array(let element):
      return isFull ? .array([try sample(element, interface, isFull: isFull)]) : []
    case .optional(let type): return try sample(type, interface, isFull: isFull)
    case .enumeration(let names): return .string(names[names.count - 1])
    case .named(let name):
      let declared = try #require(interface.types.first { $0.name == name })
      return try sample(declared.type, interface, isFull: isFull)
    }
  }

  // MARK: - Errors

  @Test("An error is read and written as declared, and a wrong field is named")
  func errors() throws {
    try check(ApplicationInterface.Failure.self, ApplicationInterface.description)
    try check(ControlInterface.Failure.self, ControlInterface.description)
    try check(SessionInterface.Failure.self, SessionInterface.description)
    try check(ServiceInterface.Failure.self, ServiceInterface.description)
  }

  private func check<Failure: InterfaceFailure>(
    _ swift: Failure.Type, _ interface: InterfaceDescription
  ) throws {
    for error in interface.errors {
      try check(swift, error, "\(interface.name).\(error.name)", interface)
    }
    #expect(try Failure(name: "\(interface.name).Unheard", parameters: [:]) == nil)
  }

  private func check<Failure: InterfaceFailure>(
    _ swift: Failure.Type, _ error: InterfaceDescription.ErrorDeclaration, _ name: String,
    _ interface: InterfaceDescription
  ) throws {
    let full = try error.fields.map { field in
      JSONValue.Member(name: field.name, value: try sample(field.type, interface, isFull: true))
    }
    let failure = try #require(try Failure(name: name, parameters: .object(full)), "\(name)")
    #expect(failure.name == name)
    #expect(failure.parameters == .object(full), "\(name)")

    let stray = JSONValue.object(full + [.init(name: "stray", value: 1)])
    #expect(try Failure(name: name, parameters: stray) == failure, "\(name)")
    for (index, field) in error.fields.enumerated() {
      var wrong = full
      wrong[index].value = ["wrong": 1]
      refuses(swift, name, .object(wrong), naming: field.name)
      var less = full
      less.remove(at: index)
      if case .optional = field.type {
        #expect(try Failure(name: name, parameters: .object(less))?.parameters == .object(less))
      } else {
        refuses(swift, name, .object(less), naming: field.name)
      }
    }
  }

  private func refuses<Failure: InterfaceFailure>(
    _ swift: Failure.Type, _ name: String, _ parameters: JSONValue, naming field: String
  ) {
    let error = #expect(throws: ParameterError.self, "\(name)") {
      try Failure(name: name, parameters: parameters)
    }
    #expect(error?.parameter == field, "\(name)")
  }

  // MARK: - Texts

  @Test("The text of an interface with descriptors says that they are indices, from 0")
  func descriptorText() {
    for interface in [ApplicationInterface.description, ControlInterface.description] {
      #expect(interface.text.contains("is an index into the file descriptors"))
    }
  }

  @Test("The text lists the environment variables of a launched program")
  func environmentText() {
    let text = ApplicationInterface.description.text
    for name in ["SOCKET", "APPLICATION", "INSTANCE", "LAUNCH_REASON", "LAUNCH_REGION"] {
      #expect(text.contains("#   TASKSCHEDD_\(name) "))
    }
  }

  @Test(
    """
    §4 The comments of Acknowledge and EndBackgroundTask say that the daemon may suspend the \
    caller before the caller reads the reply. The texts say that a state is the target of a \
    transition
    """)
  func suspensionText() throws {
    let text = ApplicationInterface.description.text
    for method in ["method Acknowledge", "method EndBackgroundTask"] {
      let comment = try #require(text.components(before: method)).suffix(420)
      #expect(comment.contains("may suspend the caller"), "\(method)")
      #expect(comment.contains("application is resumed"), "\(method)")
    }
    #expect(text.contains("the state changes as soon as the transition"))
    let control = ControlInterface.description.text
    #expect(control.contains("describes the state during a transition"))
  }
}

extension String {
  /// Returns the text before the first occurrence of another text.
  fileprivate func components(before text: String) -> Substring? {
    indices.first { self[$0...].hasPrefix(text) }.map { self[..<$0] }
  }
}
