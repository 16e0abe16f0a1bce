import TaskSchedulerCore

/// A scenario for `taskctl simulate`. `docs/scenarios.md` describes the format.
public struct Scenario: Equatable, Sendable {
  public var policy = Policy()
  public var applications: [Application] = []
  public var steps: [Step] = []
  /// The time at which the timeline stops; nil if it continues until nothing more happens.
  public var end: Duration?

  /// An application and its behavior.
  public struct Application: Equatable, Sendable {
    public var key: ApplicationKey
    public var seat = SeatID("seat0")
    public var modes: [BackgroundMode] = []
    /// The location services in the manifest.
    public var locationServices = LocationService.allCases
    public var multitasking = true
    /// The delay from the launch or adoption to the opening of the event stream; nil if the
    /// application never opens it.
    public var openDelay: Duration? = .milliseconds(50)
    /// The delay before the application acknowledges a callback; nil if it never acknowledges
    /// callbacks.
    public var acknowledgeDelay: Duration? = .milliseconds(10)
    /// The delay from an expiration handler to the end of the task; nil if the task does not end.
    public var expireDelay: Duration? = .milliseconds(100)
    /// The delay from SIGTERM to the exit; nil if the application does not exit.
    public var terminateDelay: Duration? = .milliseconds(100)
    /// The delay from an event, such as data on a socket, to its acknowledgement; nil if the
    /// application does not acknowledge events.
    public var handleDelay: Duration? = .milliseconds(10)
    /// The time that the daemon needs to stop the processes; nil if it cannot stop them.
    public var stopDelay: Duration? = .milliseconds(5)
    /// The private dirty memory of the application's processes, in bytes.
    public var dirty: UInt64 = 64 << 20

    var manifest: Manifest {
      Manifest(
        id: key.id, owner: key.owner, backgroundModes: modes, locationServices: locationServices,
        multitasking: multitasking, seat: seat, namesSeat: true)
    }
  }

  /// An action, and the time at which it happens.
  public struct Step: Equatable, Sendable {
    public var at: Duration
    public var action: Action
    /// The text of the step in the scenario.
    public var text: String
  }

  /// An action. An application is identified by its index in ``Scenario/applications``.
  public enum Action: Equatable, Sendable {
    case launch(Int, LaunchTarget)
    case register(Int, LaunchTarget)
    case adopt(Int, LaunchTarget)
    case activate(Int)
    case interrupt(Int)
    case sendAway(Int)
    case terminate(Int)
    case begin(Int, task: String)
    case end(Int, task: String)
    case start(Int, ScenarioActivity)
    case stop(Int, ScenarioActivity)
    case exit(Int, ExitStatus)
    case debug(Int, Bool)
    case machineStandby(Duration)
    case daemonDies(Duration)
    case set(Policy)
    /// Sets the interval of the keep-alive handler; nil removes the handler.
    case keepAlive(Int, Duration?)
    case handOver(Int, socket: String)
    case takeBack(Int, socket: String)
    case arrive(Int, socket: String, SocketConditions)
    case schedule(Int, notification: String, after: Duration, RepeatInterval?)
    case cancel(Int, notification: String)
    case choose(Int, notification: String)
    case post(SystemChange)
    /// Sets the wall clock forward or, with a negative duration, back.
    case setClock(Duration)
    /// Starts the daemon, which launches the applications with mode `voip`.
    case daemonStarts
    /// The kernel reports memory pressure. The number is the percentage of the machine's 8 GiB that
    /// is available.
    case memoryPressure(Int, MemoryPressure.Source)
    /// Warns one application of memory pressure; nil warns all applications.
    case warnMemory(Int?)
    /// The machine is at this place from now on. The accuracy of the receiver is in meters.
    case locate(Coordinate, accuracy: Double)
    /// The receiver appears or disappears.
    case receiver(Bool)
    case monitor(Int, Region)
    case forget(Int, RegionID)
    /// The user or an operator decides whether an application may use the location.
    case authorizeLocation(Int, LocationAuthorization)
  }
}

/// An activity of an application in a scenario.
public enum ScenarioActivity: String, Equatable, Sendable, CaseIterable {
  case audio, location
  case significantChanges = "significant-changes"
}

/// A mistake in a scenario.
public struct ScenarioProblem: Error, Equatable, Sendable {
  /// The line, counted from 1, and the column in characters.
  public var line: Int
  public var column: Int
  /// The mistake, and what would be right.
  public var message: String
  /// The wrong word, if one of the ``candidates`` would be right in its place; otherwise nil.
  public var word: String?
  public var candidates: [String] = []
}
