import Glibc
import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerEventLog

// Resumes stopped processes (contract.md#never-stay-suspended). Without CAP_KILL, the daemon cannot
// resume a process that has changed its user. The daemon then reports the problem, and tries again
// each second until it succeeds.
extension ProcessController {
  private static let refusalRetryInterval: Duration = .seconds(1)

  /// The number of processes to resume before the call returns, and in each later step.
  private static let resumedAtOnce = 256
  private static let resumedInStep = 16

  /// Thaws the control group. Then sends SIGCONT to all processes that the daemon has stopped. The
  /// process that was stopped last is resumed first, so that no parent runs before its children. If
  /// another program had already stopped a process, that process is not resumed.
  ///
  /// - Parameter end: Called when the daemon has resumed all processes that the kernel permits it
  ///   to resume. Not called if the daemon stops the processes again before that.
  func resumeProcesses(of instance: InstanceProcesses, end: @escaping () -> Void = {}) {
    let problem = thaw(instance)
    let resumption = instance.resumption ?? Resumption()
    resumption.problem = resumption.problem ?? problem
    resumption.ends.append(end)
    // The resumption in progress resumes these processes too.
    if instance.resumption != nil { return }
    resumption.isNoted = instance.hasAnyStopped
    instance.resumption = resumption
    for _ in 0..<Self.resumedAtOnce / Self.resumedInStep where !resumeSome(instance, resumption) {
      return
    }
    resumption.work = steps.begin(.first, user: instance.uid) { [weak self] in
      self?.resumeSome(instance, resumption) ?? false
    }
  }

  /// Resumes some processes. Returns whether there are more.
  private func resumeSome(_ instance: InstanceProcesses, _ resumption: Resumption) -> Bool {
    for _ in 0..<Self.resumedInStep {
      guard let member = instance.takeLastStopped() else {
        end(resumption, of: instance)
        return false
      }
      if member.wasStopped { continue }
      do throws(SystemError) {
        _ = try member.process.pidfd.send(signal: SIGCONT)
      } catch {
        let pid = member.process.identity.pid
        resumption.problem = resumption.problem ?? "process \(pid) cannot be resumed: \(error)"
        resumption.refused.append(member)
      }
    }
    return true
  }

  private func end(_ resumption: Resumption, of instance: InstanceProcesses) {
    instance.resumption = nil
    if let first = instance.heldStopped.first {
      resumption.problem = resumption.problem ?? "process \(first.process.pid) cannot be examined"
    }
    noteRest(of: resumption, instance)
    note(resumption.problem, of: instance)
    for end in resumption.ends { end() }
  }

  /// Cancels a resumption in progress, because the processes must stop again.
  func stopResuming(_ instance: InstanceProcesses) {
    guard let resumption = instance.resumption else { return }
    resumption.work?.cancel()
    instance.resumption = nil
    noteRest(of: resumption, instance)
  }

  /// Stores in the event log which processes are still stopped.
  private func noteRest(of resumption: Resumption, _ instance: InstanceProcesses) {
    for member in resumption.refused.reversed() {
      instance.noteStopped(member.process, wasStopped: false)
    }
    if resumption.isNoted { eventLog.note(.resumed(instance.id)) }
    let stopped = instance.allStopped
    if !stopped.isEmpty { eventLog.note(.stopping(instance.id, stopped)) }
  }

  /// Thaws the control group. Returns the problem if it fails.
  private func thaw(_ instance: InstanceProcesses) -> String? {
    guard instance.mayBeFrozen, let group = instance.origin.group else { return nil }
    do throws(SystemError) {
      // Thaws even if the freeze is not complete yet, because no other program would thaw the
      // group.
      if try group.isToBeFrozen() == true { try group.thaw() }
      instance.mayBeFrozen = false
      return nil
    } catch {
      return "its control group \(group.path) cannot be thawed: \(error)"
    }
  }

  private func note(_ problem: String?, of instance: InstanceProcesses) {
    let isNew = problem != instance.problem
    instance.problem = problem
    refusals[instance.id] = problem == nil ? nil : instance
    guard let problem else { return }
    if isNew { report(.process(.signalFailed(instance.id, reason: problem))) }
    refusalTimer?.set(BootClock.after(Self.refusalRetryInterval))
  }

  /// Removes the problem of a failed resume, because the processes must stop again.
  func forgetRefusal(_ instance: InstanceProcesses) {
    instance.problem = nil
    refusals[instance.id] = nil
  }

  func resumeRefused() {
    for (id, instance) in refusals.sortedByKey {
      resumeProcesses(of: instance) { [weak self] in
        guard let self, instance.isReleased, instance.problem == nil, departing[id] == nil
        else { return }
        forgetEnded(instance)
      }
    }
  }

  /// Returns the problem of an application whose processes the daemon cannot resume or keep
  /// suspended; nil if there is none.
  func problem(of key: ApplicationKey) -> String? {
    let own = refusals.values.filter {
      $0.application == key.id.name && $0.uid == key.owner.uid
    }
    return own.min { $0.id < $1.id }?.problem ?? repeatedResumeProblem(of: key)
  }

  /// Releases the remaining processes of an instance that has ended.
  func forget(_ instance: InstanceProcesses) {
    membership.remove(instance)
    // The next daemon must know the instance until this daemon has resumed all its processes and
    // restored their priorities.
    departing[instance.id] = instance
    resumeProcesses(of: instance) { [weak self] in
      guard let self else { return }
      priorities.restore(resources(of: instance)) { [weak self] in
        guard let self else { return }
        departing[instance.id] = nil
        if instance.problem == nil { forgetEnded(instance) }
      }
    }
  }

  private func forgetEnded(_ instance: InstanceProcesses) {
    resources[instance.id] = nil
    eventLog.note(.forgotten(instance.id))
    if let group = instance.origin.group { unitExits?.forget(group.name) }
    if let group = instance.origin.group, InstanceGroups.isInstance(group.name),
      (try? group.isPopulated()) != nil
    {
      endedInstanceGroups?.removeWhenEmpty(group)
    }
  }
}
