import TaskSchedulerWire

/// The reason why the daemon refused a request.
///
/// ``description`` is a sentence for users. `man taskschedd.toml` documents the limits and quotas
/// that the cases mention.
public enum ApplicationRefusal: Hashable, Sendable, CustomStringConvertible {
  /// This process belongs to no application.
  case notRegistered
  /// The text is not an application id. An id consists of two or more labels of letters, digits,
  /// `-` and `_`, joined by dots, and has 250 bytes at most.
  case invalidApplicationID(String)
  /// The process belongs to another application, `registeredAs`.
  case wrongApplication(String, registeredAs: String)
  /// The daemon cannot manage this process. The text says why: the daemon may not stop and kill the
  /// process, the daemon manages only the processes of another user, or the process is a session
  /// agent or an ancestor of a session agent.
  case notManageable(reason: String)
  /// Another process of the application runs already.
  case alreadyRunning(String, pid: Int, state: ApplicationState)
  /// The daemon is ending the application.
  case terminating(String)
  /// Another connection of this application has opened the event stream.
  case streamReplaced
  /// The background task never began or has ended, or a restarted daemon does not know it.
  case unknownTask(BackgroundTaskID)
  /// The present state of the application does not permit the request.
  case invalidState(String, ApplicationState)
  /// The request needs a background mode that the application does not have. The manifest, or the
  /// option `--mode` of `taskctl run`, must name the mode.
  case modeNotDeclared(String, mode: String)
  /// The application, or all applications of its user together, have reached a quota.
  case quotaExceeded(quota: String, limit: Int)
  /// The keep-alive interval is shorter than `KeepAliveMinimum`, 600 s by default.
  case keepAliveTooShort(minimum: Duration)
  /// The request needs an event stream, and the application has none.
  case noEventStream
  /// The descriptor is not a connected stream socket, or the daemon cannot watch it.
  case invalidSocket(reason: String)
  /// The daemon does not manage the socket.
  case unknownSocket
  /// The machine has no source of locations, such as a GPS receiver. `taskctl location` says what
  /// is missing.
  case locationUnavailable
  /// The application may not learn the location.
  case locationDenied(String, LocationDenial)
  /// The application monitors no region with this identifier.
  case unknownRegion(String)
  /// The daemon cannot use the image of the snapshot. `field` names the parameter of the call.
  case invalidSnapshot(field: String, reason: String)
  /// A field of the notification is not valid.
  case invalidNotification(field: String, reason: String)
  /// The notification never existed, was cancelled, or is no longer kept.
  case unknownNotification(NotificationID)
  /// The daemon could not store the change durably, and nothing has changed.
  case notStored(reason: String)
  /// The daemon cannot record the request, because its runtime directory is full. Nothing has
  /// changed.
  case stateNotSaved
  /// The machine or the manifest excludes multitasking.
  case multitaskingNotSupported(String)
  /// An argument is out of its range, for example a name that is too long.
  case invalidParameter(String)
  /// A reason that this version of the library does not know.
  case other(String)

