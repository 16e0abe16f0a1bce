// The rules for resources in the background (contract §12): CPUs, GPUs, locks on shared data,
// listening sockets. The daemon measures on request; the scheduler decides here.

/// The resources that the processes of an instance have used, counted from an instant that does not
/// change while one daemon lives.
public struct ResourceUse: Hashable, Sendable {
  /// Of all processors together.
  public var processor: Duration
  /// Of all engines of all GPUs together.
  public var gpu: Duration
  /// Whether a debugger traces one of the processes.
  public var isTraced: Bool

  public init(processor: Duration, gpu: Duration, isTraced: Bool = false) {
    self.processor = processor
    self.gpu = gpu
    self.isTraced = isTraced
  }
}

/// What the daemon found about an instance's use of resources.
public enum ResourceEvent: Hashable, Sendable {
  /// The answer to ``ResourceEffect/look(_:)``. Also sent when all processes of a measured instance
  /// have stopped.
  case used(InstanceID, ResourceUse)
  /// All processes have stopped, and the instance holds a lock or a lease on this file of
  /// `SharedResources`. Comes before the completion of the suspension.
  case held(InstanceID, path: String)
  /// All processes have stopped, and the addresses on which the instance listens have changed since
  /// the last report. Comes before the completion of the suspension.
  case listens(InstanceID, ListeningReport)
}

/// The addresses on which an application listened when it was last suspended.
public struct ListeningReport: Hashable, Sendable {
  /// The maximum of addresses that are named.
  public static let namedMax = 10

  /// The first addresses.
  public var addresses: [String]
  /// The number of addresses.
  public var count: Int
  /// Whether all descriptors of its processes were examined. If not, locks on shared files and
  /// sockets that listen may have been missed.
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

/// An action of the daemon on the use of resources.
public enum ResourceEffect: Hashable, Sendable {
  /// Sets the priority of all processes, including later ones.
  case prioritize(InstanceID, ProcessPriority)
  /// Measures the use of an instance; answered by ``ResourceEvent/used(_:_:)``.
  case look(InstanceID)
  /// Limits an instance to a percentage of one CPU; nil removes the limit.
  case throttle(InstanceID, percent: Int?)
}

/// A change in the use of resources, for the log and the monitors.
public enum ResourceRecord: Hashable, Sendable {
  case usedProcessor(Duration, within: Duration)
  case usedGPU(Duration)
  case heldResource(path: String)
  /// The percentage of one CPU; nil removes the limit.
  case throttled(percent: Int?)
  case listens(ListeningReport)
}

/// What the scheduler knows about an instance's use of resources.
struct BackgroundRules: Hashable, Sendable {
  /// The percentage of one CPU to which the instance is throttled.
  fileprivate(set) var throttledTo: Int?
  /// Whether the instance was throttled before in this stretch in the background.
  fileprivate(set) var wasThrottled = false
  /// The addresses that it listened on when it was last suspended.
  fileprivate(set) var listening = ListeningReport()
  fileprivate(set) var look = Look.none
  fileprivate(set) var stretch: Stretch?

  enum Look: Hashable {
    case none, asked
    case due(Instant)
  }

  /// The window in which the scheduler measures the use.
  struct Stretch: Hashable {
    var since: Instant
    /// The CPU time used before the window.
    var processor: Duration
    /// The GPU time used before the first measurement in the background.
    let gpu: Duration
  }

  /// When the next measurement is due.
  var nextLook: Instant? {
    if case .due(let due) = look { due } else { nil }
  }

  /// Ends the measurements.
  mutating func forgetUse() {
    look = .none
    stretch = nil
    throttledTo = nil
    wasThrottled = false
  }

  func check() throws(InvariantViolation) {
    try require(
      (1...99).contains(throttledTo ?? 1), "a throttle is not 1 to 99 percent of one CPU")
    try require(look != .none || throttledTo == nil, "a throttled instance is not measured")
  }
}

extension Scheduler {
  mutating func handle(_ event: ResourceEvent, in turn: inout Turn) {
    switch event {
    case .used(let id, let use):
      with(id, in: &turn) { $0.used(use, in: &$1) }
    case .held(let id, let path):
      with(id, in: &turn) { $0.heldResource(path, in: &$1) }
    case .listens(let id, let addresses):
      with(id, in: &turn) { $0.listens(addresses, in: &$1) }
    }
  }
}

extension Instance {
  /// Starts the measurements, once the instance has acknowledged the callbacks on its way to the
  /// background. Call this whenever the instance may continue to run there.
  mutating func watchUse(in turn: inout Turn) {
    guard rules.look == .none, !callbacks.contains(.willResignActive),
      !callbacks.contains(.didEnterBackground)
    else { return }
    askUse(in: &turn)
  }

