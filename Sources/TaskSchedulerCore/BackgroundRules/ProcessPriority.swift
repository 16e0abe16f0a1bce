/// The priority of an instance's processes over those of others (contract §12), the highest first.
public enum ProcessPriority: String, Hashable, Sendable, CaseIterable {
  /// As the application has set the priorities itself.
  case foreground
  /// After all foreground applications, and without real-time scheduling.
  case background
  /// As in the background. The kernel kills these processes first when memory runs out.
  case suspended

  public var isLowered: Bool { self != .foreground }

  /// The minimum of oom_score_adj (proc_pid_oom_score_adj(5), -1000 to 1000); nil leaves the
  /// application's own. So the kernel, if it must act first, chooses in the order of contract §11.
  /// Source: this project; as a share of the machine's memory, 400 thousandths lie between them.
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
