// Generated from org.varlink.service.varlink by 'make interfaces'; not to be edited.

extension ServiceInterface {
  /// An error of `org.varlink.service`, with its parameters.
  public enum Failure: InterfaceFailure {
    /// The service has no interface of that name.
    case interfaceNotFound(interface: String)
    /// The interface has no method of that name.
    case methodNotFound(method: String)
    /// The interface has the method, but the service does not offer it.
    case methodNotImplemented(method: String)
    /// A parameter is missing, unknown, invalid, or has the wrong type.
    case invalidParameter(parameter: String)
    /// The caller may not do this.
    case permissionDenied
    /// The method must be called with 'more'.
    case expectedMore

    /// The full names of the errors.
    public enum Name: String, CaseIterable, Sendable {
      case interfaceNotFound = "org.varlink.service.InterfaceNotFound"
      case methodNotFound = "org.varlink.service.MethodNotFound"
      case methodNotImplemented = "org.varlink.service.MethodNotImplemented"
      case invalidParameter = "org.varlink.service.InvalidParameter"
      case permissionDenied = "org.varlink.service.PermissionDenied"
      case expectedMore = "org.varlink.service.ExpectedMore"
    }

    public var name: String { errorName.rawValue }

    private var errorName: Name {
      switch self {
      case .interfaceNotFound: .interfaceNotFound
      case .methodNotFound: .methodNotFound
      case .methodNotImplemented: .methodNotImplemented
      case .invalidParameter: .invalidParameter
      case .permissionDenied: .permissionDenied
      case .expectedMore: .expectedMore
      }
    }

    public func writeFields(to object: inout [UInt8]) {
      switch self {
      case .interfaceNotFound(let interface): object.append(field: "interface", interface)
      case .methodNotFound(let method): object.append(field: "method", method)
      case .methodNotImplemented(let method): object.append(field: "method", method)
      case .invalidParameter(let parameter): object.append(field: "parameter", parameter)
      case .permissionDenied: break
      case .expectedMore: break
      }
    }

    public init?(name: String, parameters: JSONValue) throws(ParameterError) {
      guard let name = Name(rawValue: name) else { return nil }
      let fields = try FieldReader(error: parameters)
      switch name {
      case .interfaceNotFound:
        self = .interfaceNotFound(interface: try fields.required("interface"))
      case .methodNotFound: self = .methodNotFound(method: try fields.required("method"))
      case .methodNotImplemented:
        self = .methodNotImplemented(method: try fields.required("method"))
      case .invalidParameter: self = .invalidParameter(parameter: try fields.required("parameter"))
      case .permissionDenied: self = .permissionDenied
      case .expectedMore: self = .expectedMore
      }
    }
  }
}
