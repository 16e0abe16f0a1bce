/// An input of the scheduler. The daemon stores each event in the event log before the scheduler
/// handles it.
public enum Event: Equatable, Sendable {
  case application(ApplicationEvent)
  case operation(OperationEvent)
  case process(ProcessEvent)
  case scheduler(SchedulerEvent)
  case socket(SocketEvent)
  case notification(NotificationEvent)
  /// The system changed for the applications of one user; nil stands for all users.
  case systemChanged(RequestID?, SystemChange, for: UserID?)
  case memory(MemoryEvent)
  case resources(ResourceEvent)
  case session(SessionEvent)
  case switcher(SwitcherEvent)
  case location(LocationEvent)

  /// The request that waits for a reply to the event.
  public var request: RequestID? {
    switch self {
    case .application(let event): event.request
    case .operation(let event): event.request
    case .socket(let event): event.request
    case .notification(let event): event.request
    case .systemChanged(let request, _, _): request
    case .memory(let event): event.request
    case .switcher(let event): event.request
    case .location(let event): event.request
    case .process, .scheduler, .resources, .session: nil
    }
  }
}

/// An event that concerns the scheduler as a whole.
public enum SchedulerEvent: Equatable, Sendable {
  /// ``Scheduler/nextDeadline`` has passed.
  case deadlineReached
  /// The time of the wall clock. The daemon sends this event when it starts, and whenever the clock
  /// is set.
  case clockRead(WallTime)
  // Indirect, because otherwise every event would be as large as a policy.
  indirect case policyChanged(Policy)
  case manifestsChanged([Manifest])
  /// The daemon has started without an earlier event log, and accepts connections.
  case started
  /// The daemon stops and releases every process.
  case stop
  /// The daemon has recovered from a crash, a kill or an upgrade.
  ///
  /// The daemon sends this event after it has taken over processes and connections, and has carried
  /// out the effects of the last event.
  case recovered
}
