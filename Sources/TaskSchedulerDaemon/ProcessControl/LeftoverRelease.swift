import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerEventLog

extension Leftovers {
  /// Resumes the stopped processes, and restores the lowered priorities. A starting daemon calls
  /// this function. If no daemon starts again, `taskctl release` does the same.
  ///
  /// - Parameters:
  ///   - held: Processes that the daemon manages. The function does not change them.
  ///   - heldGroups: The paths of the control groups that the daemon manages.
  func resume(
    except held: Set<ProcessIdentity> = [], heldGroups: Set<String> = [], in proc: ProcFS
  ) -> ProcessRelease.Outcome {
    let strangers = lowered.map { items in
      items.compactMap { LoweredPriority($0) }.filter { !held.contains($0.thread) }
    }
    let priorities = PriorityRelease.all(strangers, in: proc)
    var outcome = ProcessRelease.resume(
      stopped.filter { !$0.wasStopped }.map { ProcessIdentity($0.process) }
        .filter { !held.contains($0) },
      groups: groups.filter { !heldGroups.contains($0) }.map { ControlGroup(path: $0) }, in: proc)
    outcome.failures += priorities.failures
    return outcome
  }
}
