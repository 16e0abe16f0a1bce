/// What happened. The daemon translates the world into these; an event log of them is its memory.
public enum Event: Hashable, Sendable {
  // From applications; the daemon has found out which instance speaks.

  /// A process of no instance opened an event stream: it becomes the leader of a new one.
  case register(RequestID, ApplicationKey, Leader, target: LaunchTarget, seat: SeatID)
  /// A process of `instance` opened its event stream, naming an application.
  case openStream(RequestID, InstanceID, named: ApplicationID)
  /// The event stream is closed.
  case streamClosed(InstanceID)
  case acknowledge(RequestID, InstanceID, CallbackID)
  case beginBackgroundTask(RequestID, InstanceID, name: String?)
  case endBackgroundTask(RequestID, InstanceID, TaskID)
  /// Sets the interval of its keep-alive handler; nil clears it.
  case setKeepAlive(RequestID, InstanceID, interval: Duration?)
  case socket(SocketEvent)

  // From operators and the daemon's own services.

  case launch(RequestID?, ApplicationKey, target: LaunchTarget, reason: LaunchReason)
  case adopt(RequestID, Adoption)
  case activate(RequestID?, ApplicationKey)
  case deactivate(RequestID?, ApplicationKey)
  case sendToBackground(RequestID?, ApplicationKey)
  case terminate(RequestID?, ApplicationKey, byUser: Bool)
  /// From an application, an operator, the store or the desktop.
  case notification(NotificationEvent)
  /// Something of the machine has changed: for all, or for one user's applications.
  case systemChanged(RequestID?, SystemChange, for: UserID?)

  // From the world.

  /// The program of ``Effect/spawn(_:_:reason:)`` has been executed.
  case spawned(InstanceID, Leader)
  case spawnFailed(InstanceID, reason: String)
  case leaderExited(InstanceID, ExitStatus)
  /// Every process of the instance has been seen to be stopped.
  case suspensionCompleted(InstanceID)
  /// What was suspended before the daemon's absence stands still, all of it: the answer to
  /// ``Effect/suspend(_:)`` after ``recovered(lastAlive:)``. Of many at once, for there may be
  /// hundreds, and whoever reads the event log has each event to handle again.
  case stillSuspended([InstanceID])
  /// Some process could not be stopped; all have been resumed.
  case suspensionFailed(InstanceID, reason: String)
  /// Some process of a suspended instance runs: something other than the daemon has resumed it.
  case suspensionLost(InstanceID, reason: String)
  /// A signal could not be sent.
  case signalFailed(InstanceID, reason: String)
  /// The answer to ``Effect/checkTracer(_:)``.
  case tracerChecked(InstanceID, isTraced: Bool)
  /// Something that may entitle an instance to run began or ended.
  case activityBegan(InstanceID, Activity)
  case activityEnded(InstanceID, Activity)
  /// ``Scheduler/nextDeadline`` has passed.
  case deadlineReached
  /// What the wall clock shows: at the start, and whenever it was set.
  case clockRead(WallTime)

  // From the configuration.

  case policyChanged(Policy)
  case manifestsChanged([Manifest])
  /// The daemon serves, and is not going on from an earlier one.
  case started
  /// The daemon stops and lets go of every process.
  case stop
  /// The daemon was away, by crash, kill or upgrade, and is back; it was last alive at the instant
  /// given. To be handed in when what it held before (processes, connections) has been taken over
  /// and the effects of the last event have been carried out.
  case recovered(lastAlive: Instant)

  /// From the kernel, the daemon's own looks, or an operator.
  case memory(MemoryEvent)
  /// The daemon has found what an instance uses of the machine.
  case resources(ResourceEvent)
}

extension Event {
  /// The request that waits for a reply to it.
  public var request: RequestID? {
    switch self {
    case .register(let request, _, _, _, _), .openStream(let request, _, _),
      .acknowledge(let request, _, _), .beginBackgroundTask(let request, _, _),
      .endBackgroundTask(let request, _, _), .setKeepAlive(let request, _, _),
      .adopt(let request, _):
      request
    case .launch(let request, _, _, _), .activate(let request, _), .deactivate(let request, _),
      .sendToBackground(let request, _), .terminate(let request, _, _),
      .systemChanged(let request, _, _):
      request
    case .socket(let event): event.request
    case .notification(let event): event.request
    case .memory(let event): event.request
    case .streamClosed, .spawned, .spawnFailed, .leaderExited, .suspensionCompleted,
      .stillSuspended, .suspensionFailed, .suspensionLost, .signalFailed, .tracerChecked,
      .activityBegan, .activityEnded, .deadlineReached, .clockRead, .policyChanged,
      .manifestsChanged, .started, .stop, .recovered, .resources:
      nil
    }
  }
}

/// A running process that is to be taken under management.
public struct Adoption: Hashable, Sendable {
  public var application: ApplicationKey
  public var leader: Leader
  public var target: LaunchTarget
  public var seat: SeatID
  /// Begins one task of this name at once.
  public var backgroundTask: String?
  /// In place of a manifest's.
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
