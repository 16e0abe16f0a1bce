import LinuxSystem
import TaskSchedulerCore

// The systemd units that instances belong to.

extension ProcessController {
  /// The unit of an instance's leader, looked up now: a leader may be moved.
  func currentUnit(of id: InstanceID) -> SystemdUnit? {
    guard let instance = self[id] else { return nil }
    instance.unit = nil
    return unit(of: instance)
  }

  /// The unit of the leader of a record, for the log: looked up once, for records are many.
  func unit(of leader: Leader) -> SystemdUnit? {
    membership.instance(ledBy: ProcessIdentity(leader)).flatMap { unit(of: $0) }
  }

  private func unit(of instance: InstanceProcesses) -> SystemdUnit? {
    if let known = instance.unit { return known }
    let found = lookUp(instance)
    instance.unit = .some(found)
    return found
  }

  /// Of a leader that has ended, what is known of its group: its pid may be another's by now.
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