  /// The reason as one sentence without a period.
  public var description: String {
    switch self {
    case .notRegistered: "this process belongs to no application; it must register first"
    case .invalidApplicationID(let id):
      "'\(id)' is not an application id; use two or more labels of letters, digits, - and _, "
        + "joined by dots, as in org.example.mail"
    case .wrongApplication(let id, let registeredAs):
      "this process belongs to \(registeredAs) and cannot register as \(id)"
    case .notManageable(let reason): reason
    case .alreadyRunning(let id, let pid, let state):
      "\(id) already runs as process \(pid), in state \(state.rawValue)"
    case .terminating(let id): "the daemon is ending \(id)"
    case .streamReplaced: "another connection of this application has opened the event stream"
    case .unknownTask(let task):
      "background task \(task) is not outstanding; it never began, or has ended"
    case .invalidState(let id, let state):
      "the request is not possible while \(id) is \(state.rawValue)"
    case .modeNotDeclared(let id, let mode):
      "\(id) does not have the background mode '\(mode)'; its manifest, or the option --mode of "
        + "taskctl run, must name the mode"
    case .quotaExceeded(let quota, let limit): "the quota \(quota) (\(limit)) is reached"
    case .keepAliveTooShort(let minimum):
      "the keep-alive interval is too short; the minimum is \(minimum)"
    case .noEventStream: "this process has no event stream; it must register first"
    case .invalidSocket(let reason): "the daemon cannot manage the socket: \(reason)"
    case .unknownSocket:
      "the daemon does not manage the socket; the application never passed it to the daemon, or "
        + "released it"
    case .locationUnavailable:
      "there is no source of locations; 'taskctl location' says what is missing"
    case .locationDenied(let id, .manifest):
      "the manifest of \(id) does not name the location service"
    case .locationDenied(let id, .settings):
      "the settings of taskschedd do not allow \(id) to learn the location"
    case .locationDenied(let id, .user):
      "the user or an operator does not allow \(id) to learn the location"
    case .unknownRegion(let identifier): "there is no region '\(identifier)'"
    case .invalidSnapshot(_, let reason): "the snapshot is not valid: \(reason)"
    case .invalidNotification(let field, let reason):
      "the \(field) of the notification is not valid: \(reason)"
    case .unknownNotification(let notification):
      "the daemon has no notification \(notification); it never existed, was cancelled, or is too "
        + "old"
    case .notStored(let reason): "the daemon could not store the change: \(reason)"
    case .stateNotSaved: "taskschedd cannot save its state; its runtime directory is full"
    case .multitaskingNotSupported(let id):
      "\(id) cannot run in the background; its manifest or the machine excludes multitasking"
    case .invalidParameter(let name): "taskschedd does not accept this \(name)"
    case .other(let text): "taskschedd refused the request: \(text)"
    }
  }

  init(_ failure: ApplicationInterface.Failure) {
    switch failure {
    case .notRegistered: self = .notRegistered
    case .invalidApplicationID(let id): self = .invalidApplicationID(id)
    case .wrongApplication(let id, let registeredAs):
      self = .wrongApplication(id, registeredAs: registeredAs)
    case .notManageable(let reason): self = .notManageable(reason: reason)
    case .alreadyRunning(let id, let pid, let state):
      self = .alreadyRunning(id, pid: pid, state: ApplicationState(state))
    case .terminating(let id): self = .terminating(id)
    case .streamReplaced: self = .streamReplaced
    case .unknownCallback(let callback): self = .other("no callback \(callback) is outstanding")
    case .unknownTask(let task): self = .unknownTask(BackgroundTaskID(task))
    case .invalidState(let id, let state): self = .invalidState(id, ApplicationState(state))
    case .modeNotDeclared(let id, let mode): self = .modeNotDeclared(id, mode: mode)
    case .quotaExceeded(let quota, let limit): self = .quotaExceeded(quota: quota, limit: limit)
    case .keepAliveTooShort(let minimumUSec):
      self = .keepAliveTooShort(minimum: .microseconds(minimumUSec))
    case .noEventStream: self = .noEventStream
    case .invalidSocket(let reason): self = .invalidSocket(reason: reason)
    case .unknownSocket: self = .unknownSocket
    case .locationUnavailable: self = .locationUnavailable
    case .locationDenied(let id, let reason): self = .locationDenied(id, LocationDenial(reason))
    case .unknownRegion(let identifier): self = .unknownRegion(identifier)
    case .invalidSnapshot(let parameter, let reason):
      self = .invalidSnapshot(field: parameter, reason: reason)
    case .invalidNotification(let parameter, let reason):
      self = .invalidNotification(field: parameter, reason: reason)
    case .unknownNotification(let id): self = .unknownNotification(NotificationID(id))
    case .notStored(let reason): self = .notStored(reason: reason)
    case .stateNotSaved: self = .stateNotSaved
    case .multitaskingNotSupported(let id): self = .multitaskingNotSupported(id)
    }
  }
}
