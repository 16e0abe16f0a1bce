import Glibc
import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerEventLog

/// Launches the programs of applications. Keeps each started process until the scheduler manages
/// it.
///
/// A daemon may die at any instant of a launch. The daemon therefore stores each process in the
/// event log before it reports the process to the scheduler. The next daemon then finds the process
/// and does not start the program again.
final class Launches {
  /// A process that the daemon is about to report to the scheduler as the leader of an instance.
  struct UnmanagedLeader {
    var process: ProcessHandle
    var uid: UInt32
    var origin: InstanceProcesses.Origin
    /// The launch that started the process; nil if no launch did, or if the program already ran
    /// when the daemon learned of the process.
    var launch: InstanceID?
  }

  /// The effective manifests, by application.
  var manifests: [ApplicationID: ApplicationManifest]
  /// Returns the region that the machine entered or left, if this is the reason for an
  /// application's launch; otherwise nil.
  var launchRegion: (ApplicationKey) -> RegionID? = { _ in nil }
  /// Leaders that no daemon manages: a daemon released them when it stopped, or launched them
  /// before it lost its event log. They may have ended.
  private(set) var leftRunning: [Leader: DaemonState.Instance] = [:]
  private var unmanagedLeaders: [Leader: UnmanagedLeader] = [:]
  /// The launches that have begun and whose success or failure the scheduler has not handled yet.
  private var launching: Set<InstanceID> = []
  private var launched: Set<InstanceID> = []
  private let launcher: Launcher
  private let membership: InstanceMembership
  private let eventLog: EventLog
  private let log: Log
  private let post: (Event) -> Void

  private var proc: ProcFS { membership.proc }

  init(
    launcher: Launcher, manifests: [ApplicationID: ApplicationManifest],
    membership: InstanceMembership, eventLog: EventLog, log: Log,
    post: @escaping (Event) -> Void
  ) {
    self.launcher = launcher
    self.manifests = manifests
    self.membership = membership
    self.eventLog = eventLog
    self.log = log
    self.post = post
  }

  // MARK: Unmanaged leaders

  /// The unmanaged leaders, as the event log stores them.
  var held: [Leader: DaemonState.LeaderDetails] { unmanagedLeaders.mapValues(\.held) }

  /// Stores a leader in the event log. Call this before posting the event that reports the leader
  /// to the scheduler.
  @discardableResult
  func expect(_ unmanaged: UnmanagedLeader) -> Leader {
    let leader = Leader(unmanaged.process.identity)
    unmanagedLeaders[leader] = unmanaged
    eventLog.note(.leader(unmanaged.held))
    return leader
  }

  /// Takes over an unmanaged leader of a previous daemon, if the process still exists.
  func restore(_ details: DaemonState.LeaderDetails) {
    do throws(SystemError) {
      let identity = ProcessIdentity(details.leader)
      guard let process = try ProcessHandle(identity, in: proc) else { return }
      unmanagedLeaders[details.leader] = UnmanagedLeader(
        process: process, uid: details.uid, origin: .init(details), launch: details.launch)
    } catch {
      log.write(.warning, "cannot take over process \(details.leader.pid): \(error)")
    }
  }

  /// Removes and returns an unmanaged leader.
  func take(_ leader: Leader) -> UnmanagedLeader? { unmanagedLeaders.removeValue(forKey: leader) }

  /// Forgets the remaining unmanaged leaders. Call this when the scheduler has handled all events:
  /// it then knows of these leaders, and has decided not to manage them.
  func forgetUnmanagedLeaders() {
    if !unmanagedLeaders.isEmpty { unmanagedLeaders = [:] }
    if !launched.isEmpty {
      launching.subtract(launched)
      launched = []
    }
  }

  // MARK: Launches

