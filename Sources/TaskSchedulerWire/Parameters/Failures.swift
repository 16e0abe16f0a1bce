/// An error that a method answers with: its name and its parameters.
public protocol MethodFailure: Error {
  /// The full name, as `org.varlink.service.InvalidParameter`.
  var name: String { get }
  /// An object that holds what the error's declaration names.
  var parameters: JSONValue { get }
  /// Appends the parameters to a message.
  func writeParameters(to message: inout [UInt8])
}

extension MethodFailure {
  public func writeParameters(to message: inout [UInt8]) { parameters.write(to: &message) }
}

/// The errors of one interface, each a case.
public protocol InterfaceFailure: MethodFailure, Hashable, Sendable, CustomStringConvertible {
  /// The error of that name; nil if the interface has none such.
  ///
  /// Throws `ParameterError` where the parameters are not what the error's declaration says;
  /// those that it does not know are ignored.
  init?(name: String, parameters: JSONValue) throws(ParameterError)
  /// Appends the parameters to an object that has been opened.
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

  /// The name and the parameters, for people.
  public var description: String {
    guard case .object(let members) = parameters, !members.isEmpty else { return name }
    return "\(name) \(parameters)"
  }
}

/// A field of a message that is missing, unknown, of the wrong type or of no use.
public struct ParameterError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The dotted path of the field from the parameters down: `tasks[0].name`. Empty where the
  /// parameters as a whole are meant.
  public let parameter: String
  /// What is wrong with it, in one sentence without a full stop. Varlink does not carry it.
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

  /// The same, of the field or the element that holds the value: `name` or `[0]`.
  func within(_ place: String) -> ParameterError {
    let dot = parameter.isEmpty || parameter.hasPrefix("[") ? "" : "."
    return ParameterError(parameter: place + dot + parameter, problem: problem)
  }
}
