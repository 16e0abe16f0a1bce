// Why an application is in its state: what caused the state, what entitles the application to run,
// and which limit comes next. The scheduler noted all of this when it happened.

/// The explanation of an application's state, as `taskctl why` shows it.
public struct Explanation: Equatable, Sendable {
  /// What caused the present state; nil if the application has never run.
  public var cause: TransitionCause?
  /// What last entitled the application to run in the background and no longer does; nil in the
  /// foreground, and if nothing has since the application was sent to the background.
  public var lastEntitlement: EndedEntitlement?
  /// Whether a debugger traces the application. Then no limit is enforced.
  public var isTraced: Bool
  /// The limits ahead, the nearest first.
  public var limits: [Limit]
  /// The details of the end under way, or, if the application does not run, of its last end.
  public var end: EndDetail?
}

/// Something that entitled an instance to run in the background, and has ended.
public struct EndedEntitlement: Equatable, Sendable {
  public var kind: Kind
  public var at: Instant

  /// What entitled the instance, and how that ended.
  public enum Kind: Equatable, Sendable {
    /// The application ended a background task.
    case task(TaskID, name: String?)
    /// The application acknowledged a callback.
    case callback(CallbackKind)
    /// Audio, location updates, or an event that the daemon observed.
    case activity(Activity)
    /// The application acknowledged an event that it was woken for.
    case eventHandled
    /// `EventTime` passed.
    case eventTime
    /// `LaunchTime` passed, and the application had not opened its event stream.
    case launchTime
  }
}

/// An action that the scheduler takes by itself at a known instant.
public struct Limit: Equatable, Sendable {
  public var kind: Kind
  public var at: Instant

  /// The action that the scheduler takes.
  public enum Kind: Equatable, Sendable {
    /// The application is killed, unless it has acknowledged this callback.
    case callback(CallbackKind)
    /// The expiration handlers of the background tasks are called.
    case expiration
    /// The background time ends. The application is suspended, or killed if a task is outstanding.
    case backgroundTime
    /// The time to open the event stream ends.
    case launch
    /// The time to handle an event ends.
    case event
    /// The daemon tries again to stop the processes.
    case suspension
    /// SIGKILL follows the stop signal.
    case kill
    /// The daemon sends SIGKILL again, because it could not send it to all processes.
    case killRetry
    /// The keep-alive handler is called.
    case keepAlive
    /// The application is relaunched.
    case relaunch
    /// The application may be relaunched, once memory pressure is over.
    case relaunchAfterPressure
  }
}

/// How an instance came into its state, and what last entitled it to run.
struct Reasons: Equatable, Sendable {
  /// The cause of the present state; nil until the first transition.
  private(set) var cause: TransitionCause?
  private(set) var displacedBy: ApplicationKey?
  private(set) var lastEntitlement: EndedEntitlement?

  mutating func moved(to next: ApplicationState, _ cause: TransitionCause) {
    // A step on the way to the foreground must not hide the cause of the activation.
    let isStep = cause == .acknowledged || (cause == .register && next == .inactive)
    if self.cause == nil || !isStep { self.cause = cause }
    if next.isForeground || cause == .sendAway { displacedBy = nil }
    if let activated = cause.activated { displacedBy = activated }
    if next != .suspended { lastEntitlement = nil }
  }

  mutating func entitlementEnded(_ kind: EndedEntitlement.Kind, at now: Instant) {
    lastEntitlement = EndedEntitlement(kind: kind, at: now)
  }
}
