/// Why a request was refused. Nothing has changed by it.
public enum Refusal: Hashable, Sendable, Error {
  case unknownApplication(ApplicationKey)
  /// The contract's table has no such transition from this state.
  case invalidTransition(from: ApplicationState, cause: TransitionCause)
  /// The request is possible in other states only.
  case invalidState(ApplicationState)
  case alreadyRunning(pid: Int32, state: ApplicationState)
  case terminating
  /// No manifest says how to launch it.
  case notLaunchable
  case launchFailed(reason: String)
  /// The process is of an instance of another application.
  case wrongApplication(registeredAs: ApplicationID)
  case unknownCallback(CallbackID)
  case unknownTask(TaskID)
  case modeNotDeclared(BackgroundMode)
  /// The quota's name in ``Policy``'s documentation, and its value.
  case quotaExceeded(name: String, limit: Int)
  case multitaskingNotSupported
  /// Below `KeepAliveMinimum`, which is given.
  case keepAliveTooShort(minimum: Duration)
  /// What is asked for is answered on the event stream, which the application has never opened.
  case noEventStream
  case unknownSocket(SocketID)
  case unknownNotification(NotificationID)
  /// The daemon could not store the change durably, and nothing has changed.
  case notStored(reason: String)
  /// It has to be told of something, and does not run, is suspended, or has no event stream.
  case cannotBeTold(ApplicationState)
  /// An operator or the user has ended it: only a launch that one of them asks for brings it back.
  case terminatedByOperator

  /// The name of the error on the wire, without the interface.
  public var name: String {
    switch self {
    case .unknownApplication: "UnknownApplication"
    case .invalidTransition: "InvalidTransition"
    case .invalidState: "InvalidState"
    case .alreadyRunning: "AlreadyRunning"
    case .terminating: "Terminating"
    case .notLaunchable: "NotLaunchable"
    case .launchFailed: "LaunchFailed"
    case .wrongApplication: "WrongApplication"
    case .unknownCallback: "UnknownCallback"
    case .unknownTask: "UnknownTask"
    case .modeNotDeclared: "ModeNotDeclared"
    case .quotaExceeded: "QuotaExceeded"
    case .multitaskingNotSupported: "MultitaskingNotSupported"
    case .keepAliveTooShort: "KeepAliveTooShort"
    case .noEventStream: "NoEventStream"
    case .unknownSocket: "UnknownSocket"
    case .unknownNotification: "UnknownNotification"
    case .notStored: "NotStored"
    case .terminatedByOperator: "TerminatedByOperator"
    case .cannotBeTold: "CannotBeTold"
    }
  }
}
