/// The errors.
extension ApplicationInterface {
  /// An error of `org.taskschedd.Application`: a case each, with its parameters.
  public enum Failure: InterfaceFailure {
    /// The calling process belongs to no instance: call Register first.
    case notRegistered
    /// The id is no reverse-DNS id: two or more labels of letters, digits, - and _, joined by dots,
    /// 250 bytes at most.
    case invalidApplicationID(application: String)
    /// The calling process belongs to an instance of another application.
    case wrongApplication(application: String, registeredAs: String)
    /// The daemon could neither stop nor end the calling process, or is another user's own;
    /// `reason` says whose each is, and which daemon to ask.
    case notManageable(reason: String)
    /// The application has a running instance already; `pid` is its leader.
    case alreadyRunning(application: String, pid: Int, state: State)
    /// The instance is being ended and takes no more requests of this kind.
    case terminating(application: String)
    /// Another connection of the same instance has opened the event stream.
    case streamReplaced
    /// No such callback awaits acknowledgement.
    case unknownCallback(callback: Int)
    /// No such task is outstanding: it was never begun, or has ended.
    case unknownTask(task: Int)
    /// The call is not possible in this state.
    case invalidState(application: String, state: State)
    /// The manifest does not declare this background mode.
    case modeNotDeclared(application: String, mode: String)
    /// A quota of the policy, by its name, is used up.
    case quotaExceeded(quota: String, limit: Int)
    /// The keep-alive interval is shorter than KeepAliveMinimum.
    case keepAliveTooShort(minimumUSec: Int)
    /// The answer would come on the event stream, which the application has never opened: call
    /// Register.
    case noEventStream
    /// The descriptor cannot be watched; `reason` says what it is and what is wanted.
    case invalidSocket(reason: String)
    /// No such socket is managed.
    case unknownSocket(socket: Int)
    /// A field of the notification is of no use; `reason` says what is wrong and what would be
    /// right.
    case invalidNotification(parameter: String, reason: String)
    /// No such notification.
    case unknownNotification(notification: Int)
    /// It could not be stored durably, and is not promised; `reason` says why.
    case notStored(reason: String)
    /// What this would promise cannot be written down, and a crash would make the daemon forget it:
    /// the runtime directory is full. Nothing has changed; it may be asked again.
    case stateNotSaved
    /// The machine does not support multitasking, or the manifest opts out: nothing runs in the
    /// background.
    case multitaskingNotSupported(application: String)

    /// The full names of the errors.
    public enum Name: String, CaseIterable, Sendable {
      case notRegistered = "org.taskschedd.Application.NotRegistered"
      case invalidApplicationID = "org.taskschedd.Application.InvalidApplicationID"
      case wrongApplication = "org.taskschedd.Application.WrongApplication"
      case notManageable = "org.taskschedd.Application.NotManageable"
      case alreadyRunning = "org.taskschedd.Application.AlreadyRunning"
      case terminating = "org.taskschedd.Application.Terminating"
      case streamReplaced = "org.taskschedd.Application.StreamReplaced"
      case unknownCallback = "org.taskschedd.Application.UnknownCallback"
      case unknownTask = "org.taskschedd.Application.UnknownTask"
      case invalidState = "org.taskschedd.Application.InvalidState"
      case modeNotDeclared = "org.taskschedd.Application.ModeNotDeclared"
      case quotaExceeded = "org.taskschedd.Application.QuotaExceeded"
      case keepAliveTooShort = "org.taskschedd.Application.KeepAliveTooShort"
      case noEventStream = "org.taskschedd.Application.NoEventStream"
      case invalidSocket = "org.taskschedd.Application.InvalidSocket"
      case unknownSocket = "org.taskschedd.Application.UnknownSocket"
      case invalidNotification = "org.taskschedd.Application.InvalidNotification"
      case unknownNotification = "org.taskschedd.Application.UnknownNotification"
      case notStored = "org.taskschedd.Application.NotStored"
      case stateNotSaved = "org.taskschedd.Application.StateNotSaved"
      case multitaskingNotSupported = "org.taskschedd.Application.MultitaskingNotSupported"
    }

    public var name: String { errorName.rawValue }

    private var errorName: Name {
      switch self {
      case .notRegistered: .notRegistered
      case .invalidApplicationID: .invalidApplicationID
      case .wrongApplication: .wrongApplication
      case .notManageable: .notManageable
      case .alreadyRunning: .alreadyRunning
      case .terminating: .terminating
      case .streamReplaced: .streamReplaced
      case .unknownCallback: .unknownCallback
      case .unknownTask: .unknownTask
      case .invalidState: .invalidState
      case .modeNotDeclared: .modeNotDeclared
      case .quotaExceeded: .quotaExceeded
      case .keepAliveTooShort: .keepAliveTooShort
      case .noEventStream: .noEventStream
      case .invalidSocket: .invalidSocket
      case .unknownSocket: .unknownSocket
      case .invalidNotification: .invalidNotification
      case .unknownNotification: .unknownNotification
      case .notStored: .notStored
      case .stateNotSaved: .stateNotSaved
      case .multitaskingNotSupported: .multitaskingNotSupported
      }
    }

