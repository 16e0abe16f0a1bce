// What is used in the background (contract §12): processors, GPUs, locks on shared data, listening
// sockets. The daemon looks when it is asked; what follows is decided here.

/// What the processes of an instance have used, counted from any moment that stays the same while
/// one daemon lives.
public struct ResourceUse: Hashable, Sendable {
  /// Of all processors together.
  public var processor: Duration
  /// Of all engines of all GPUs together.
  public var gpu: Duration
  /// Whether a debugger traces any of them.
  public var isTraced: Bool

  public init(processor: Duration, gpu: Duration, isTraced: Bool = false) {
    self.processor = processor
    self.gpu = gpu
    self.isTraced = isTraced
  }
}

/// What the daemon has found of the use of the machine.
public enum ResourceEvent: Hashable, Sendable {
  /// The answer to ``ResourceEffect/look(_:)``; also said when all processes of an instance that
  /// was looked at stand still.
  case used(InstanceID, ResourceUse)
  /// All its processes stand still, and it holds a lock or a lease on this file of
  /// `SharedResources`. Comes before the completion of the suspension.
  case held(InstanceID, path: String)
  /// All its processes stand still, and this was found of the addresses that it listens on. Comes
  /// before the completion of the suspension, where it is not what was found before.
  case listens(InstanceID, ListeningReport)
}

/// On which addresses an application listened when it was last suspended.
public struct ListeningReport: Hashable, Sendable {
  /// How many addresses are named.
  public static let namedMax = 10

  /// The first ones.
  public var addresses: [String]
  /// How many there were.
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

  /// Whether there is nothing to be reported.
  public var isEmpty: Bool { count == 0 && isComplete }
}

/// What is to be done about the use of the machine.
public enum ResourceEffect: Hashable, Sendable {
  /// Favours all processes so, also those that come later.
  case prioritize(InstanceID, ProcessPriority)
  /// Looks at what it uses; answered by ``ResourceEvent/used(_:_:)``.
  case look(InstanceID)
  /// Lets it use so many percent of one processor; nil is as much as it likes.
  case throttle(InstanceID, percent: Int?)
}

/// What is to be known of the use of the machine, for the log and the monitors.
public enum ResourceRecord: Hashable, Sendable {
  case usedProcessor(Duration, within: Duration)
  case usedGPU(Duration)
  case heldResource(path: String)
  /// nil: no more.
  case throttled(percent: Int?)
  case listens(ListeningReport)
}

/// What is known of an instance's use of the machine.
struct BackgroundRules: Hashable, Sendable {
  /// To how many percent of one processor it is throttled.
  fileprivate(set) var throttledTo: Int?
  /// Whether it was throttled before in this stretch of the background.
  fileprivate(set) var wasThrottled = false
  /// The addresses that it listened on when it was last suspended.
  fileprivate(set) var listening = ListeningReport()
  fileprivate(set) var look = Look.none
  fileprivate(set) var stretch: Stretch?

  enum Look: Hashable {
    case none, asked
    case due(Instant)
  }

  /// The time that is judged at its end.
  struct Stretch: Hashable {
    var since: Instant
    /// What of processors had been used at its start.
    var processor: Duration
    /// What of GPUs had been used when the instance was first looked at in the background.
    let gpu: Duration
  }

  /// When it is to be looked at next.
  var nextLook: Instant? {
    if case .due(let due) = look { due } else { nil }
  }

  /// It is killed: nothing is judged any more.
  mutating func forgetUse() {
    look = .none
    stretch = nil
    throttledTo = nil
    wasThrottled = false
  }

  func check() throws(InvariantViolation) {
    try require(
      (1...99).contains(throttledTo ?? 1), "a throttle is a share of one processor in percent")
    try require(look != .none || throttledTo == nil, "what is not looked at is throttled")
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
  /// Has it looked at from here on, once it has done what it was told when it was sent away. To be
  /// called whenever it may go on running in the background.
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

  /// Its stretch in the background is over.
  mutating func stopWatchingUse(in turn: inout Turn) {
    liftThrottle(in: &turn)
    rules.forgetUse()
  }

  /// The daemon that comes back counts from another moment on.
  mutating func watchUseAnew(in turn: inout Turn) {
    if let percent = rules.throttledTo {
      turn.emitLast(.resources(.throttle(id, percent: percent)))
    }
    rules.stretch = nil
    if rules.look != .none { askUse(in: &turn) }
  }

  /// Whoever is let run again is throttled as before.
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
    // Use of a GPU is also reported between two looks, and with it no newer use of processors.
    guard wasAsked, suspension != .stopping, window >= turn.policy.backgroundUseWindow else {
      return
    }
    rules.stretch?.since = now
    rules.stretch?.processor = use.processor
    judge(use.processor - stretch.processor, within: window, in: &turn)
  }

  /// Too much is throttled. Whoever uses up what it is left with is killed; so is whoever uses too
  /// much again when it is throttled no more.
  private mutating func judge(
    _ used: Duration, within window: Duration, in turn: inout Turn
  ) {
    // Four fifths: nobody can use up all of it, for it has to wait for its turn.
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
