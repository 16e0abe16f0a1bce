import Glibc
import TaskSchedulerWire

/// The applications that `list` shows.
struct ApplicationSelection {
  var shown: [ControlInterface.Application]
  /// The number of applications that are omitted only because they are not running.
  var notRunning: Int

  /// Selects from the applications that the daemon knows.
  ///
  /// - Parameters:
  ///   - all: Whether to include applications that are not running.
  ///   - states: The states to include; empty means all.
  ///   - patterns: Shell patterns for ids; empty means all.
  init(
    _ applications: [ControlInterface.Application], all: Bool = false,
    states: [ControlInterface.State] = [], patterns: [String] = []
  ) {
    let matching = applications.filter { application in
      patterns.isEmpty || patterns.contains { fnmatch($0, application.application, 0) == 0 }
    }
    if states.isEmpty {
      shown = all ? matching : matching.filter(\.isAlive)
      notRunning = matching.count - shown.count
    } else {
      shown = matching.filter { states.contains($0.state) }
      notRunning = 0
    }
  }
}

extension ControlInterface.Application {
  /// Whether the application is running (managed or not), being launched or waiting for a relaunch.
  fileprivate var isAlive: Bool {
    state != .notRunning || instance != nil || nextLaunch != nil || unmanagedPID != nil
  }
}
