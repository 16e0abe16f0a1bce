/// One call of ``Scheduler/handle(_:at:)``: what holds during it, and what it brings about.
struct Turn {
  var policy: Policy
  let instant: Instant
  /// What of the machine has changed so far.
  var changes = SystemChanges()
  /// The stretch of pressure on memory that goes on.
  var memoryEpisode: UInt64?
  var effects: [Effect] = []
  /// What nobody is to wait for: it is done after all else.
  private var effectsLast: [Effect] = []

  init(
    policy: Policy, instant: Instant, changes: SystemChanges = SystemChanges(),
    memoryEpisode: UInt64? = nil
  ) {
    self.policy = policy
    self.instant = instant
    self.changes = changes
    self.memoryEpisode = memoryEpisode
  }

  mutating func emit(_ effect: Effect) {
    effects.append(effect)
  }

  mutating func emitLast(_ effect: Effect) {
    effectsLast.append(effect)
  }

  /// All effects, in the order in which they are to be carried out.
  var allEffects: [Effect] { effects + effectsLast }

  mutating func reply(_ request: RequestID?, _ reply: Reply) {
    if let request { effects.append(.reply(request, reply)) }
  }
}

/// How an instance is to start.
struct StartPlan: Hashable, Sendable {
  var target: LaunchTarget
  var reason: LaunchReason
  var seat: SeatID
  var backgroundModes: [BackgroundMode]
  var mayStayInBackground: Bool
  var stopSignal = Signal.terminate
  var isAware = false
  /// What it is to be told first.
  var inbox = Inbox()
}

/// One run of an application: its state and all that is promised to it.
///
/// What it does in each part of the contract stands in the file of that part: `Lifecycle`,
/// `BackgroundExecution`, `BackgroundRules`, `ManagedSockets`, `KeepAlive`, `SystemChanges`,
/// `TimeLimits`, `Termination`.
struct Instance: Hashable, Sendable {
  let id: InstanceID
  let application: ApplicationKey
  let leader: Leader
  let seat: SeatID
  let launchReason: LaunchReason
  let backgroundModes: [BackgroundMode]
  /// Whether its manifest and the machine let it stay when it is sent away.
  let mayStayInBackground: Bool
  /// What asks it to end.
  let stopSignal: Signal
  let startedAt: Instant

  var state: ApplicationState
  var stateSince: Instant
  /// Whether it becomes active as soon as it has acknowledged what it was told on its way to the
  /// foreground.
  var isActivating = false
  var reasons = Reasons()
  /// Whether it has ever opened its event stream.
  var isAware = false
  var hasStream = false
  var callbacks = Callbacks()
  var tasks = BackgroundTasks()
  var activities = Activities()
  var sockets = ManagedSockets()
  var handling = HandledEvents()
  var inbox = Inbox()
  /// Present in the background state only.
  var stint: Stint?
  var suspension = Suspension.none
  /// When it was last found running although it was suspended.
  var suspensionLostAt: Instant?
  var termination: Termination?
  /// How long it may run in the background without having opened its event stream.
  var launchEnds: Instant?
  var tracer = Tracer.absent
  var rules = BackgroundRules()

  /// How far the stopping of its processes has come.
  enum Suspension: Hashable {
    case none
    /// Under way; of what is suspended: again, after the daemon's absence.
    case stopping
    /// It could not complete; the next try comes at the instant given.
    case failed(retryAt: Instant)
  }

  /// What is known of a debugger.
  enum Tracer: Hashable {
    case absent
    /// A limit has passed and the daemon was asked whether a debugger holds it.
    case asked(heldBefore: Bool)
    case present(nextCheck: Instant)
  }

  /// What is left of the background time; nil is unlimited: in the foreground, and while a debugger
  /// traces the instance. The suspended has none.
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
    try require(state != .notRunning, "an instance that is not running is kept")
    try require((stint != nil) == (state == .background), "a stint is a stretch in background")
    if state != .background {
      try require(
        rules.nextLook == nil && rules.throttledTo == nil,
        "what is not in the background is judged")
    }
    if state == .suspended {
      try require(callbacks.isEmpty, "a suspended instance has a callback to acknowledge")
      try require(handling.isEmpty, "a suspended instance handles an event")
      try require(tasks.isEmpty, "a suspended instance has an outstanding task")
    }
    if suspension != .none, state != .suspended {
      try require(state == .background, "only what is in the background is being suspended")
    }
    try require(isAware || callbacks.isEmpty, "an unaware instance gets no callbacks")
    if isActivating {
      try require(
        state == .inactive && termination == nil && callbacks.hasEntry,
        "an application is to become active, and nothing holds it up")
    }
    try require(isAware || !hasStream, "whoever has an event stream is aware")
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
