import TaskSchedulerCore

// The applications that the daemon launches without a request (contract.md#launch).

extension Manifest {
  /// Whether the daemon launches the application at the daemon's start, and after an end that
  /// requires a relaunch.
  var isLaunchedAutomatically: Bool {
    isLaunchable && multitasking && backgroundModes.contains(.voip)
  }
}

extension EndReason {
  /// Whether a user or operator chose the end. The daemon does not relaunch an application after
  /// such an end.
  var isByPerson: Bool { self == .terminatedByOperator || self == .terminatedByUser }

  /// Whether the daemon relaunches an application after an end with this reason
  /// (contract.md#launch-relaunch).
  var callsForRelaunch: Bool {
    self != .exited(code: 0) && !isByPerson && self != .optedOut && self != .schedulerStopped
      && self != .released
  }
}
