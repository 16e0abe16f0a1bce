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

/// What happened to the scheduler as a whole.
public enum SchedulerEvent: Hashable, Sendable {
  /// ``Scheduler/nextDeadline`` has passed.
  case deadlineReached
  /// The time of the wall clock: at the start, and whenever the clock was set.
  case clockRead(WallTime)
  // Indirect, because all events would be as large as a policy.
  indirect case policyChanged(Policy)
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
