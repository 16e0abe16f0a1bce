// Generated from org.taskschedd.Session.varlink by 'make interfaces'; not to be edited.

extension SessionInterface {
  /// An error of `org.taskschedd.Session`, with its parameters.
  public enum Failure: InterfaceFailure {
    /// The attachment has ended, or it belongs to another user. Call Attach again.
    case notAttached
    /// Another agent of the same user has attached.
    case agentReplaced
    /// The caller belongs to this application. The daemon could suspend the caller, so the caller
    /// cannot be a session agent.
    case agentIsManaged(application: String)
    /// The report contains more elements or bytes than allowed. `parameter` names the field.
    case reportTooLarge(parameter: String, limit: Int)

    /// The full names of the errors.
    public enum Name: String, CaseIterable, Sendable {
      case notAttached = "org.taskschedd.Session.NotAttached"
      case agentReplaced = "org.taskschedd.Session.AgentReplaced"
      case agentIsManaged = "org.taskschedd.Session.AgentIsManaged"
      case reportTooLarge = "org.taskschedd.Session.ReportTooLarge"
    }

    public var name: String { errorName.rawValue }

    private var errorName: Name {
      switch self {
      case .notAttached: .notAttached
      case .agentReplaced: .agentReplaced
      case .agentIsManaged: .agentIsManaged
      case .reportTooLarge: .reportTooLarge
      }
    }

    public func writeFields(to object: inout [UInt8]) {
      switch self {
      case .notAttached: break
      case .agentReplaced: break
      case .agentIsManaged(let application):
        object.append(field: "application", application)
      case .reportTooLarge(let parameter, let limit):
        object.append(field: "parameter", parameter)
        object.append(field: "limit", limit)
      }
    }

    public init?(name: String, parameters: JSONValue) throws(ParameterError) {
      guard let name = Name(rawValue: name) else { return nil }
      let fields = try FieldReader(error: parameters)
      switch name {
      case .notAttached: self = .notAttached
      case .agentReplaced: self = .agentReplaced
      case .agentIsManaged:
        self = .agentIsManaged(application: try fields.required("application"))
      case .reportTooLarge:
        self = .reportTooLarge(
          parameter: try fields.required("parameter"), limit: try fields.required("limit")
        )
      }
    }
  }
}
