/// One run of an application: its state, and the promises of the scheduler to the application.
///
/// Extensions in the other files of this directory implement the sections of the contract, for
/// example in `Lifecycle` and `TimeLimits`.
struct Instance: Equatable, Sendable {
  let id: InstanceID
  let application: ApplicationKey
  let leader: Leader
  let seat: SeatID
  let launchReason: LaunchReason
  /// The region whose crossing is the reason for the launch; nil for other launches.
  let launchRegion: RegionID?
  let backgroundModes: [BackgroundMode]
  /// Whether the manifest allows the application to run in the background.
  let mayStayInBackground: Bool
  /// The signal that asks the application to end.
  let stopSignal: Signal
  let startedAt: Instant

  var phase: Phase
  var stateSince: Instant
  var reasons = StateReasons()
  var stream = EventStream.neverOpened
  var callbacks = Callbacks()
  var tasks = BackgroundTasks()
  var sockets = ManagedSockets()
  var handling = HandledEvents()
  /// Whether continuous updates of the location entitle the instance to run.
  var isLocating = false
  var inbox = Inbox()
  /// The last instant at which the daemon found a process of the suspended instance running; nil if
  /// it never did.
  var suspensionLostAt: Instant?
  var termination: Termination?
  var tracer = Tracer.absent
  /// The windows of the instance, as a session agent reports them; nil if none is known.
  var window: ReportedWindow?
  /// The audio of the instance; nil if the scheduler knows nothing about it and has nothing to
  /// restore.
  var audio: InstanceAudio?
  /// The addresses on which the application listened when it was last suspended.
  var listening = ListeningReport()

  /// The state of an instance (contract §2), and the properties that exist only in that state.
  enum Phase: Equatable {
    /// With `isActivating`, the instance becomes active once it has acknowledged the callbacks on
    /// its way to the foreground.
    case inactive(isActivating: Bool)
    case active
    case background(Stint)
    /// With `isStopping`, the daemon is stopping the processes again after a recovery.
    case suspended(isStopping: Bool)

    var state: ApplicationState {
      switch self {
      case .inactive: .inactive
      case .active: .active
      case .background: .background
      case .suspended: .suspended
      }
    }
  }

  /// The connection on which the application receives its events.
  enum EventStream: Equatable {
    /// The application is unaware: it receives no callbacks.
    case neverOpened
    case open
    case closed
  }

  /// What the scheduler knows about a debugger.
  enum Tracer: Equatable {
    case absent
    /// The scheduler has asked the daemon whether a debugger traces the instance. `heldBefore`
    /// tells whether a debugger traced the instance at the previous check.
    case asked(heldBefore: Bool, since: Instant)
    case present(nextCheck: Instant)
  }

  var state: ApplicationState { phase.state }

  /// The current stint; nil if the instance is not in the background state. In any other state,
  /// setting the stint has no effect.
  var stint: Stint? {
    get { if case .background(let stint) = phase { stint } else { nil } }
    set { if let newValue, case .background = phase { phase = .background(newValue) } }
  }

  /// Whether the instance becomes active once it has acknowledged its callbacks.
  var isActivating: Bool { phase == .inactive(isActivating: true) }

  /// Whether the instance is in the foreground of its seat. A terminating instance is not.
  var isAtSeat: Bool { state.isForeground && termination == nil }

  /// Whether the daemon is stopping the processes.
  var isStopping: Bool {
    switch phase {
    case .background(let stint): stint.suspension == .stopping
    case .suspended(let isStopping): isStopping
    case .inactive, .active: false
    }
  }

  /// Whether the application has ever opened its event stream.
  var isAware: Bool { stream != .neverOpened }
  var hasStream: Bool { stream == .open }

  /// Returns the remaining background time, or zero if the instance is suspended. Returns nil,
  /// which means unlimited, in the foreground and while a debugger traces the instance.
  func timeRemaining(_ policy: SharedPolicy, at now: Instant) -> Duration? {
    if state == .suspended { return .zero }
    guard let stint, !isTraced else { return nil }
    return now.duration(to: stint.time.limit(policy))
  }

  var isTraced: Bool {
    switch tracer {
    case .absent, .asked(heldBefore: false, _): false
    case .present, .asked(heldBefore: true, _): true
    }
  }

  func record(_ change: Record.Change, in turn: inout Turn) {
    turn.emit(.record(Record(application: application, leader: leader, change: change)))
  }

  func registration(_ turn: Turn) -> Registration {
    Registration(
      application: application.id, instance: id, state: state, launchReason: launchReason,
      backgroundModes: backgroundModes, remaining: timeRemaining(turn.policy, at: turn.instant),
      tasks: tasks.all, launchRegion: launchRegion)
  }

  func check() throws(InvariantViolation) {
    try callbacks.check()
    try tasks.check()
    try sockets.check()
    try stint?.use?.check()
    try audio?.check()
    if state == .suspended {
      try require(callbacks.isEmpty, "a suspended instance has an unacknowledged callback")
      try require(handling.isEmpty, "a suspended instance handles an event")
      try require(tasks.isEmpty, "a suspended instance has an outstanding task")
    }
    try require(isAware || callbacks.isEmpty, "an unaware instance has a callback")
    if let window {
      try require(
        window.unfocusedSince == nil || isActiveOrActivating || termination != nil,
        "an instance that is not active has a limit after which it becomes inactive")
      try require(
        window.hiddenSince == nil || state.isForeground && window.isHidden,
        "an instance has a limit for hidden windows, but is not in the foreground with all windows "
          + "hidden")
    }
    if isActivating {
      try require(
        termination == nil && callbacks.hasEntry,
        "an activating instance has no callback that its activation waits for")
    }
  }
}

extension Instance {
  init(
    id: InstanceID, application: ApplicationKey, leader: Leader, plan: StartPlan,
    policy: SharedPolicy, at now: Instant
  ) {
    self.id = id
    self.application = application
    self.leader = leader
    seat = plan.seat
    launchReason = plan.reason
    launchRegion = plan.launchRegion
    backgroundModes = plan.backgroundModes
    mayStayInBackground = plan.mayStayInBackground
    stopSignal = plan.stopSignal
    startedAt = now
    stateSince = now
    stream = plan.isAware ? .open : .neverOpened
    inbox = plan.inbox
    switch plan.target {
    case .foreground:
      phase = plan.isAware ? .inactive(isActivating: true) : .active
    case .background:
      var stint = Stint(at: now)
      if !plan.isAware { stint.launchEnds = now.advanced(by: policy.launchTime) }
      phase = .background(stint)
    }
  }
}
