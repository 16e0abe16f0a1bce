import LinuxSystem
import TaskSchedulerCore

extension DescriptorStore {
  /// Releases leaders that no event log names. Resumes each stopped leader and its stopped
  /// descendants, and closes the pidfds.
  ///
  /// If the leader is the first process in a systemd unit that a desktop created, an earlier daemon
  /// may have adopted all processes of that unit. The function then also thaws the unit's control
  /// group and resumes the stopped processes in it.
  ///
  /// - Parameters:
  ///   - leaders: The pidfds that systemd has kept.
  ///   - held: Processes that the daemon manages. The function does not change them.
  ///   - heldGroups: The paths of the control groups that the daemon manages.
  func release(
    leaders: [InstanceID: Int32], except held: Set<ProcessIdentity> = [],
    heldGroups: Set<String> = [], in proc: ProcFS
  ) -> ProcessRelease.Outcome {
    var outcome = ProcessRelease.Outcome()
    for (id, number) in leaders {
      do throws(SystemError) {
        let leader = try PIDFD(adopting: FileDescriptor(taking: number))
        if let identity = try leader.identity(in: proc) {
          outcome.add(
            try Self.resume(identity, except: held, heldGroups: heldGroups, in: proc))
        }
      } catch {
        if error.errno != noSuchProcess { outcome.failures.append("instance \(id): \(error)") }
      }
      removeLeader(of: id)
    }
    return outcome
  }

  private static func resume(
    _ leader: ProcessIdentity, except held: Set<ProcessIdentity>, heldGroups: Set<String>,
    in proc: ProcFS
  ) throws(SystemError) -> ProcessRelease.Outcome {
    var members = try proc.descendants(of: [leader])
    var groups: [ControlGroup] = []
    if let group = try ControlGroup.desktopUnit(of: leader.pid, in: proc),
      !heldGroups.contains(group.path), try group.top(of: leader, in: proc) == leader
    {
      groups = [group]
      for pid in try group.processes() {
        if let stat = try proc.stat(pid) { members.append(stat) }
      }
    }
    let stopped = members.filter { $0.state == .stopped && !held.contains($0.identity) }
    return ProcessRelease.resume(stopped.map(\.identity), groups: groups, in: proc)
  }
}
