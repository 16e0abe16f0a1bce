/// One run of an application: its state, and all that the scheduler has promised to it.
///
/// Each part of the contract extends it in a file of this directory: `Lifecycle`, `TimeLimits`,
/// `BackgroundExecution`, `KeepAliveCalls`, `SocketWakeUps`, `SystemChangeDelivery`,
/// `MemoryPressure`, `ResourceLimits`, `Terminating`.
struct Instance: Hashable, Sendable {
  let id: InstanceID
  let application: ApplicationKey
  let leader: Leader
  let seat: SeatID
  let launchReason: LaunchReason
  let backgroundModes: [BackgroundMode]
  /// Whether the manifest and the machine let the application stay in the background.
  let mayStayInBackground: Bool
  /// The signal that asks the application to end.
  let stopSignal: Signal
  let startedAt: Instant

  var state: ApplicationState
  var stateSince: Instant
  /// Whether the instance becomes active as soon as it has acknowledged the callbacks on its way to
  /// the foreground.
  var isActivating = false
  var reasons = Reasons()
  /// Whether the application has ever opened its event stream.
  var isAware = false
  var hasStream = false
  var callbacks = Callbacks()
  var tasks = BackgroundTasks()
  var activities = Activities()
  var sockets = ManagedSockets()
  var handling = HandledEvents()
  var inbox = Inbox()
  /// The current stretch in the background; nil in all other states.
  var stint: Stint?
  var suspension = Suspension.none
  /// When a process of the suspended instance was last found running.
  var suspensionLostAt: Instant?
  var termination: Termination?
  /// When the time to open the event stream ends, for an instance that started in the background.
  var launchEnds: Instant?
  var tracer = Tracer.absent
  var rules = BackgroundRules()

  /// The progress of stopping the processes.
  enum Suspension: Hashable {
    case none
    /// The daemon is stopping the processes. A suspended instance has this after a recovery, while
    /// the daemon stops them again.
    case stopping
    /// The processes could not all be stopped; the daemon tries again at the instant given.
    case failed(retryAt: Instant)
  }

  /// What the scheduler knows about a debugger.
  enum Tracer: Hashable {
    case absent
    /// A limit has passed, and the scheduler has asked the daemon whether a debugger holds it.
    case asked(heldBefore: Bool)
    case present(nextCheck: Instant)
  }

  /// Returns the rest of the background time; zero if the instance is suspended. nil is unlimited:
  /// in the foreground, and while a debugger traces the instance.
  func timeRemaining(_ policy: Policy, at now: Instant) -> Duration? {
    if state == .suspended { return .zero }
    guard let stint, !isTraced else { return nil }
    return now.duration(to: stint.limit(policy))
  }

  var isTraced: Bool {
    switch tracer {
    case .absent, .asked(heldBefore: false): false
    case .present, .asked(heldBefore: true): true
    }
  }

  func record(_ change: Record.Change, in turn: inout Turn) {
    turn.emit(.record(Record(application: application, leader: leader, change: change)))
  }

  func registration(_ turn: Turn) -> Registration {
    Registration(
      application: application.id, instance: id, state: state, launchReason: launchReason,
      backgroundModes: backgroundModes, remaining: timeRemaining(turn.policy, at: turn.instant),
      tasks: tasks.inOrder)
  }

  func check() throws(InvariantViolation) {
    try callbacks.check()
    try tasks.check()
    try sockets.check()
    try rules.check()
    try require(state != .notRunning, "an instance that is not running is stored")
    try require(
      (stint != nil) == (state == .background),
      "an instance has a stint outside of the background, or none in it")
    if state != .background {
      try require(
        rules.nextLook == nil && rules.throttledTo == nil,
        "the CPU use of an instance outside of the background is watched")
    }
    if state == .suspended {
      try require(callbacks.isEmpty, "a suspended instance has an unacknowledged callback")
      try require(handling.isEmpty, "a suspended instance handles an event")
      try require(tasks.isEmpty, "a suspended instance has an outstanding task")
    }
    if suspension != .none, state != .suspended {
      try require(state == .background, "an instance outside of the background is being suspended")
    }
    try require(isAware || callbacks.isEmpty, "an unaware instance has a callback")
    if isActivating {
      try require(
        state == .inactive && termination == nil && callbacks.hasEntry,
        "an activating instance has no callback that its activation waits for")
    }
    try require(isAware || !hasStream, "an unaware instance has an event stream")
  }
}

extension Instance {
  init(
    id: InstanceID, application: ApplicationKey, leader: Leader, plan: StartPlan, policy: Policy,
    at now: Instant
  ) {
    self.id = id
    self.application = application
    self.leader = leader
    seat = plan.seat
    launchReason = plan.reason
    backgroundModes = plan.backgroundModes
    mayStayInBackground = plan.mayStayInBackground
    stopSignal = plan.stopSignal
    startedAt = now
    stateSince = now
    isAware = plan.isAware
    hasStream = plan.isAware
    inbox = plan.inbox
    switch plan.target {
    case .foreground:
      state = isAware ? .inactive : .active
      isActivating = isAware
    case .background:
      state = .background
      stint = Stint(at: now)
      if !isAware { launchEnds = now.advanced(by: policy.launchTime) }
    }
  }
}
