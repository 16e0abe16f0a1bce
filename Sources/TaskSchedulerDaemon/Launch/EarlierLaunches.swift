import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerEventLog

/// Programs that an earlier daemon launched and that still run. If no intact event log names them,
/// the daemon recognizes them by the environment that the earlier daemon gave them.
struct EarlierLaunches {
  /// The variable that only launched programs have. Its value is the reason for the launch.
  static let reasonName = "TASKSCHEDD_LAUNCH_REASON"
  /// The variable that contains the id of a region. A program has this variable if the daemon
  /// launched it because the machine entered or left the region.
  static let regionName = "TASKSCHEDD_LAUNCH_REGION"
  static let applicationName = "TASKSCHEDD_APPLICATION"

  let markers: EnvironmentMarkers
  let proc: ProcFS

  /// Returns the oldest process of each instance. When the instance's application must be launched
  /// again, the daemon manages that process instead of starting another one.
  func leaders() -> [Leader: DaemonState.Instance] {
    var first: [String: ProcessStat] = [:]
    for pid in (try? proc.pids()) ?? [] {
      guard let marker = markers.marker(of: pid, in: proc),
        let stat = (try? proc.stat(pid)) ?? nil, !stat.state.hasEnded
      else { continue }
      if let known = first[marker], known.identity.startTime <= stat.identity.startTime { continue }
      first[marker] = stat
    }
    var found: [Leader: DaemonState.Instance] = [:]
    for (marker, stat) in first {
      if let instance = instance(stat, marker) { found[instance.details.leader] = instance }
    }
    return found
  }

  private func instance(_ stat: ProcessStat, _ marker: String) -> DaemonState.Instance? {
    let pid = stat.identity.pid
    let values = try? proc.environmentValues(pid, of: [Self.reasonName, Self.applicationName])
    guard let values, values[Self.reasonName] != nil,
      let application = values[Self.applicationName],
      let process = (try? proc.details(pid)) ?? nil
    else { return nil }
    let group = (try? ControlGroup.of(pid, in: proc)) ?? nil
    let isOwn = group.map { InstanceGroups.isInstance($0.name) || InstanceGroups.isUnit($0) }
    let details = DaemonState.LeaderDetails(
      leader: Leader(stat.identity), uid: process.uids.real,
      group: isOwn == true ? group?.path : nil, marker: marker, mechanism: nil, isLaunched: true)
    return DaemonState.Instance(application: application, details: details)
  }
}