  mutating func lookIfDue(in turn: inout Turn) {
    if let due = rules.nextLook, due <= turn.instant { askUse(in: &turn) }
  }

  private mutating func askUse(in turn: inout Turn) {
    rules.look = .asked
    turn.emit(.resources(.look(id)))
  }

  /// Ends the measurements and the throttle, at the end of the stretch in the background.
  mutating func stopWatchingUse(in turn: inout Turn) {
    liftThrottle(in: &turn)
    rules.forgetUse()
  }

  /// Starts the measurements anew after a recovery, because another daemon counts from another
  /// instant.
  mutating func watchUseAnew(in turn: inout Turn) {
    if let percent = rules.throttledTo {
      turn.emitLast(.resources(.throttle(id, percent: percent)))
    }
    rules.stretch = nil
    if rules.look != .none { askUse(in: &turn) }
  }

  /// Throttles a resumed instance as before.
  func throttleAgain(in turn: inout Turn) {
    if let percent = rules.throttledTo {
      turn.emit(.resources(.throttle(id, percent: percent)))
    }
  }

  mutating func liftThrottle(in turn: inout Turn) {
    guard rules.throttledTo != nil else { return }
    rules.throttledTo = nil
    turn.emit(.resources(.throttle(id, percent: nil)))
    record(.resources(.throttled(percent: nil)), in: &turn)
  }

  fileprivate mutating func used(_ use: ResourceUse, in turn: inout Turn) {
    guard state == .background, termination == nil, rules.look != .none else { return }
    let now = turn.instant
    let wasAsked = rules.look == .asked
    if wasAsked { rules.look = .due(now.advanced(by: turn.policy.backgroundUseWindow)) }
    guard let stretch = rules.stretch, !use.isTraced else {
      rules.stretch = .init(since: now, processor: use.processor, gpu: use.gpu)
      return
    }
    if use.gpu - stretch.gpu > turn.policy.backgroundGPUTime {
      record(.resources(.usedGPU(use.gpu - stretch.gpu)), in: &turn)
      return kill(.gpuInBackground, .gpu(use.gpu - stretch.gpu), in: &turn)
    }
    let window = stretch.since.duration(to: now)
    // The daemon also reports GPU use between two measurements, without a newer CPU time.
    guard wasAsked, suspension != .stopping, window >= turn.policy.backgroundUseWindow else {
      return
    }
    rules.stretch?.since = now
    rules.stretch?.processor = use.processor
    judge(use.processor - stretch.processor, within: window, in: &turn)
  }

  /// Throttles an instance that used too much. Kills one that used up its throttled share, or that
  /// used too much again after a throttle.
  private mutating func judge(
    _ used: Duration, within window: Duration, in turn: inout Turn
  ) {
    // Four fifths: an instance cannot use all of its share, because it waits for its turn.
    let allowed = rules.throttledTo.map { window * $0 * 80 / 10_000 }
    guard used > allowed ?? (window * turn.policy.backgroundProcessorShare / 100) else {
      return liftThrottle(in: &turn)
    }
    record(.resources(.usedProcessor(used, within: window)), in: &turn)
    if rules.wasThrottled {
      let share = rules.throttledTo.map { ProcessorShare.throttled(percent: $0) }
      let usual = ProcessorShare.usual(percent: turn.policy.backgroundProcessorShare)
      return kill(
        .excessiveUse, .processor(used, within: window, share: share ?? usual), in: &turn)
    }
    let percent = turn.policy.throttledProcessorShare
    rules.throttledTo = percent
    rules.wasThrottled = true
    turn.emit(.resources(.throttle(id, percent: percent)))
    record(.resources(.throttled(percent: percent)), in: &turn)
  }

  fileprivate mutating func heldResource(_ path: String, in turn: inout Turn) {
    guard suspension == .stopping, termination == nil else { return }
    record(.resources(.heldResource(path: path)), in: &turn)
    kill(.sharedResourceHeld, .sharedResource(path: path), in: &turn)
  }

  fileprivate mutating func listens(_ report: ListeningReport, in turn: inout Turn) {
    guard suspension == .stopping, termination == nil, report != rules.listening else { return }
    rules.listening = report
    if !report.isEmpty { record(.resources(.listens(report)), in: &turn) }
  }
}
