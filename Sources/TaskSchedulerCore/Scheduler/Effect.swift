/// What is to be done, in this order.
public enum Effect: Hashable, Sendable {
  /// Answers a request.
  case reply(RequestID, Reply)
  /// Sends a callback on the event stream.
  case deliver(InstanceID, Callback, LaunchReason?)
  /// Tells the application to call the expiration handler of a task.
  case expire(InstanceID, TaskID, remaining: Duration?)
  /// Tells the application of what it need not answer.
  case notify(InstanceID, Notice)
  case socket(SocketEffect)
  case notification(NotificationEffect)
  /// Starts what the manifest names; answered by `spawned` or `spawnFailed`.
  case spawn(InstanceID, ApplicationKey, reason: LaunchReason)
  /// From here on this process is the leader of that instance.
  case manage(InstanceID, Leader, ApplicationKey)
  /// Stops every process; answered by `suspensionCompleted` or `suspensionFailed`.
  case suspend(InstanceID)
  /// Lets every process run again; ends a suspension under way too.
  case resume(InstanceID)
  /// Sends the leader the signal that asks it to end: SIGTERM, or what its manifest names.
  case terminate(InstanceID, Signal)
  /// SIGKILL to every process.
  case kill(InstanceID)
  /// The instance is over: what is left of its processes is resumed or, where `killing`, killed.
  case release(InstanceID, killing: Bool)
  /// Looks whether a debugger that is no process of the instance traces any process of it; answered
  /// by `tracerChecked`, after all that the
  /// application has asked for by then.
  case checkTracer(InstanceID)
  /// For the log and the monitors.
  case record(Record)
  case memory(MemoryEffect)
  case resources(ResourceEffect)
}

/// The answer to a request.
public enum Reply: Hashable, Sendable {
  case done
  case registered(Registration)
  case began(TaskID, remaining: Duration?)
  case started(InstanceID, Leader)
  case ended(End)
  case managed(SocketID)
  case scheduled(NotificationID)
  case cancelled([NotificationID])
  case refused(Refusal)
}

/// What an application is told of, without a callback.
public enum Notice: Hashable, Sendable {
  /// Sockets that it has handed over are ready. It may run for `EventTime`, or until it
  /// acknowledges the id.
  case socketsReady(CallbackID, [SocketReadiness])
  /// What has changed, in order.
  case systemChanges([SystemChange])
  /// A notification of its own has fired while it was active.
  case notificationFired(NotificationID)
  /// The user has chosen a notification of its own.
  case notificationChosen(NotificationID)
  /// Memory is short: it should let go of what it can get again.
  case memoryWarning
}

/// The instance as its event stream finds it.
public struct Registration: Hashable, Sendable {
  public var application: ApplicationID
  public var instance: InstanceID
  public var state: ApplicationState
  public var launchReason: LaunchReason
  public var backgroundModes: [BackgroundMode]
  /// nil is unlimited.
  public var remaining: Duration?
  public var tasks: [BackgroundTask]
}

/// One change, for the log and the monitors.
public struct Record: Hashable, Sendable {
  public var application: ApplicationKey
  /// nil where the application does not run.
  public var leader: Leader?
  public var change: Change

  /// A record of `change`.
  public init(application: ApplicationKey, leader: Leader?, change: Change) {
    self.application = application
    self.leader = leader
    self.change = change
  }

  /// What changed.
  public enum Change: Hashable, Sendable {
    case transition(from: ApplicationState, to: ApplicationState, cause: TransitionCause)
    case registered
    case taskBegan(TaskID, name: String?, remaining: Duration?)
    case taskEnded(TaskID, name: String?)
    case taskExpired(TaskID, name: String?)
    case ended(End)
    case refused(Refusal)
    case suspensionFailed(reason: String)
    case signalFailed(reason: String)
    /// nil has cleared it.
    case keepAliveSet(interval: Duration?)
    case keepAliveCalled
    case socketManaged(SocketID)
    case socketReleased(SocketID)
    case socketsReady([SocketReadiness])
    case notificationScheduled(NotificationID)
    case notificationsCancelled([NotificationID])
    case notificationFired(NotificationID)
    case notificationChosen(NotificationID)
    case badgeSet(Int)
    /// It is launched again after this delay; where `awaitsMemory`, not before memory pressure is
    /// over.
    case relaunchPlanned(after: Duration, awaitsMemory: Bool)
    /// By an operator, where simulated.
    case memoryWarned(isSimulated: Bool)
    /// It is to end, that others may have its memory.
    case memoryChosen(MemoryChoice)
    case resources(ResourceRecord)
  }
}
