/// The priority of an instance's processes relative to other processes (contract §12). The first
/// case is the highest priority.
public enum ProcessPriority: String, Equatable, Sendable, CaseIterable {
  /// The priorities that the application itself has set.
  case foreground
  /// Lower than all foreground applications, and without real-time scheduling.
  case background
  /// As low as ``background``. In addition, the kernel kills these processes first when memory runs
  /// out.
  case suspended

  public var isLowered: Bool { self != .foreground }

  /// The minimum oom_score_adj (proc_pid_oom_score_adj(5), -1000 to 1000). The daemon raises a
  /// lower value to this minimum. nil leaves the value that the application has set.
  ///
  /// The kernel may have to kill a process before the scheduler has freed memory. The minimums make
  /// the kernel follow the order of contract §11. Source: this project; the minimums of background
  /// and suspended applications differ by 400, which weighs as much as 40 % of the machine's
  /// memory.
  public var outOfMemoryScoreMin: Int? {
    switch self {
    case .foreground: nil
    case .background: 500
    case .suspended: 900
    }
  }

  /// The priority of an application in a state.
  public init(_ state: ApplicationState) {
    switch state {
    case .active, .inactive, .notRunning: self = .foreground
    case .background: self = .background
    case .suspended: self = .suspended
    }
  }
}
