// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

extension ApplicationInterface {
  /// An error of `org.taskschedd.Application`, with its parameters.
  public enum Failure: InterfaceFailure {
    /// The calling process belongs to no instance. Call Register first.
    case notRegistered
    /// The id is not a reverse-DNS id. Such an id consists of two or more labels of letters,
    /// digits, - and _, joined by dots, and has at most 250 bytes.
    case invalidApplicationID(application: String)
    /// The calling process belongs to an instance of another application.
    case wrongApplication(application: String, registeredAs: String)
    /// The daemon cannot manage the calling process, for one of these reasons:
    /// - `-`: The daemon has no permission to stop and kill the process.
    /// - `-`: The daemon is a user's own daemon, and the process runs as another user.
    /// - `-`: The process is a session agent, or an ancestor of one.
    ///
    /// `reason` names the reason. If another daemon can manage the process, `reason` also names
    /// this daemon.
    case notManageable(reason: String)
    /// The application already has a running instance; `pid` is its leader.
    case alreadyRunning(application: String, pid: Int, state: State)
    /// The daemon is terminating the instance and refuses this call.
    case terminating(application: String)
    /// Another connection of the same instance opened the event stream.
    case streamReplaced
    /// No callback with this id is outstanding.
    case unknownCallback(callback: Int)
    /// No task with this id is outstanding: the task never began, or has ended.
    case unknownTask(task: Int)
    /// The application's present state, `state`, does not permit the call.
    case invalidState(application: String, state: State)
    /// The application does not have this background mode. Its manifest, or the call
    /// org.taskschedd.Control.Adopt, must name the mode.
    case modeNotDeclared(application: String, mode: String)
    /// A quota is exhausted. `quota` names the setting, and `limit` is its value.
    case quotaExceeded(quota: String, limit: Int)
    /// The keep-alive interval is shorter than KeepAliveMinimum.
    case keepAliveTooShort(minimumUSec: Int)
    /// The call needs the event stream, and the application has not opened it. Call Register first.
    case noEventStream
    /// The daemon cannot monitor the descriptor. `reason` says what the descriptor is and what is
    /// required.
    case invalidSocket(reason: String)
    /// The application has no managed socket with this id.
    case unknownSocket(socket: Int)
    /// The file contains no PNG image that the daemon can keep. `parameter` names the field that
    /// refers to the descriptor of the file. `reason` says what is wrong and what would be right.
    case invalidSnapshot(parameter: String, reason: String)
    /// The machine has no source of locations: neither a GPS receiver with gpsd nor GeoClue in the
    /// user's session. 'taskctl location' says what is missing.
    case locationUnavailable
    /// The application may not learn the location. `reason` says why.
    case locationDenied(application: String, reason: LocationDenial)
    /// The application monitors no region with this identifier.
    case unknownRegion(identifier: String)
    /// The field `parameter` of the notification is invalid. `reason` says what is wrong and what
    /// would be right.
    case invalidNotification(parameter: String, reason: String)
    /// The application has no notification with this id.
    case unknownNotification(notification: Int)
    /// The daemon could not store the change durably, and nothing has changed. `reason` says why.
    case notStored(reason: String)
    /// The daemon could not write its event log because the runtime directory is full. Nothing has
    /// changed, and the caller may try again.
    case stateNotSaved
    /// The machine does not support multitasking, or the manifest opts out of it. The application
    /// cannot run in the background.
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
      case invalidSnapshot = "org.taskschedd.Application.InvalidSnapshot"
      case locationUnavailable = "org.taskschedd.Application.LocationUnavailable"
      case locationDenied = "org.taskschedd.Application.LocationDenied"
      case unknownRegion = "org.taskschedd.Application.UnknownRegion"
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
      case .invalidSnapshot: .invalidSnapshot
      case .locationUnavailable: .locationUnavailable
      case .locationDenied: .locationDenied
      case .unknownRegion: .unknownRegion
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
      case .invalidSnapshot(let parameter, let reason):
        object.append(field: "parameter", parameter)
        object.append(field: "reason", reason)
      case .locationUnavailable: break
      case .locationDenied(let application, let reason):
        object.append(field: "application", application)
        object.append(field: "reason", reason)
      case .unknownRegion(let identifier): object.append(field: "identifier", identifier)
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
      case .invalidSnapshot:
        self = .invalidSnapshot(
          parameter: try fields.required("parameter"), reason: try fields.required("reason")
        )
      case .locationUnavailable: self = .locationUnavailable
      case .locationDenied:
        self = .locationDenied(
          application: try fields.required("application"), reason: try fields.required("reason")
        )
      case .unknownRegion: self = .unknownRegion(identifier: try fields.required("identifier"))
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
