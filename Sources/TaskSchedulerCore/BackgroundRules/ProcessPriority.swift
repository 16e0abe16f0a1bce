/// How the processes of an instance stand against others in the use of the machine (contract §12),
/// the most favoured first.
public enum ProcessPriority: String, Hashable, Sendable, CaseIterable {
  /// As their application has set them itself.
  case foreground
  /// After all foreground ones; real-time scheduling is taken away.
  case background
  /// As in the background, and the first that the kernel kills when memory runs out.
  case suspended

  public var isLowered: Bool { self != .foreground }

  /// What oom_score_adj (proc_pid_oom_score_adj(5), -1000 to 1000) is at least; nil leaves the
  /// application's own. So the kernel, if it must act first, chooses in the order of contract §11.
  /// Source: this project; as a share of the machine's memory, 400 thousandths lie between them.
  public var outOfMemoryScoreMin: Int? {
    switch self {
    case .foreground: nil
    case .background: 500
    case .suspended: 900
    }
  }

  /// That of an application in this state.
  public init(_ state: ApplicationState) {
    switch state {
    case .active, .inactive, .notRunning: self = .foreground
    case .background: self = .background
    case .suspended: self = .suspended
    }
  }
}

extension Instance {
  /// Favours its processes as its new state asks. Whoever gains does so at once, before it runs;
  /// whoever is sent away waits for those that come in its place.
  func prioritize(from state: ApplicationState, to next: ApplicationState, in turn: inout Turn) {
    let (before, after) = (ProcessPriority(state), ProcessPriority(next))
    guard before != after else { return }
    let effect = Effect.resources(.prioritize(id, after))
    if after == .foreground || before == .suspended {
      turn.emit(effect)
    } else {
      turn.emitLast(effect)
    }
  }
}
