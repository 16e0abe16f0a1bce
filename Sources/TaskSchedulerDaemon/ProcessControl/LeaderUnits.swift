import LinuxSystem
import TaskSchedulerCore

// The systemd units that instances belong to.

extension ProcessController {
  /// Returns the unit of an instance's leader. Reads the unit now, because another program may have
  /// moved the leader.
  func currentUnit(of id: InstanceID) -> SystemdUnit? {
    guard let instance = self[id] else { return nil }
    instance.unit = nil
    return unit(of: instance)
  }

  /// Returns the unit of a leader, for records in the log. Reads the unit only once for each
  /// instance, because there are many records.
  func unit(of leader: Leader) -> SystemdUnit? {
    membership.instance(ledBy: ProcessIdentity(leader)).flatMap { unit(of: $0) }
  }

  private func unit(of instance: InstanceProcesses) -> SystemdUnit? {
    if let known = instance.unit { return known }
    let found = lookUp(instance)
    instance.unit = .some(found)
    return found
  }

  /// Determines the unit of the leader. If the leader has ended, uses the known control group,
  /// because another process may have the leader's pid.
  private func lookUp(_ instance: InstanceProcesses) -> SystemdUnit? {
    let pid = instance.leader.identity.pid
    if let hasEnded = try? instance.leader.pidfd.hasEnded(), !hasEnded,
      let path = (try? proc.cgroup(pid)) ?? nil
    {
      return SystemdUnit(cgroup: path)
    }
    guard let group = instance.origin.group, InstanceGroups.isUnit(group),
      let mount = (try? ControlGroup.mountPoint()) ?? nil, group.path.hasPrefix(mount.path)
    else { return nil }
    return SystemdUnit(cgroup: String(group.path.dropFirst(mount.path.count)))
  }
}
