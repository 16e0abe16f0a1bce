import TaskSchedulerCore
import TaskSchedulerWire

extension ControlInterface.Change {
  /// What the monitors are told of a record.
  ///
  /// - Parameter isVisible: whether the monitor may see this user's applications.
  init(_ record: Record, at now: Instant, isVisible: (UserID) -> Bool = { _ in true }) {
    let activated = record.activated.flatMap { isVisible($0.owner) ? $0 : nil }
    self.init(
      kind: .transition, atUSec: now.microseconds, application: record.application.id.name,
      owner: Int(record.application.owner.uid), pid: record.leader.map { Int($0.pid) },
      by: activated?.id.name, message: record.message(activated: activated))
    switch record.change {
    case .transition(let from, let to, let cause):
      self.from = .init(from)
      self.to = .init(to)
      self.cause = cause.name
    case .registered:
      kind = .registered
    case .taskBegan(let task, let name, _):
      set(.taskBegan, task, name)
    case .taskEnded(let task, let name):
      set(.taskEnded, task, name)
    case .taskExpired(let task, let name):
      set(.taskExpired, task, name)
    case .ended(let end):
      kind = .ended
      reason = end.reason.name
    case .refused(let refusal):
      kind = .refused
      reason = refusal.name
    case .suspensionFailed(let reason):
      kind = .suspensionFailed
      self.reason = reason
    case .signalFailed(let reason):
      kind = .signalFailed
      self.reason = reason
    case .keepAliveSet: kind = .keepAliveSet
    case .keepAliveCalled: kind = .keepAliveCalled
    case .socketManaged: kind = .socketManaged
    case .socketReleased: kind = .socketReleased
    case .socketsReady: kind = .socketsReady
    case .notificationScheduled: kind = .notificationScheduled
    case .notificationsCancelled: kind = .notificationsCancelled
    case .notificationFired: kind = .notificationFired
    case .notificationChosen: kind = .notificationChosen
    case .badgeSet: kind = .badgeSet
    case .relaunchPlanned: kind = .relaunchPlanned
    case .memoryWarned: kind = .memoryWarned
    case .memoryChosen: kind = .memoryChosen
    case .resources: kind = .resources
    }
  }

  private mutating func set(
    _ kind: ControlInterface.ChangeKind, _ task: TaskID, _ name: String?
  ) {
    self.kind = kind
    self.task = Int(clamping: task.number)
    taskName = name
  }
}
