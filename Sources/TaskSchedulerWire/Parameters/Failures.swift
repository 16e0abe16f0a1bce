/// An error reply of a method: its name and its parameters.
public protocol MethodFailure: Error {
  /// The full name, such as `org.varlink.service.InvalidParameter`.
  var name: String { get }
  /// An object with the parameters that the declaration of the error names.
  var parameters: JSONValue { get }
  /// Appends the parameters to a message.
  func writeParameters(to message: inout [UInt8])
}

extension MethodFailure {
  public func writeParameters(to message: inout [UInt8]) { parameters.write(to: &message) }
}

/// The errors of one interface, one case for each.
public protocol InterfaceFailure: MethodFailure, Hashable, Sendable, CustomStringConvertible {
  /// Creates the error with this name; nil if the interface has no such error.
  ///
  /// Throws `ParameterError` if the parameters do not match the declaration of the error. Ignores
  /// unknown parameters.
  init?(name: String, parameters: JSONValue) throws(ParameterError)
  /// Appends the parameters to an open object.
  func writeFields(to object: inout [UInt8])
}

extension InterfaceFailure {
  public func writeParameters(to message: inout [UInt8]) {
    message.append(UInt8(ascii: "{"))
    writeFields(to: &message)
    message.append(UInt8(ascii: "}"))
  }

  public var parameters: JSONValue {
    var text: [UInt8] = []
    writeParameters(to: &text)
    return JSONValue(written: text)
  }

  /// The name and the parameters, as text for users.
  public var description: String {
    guard case .object(let members) = parameters, !members.isEmpty else { return name }
    return "\(name) \(parameters)"
  }
}

/// An error about a field of a message: the field is missing, unknown, of the wrong type or not
/// valid.
public struct ParameterError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The path of the field within the parameters, with dots: `tasks[0].name`. Empty for the
  /// parameters as a whole.
  public let parameter: String
  /// The problem, as one sentence without a period. The error reply names only the field, and not
  /// the problem.
  public let problem: String

  public init(parameter: String, problem: String) {
    self.parameter = parameter
    self.problem = problem
  }

  public var description: String {
    parameter.isEmpty ? "parameters: \(problem)" : "\(parameter): \(problem)"
  }

  static func wanted(_ kind: String, not json: JSONValue) -> ParameterError {
    ParameterError(parameter: "", problem: "expected \(kind), not \(json.kind)")
  }

  /// Returns the same error with `place` at the start of the path. `place` is the field or the
  /// element that contains the value, such as `name` or `[0]`.
  func within(_ place: String) -> ParameterError {
    let dot = parameter.isEmpty || parameter.hasPrefix("[") ? "" : "."
    return ParameterError(parameter: place + dot + parameter, problem: problem)
  }
}
