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

  /// Returns all effects in the order in which they are to be carried out. Mutating, because a
  /// getter would be called on a copy, with the policy in it.
  mutating func takeEffects() -> [Effect] {
    effects += effectsLast
    return effects
  }

  mutating func reply(_ request: RequestID?, _ reply: Reply) {
    if let request { effects.append(.reply(request, reply)) }
  }
}

/// How an instance is to start.
struct StartPlan: Hashable, Sendable, Codable {
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
struct Instance: Hashable, Sendable, Codable {
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
  enum Suspension: Hashable, Addition {
    case none
    /// Under way; of what is suspended: again, after the daemon's absence.
    case stopping
    /// It could not complete; the next try comes at the instant given.
    case failed(retryAt: Instant)

    init() { self = .none }
  }

  /// What is known of a debugger.
  enum Tracer: Hashable, Addition {
    case absent
    /// A limit has passed and the daemon was asked whether a debugger holds it.
    case asked(heldBefore: Bool)
    case present(nextCheck: Instant)

    init() { self = .absent }
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

// MARK: As plain bytes

/// But for what few have: see ``InstanceDetails``.
extension Instance: Compact {
  init(from reader: inout CompactReader) throws(MalformedBytes) {
    id = try reader.read()
    application = try reader.read()
    leader = try reader.read()
    seat = try reader.read()
    launchReason = try reader.read()
    backgroundModes = try reader.read()
    mayStayInBackground = try reader.read()
    stopSignal = try reader.read()
    startedAt = try reader.read()
    state = try reader.read()
    stateSince = try reader.read()
    isActivating = try reader.read()
    reasons = try reader.read()
    isAware = try reader.read()
    hasStream = try reader.read()
    callbacks = try reader.read()
    tasks = try reader.read()
    stint = try reader.read()
    launchEnds = try reader.read()
    suspension = try reader.read()
    inbox = try reader.read()
    if let rules: BackgroundRules = try reader.read() { self.rules = rules }
  }

  func write(to writer: inout CompactWriter) {
    id.write(to: &writer)
    application.write(to: &writer)
    leader.write(to: &writer)
    seat.write(to: &writer)
    launchReason.write(to: &writer)
    backgroundModes.write(to: &writer)
    mayStayInBackground.write(to: &writer)
    stopSignal.write(to: &writer)
    startedAt.write(to: &writer)
    state.write(to: &writer)
    stateSince.write(to: &writer)
    isActivating.write(to: &writer)
    reasons.write(to: &writer)
    isAware.write(to: &writer)
    hasStream.write(to: &writer)
    callbacks.write(to: &writer)
    tasks.write(to: &writer)
    stint.write(to: &writer)
    launchEnds.write(to: &writer)
    suspension.write(to: &writer)
    inbox.write(to: &writer)
    (rules.isNew ? nil : rules).write(to: &writer)
  }
}

extension Instance.Suspension: Compact {
  init(from reader: inout CompactReader) throws(MalformedBytes) {
    switch try reader.readByte() {
    case 0: self = .none
    case 1: self = .stopping
    case 2: self = .failed(retryAt: try reader.read())
    case let byte: throw MalformedBytes("no suspension is \(byte)")
    }
  }

  func write(to writer: inout CompactWriter) {
    switch self {
    case .none: writer.write(byte: 0)
    case .stopping: writer.write(byte: 1)
    case .failed(let retryAt):
      writer.write(byte: 2)
      retryAt.write(to: &writer)
    }
  }
}

/// What few instances have: written by the names of its fields.
struct InstanceDetails: Codable {
  let id: InstanceID
  private let termination: Termination?
  private let notices: [Notice]
  private let activities: Activities
  private let sockets: ManagedSockets
  private let handling: HandledEvents
  private let tracer: Instance.Tracer
  private let suspensionLostAt: Instant?

  /// - Returns: nil where it has none of it.
  init?(_ instance: Instance) {
    id = instance.id
    termination = instance.termination
    notices = instance.inbox.notices
    activities = instance.activities
    sockets = instance.sockets
    handling = instance.handling
    tracer = instance.tracer
    suspensionLostAt = instance.suspensionLostAt
    if termination == nil, notices.isEmpty, activities.isNew, sockets.isNew, handling.isNew,
      tracer.isNew, suspensionLostAt == nil {
      return nil
    }
  }

  func restore(to instance: inout Instance) {
    instance.termination = termination
    instance.inbox.restore(notices)
    instance.activities = activities
    instance.sockets = sockets
    instance.handling = handling
    instance.tracer = tracer
    instance.suspensionLostAt = suspensionLostAt
  }
}
