// The rules for resources in the background (contract §12): CPU, GPU, locks on shared files,
// listening sockets. The daemon measures the use when the scheduler requests it. The scheduler
// decides whether an instance violates a rule.

/// The resource use of an instance's processes, counted from an instant that each daemon chooses
/// for itself. Only the difference between two values of the same daemon is meaningful.
public struct ResourceUse: Equatable, Sendable {
  /// The CPU time of all processes, on all CPUs together.
  public var processor: Duration
  /// The GPU time of all processes, on all engines of all GPUs together.
  public var gpu: Duration
  /// Whether a debugger traces one of the processes.
  public var isTraced: Bool

  public init(processor: Duration, gpu: Duration, isTraced: Bool = false) {
    self.processor = processor
    self.gpu = gpu
    self.isTraced = isTraced
  }
}

/// A report of the daemon about the resource use of an instance.
public enum ResourceEvent: Equatable, Sendable {
  /// The answer to ``ResourceEffect/sample(_:)``. The daemon also sends this event when it has
  /// stopped all processes of a measured instance, and when it finds GPU use between two samples.
  case used(InstanceID, ResourceUse)
  /// All processes have stopped, and the instance holds a lock or a lease on this file, which
  /// `SharedResources` lists. This event precedes ``ProcessEvent/suspensionCompleted(_:)``.
  case held(InstanceID, path: String)
  /// All processes have stopped, and the addresses on which the instance listens have changed since
  /// the last report. This event precedes ``ProcessEvent/suspensionCompleted(_:)``.
  case listens(InstanceID, ListeningReport)
}

/// The addresses on which an application listened at its last suspension.
public struct ListeningReport: Equatable, Sendable {
  /// The maximum number of addresses in a report.
  public static let namedMax = 10

  /// The addresses, at most the first ``namedMax``.
  public var addresses: [String]
  /// The number of all addresses.
  public var count: Int
  /// Whether the daemon examined all descriptors of the application's processes. If not, it may
  /// have missed listening sockets and locks on shared files.
  public var isComplete: Bool

  public init(_ addresses: [String] = [], isComplete: Bool = true) {
    self.addresses = Array(addresses.prefix(Self.namedMax))
    count = addresses.count
    self.isComplete = isComplete
  }

  init(addresses: [String], count: Int, isComplete: Bool) {
    self.addresses = addresses
    self.count = count
    self.isComplete = isComplete
  }

  /// Whether there is nothing to report.
  public var isEmpty: Bool { count == 0 && isComplete }
}

/// A resource-related action of the daemon.
public enum ResourceEffect: Equatable, Sendable {
  /// Sets the priority of all processes of an instance, including processes that it creates later.
  case prioritize(InstanceID, ProcessPriority)
  /// Measures the resource use of an instance. The answer is ``ResourceEvent/used(_:_:)``.
  case sample(InstanceID)
  /// Limits an instance to a percentage of one CPU; nil removes the limit.
  case throttle(InstanceID, percent: Int?)
}

/// A violated rule, a throttle or a report of listening sockets, for the log and the monitors.
public enum ResourceRecord: Equatable, Sendable {
  case usedProcessor(Duration, within: Duration)
  case usedGPU(Duration)
  case heldResource(path: String)
  /// The scheduler throttled the instance to this percentage of one CPU; nil if it lifted the
  /// throttle.
  case throttled(percent: Int?)
  case listens(ListeningReport)
}

/// The measurement of an instance's resource use during one stay in the background (``Stint``).
struct UseMeasurement: Equatable, Sendable {
  var progress = Progress.asked
  /// The current window; nil until the first measurement.
  var window: Window?
  /// The percentage of one CPU to which the instance is throttled; nil if it is not.
  var throttledTo: Int?
  /// Whether the scheduler has throttled the instance in this stint. This stays true after the
  /// scheduler has lifted the throttle.
  var wasThrottled = false

  enum Progress: Equatable {
    /// The scheduler has requested a measurement and waits for the result.
    case asked
    /// The scheduler requests the next measurement at this instant.
    case due(Instant)
  }

  /// A period of at least `BackgroundUseWindow`, over which the scheduler compares the CPU time
  /// with the limit.
  struct Window: Equatable {
    var since: Instant
    /// The CPU time that the daemon reported at the start of the window.
    var processor: Duration
    /// The GPU time that the daemon reported at the first measurement in the background. The GPU
    /// time beyond this value counts against `BackgroundGPUTime`. After a recovery or a debugger,
    /// the next measurement is the first one again.
    let gpu: Duration
  }

  /// The instant at which the scheduler requests the next measurement; nil while it waits for a
  /// result.
  var nextDue: Instant? {
    switch progress {
    case .asked: nil
    case .due(let due): due
    }
  }

  func check() throws(InvariantViolation) {
    try require(
      (1...99).contains(throttledTo ?? 1), "a throttle is not 1 to 99 percent of one CPU")
  }
}

/// The share of a CPU that an instance may use in the background.
public enum ProcessorShare: Equatable, Sendable {
  /// The percentage of one CPU that a throttled instance may use.
  case throttled(percent: Int)
  /// The percentage of one CPU that an instance may use while it is not throttled. The scheduler
  /// first throttles an instance that uses more. It kills an instance that uses more again after
  /// the throttle was lifted.
  case usual(percent: Int)

  public var percent: Int {
    switch self {
    case .throttled(let percent), .usual(let percent): percent
    }
  }

  public var isThrottle: Bool {
    switch self {
    case .throttled: true
    case .usual: false
    }
  }
}
