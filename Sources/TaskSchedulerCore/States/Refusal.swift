/// The reason why the scheduler refused a request. A refused request changes nothing.
public enum Refusal: Equatable, Sendable, Error {
  case unknownApplication(ApplicationKey)
  /// The contract allows no transition from this state by this cause.
  case invalidTransition(from: ApplicationState, cause: TransitionCause)
  /// The request is not possible in this state.
  case invalidState(ApplicationState)
  case alreadyRunning(pid: Int32, state: ApplicationState)
  case terminating
  /// The application has no manifest that describes its launch.
  case notLaunchable
  case launchFailed(reason: String)
  /// The process belongs to an instance of another application.
  case wrongApplication(registeredAs: ApplicationID)
  case unknownCallback(CallbackID)
  case unknownTask(TaskID)
  case modeNotDeclared(BackgroundMode)
  /// The request exceeds a quota of ``Policy``. `name` is the name of the setting.
  case quotaExceeded(name: String, limit: Int)
  case multitaskingNotSupported
  /// The interval is shorter than `KeepAliveMinimum`.
  case keepAliveTooShort(minimum: Duration)
  /// The request needs the event stream, which the application has never opened.
  case noEventStream
  case unknownSocket(SocketID)
  case unknownNotification(NotificationID)
  /// The store could not save the change of a notification, a badge or a location service.
  case notStored(reason: String)
  /// The application cannot receive a simulated memory warning, because it does not run, is
  /// suspended, or has no event stream.
  case cannotBeTold(ApplicationState)
  /// An operator or the user terminated the application. The scheduler launches it again only at
  /// the request of an operator or a user.
  case terminatedByOperator
  /// The user has no application that receives remote control and has been audible.
  case nothingPlayed(UserID)
  /// No source of locations is available.
  case locationUnavailable
  /// The application may not use the location service.
  case locationDenied(LocationDenial)
  case unknownRegion(RegionID)

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
    case .nothingPlayed: "NothingPlayed"
    case .locationUnavailable: "LocationUnavailable"
    case .locationDenied: "LocationDenied"
    case .unknownRegion: "UnknownRegion"
    }
  }
}
