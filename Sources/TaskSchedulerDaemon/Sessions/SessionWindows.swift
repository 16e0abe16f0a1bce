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
  private(set) var hasReport = false
  private(set) var hasFocus = false
  private var windows: [ReportedProcessWindow] = []
  /// The processes of the last report, and their instances.
  var processes = ReportedProcesses()
  /// The ancestors of each instance's leader. Empty if the leader has no terminal.
  var ancestors: [InstanceID: [ProcessIdentity]] = [:]
  /// The instances that have or had a window of their own. They do not belong to the window of
  /// their terminal.
  private(set) var hadWindow: Set<InstanceID> = []
  /// The processes that were considered for adoption.
  private var considered: Set<ProcessIdentity> = []
  var pendingLeaders: [InstanceProcesses] = []
  var work: ProcessWorkQueue.Work?
  /// Whether this daemon or an earlier one has sent the scheduler a report about this session.
  var isReporting = false
  /// The last report to the scheduler.
  var last: WindowSnapshot?

  func take(_ windows: [ReportedProcessWindow], hasFocus: Bool) {
    // Process 1 is an ancestor of every program. Its window would otherwise count as the window of
    // each program at a terminal.
    self.windows = windows.filter { $0.process.pid != 1 }
    self.hasFocus = hasFocus
    hasReport = true
    let reported = Set(self.windows.map(\.process))
    processes.take(reported)
    considered.formIntersection(reported)
  }

  /// Returns the windows that belong to no instance and meet the condition, but only one window of
  /// each process. Later calls return no further window of the same processes.
  func takeUnconsidered(
    where isChosen: (ReportedProcessWindow) -> Bool
  ) -> [ReportedProcessWindow] {
    windows.filter { window in
      guard processes.isUnmanaged(window.process), isChosen(window) else { return false }
      return considered.insert(window.process).inserted
    }
  }

  /// Whether processes remain to be examined.
  var isPending: Bool { processes.isPending || !pendingLeaders.isEmpty }

  /// Returns the visibility of each instance with a window of its own.
  func ownWindows() -> [InstanceID: WindowVisibility] {
    var visibilities: [InstanceID: WindowVisibility] = [:]
    for window in windows {
      guard let id = processes.instance(of: window.process) else { continue }
      visibilities[id].formMostVisible(window.visibility)
      hadWindow.insert(id)
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
