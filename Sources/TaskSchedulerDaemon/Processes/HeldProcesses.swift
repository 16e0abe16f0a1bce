import Glibc
import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerEventLog

// The processes that an earlier daemon held: taken over as they are now.

extension ProcessController {
  /// What the next daemon has to know.
  var held: [InstanceID: Holdings.Instance] {
    let gone = refusals.merging(departing) { _, departing in departing }
    return instances.mapValues(\.held).merging(gone.mapValues(\.held)) { current, _ in current }
  }

  /// Takes over what was held.
  ///
  /// - Parameter leaders: pidfds that systemd has kept. Those that are not taken over are closed.
  /// - Returns: the instances whose leaders have ended and whose pidfds are lost: nobody will tell
  ///   of their ends.
  func takeOver(
    _ held: [InstanceID: Holdings.Instance], leaders: [InstanceID: Int32]
  ) -> [InstanceID] {
    var lost: [InstanceID] = []
    catchUp?.start()
    for (id, number) in leaders where held[id] == nil {
      FileDescriptor(taking: number).close()
      store.removeLeader(of: id)
    }
    for (id, instance) in held.sorted(by: { $0.key < $1.key }) {
      do throws(SystemError) {
        guard let leader = try leader(of: instance, leaders[id]) else {
          lost.append(id)
          seeTo(instance, id)
          continue
        }
        try takeOver(id, instance, leader)
      } catch {
        report(.signalFailed(id, reason: "cannot take it over: \(error)"))
        lost.append(id)
        seeTo(instance, id)
      }
    }
    return lost
  }

  private func leader(
    of held: Holdings.Instance, _ number: Int32?
  ) throws(SystemError) -> ProcessHandle? {
    let identity = ProcessIdentity(held.arrival.leader)
    guard let number else { return try ProcessHandle(identity, in: proc) }
    let pidfd = PIDFD(restoring: FileDescriptor(taking: number), pid: identity.pid)
    return ProcessHandle(identity, held: pidfd)
  }

  private func takeOver(
    _ id: InstanceID, _ held: Holdings.Instance, _ leader: ProcessHandle
  ) throws(SystemError) {
    let instance = try InstanceProcesses(id, held, leader: leader, in: proc)
    instance.mayBeFrozen = true
    guard let release = held.release else { return try watch(instance) }
    membership.add(instance)
    switch release {
    case .kill: resumeKilling(instance)
    case .letRun:
      instance.isReleased = true
      forget(instance)
    }
  }

  /// The leader is gone: what is left of its processes is let run, or killed where the daemon had
  /// launched them.
  private func seeTo(_ held: Holdings.Instance, _ id: InstanceID) {
    let group = held.arrival.group.map { ControlGroup(path: $0) }
    giveBack(held.lowered)
    do throws(SystemError) {
      if let group, group.exists {
        if held.arrival.isLaunched { try group.kill() } else { try group.thaw() }
      }
      for stopped in held.stopped.reversed() where !stopped.wasStopped {
        let process = try ProcessHandle(ProcessIdentity(stopped.process), in: proc)
        _ = try process?.pidfd.send(signal: held.arrival.isLaunched ? SIGKILL : SIGCONT)
      }
    } catch {
      report(.signalFailed(id, reason: String(describing: error)))
    }
  }

  private func giveBack(_ lowered: [Holdings.Lowered]) {
    var release = PriorityRelease(lowered.compactMap { LoweredPriority($0) }, in: proc)
    release.run { () throws(SystemError) in [] }
  }

  /// What was written last is lost: whoever stands still of an instance was stopped by us, and is
  /// let run when the policy says so; whoever is nobody's is let run at once.
  ///
  /// - Parameter unclear: whom the rest of the event log names.
  func claimStopped(_ unclear: LeftBehind, _ marks: ProcessMarks) -> ProcessRelease.Outcome {
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
    var outcome = unclear.letRun(except: held, heldGroups: groups, in: proc)
    outcome.add(ProcessRelease.letRun(marks, except: held, in: proc))
    return outcome
  }

  /// Lets everything run, for a daemon that comes back or does not: the policy's state stays.
  func letAllRun() {
    for instance in instances.values {
      dropSuspension(instance)
      letRun(instance)
    }
  }
}
