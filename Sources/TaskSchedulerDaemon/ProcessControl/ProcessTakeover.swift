import Glibc
import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerEventLog

// Takes over the processes that a previous daemon managed.

extension ProcessController {
  /// The processes of all instances, for the next daemon.
  var held: [InstanceID: DaemonState.Instance] {
    let gone = refusals.merging(departing) { _, departing in departing }
    return instances.merging(gone) { current, _ in current }.mapValues { instance in
      var held = instance.held
      held.lowered = resources[instance.id]?.held ?? []
      return held
    }
  }

  /// Takes over the processes that a previous daemon managed.
  ///
  /// - Parameter leaders: The pidfds that systemd has kept. The function uses only the pidfds of
  ///   instances in `held`.
  /// - Returns: The instances that the daemon could not take over, mostly because the leader has
  ///   ended and no pidfd reports its end. The caller must report the end of these leaders to the
  ///   scheduler.
  func takeOver(
    _ held: [InstanceID: DaemonState.Instance], leaders: [InstanceID: Int32]
  ) -> [InstanceID] {
    var lost: [InstanceID] = []
    takeoverWork?.start()
    for (id, instance) in held.sortedByKey {
      do throws(SystemError) {
        guard let leader = try leader(of: instance, leaders[id]) else {
          lost.append(id)
          releaseProcesses(instance, id)
          continue
        }
        try takeOver(id, instance, leader)
      } catch {
        report(.process(.signalFailed(id, reason: "cannot take it over: \(error)")))
        lost.append(id)
        releaseProcesses(instance, id)
      }
    }
    return lost
  }

  private func leader(
    of held: DaemonState.Instance, _ number: Int32?
  ) throws(SystemError) -> ProcessHandle? {
    let identity = ProcessIdentity(held.details.leader)
    guard let number else { return try ProcessHandle(identity, in: proc) }
    let pidfd = PIDFD(restoring: FileDescriptor(taking: number), pid: identity.pid)
    return ProcessHandle(identity, held: pidfd)
  }

  private func takeOver(
    _ id: InstanceID, _ held: DaemonState.Instance, _ leader: ProcessHandle
  ) throws(SystemError) {
    let instance = try InstanceProcesses(id, held, leader: leader, in: proc)
    instance.mayBeFrozen = true
    resources[id] = InstanceResources(instance, lowered: held.lowered)
    guard let release = held.release else { return try watch(instance) }
    membership.add(instance)
    switch release {
    case .kill: resumeKilling(instance)
    case .resume:
      instance.isReleased = true
      forget(instance)
    }
  }

  /// Releases the known processes of an instance that the daemon could not take over. Restores
  /// their priorities. If a daemon launched the instance, kills them; otherwise, resumes them.
  private func releaseProcesses(_ held: DaemonState.Instance, _ id: InstanceID) {
    let group = held.details.group.map { ControlGroup(path: $0) }
    restorePriorities(held.lowered)
    do throws(SystemError) {
      if let group, group.exists {
        if held.details.isLaunched { try group.kill() } else { try group.thaw() }
      }
      for stopped in held.stopped.reversed() where !stopped.wasStopped {
        let process = try ProcessHandle(ProcessIdentity(stopped.process), in: proc)
        _ = try process?.pidfd.send(signal: held.details.isLaunched ? SIGKILL : SIGCONT)
      }
    } catch {
      report(.process(.signalFailed(id, reason: String(describing: error))))
    }
  }

  private func restorePriorities(_ lowered: [DaemonState.Lowered]) {
    var release = PriorityRelease(lowered.compactMap { LoweredPriority($0) }, in: proc)
    release.run { () throws(SystemError) in [] }
  }

  /// Takes over or resumes stopped processes after the end of the event log was lost. The lost part
  /// may have named any of these processes.
  ///
  /// If a stopped process belongs to an instance, the function assumes that a daemon stopped it,
  /// and the scheduler decides when to resume the instance. The function resumes at once all other
  /// stopped processes that are in `unclear`, that belong to a leader in `leaders`, or that have a
  /// marker.
  ///
  /// - Parameters:
  ///   - unclear: The processes that the readable parts of the event log name.
  ///   - leaders: The pidfds that systemd has kept for leaders that the event log does not name.
  ///   - markers: The environment variables that identify the processes of this daemon's instances.
  func claimStopped(
    _ unclear: Leftovers, leaders: [InstanceID: Int32], _ markers: EnvironmentMarkers
  ) -> ProcessRelease.Outcome {
    var held: Set<ProcessIdentity> = []
    var groups: Set<String> = []
    for instance in instances.values {
      if let group = instance.origin.group { groups.insert(group.path) }
      attempt(instance) { () throws(SystemError) in
        for stat in try membership.tree(instance) {
          held.insert(stat.identity)
          guard stat.state == .stopped, !instance.hasStopped(stat.identity),
            let process = try instance.handle(of: stat.identity, in: proc)
          else { continue }
          instance.willStop([.init(process: Leader(stat.identity), wasStopped: false)])
          instance.noteStopped(process, wasStopped: false)
        }
      }
    }
    var outcome = unclear.resume(except: held, heldGroups: groups, in: proc)
    outcome.add(store.release(leaders: leaders, except: held, heldGroups: groups, in: proc))
    outcome.add(ProcessRelease.resume(markers, except: held, in: proc))
    return outcome
  }

  /// Resumes all processes. Does not change the scheduler's state, which the next daemon takes
  /// over.
  func resumeAll() {
    for instance in instances.values {
      clearSuspension(instance)
      resumeProcesses(of: instance)
    }
  }
}
