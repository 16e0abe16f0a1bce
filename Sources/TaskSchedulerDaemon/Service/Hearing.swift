import LinuxSystem
import TaskSchedulerCore

/// Before a limit is enforced, what its application has written is heard, and whether a debugger
/// holds it is seen: whoever ended its task in time has said so, though the daemon was away, or
/// busy, when it did.
final class Hearing {
  /// Whose limits have passed.
  private var waiting: Set<InstanceID> = []
  private var turn: DeferredSource?
  private let hear: (Set<InstanceID>) -> Void
  private let isTraced: (InstanceID) -> Bool
  private let report: (Event) -> Void

  /// - Parameters:
  ///   - hear: takes what these instances have written by now.
  ///   - isTraced: whether a debugger traces any process of the instance.
  ///   - report: takes the answers.
  init(
    loop: EventLoop, hear: @escaping (Set<InstanceID>) -> Void,
    isTraced: @escaping (InstanceID) -> Bool, report: @escaping (Event) -> Void
  ) throws(SystemError) {
    self.hear = hear
    self.isTraced = isTraced
    self.report = report
    // Not at once: one's call may be what made the limits be looked at.
    turn = try loop.soon { [unowned self] in answer() }
  }

  /// Answers later, by `tracerChecked`.
  func ask(_ id: InstanceID) {
    waiting.insert(id)
    turn?.request()
  }

  private func answer() {
    let asked = waiting
    waiting = []
    hear(asked)
    for id in asked.sorted() { report(.tracerChecked(id, isTraced: isTraced(id))) }
  }
}
