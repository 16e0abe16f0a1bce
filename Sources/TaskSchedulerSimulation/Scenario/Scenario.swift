import TaskSchedulerCore

/// A scenario for `taskctl simulate`. Each file in `Examples/scenarios` describes the format.
public struct Scenario: Equatable, Sendable {
  public var policy = Policy()
  public var applications: [Application] = []
  public var steps: [Step] = []
  /// The end of a timeline that would otherwise continue.
  public var end: Duration?

  /// An application, and how it behaves.
  public struct Application: Equatable, Sendable {
    public var key: ApplicationKey
    public var seat = SeatID("seat0")
    public var modes: [BackgroundMode] = []
    public var multitasking = true
    /// The delay from its start to its event stream; nil for an application that never registers.
    public var openDelay: Duration? = .milliseconds(50)
    /// The delay before it acknowledges a callback; nil if it never does. The same applies below.
    public var acknowledgeDelay: Duration? = .milliseconds(10)
    /// From its expiration handler to the end of the task.
    public var expireDelay: Duration? = .milliseconds(100)
    /// From SIGTERM to its exit.
    public var terminateDelay: Duration? = .milliseconds(100)
    /// From an event of its sockets to its acknowledgement; nil lets the time pass.
    public var handleDelay: Duration? = .milliseconds(10)
    /// The time until its processes are stopped; nil if they cannot be stopped.
    public var stopDelay: Duration? = .milliseconds(5)
    /// The private dirty memory of its processes, in bytes.
    public var dirty: UInt64 = 64 << 20

    var manifest: Manifest {
      Manifest(
        id: key.id, owner: key.owner, backgroundModes: modes, multitasking: multitasking,
        seat: seat, namesSeat: true)
    }
  }

  /// Something that happens at a time.
  public struct Step: Equatable, Sendable {
    public var at: Duration
    public var action: Action
    /// The text of the step.
    public var text: String
  }

  /// An action. An application is its index in ``Scenario/applications``.
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
    case start(Int, Activity)
    case stop(Int, Activity)
    case exit(Int, ExitStatus)
    case debug(Int, Bool)
    case machineStandby(Duration)
    case daemonDies(Duration)
    case set(Policy)
    /// nil clears it.
    case keepAlive(Int, Duration?)
    case handOver(Int, socket: String)
    case takeBack(Int, socket: String)
    case arrive(Int, socket: String, SocketConditions)
    case schedule(Int, notification: String, after: Duration, RepeatInterval?)
    case cancel(Int, notification: String)
    case choose(Int, notification: String)
    case post(SystemChange)
    /// The wall clock is set forward or, below zero, back.
    case setClock(Duration)
    /// The daemon starts and launches the applications that must be reachable.
    case daemonStarts
    /// A trigger of the kernel fires; the number is the available percent of the machine's 8 GiB.
    case memoryPressure(Int, MemoryPressure.Source)
    /// nil warns all.
    case warnMemory(Int?)
  }
}

/// A mistake in a scenario.
public struct ScenarioProblem: Error, Equatable, Sendable {
  /// Counted from 1; the column in characters.
  public var line: Int
  public var column: Int
  /// What is wrong, and what would be right.
  public var message: String
  /// The wrong word, which is to be one of ``candidates``, for "did you mean".
  public var word: String?
  public var candidates: [String] = []
}
