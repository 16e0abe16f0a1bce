import LinuxSystem
import TaskSchedulerCore

/// A window as the session agent reports it.
struct ReportedProcessWindow: Equatable {
  var process: ProcessIdentity
  var visibility: WindowVisibility
  /// The app id of Wayland or the class of X11.
  var applicationID: String?
}

/// The last report about the windows of one session, and the instances found so far.
final class SessionWindows {
  /// The result of the examination of a process.
  enum Found {
    case instance(InstanceProcesses)
    /// The process belonged to no instance of the user in this ``InstanceMembership/generation``.
    case unmanaged(UInt64)
  }

  private(set) var hasReport = false
  private(set) var hasFocus = false
  private var windows: [ReportedProcessWindow] = []
  /// The results of the examinations, for the processes of the last report.
  var found: [ProcessIdentity: Found] = [:]
  /// The ancestors of each instance's leader. Empty if the leader has no terminal.
  var ancestors: [InstanceID: [ProcessIdentity]] = [:]
  /// The instances that have or had a window of their own. They do not belong to the window of
  /// their terminal.
  private(set) var hadWindow: Set<InstanceID> = []
  /// The processes that were considered for adoption.
  private var considered: Set<ProcessIdentity> = []
  var pending: [ProcessIdentity] = []
  var pendingLeaders: [InstanceProcesses] = []
  var work: ProcessWorkQueue.Work?
  /// Whether the scheduler uses the reports of this session.
  var isReporting = false
  /// The last report to the scheduler.
  var last: WindowSnapshot?

  func take(_ windows: [ReportedProcessWindow], hasFocus: Bool) {
    // The first process is an ancestor of every terminal program, and no application.
    self.windows = windows.filter { $0.process.pid != 1 }
    self.hasFocus = hasFocus
    hasReport = true
    let processes = Set(windows.map(\.process))
    found = found.filter { processes.contains($0.key) }
    considered.formIntersection(processes)
  }

  /// Returns the windows that belong to no instance and that the condition selects, once for each
  /// process.
  func takeUnconsidered(
    where isChosen: (ReportedProcessWindow) -> Bool
  ) -> [ReportedProcessWindow] {
    windows.filter { window in
      guard case .unmanaged = found[window.process], isChosen(window) else { return false }
      return considered.insert(window.process).inserted
    }
  }

  /// Returns the processes of the report whose instance is not known.
  func unknownProcesses(in current: UInt64) -> [ProcessIdentity] {
    Set(windows.map(\.process)).filter { process in
      switch found[process] {
      case .instance(let instance): instance.isReleased
      case .unmanaged(let generation): generation != current
      case nil: true
      }
    }
  }

  /// Returns the visibility of each instance with a window of its own.
  func ownWindows() -> [InstanceID: WindowVisibility] {
    var visibilities: [InstanceID: WindowVisibility] = [:]
    for window in windows {
      guard case .instance(let instance) = found[window.process], !instance.isReleased else {
        continue
      }
      visibilities[instance.id].formMostVisible(window.visibility)
      hadWindow.insert(instance.id)
    }
    return visibilities
  }

  /// Returns the visibility of each process with a window.
  func visibilityByProcess() -> [ProcessIdentity: WindowVisibility] {
    var visibilities: [ProcessIdentity: WindowVisibility] = [:]
    for window in windows { visibilities[window.process].formMostVisible(window.visibility) }
    return visibilities
  }

  func forgetEnded(except running: Set<InstanceID>) {
    ancestors = ancestors.filter { running.contains($0.key) }
    hadWindow.formIntersection(running)
  }
}

extension WindowVisibility? {
  /// Changes the visibility to the more visible of the two.
  fileprivate mutating func formMostVisible(_ other: WindowVisibility) {
    switch (self, other) {
    case (.focused, _), (_, .focused): self = .focused
    case (.visible, _), (_, .visible): self = .visible
    case (.hidden, _), (_, .hidden): self = .hidden
    case (.closed, .closed), (nil, .closed): self = .closed
    }
  }
}
