/// The status of an application, running or not.
public struct ApplicationStatus: Equatable, Sendable {
  public var key: ApplicationKey
  public var displayName: String?
  public var state: ApplicationState
  public var stateSince: Instant
  public var seat: SeatID?
  public var backgroundModes: [BackgroundMode]
  public var multitasking: Bool
  public var isLaunchable: Bool
  /// The position in the application switcher. 1 is the most recently active application; nil means
  /// that the switcher does not contain the application.
  public var switcherPosition: Int?
  public var snapshot: Snapshot?
  public var instance: InstanceStatus?
  public var lastEnd: End?
  /// The failure of the last launch; nil if the application has run since.
  public var launchFailure: LaunchFailure?
  /// The next automatic launch; nil if none is planned.
  public var nextLaunch: NextLaunch?
  /// The number of notifications that wait for their time, or for the store.
  public var scheduledNotifications: Int
}

/// An automatic launch, after a failed launch or after an end that requires a relaunch
/// (contract.md#launch-relaunch).
public struct NextLaunch: Equatable, Sendable {
  public var at: Instant
  /// The delay between the end, or the failed launch, and this launch.
  public var delay: Duration
  /// Whether the launch waits until memory pressure is over.
  public var awaitsMemory: Bool
}

/// The status of a running instance.
public struct InstanceStatus: Equatable, Sendable {
  public var id: InstanceID
  public var leader: Leader
  public var isAware: Bool
  public var launchReason: LaunchReason
  public var startedAt: Instant
  /// The reason for the termination in progress; nil if there is none.
  public var ending: EndReason?
  public var isSuspending: Bool
  /// The application whose activation at the same seat made this application inactive or sent it to
  /// the background; nil if the cause was another one.
  public var displacedBy: ApplicationKey?
  public var entitlements: [Entitlement]
  public var callbacksPending: Int
  /// The remaining background time; nil means unlimited.
  public var timeRemaining: Duration?
  public var tasks: [BackgroundTask]
  public var keepAlive: KeepAliveStatus?
  public var managedSockets: Int
  /// The number of system changes that the daemon delivers when the instance resumes.
  public var heldChanges: Int
  public var priority: ProcessPriority
  /// The percentage of one CPU to which the instance is throttled; nil if it is not.
  public var throttledTo: Int?
  /// The addresses on which the instance listened at its last suspension.
  public var listening: ListeningReport
  public var audio: AudioUse
}

/// The status of a keep-alive handler.
public struct KeepAliveStatus: Equatable, Sendable {
  public var keepAlive: KeepAlive
  /// The planned instant of the burst that calls the handler, if nothing changes.
  public var planned: Instant
}
