// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// An error of `org.taskschedd.Control`, with its parameters.
  public enum Failure: InterfaceFailure {
    /// The daemon knows no application with this id, or none of this owner. `nearest` is the most
    /// similar id among the applications of the caller or, if the call names an owner, of that
    /// owner.
    case unknownApplication(application: String, nearest: String?)
    /// Several users have an application with this id. Name the owner.
    case ambiguousApplication(application: String, owners: [Int])
    /// The id is not a reverse-DNS id. Such an id consists of two or more labels of letters,
    /// digits, - and _, joined by dots, and has at most 250 bytes.
    case invalidApplicationID(application: String)
    /// The transition is not possible from this state.
    case invalidTransition(application: String, state: State, cause: String)
    /// The application already has a running instance; `pid` is its leader.
    case alreadyRunning(application: String, pid: Int, state: State)
    /// The daemon is terminating the instance.
    case terminating(application: String)
    /// No manifest says how to launch the application.
    case notLaunchable(application: String)
    /// The launch failed. `reason` says which step failed and why.
    case launchFailed(application: String, reason: String)
    /// The daemon cannot adopt the process. For example, the process has ended, belongs to an
    /// instance, or is an ancestor of the daemon, of the caller or of a session agent. `reason`
    /// says why.
    case invalidProcess(pid: Int, reason: String)
    /// A quota is exhausted. `quota` names the setting, and `limit` is its value.
    case quotaExceeded(quota: String, limit: Int)
    /// The field `parameter` of the notification is invalid. `reason` says what is wrong and what
    /// would be right.
    case invalidNotification(parameter: String, reason: String)
    /// The name or the value of a system change is invalid; `parameter` says which. `reason` says
    /// what is required.
    case invalidSystemChange(parameter: String, reason: String)
    /// The application has no notification with this id. If the call named no application, none of
    /// the applications that the caller may operate has such a notification.
    case unknownNotification(application: String?, notification: Int)
    /// The daemon could not store the change durably, and nothing has changed. `reason` says why.
    case notStored(reason: String)
    /// The user or an operator terminated the application. The daemon launches it again only when
    /// the user or an operator requests it.
    case terminatedByOperator(application: String)
    /// The daemon could not write its event log because the runtime directory is full. Nothing has
    /// changed, and the caller may try again.
    case stateNotSaved
    /// The machine does not support multitasking, or the manifest opts out of it. The application
    /// cannot run in the background.
    case multitaskingNotSupported(application: String)
    /// The application cannot receive the warning, because it does not run, is suspended, or has no
    /// event stream.
    case cannotBeTold(application: String, state: State)
    /// None of the user's applications that receive commands has been audible.
    case nothingPlayed
    /// The caller may not operate this application.
    case notPermitted(application: String?)
    /// The configuration has mistakes. Each problem is a line of the form FILE:LINE: key: MESSAGE.
    /// The message says what is wrong and what would be right.
    case invalidConfiguration(problems: [String])

    /// The full names of the errors.
    public enum Name: String, CaseIterable, Sendable {
      case unknownApplication = "org.taskschedd.Control.UnknownApplication"
      case ambiguousApplication = "org.taskschedd.Control.AmbiguousApplication"
      case invalidApplicationID = "org.taskschedd.Control.InvalidApplicationID"
      case invalidTransition = "org.taskschedd.Control.InvalidTransition"
      case alreadyRunning = "org.taskschedd.Control.AlreadyRunning"
      case terminating = "org.taskschedd.Control.Terminating"
      case notLaunchable = "org.taskschedd.Control.NotLaunchable"
      case launchFailed = "org.taskschedd.Control.LaunchFailed"
      case invalidProcess = "org.taskschedd.Control.InvalidProcess"
      case quotaExceeded = "org.taskschedd.Control.QuotaExceeded"
      case invalidNotification = "org.taskschedd.Control.InvalidNotification"
      case invalidSystemChange = "org.taskschedd.Control.InvalidSystemChange"
      case unknownNotification = "org.taskschedd.Control.UnknownNotification"
      case notStored = "org.taskschedd.Control.NotStored"
      case terminatedByOperator = "org.taskschedd.Control.TerminatedByOperator"
      case stateNotSaved = "org.taskschedd.Control.StateNotSaved"
      case multitaskingNotSupported = "org.taskschedd.Control.MultitaskingNotSupported"
      case cannotBeTold = "org.taskschedd.Control.CannotBeTold"
      case nothingPlayed = "org.taskschedd.Control.NothingPlayed"
      case notPermitted = "org.taskschedd.Control.NotPermitted"
      case invalidConfiguration = "org.taskschedd.Control.InvalidConfiguration"
    }

    public var name: String { errorName.rawValue }

    private var errorName: Name {
      switch self {
      case .unknownApplication: .unknownApplication
      case .ambiguousApplication: .ambiguousApplication
      case .invalidApplicationID: .invalidApplicationID
      case .invalidTransition: .invalidTransition
      case .alreadyRunning: .alreadyRunning
      case .terminating: .terminating
      case .notLaunchable: .notLaunchable
      case .launchFailed: .launchFailed
      case .invalidProcess: .invalidProcess
      case .quotaExceeded: .quotaExceeded
      case .invalidNotification: .invalidNotification
      case .invalidSystemChange: .invalidSystemChange
      case .unknownNotification: .unknownNotification
      case .notStored: .notStored
      case .terminatedByOperator: .terminatedByOperator
      case .stateNotSaved: .stateNotSaved
      case .multitaskingNotSupported: .multitaskingNotSupported
      case .cannotBeTold: .cannotBeTold
      case .nothingPlayed: .nothingPlayed
      case .notPermitted: .notPermitted
      case .invalidConfiguration: .invalidConfiguration
      }
    }

    public func writeFields(to object: inout [UInt8]) {
      switch self {
      case .unknownApplication(let application, let nearest):
        object.append(field: "application", application)
        object.append(field: "nearest", nearest)
      case .ambiguousApplication(let application, let owners):
        object.append(field: "application", application)
        object.append(field: "owners", owners)
      case .invalidApplicationID(let application): object.append(field: "application", application)
      case .invalidTransition(let application, let state, let cause):
        object.append(field: "application", application)
        object.append(field: "state", state)
        object.append(field: "cause", cause)
      case .alreadyRunning(let application, let pid, let state):
        object.append(field: "application", application)
        object.append(field: "pid", pid)
        object.append(field: "state", state)
      case .terminating(let application): object.append(field: "application", application)
      case .notLaunchable(let application): object.append(field: "application", application)
      case .launchFailed(let application, let reason):
        object.append(field: "application", application)
        object.append(field: "reason", reason)
      case .invalidProcess(let pid, let reason):
        object.append(field: "pid", pid)
        object.append(field: "reason", reason)
      case .quotaExceeded(let quota, let limit):
        object.append(field: "quota", quota)
        object.append(field: "limit", limit)
      case .invalidNotification(let parameter, let reason):
        object.append(field: "parameter", parameter)
        object.append(field: "reason", reason)
      case .invalidSystemChange(let parameter, let reason):
        object.append(field: "parameter", parameter)
        object.append(field: "reason", reason)
      case .unknownNotification(let application, let notification):
        object.append(field: "application", application)
        object.append(field: "notification", notification)
      case .notStored(let reason): object.append(field: "reason", reason)
      case .terminatedByOperator(let application): object.append(field: "application", application)
      case .stateNotSaved: break
      case .multitaskingNotSupported(let application):
        object.append(field: "application", application)
      case .cannotBeTold(let application, let state):
        object.append(field: "application", application)
        object.append(field: "state", state)
      case .nothingPlayed: break
      case .notPermitted(let application): object.append(field: "application", application)
      case .invalidConfiguration(let problems): object.append(field: "problems", problems)
      }
    }

    public init?(name: String, parameters: JSONValue) throws(ParameterError) {
      guard let name = Name(rawValue: name) else { return nil }
      let fields = try FieldReader(error: parameters)
      switch name {
      case .unknownApplication:
        self = .unknownApplication(
          application: try fields.required("application"), nearest: try fields.optional("nearest")
        )
      case .ambiguousApplication:
        self = .ambiguousApplication(
          application: try fields.required("application"), owners: try fields.required("owners")
        )
      case .invalidApplicationID:
        self = .invalidApplicationID(application: try fields.required("application"))
      case .invalidTransition:
        self = .invalidTransition(
          application: try fields.required("application"), state: try fields.required("state"),
          cause: try fields.required("cause")
        )
      case .alreadyRunning:
        self = .alreadyRunning(
          application: try fields.required("application"), pid: try fields.required("pid"),
          state: try fields.required("state")
        )
      case .terminating: self = .terminating(application: try fields.required("application"))
      case .notLaunchable: self = .notLaunchable(application: try fields.required("application"))
      case .launchFailed:
        self = .launchFailed(
          application: try fields.required("application"), reason: try fields.required("reason")
        )
      case .invalidProcess:
        self = .invalidProcess(
          pid: try fields.required("pid"), reason: try fields.required("reason")
        )
      case .quotaExceeded:
        self = .quotaExceeded(
          quota: try fields.required("quota"), limit: try fields.required("limit")
        )
      case .invalidNotification:
        self = .invalidNotification(
          parameter: try fields.required("parameter"), reason: try fields.required("reason")
        )
      case .invalidSystemChange:
        self = .invalidSystemChange(
          parameter: try fields.required("parameter"), reason: try fields.required("reason")
        )
      case .unknownNotification:
        self = .unknownNotification(
          application: try fields.optional("application"),
          notification: try fields.required("notification")
        )
      case .notStored: self = .notStored(reason: try fields.required("reason"))
      case .terminatedByOperator:
        self = .terminatedByOperator(application: try fields.required("application"))
      case .stateNotSaved: self = .stateNotSaved
      case .multitaskingNotSupported:
        self = .multitaskingNotSupported(application: try fields.required("application"))
      case .cannotBeTold:
        self = .cannotBeTold(
          application: try fields.required("application"), state: try fields.required("state")
        )
      case .nothingPlayed: self = .nothingPlayed
      case .notPermitted: self = .notPermitted(application: try fields.optional("application"))
      case .invalidConfiguration:
        self = .invalidConfiguration(problems: try fields.required("problems"))
      }
    }
  }
}
