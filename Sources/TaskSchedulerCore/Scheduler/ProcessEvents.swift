/// A report of the daemon about the processes of an instance.
public enum ProcessEvent: Equatable, Sendable {
  /// The program of ``Effect/spawn(_:_:reason:)`` runs.
  case spawned(InstanceID, Leader)
  case spawnFailed(InstanceID, reason: String)
  case leaderExited(InstanceID, ExitStatus)
  /// Every process of the instance has stopped.
  case suspensionCompleted(InstanceID)
  /// All processes of these instances are still stopped after the daemon's absence. This answers
  /// ``Effect/suspend(_:)`` after ``SchedulerEvent/recovered``.
  ///
  /// One event reports many instances, so that a replay has fewer events to handle.
  case stillSuspended([InstanceID])
  /// The daemon could not stop all processes, and has resumed them.
  case suspensionFailed(InstanceID, reason: String)
  /// Another program has resumed a process of a suspended instance.
  case suspensionLost(InstanceID, reason: String)
  /// An operation on the instance's processes failed. The reason describes the failure.
  case signalFailed(InstanceID, reason: String)
  /// The answer to ``Effect/checkTracer(_:)``.
  case tracerChecked(InstanceID, isTraced: Bool)
  /// The daemon adopted the instance because of its window, and has now found that it must not
  /// suspend the instance. The reason is a clause about the application.
  case released(InstanceID, reason: String)
}

extension Scheduler {
  mutating func handle(_ event: ProcessEvent, in turn: inout Turn) {
    switch event {
    case .spawned(let id, let leader):
      spawned(id, leader, in: &turn)
    case .spawnFailed(let id, let reason):
      spawnFailed(id, reason: reason, in: &turn)
    case .leaderExited(let id, let status):
      leaderExited(id, status, in: &turn)
    case .suspensionCompleted(let id):
      updateInstance(id, in: &turn) { $0.suspensionCompleted(in: &$1) }
    case .stillSuspended(let ids):
      for id in ids where instances[id]?.state == .suspended {
        updateInstance(id, in: &turn) { $0.suspensionCompleted(in: &$1) }
      }
    case .suspensionFailed(let id, let reason):
      updateInstance(id, in: &turn) { $0.suspensionFailed(reason: reason, in: &$1) }
    case .suspensionLost(let id, let reason):
      updateInstance(id, in: &turn) { $0.suspensionLost(reason: reason, in: &$1) }
    case .signalFailed(let id, let reason):
      updateInstance(id, in: &turn) { $0.signalFailed(reason: reason, in: &$1) }
    case .tracerChecked(let id, let isTraced):
      updateInstance(id, in: &turn) { $0.tracerChecked(isTraced: isTraced, in: &$1) }
    case .released(let id, let reason):
      leaveRunning(id, .released, cause: .released, detail: .released(reason: reason), in: &turn)
    }
  }
}
