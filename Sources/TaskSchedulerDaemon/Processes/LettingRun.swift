import Glibc
import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerJournal

// Letting run what was stopped (contract §15.1). The kernel may refuse it, where a process has
// become another user's meanwhile: that is remembered, told, and tried again until it succeeds.
extension ProcessController {
  private static let refusalRetryInterval: Duration = .seconds(1)

  /// SIGCONT to all that we have stopped, the last first, so that no parent runs before its
  /// children; those that somebody else had stopped before stay so.
  func letRun(_ instance: InstanceProcesses) {
    var problem = thaw(instance)
    let stopped = instance.stopped
    var refused: [ProcessHandle] = []
    for member in stopped.reversed() where !member.wasStopped {
      do throws(SystemError) {
        _ = try member.process.pidfd.send(signal: SIGCONT)
      } catch {
        problem = problem ?? "process \(member.process.identity.pid) cannot be let run: \(error)"
        refused.append(member.process)
      }
    }
    let held = instance.heldStopped
    if !stopped.isEmpty || !held.isEmpty { journal.note(.letRun(instance.id)) }
    instance.forgetStopped()
    // They are as they were, and found by whoever comes after us.
    if let first = held.first {
      problem = problem ?? "process \(first.process.pid) cannot be looked at"
      journal.note(.stopping(instance.id, held))
    }
    for process in refused.reversed() {
      let stopped = Holdings.Stopped(process: Leader(process.identity), wasStopped: false)
      journal.note(.stopping(instance.id, [stopped]))
      instance.noteStopped(process, wasStopped: false)
    }
    note(problem, of: instance)
  }

  /// Returns what went wrong.
  private func thaw(_ instance: InstanceProcesses) -> String? {
    guard instance.mayBeFrozen, let group = instance.origin.group else { return nil }
    do throws(SystemError) {
      // Also where not all stand still yet: nobody else would thaw it.
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
    if isNew { report(.signalFailed(instance.id, reason: problem)) }
    refusalTimer?.set(BootClock.after(Self.refusalRetryInterval))
  }

  /// Its processes are to stand still again.
  func forgetRefusal(_ instance: InstanceProcesses) {
    instance.problem = nil
    refusals[instance.id] = nil
  }

  func letRunRefused() {
    for (id, instance) in refusals.sorted(by: { $0.key < $1.key }) {
      letRun(instance)
      if instance.isReleased, instance.problem == nil, departing[id] == nil {
        forgetForGood(instance)
      }
    }
  }

  /// What could not be done to the processes of an application, or does not last, and is tried
  /// again.
  func problem(of key: ApplicationKey) -> String? {
    let own = refusals.values.filter {
      $0.application == key.id.name && $0.uid == key.owner.uid
    }
    return own.min { $0.id < $1.id }?.problem ?? resistance(of: key)
  }

  /// It is over, and what is left of it runs on.
  func forget(_ instance: InstanceProcesses) {
    priorities.giveBack(instance)
    letRun(instance)
    membership.remove(instance)
    if instance.problem == nil { forgetForGood(instance) }
  }

  private func forgetForGood(_ instance: InstanceProcesses) {
    journal.note(.forgotten(instance.id))
    if let group = instance.origin.group { unitEnds?.forget(group.name) }
    if let group = instance.origin.group, !InstanceGroups.isUnit(group),
      (try? group.isPopulated()) != nil
    {
      graveyard?.bury(group)
    }
  }
}
