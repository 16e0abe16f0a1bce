// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

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

    public func writeFields(to object: inout [UInt8]) {
      switch self {
      case .notRegistered: break
      case .invalidApplicationID(let application): object.append(field: "application", application)
      case .wrongApplication(let application, let registeredAs):
        object.append(field: "application", application)
        object.append(field: "registeredAs", registeredAs)
      case .notManageable(let reason): object.append(field: "reason", reason)
      case .alreadyRunning(let application, let pid, let state):
        object.append(field: "application", application)
        object.append(field: "pid", pid)
        object.append(field: "state", state)
      case .terminating(let application): object.append(field: "application", application)
      case .streamReplaced: break
      case .unknownCallback(let callback): object.append(field: "callback", callback)
      case .unknownTask(let task): object.append(field: "task", task)
      case .invalidState(let application, let state):
        object.append(field: "application", application)
        object.append(field: "state", state)
      case .modeNotDeclared(let application, let mode):
        object.append(field: "application", application)
        object.append(field: "mode", mode)
      case .quotaExceeded(let quota, let limit):
        object.append(field: "quota", quota)
        object.append(field: "limit", limit)
      case .keepAliveTooShort(let minimumUSec): object.append(field: "minimumUSec", minimumUSec)
      case .noEventStream: break
      case .invalidSocket(let reason): object.append(field: "reason", reason)
      case .unknownSocket(let socket): object.append(field: "socket", socket)
      case .invalidNotification(let parameter, let reason):
        object.append(field: "parameter", parameter)
        object.append(field: "reason", reason)
      case .unknownNotification(let notification):
        object.append(field: "notification", notification)
      case .notStored(let reason): object.append(field: "reason", reason)
      case .stateNotSaved: break
      case .multitaskingNotSupported(let application):
        object.append(field: "application", application)
      }
    }

    public init?(name: String, parameters: JSONValue) throws(ParameterError) {
      guard let name = Name(rawValue: name) else { return nil }
      let fields = try FieldReader(error: parameters)
      switch name {
      case .notRegistered: self = .notRegistered
      case .invalidApplicationID:
        self = .invalidApplicationID(application: try fields.required("application"))
      case .wrongApplication:
        self = .wrongApplication(
          application: try fields.required("application"),
          registeredAs: try fields.required("registeredAs")
        )
      case .notManageable: self = .notManageable(reason: try fields.required("reason"))
      case .alreadyRunning:
        self = .alreadyRunning(
          application: try fields.required("application"), pid: try fields.required("pid"),
          state: try fields.required("state")
        )
      case .terminating: self = .terminating(application: try fields.required("application"))
      case .streamReplaced: self = .streamReplaced
      case .unknownCallback: self = .unknownCallback(callback: try fields.required("callback"))
      case .unknownTask: self = .unknownTask(task: try fields.required("task"))
      case .invalidState:
        self = .invalidState(
          application: try fields.required("application"), state: try fields.required("state")
        )
      case .modeNotDeclared:
        self = .modeNotDeclared(
          application: try fields.required("application"), mode: try fields.required("mode")
        )
      case .quotaExceeded:
        self = .quotaExceeded(
          quota: try fields.required("quota"), limit: try fields.required("limit")
        )
      case .keepAliveTooShort:
        self = .keepAliveTooShort(minimumUSec: try fields.required("minimumUSec"))
      case .noEventStream: self = .noEventStream
      case .invalidSocket: self = .invalidSocket(reason: try fields.required("reason"))
      case .unknownSocket: self = .unknownSocket(socket: try fields.required("socket"))
      case .invalidNotification:
        self = .invalidNotification(
          parameter: try fields.required("parameter"), reason: try fields.required("reason")
        )
      case .unknownNotification:
        self = .unknownNotification(notification: try fields.required("notification"))
      case .notStored: self = .notStored(reason: try fields.required("reason"))
      case .stateNotSaved: self = .stateNotSaved
      case .multitaskingNotSupported:
        self = .multitaskingNotSupported(application: try fields.required("application"))
      }
    }
  }
}
