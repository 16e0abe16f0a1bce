// The explanation of an application's state: the cause of the state, what entitles the application
// to run, and the next limit. The scheduler records the causes when they occur, so that an
// explanation needs no guess.

/// The explanation of an application's state, as `taskctl why` shows it.
public struct Explanation: Equatable, Sendable {
  /// The cause of the current state; nil if the application has never run.
  public var cause: TransitionCause?
  /// The most recently ended entitlement to run in the background; nil in the foreground, or if no
  /// entitlement has ended since the application last entered the state `background`.
  public var lastEntitlement: EndedEntitlement?
  /// Whether a debugger traces the application. If so, the scheduler enforces only the limits of an
  /// end that a user or an operator ordered.
  public var isTraced: Bool
  /// The next limits, the earliest first.
  public var limits: [Limit]
  /// What the user sees of the application; nil if no session agent reports a window of the
  /// application.
  public var window: WindowStatus?
  /// The details of the termination in progress or, if the application does not run, of its last
  /// end.
  public var end: EndDetail?
}

/// What the user sees of an application.
public struct WindowStatus: Equatable, Sendable {
  public var visibility: WindowVisibility
  /// The instant of the last change of the visibility.
  public var since: Instant
}

/// An entitlement to run in the background that an instance no longer has.
public struct EndedEntitlement: Equatable, Sendable {
  public var kind: Kind
  /// The instant of the event that ``kind`` describes.
  public var at: Instant

  /// The kind of the entitlement, and how it ended.
  public enum Kind: Equatable, Sendable {
    /// The application ended a background task.
    case task(TaskID, name: String?)
    /// The application acknowledged a callback.
    case callback(CallbackKind)
    /// The application stopped its location updates, or may no longer use them.
    case location
    /// The application stopped playing and recording. The entitlement ended `AudioGraceTime` later.
    case audio
    /// The application had played only silence for `AudioSilenceTime`.
    case silence
    /// The audio reports are no longer valid: the session agent disconnected, and
    /// `SessionGraceTime` passed.
    case audioLost
    /// The application acknowledged an event that it was handling.
    case eventHandled
    /// The time for an event, usually `EventTime`, passed.
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
    /// The scheduler kills the application, unless it has acknowledged this callback.
    case callback(CallbackKind)
    /// The scheduler calls the expiration handlers of the background tasks.
    case expiration
    /// The background time ends. If a task is outstanding, the scheduler kills the application,
    /// unless something else entitles the application to run.
    case backgroundTime
    /// The time to open the event stream ends.
    case launch
    /// The time to handle an event ends.
    case event
    /// `AudioGraceTime` or `AudioSilenceTime` ends.
    case audio
    /// The daemon suspends the application even if its audio is not muted.
    case mute
    /// The daemon tries again to stop the processes.
    case suspension
    /// SIGKILL follows the stop signal.
    case kill
    /// The daemon sends SIGKILL again, because it could not send it to all processes.
    case killRetry
    /// The scheduler calls the keep-alive handler.
    case keepAlive
    /// The scheduler relaunches the application.
    case relaunch
    /// The scheduler relaunches the application when memory pressure is over.
    case relaunchAfterPressure
    /// The application becomes inactive, unless its window gets the focus again.
    case unfocused
    /// The application goes to the background, unless its window is shown again.
    case hidden
  }
}

/// The cause of an instance's state, and its last entitlement to run.
struct StateReasons: Equatable, Sendable {
  /// The cause of the present state; nil until the first transition.
  private(set) var cause: TransitionCause?
  private(set) var displacedBy: ApplicationKey?
  private(set) var lastEntitlement: EndedEntitlement?

  mutating func moved(to next: ApplicationState, _ cause: TransitionCause) {
    // The acknowledgement of a callback on the way to the foreground must not hide the cause of the
    // activation.
    let isStep = cause == .acknowledged || (cause == .register && next == .inactive)
    if self.cause == nil || !isStep { self.cause = cause }
    if next.isForeground || cause == .sendAway || cause == .hidden { displacedBy = nil }
    if let activated = cause.activated { displacedBy = activated }
    if next != .suspended { lastEntitlement = nil }
  }

  mutating func entitlementEnded(_ kind: EndedEntitlement.Kind, at now: Instant) {
    lastEntitlement = EndedEntitlement(kind: kind, at: now)
  }
}
