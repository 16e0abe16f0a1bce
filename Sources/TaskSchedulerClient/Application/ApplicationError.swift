import TaskSchedulerWire

/// Why a request of the application failed. Each `description` is a sentence for people.
public enum ApplicationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The daemon refused it, with an error of `org.taskschedd.Application`.
  case refused(ApplicationInterface.Failure)
  /// The daemon refused it, with an error that any Varlink service may give: a name that is too
  /// long is `invalidParameter`.
  case invalid(StandardFailure)
  /// The daemon refused it, with an error that this version of the library does not know.
  case unknown(UnknownFailure)
  /// There is no connection to the daemon.
  case connection(ConnectionError)
  /// `ScheduledApplication.close()` was called.
  case closed

  public var description: String {
    switch self {
    case .refused(let failure): failure.sentence
    case .invalid(.invalidParameter(let parameter)): "taskschedd does not take this \(parameter)"
    case .invalid(let failure): "taskschedd refused: \(failure)"
    case .unknown(let failure): "taskschedd refused: \(failure)"
    case .connection(let error): error.description
    case .closed: "the application has been closed"
    }
  }

  /// Anything that `Connection` throws.
  init(_ error: any Error) {
    switch error {
    case let error as ApplicationError: self = error
    case let error as ConnectionError: self = .connection(error)
    case let error as ApplicationInterface.Failure: self = .refused(error)
    case let error as StandardFailure: self = .invalid(error)
    case let error as any MethodFailure:
      self = .unknown(UnknownFailure(name: error.name, parameters: error.parameters))
    default: fatalError("a connection threw \(error)")
    }
  }

  /// True where the same request may succeed once the daemon is back.
  var isTransient: Bool {
    switch self {
    case .connection: true
    case .refused(.notRegistered): true
    case .refused, .invalid, .unknown, .closed: false
    }
  }
}

extension ApplicationInterface.Failure {
  /// The error in one sentence without a full stop, for people.
  public var sentence: String {
    switch self {
    case .notRegistered:
      "this process belongs to no application: it must register first"
    case .invalidApplicationID(let application):
      "'\(application)' is no application id: give two or more labels of letters, digits, - and _, "
        + "joined by dots, as in org.example.mail"
    case .wrongApplication(let application, let registeredAs):
      "this process belongs to \(registeredAs) and cannot register as \(application)"
    case .notManageable(let reason): reason
    case .alreadyRunning(let application, let pid, let state):
      "\(application) is running already: it is \(state.rawValue), as process \(pid)"
    case .terminating(let application):
      "\(application) is being ended"
    case .streamReplaced:
      "another connection of this application has opened the event stream"
    case .unknownCallback(let callback):
      "no callback \(callback) awaits acknowledgement"
    case .unknownTask(let task):
      "no background task \(task) is outstanding: it was never begun, or has ended"
    case .invalidState(let application, let state):
      "\(application) cannot do this while it is \(state.rawValue)"
    case .modeNotDeclared(let application, let mode):
      "the manifest of \(application) does not declare the background mode '\(mode)'"
    case .quotaExceeded(let quota, let limit):
      "the quota \(quota) of \(limit) is used up"
    case .keepAliveTooShort(let minimumUSec):
      "the keep-alive interval is too short: at least \(Duration.microseconds(minimumUSec))"
    case .noEventStream:
      "this process has never opened its event stream: it must register first"
    case .invalidSocket(let reason):
      "the socket cannot be managed: \(reason)"
    case .unknownSocket(let socket):
      "no socket \(socket) is managed: it never was, or was released"
    case .invalidNotification(let parameter, let reason):
      "the notification is refused, \(parameter): \(reason)"
    case .unknownNotification(let notification):
      "there is no notification \(notification): it never was, was cancelled, or has gone"
    case .notStored(let reason):
      "the notification could not be stored: \(reason)"
    case .stateNotSaved:
      "taskschedd can promise nothing new at the moment: its runtime directory is full"
    case .multitaskingNotSupported(let application):
      "\(application) cannot run in the background: the machine or its manifest excludes it"
    }
  }
}
