/// What happened. The daemon translates the outside world into events, and stores them in the event
/// log before it acts on them.
public enum Event: Hashable, Sendable {
  case application(ApplicationEvent)
  case operation(OperationEvent)
  case process(ProcessEvent)
  case scheduler(SchedulerEvent)
  case socket(SocketEvent)
  case notification(NotificationEvent)
  /// Something of the machine has changed: for all, or for the applications of one user.
  case systemChanged(RequestID?, SystemChange, for: UserID?)
  case memory(MemoryEvent)
  case resources(ResourceEvent)

  /// The request that waits for a reply to the event.
  public var request: RequestID? {
    switch self {
    case .application(let event): event.request
    case .operation(let event): event.request
    case .socket(let event): event.request
    case .notification(let event): event.request
    case .systemChanged(let request, _, _): request
    case .memory(let event): event.request
    case .process, .scheduler, .resources: nil
    }
  }
}

/// What an application asked for. The daemon has found out which instance the caller belongs to.
public enum ApplicationEvent: Hashable, Sendable {
  /// A process of no instance opened an event stream: the process becomes the leader of a new
  /// instance.
  case register(RequestID, ApplicationKey, Leader, target: LaunchTarget, seat: SeatID)
  /// A process of the instance opened its event stream, naming an application.
  case openStream(RequestID, InstanceID, named: ApplicationID)
  /// The event stream is closed.
  case streamClosed(InstanceID)
  case acknowledge(RequestID, InstanceID, CallbackID)
  case beginBackgroundTask(RequestID, InstanceID, name: String?)
  case endBackgroundTask(RequestID, InstanceID, TaskID)
  /// Sets the interval of the application's keep-alive handler; nil removes the handler.
  case setKeepAlive(RequestID, InstanceID, interval: Duration?)

  var request: RequestID? {
    switch self {
    case .register(let request, _, _, _, _), .openStream(let request, _, _),
      .acknowledge(let request, _, _), .beginBackgroundTask(let request, _, _),
      .endBackgroundTask(let request, _, _), .setKeepAlive(let request, _, _):
      request
    case .streamClosed: nil
    }
  }
}

/// What a person, an operator or a service of the daemon asked for.
public enum OperationEvent: Hashable, Sendable {
  case launch(RequestID?, ApplicationKey, target: LaunchTarget, reason: LaunchReason)
  case adopt(RequestID, Adoption)
  case activate(RequestID?, ApplicationKey)
  case deactivate(RequestID?, ApplicationKey)
  case sendToBackground(RequestID?, ApplicationKey)
  case terminate(RequestID?, ApplicationKey, byUser: Bool)

  var request: RequestID? {
    switch self {
    case .launch(let request, _, _, _), .activate(let request, _), .deactivate(let request, _),
      .sendToBackground(let request, _), .terminate(let request, _, _):
      request
    case .adopt(let request, _): request
    }
  }
}

/// What the daemon observed of the processes of an instance.
public enum ProcessEvent: Hashable, Sendable {
  /// The program of ``Effect/spawn(_:_:reason:)`` has been executed.
  case spawned(InstanceID, Leader)
  case spawnFailed(InstanceID, reason: String)
  case leaderExited(InstanceID, ExitStatus)
  /// The daemon has seen every process of the instance stopped.
  case suspensionCompleted(InstanceID)
  /// All processes of these instances, which were suspended before the daemon's absence, are still
  /// stopped: the answer to ``Effect/suspend(_:)`` after ``SchedulerEvent/recovered(lastAlive:)``.
  /// One event for many instances, because a replay handles each event again.
  case stillSuspended([InstanceID])
  /// The daemon could not stop some process, and has resumed all.
  case suspensionFailed(InstanceID, reason: String)
  /// A process of a suspended instance runs: something other than the daemon has resumed it.
  case suspensionLost(InstanceID, reason: String)
  /// The daemon could not send a signal.
  case signalFailed(InstanceID, reason: String)
  /// The answer to ``Effect/checkTracer(_:)``.
  case tracerChecked(InstanceID, isTraced: Bool)
  /// An activity that may entitle the instance to run began or ended.
  case activityBegan(InstanceID, Activity)
  case activityEnded(InstanceID, Activity)
}

/// What happened to the scheduler as a whole.
public enum SchedulerEvent: Hashable, Sendable {
  /// ``Scheduler/nextDeadline`` has passed.
  case deadlineReached
  /// The time of the wall clock: at the start, and whenever the clock was set.
  case clockRead(WallTime)
  case policyChanged(Policy)
  case manifestsChanged([Manifest])
  /// The daemon serves, and does not continue an earlier event log.
  case started
  /// The daemon stops and releases every process.
  case stop
  /// The daemon was away, by crash, kill or upgrade, and is back; it was last alive at the instant
  /// given. Comes after the daemon has taken over processes and connections, and has carried out
  /// the effects of the last event.
  case recovered(lastAlive: Instant)
}

/// A running process that the scheduler shall manage.
public struct Adoption: Hashable, Sendable {
  public var application: ApplicationKey
  public var leader: Leader
  public var target: LaunchTarget
  public var seat: SeatID
  /// The name of a background task that begins at once; nil begins none.
  public var backgroundTask: String?
  /// Takes the place of the modes of a manifest.
  public var backgroundModes: [BackgroundMode]

  public init(
    application: ApplicationKey, leader: Leader, target: LaunchTarget, seat: SeatID,
    backgroundTask: String? = nil, backgroundModes: [BackgroundMode] = []
  ) {
    self.application = application
    self.leader = leader
    self.target = target
    self.seat = seat
    self.backgroundTask = backgroundTask
    self.backgroundModes = backgroundModes
  }
}