  /// Starts the program of a launch, unless this daemon or a previous one has already started it.
  /// After a restart of the daemon, the scheduler requests each unfinished launch again.
  func spawn(_ id: InstanceID, _ key: ApplicationKey, _ reason: LaunchReason) {
    guard launching.insert(id).inserted else { return }
    if let leader = started(for: id) ?? takeBack(key) {
      return finish(id, .process(.spawned(id, leader)))
    }
    guard let manifest = manifests[key.id] else {
      return finish(id, .process(.spawnFailed(id, reason: "its manifest was removed")))
    }
    let willRun: (Launcher.Launched) -> Void = { [unowned self] in
      expect(UnmanagedLeader(process: $0.process, uid: $0.uid, origin: $0.origin, launch: id))
    }
    let region = reason == .location ? launchRegion(key) : nil
    launcher.launch(manifest, as: id, reason: reason, region: region, willRun: willRun) {
      [unowned self] result in
      switch result {
      case .success(let launched):
        let leader = Leader(launched.process.identity)
        if unmanagedLeaders[leader] == nil {
          expect(
            UnmanagedLeader(process: launched.process, uid: launched.uid, origin: launched.origin))
        }
        finish(id, .process(.spawned(id, leader)))
      case .failure(let failure):
        finish(id, .process(.spawnFailed(id, reason: failure.reason)))
      }
    }
  }

  private func finish(_ id: InstanceID, _ outcome: Event) {
    launched.insert(id)
    post(outcome)
  }

  /// Returns the process that a previous daemon started for a launch, if the process executes the
  /// program already.
  private func started(for id: InstanceID) -> Leader? {
    guard let (leader, details) = unmanagedLeaders.first(where: { $0.value.launch == id }) else {
      return nil
    }
    let marker = try? proc.environmentValue(leader.pid, of: InstanceMembership.markerName)
    if let marker, marker == details.origin.marker { return leader }
    // The previous daemon may have told the process to execute the program just before that daemon
    // died. Kill the process, so that it does not run beside the process of the repeated launch.
    _ = try? details.process.pidfd.send(signal: SIGKILL)
    unmanagedLeaders[leader] = nil
    return nil
  }

  // MARK: Released processes

  /// Adds to ``leftRunning`` the leaders of the instances that the scheduler releases because the
  /// daemon stops.
  func leaveRunning(_ held: [InstanceID: DaemonState.Instance]) {
    for instance in held.values where instance.release == nil {
      leftRunning[instance.details.leader] = instance
    }
  }

  /// Adds to ``leftRunning`` those leaders in `left` that still run.
  func restoreLeftRunning(_ left: [Leader: DaemonState.Instance]) {
    for (leader, instance) in left {
      let stat = (try? proc.stat(leader.pid)) ?? nil
      guard let stat, stat.identity == ProcessIdentity(leader), !stat.state.hasEnded else {
        continue
      }
      leftRunning[leader] = instance
    }
  }

  /// Returns, for each application, the oldest running process in ``leftRunning``.
  func unmanagedProcesses() -> [ApplicationKey: Leader] {
    var processes: [ApplicationKey: Leader] = [:]
    for (leader, instance) in leftRunning {
      guard let id = ApplicationID(instance.application) else { continue }
      let key = ApplicationKey(id, owner: UserID(instance.details.uid))
      if let other = processes[key], other.startTime <= leader.startTime { continue }
      let stat = (try? proc.stat(leader.pid)) ?? nil
      guard let stat, stat.identity == ProcessIdentity(leader), !stat.state.hasEnded else {
        continue
      }
      processes[key] = leader
    }
    return processes
  }

  /// Removes an application's oldest running process from ``leftRunning``, stores it as an
  /// unmanaged leader, and returns it. Skips a process that belongs to an instance.
  private func takeBack(_ key: ApplicationKey) -> Leader? {
    let left = leftRunning.values.filter {
      $0.application == key.id.name && $0.details.uid == key.owner.uid
    }
    for instance in left.sorted(by: { $0.details.leader.startTime < $1.details.leader.startTime }) {
      let leader = instance.details.leader
      leftRunning[leader] = nil
      do throws(SystemError) {
        let identity = ProcessIdentity(leader)
        guard let process = try ProcessHandle(identity, in: proc),
          try !process.pidfd.hasEnded(),
          try membership.instance(of: identity, uid: instance.details.uid) == nil
        else { continue }
        log.write(
          .notice, "\(key.id.name): managing process \(leader.pid) again; an earlier daemon "
            + "released it")
        return expect(
          UnmanagedLeader(
            process: process, uid: instance.details.uid, origin: .init(instance.details)))
      } catch {
        log.write(.warning, "cannot manage process \(leader.pid) again: \(error)")
      }
    }
    return nil
  }
}

extension Launches.UnmanagedLeader {
  /// The leader as the event log stores it.
  fileprivate var held: DaemonState.LeaderDetails {
    origin.details(of: process.identity, uid: uid, launch: launch)
  }
}