    public var parameters: JSONValue {
      switch self {
      case .notRegistered: [:]
      case .invalidApplicationID(let application): .fields(("application", JSONValue(application)))
      case .wrongApplication(let application, let registeredAs):
        .fields(("application", JSONValue(application)), ("registeredAs", JSONValue(registeredAs)))
      case .notManageable(let reason): .fields(("reason", JSONValue(reason)))
      case .alreadyRunning(let application, let pid, let state):
        .fields(
          ("application", JSONValue(application)), ("pid", JSONValue(pid)),
          ("state", JSONValue(state.rawValue)))
      case .terminating(let application): .fields(("application", JSONValue(application)))
      case .streamReplaced: [:]
      case .unknownCallback(let callback): .fields(("callback", JSONValue(callback)))
      case .unknownTask(let task): .fields(("task", JSONValue(task)))
      case .invalidState(let application, let state):
        .fields(("application", JSONValue(application)), ("state", JSONValue(state)))
      case .modeNotDeclared(let application, let mode):
        .fields(("application", JSONValue(application)), ("mode", JSONValue(mode)))
      case .quotaExceeded(let quota, let limit):
        .fields(("quota", JSONValue(quota)), ("limit", JSONValue(limit)))
      case .keepAliveTooShort(let minimumUSec): .fields(("minimumUSec", JSONValue(minimumUSec)))
      case .noEventStream: [:]
      case .invalidSocket(let reason): .fields(("reason", JSONValue(reason)))
      case .unknownSocket(let socket): .fields(("socket", JSONValue(socket)))
      case .invalidNotification(let parameter, let reason):
        .fields(("parameter", JSONValue(parameter)), ("reason", JSONValue(reason)))
      case .unknownNotification(let notification):
        .fields(("notification", JSONValue(notification)))
      case .notStored(let reason): .fields(("reason", JSONValue(reason)))
      case .stateNotSaved: [:]
      case .multitaskingNotSupported(let application):
        .fields(("application", JSONValue(application)))
      }
    }

    public init?(name: String, parameters: JSONValue) throws(ParameterError) {
      guard let name = Name(rawValue: name) else { return nil }
      let fields = try FieldReader(parameters)
      switch name {
      case .notRegistered: self = .notRegistered
      case .invalidApplicationID:
        self = .invalidApplicationID(application: try fields.value("application"))
      case .wrongApplication:
        self = .wrongApplication(
          application: try fields.value("application"),
          registeredAs: try fields.value("registeredAs"))
      case .notManageable: self = .notManageable(reason: try fields.value("reason"))
      case .alreadyRunning:
        self = .alreadyRunning(
          application: try fields.value("application"), pid: try fields.value("pid"),
          state: try fields.value("state"))
      case .terminating: self = .terminating(application: try fields.value("application"))
      case .streamReplaced: self = .streamReplaced
      case .unknownCallback: self = .unknownCallback(callback: try fields.value("callback"))
      case .unknownTask: self = .unknownTask(task: try fields.value("task"))
      case .invalidState:
        self = .invalidState(
          application: try fields.value("application"), state: try fields.value("state"))
      case .modeNotDeclared:
        self = .modeNotDeclared(
          application: try fields.value("application"), mode: try fields.value("mode"))
      case .quotaExceeded:
        self = .quotaExceeded(quota: try fields.value("quota"), limit: try fields.value("limit"))
      case .keepAliveTooShort:
        self = .keepAliveTooShort(minimumUSec: try fields.value("minimumUSec"))
      case .noEventStream: self = .noEventStream
      case .invalidSocket: self = .invalidSocket(reason: try fields.value("reason"))
      case .unknownSocket: self = .unknownSocket(socket: try fields.value("socket"))
      case .invalidNotification:
        self = .invalidNotification(
          parameter: try fields.value("parameter"), reason: try fields.value("reason"))
      case .unknownNotification:
        self = .unknownNotification(notification: try fields.value("notification"))
      case .notStored: self = .notStored(reason: try fields.value("reason"))
      case .stateNotSaved: self = .stateNotSaved
      case .multitaskingNotSupported:
        self = .multitaskingNotSupported(application: try fields.value("application"))
      }
    }
  }
}
