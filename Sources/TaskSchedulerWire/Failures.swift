/// An error that a method answers with: its name and its parameters.
public protocol MethodFailure: Error {
  /// The full name, as `org.varlink.service.InvalidParameter`.
  var name: String { get }
  /// An object that holds what the error's declaration names.
  var parameters: JSONValue { get }
}

/// The errors of one interface, each a case.
public protocol InterfaceFailure: MethodFailure, Hashable, Sendable, CustomStringConvertible {
  /// The error of that name; nil if the interface has none such.
  ///
  /// Throws `ParameterError` where the parameters are not what the error's declaration says;
  /// those that it does not know are ignored.
  init?(name: String, parameters: JSONValue) throws(ParameterError)
}

extension InterfaceFailure {
  /// The name and the parameters, for people.
  public var description: String {
    guard case .object(let members) = parameters, !members.isEmpty else { return name }
    return "\(name) \(parameters)"
  }
}

/// A field of a message that is missing, unknown, of the wrong type or of no use.
public struct ParameterError: MethodFailure, Hashable, Sendable, CustomStringConvertible {
  /// The dotted path of the field from the parameters down: `tasks[0].name`. Empty where the
  /// parameters as a whole are meant.
  public let parameter: String
  /// What is wrong with it, in one sentence without a full stop. Varlink does not carry it.
  public let problem: String

  public init(parameter: String, problem: String) {
    self.parameter = parameter
    self.problem = problem
  }

  /// What the peer is told.
  public var failure: StandardFailure { .invalidParameter(parameter: parameter) }
  public var name: String { failure.name }
  public var parameters: JSONValue { failure.parameters }
  public var description: String {
    parameter.isEmpty ? "parameters: \(problem)" : "\(parameter): \(problem)"
  }
}

/// The errors of `org.varlink.service`, which every service may answer any call with.
public enum StandardFailure: InterfaceFailure {
  case interfaceNotFound(interface: String)
  case methodNotFound(method: String)
  case methodNotImplemented(method: String)
  case invalidParameter(parameter: String)
  case permissionDenied
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

  public var name: String {
    switch self {
    case .interfaceNotFound: Name.interfaceNotFound.rawValue
    case .methodNotFound: Name.methodNotFound.rawValue
    case .methodNotImplemented: Name.methodNotImplemented.rawValue
    case .invalidParameter: Name.invalidParameter.rawValue
    case .permissionDenied: Name.permissionDenied.rawValue
    case .expectedMore: Name.expectedMore.rawValue
    }
  }

  public var parameters: JSONValue {
    switch self {
    case .interfaceNotFound(let interface): ["interface": .string(interface)]
    case .methodNotFound(let method), .methodNotImplemented(let method):
      ["method": .string(method)]
    case .invalidParameter(let parameter): ["parameter": .string(parameter)]
    case .permissionDenied, .expectedMore: [:]
    }
  }

  public init?(name: String, parameters: JSONValue) throws(ParameterError) {
    guard let name = Name(rawValue: name) else { return nil }
    let fields = try FieldReader(parameters)
    switch name {
    case .interfaceNotFound: self = .interfaceNotFound(interface: try fields.string("interface"))
    case .methodNotFound: self = .methodNotFound(method: try fields.string("method"))
    case .methodNotImplemented:
      self = .methodNotImplemented(method: try fields.string("method"))
    case .invalidParameter: self = .invalidParameter(parameter: try fields.string("parameter"))
    case .permissionDenied: self = .permissionDenied
    case .expectedMore: self = .expectedMore
    }
  }
}
