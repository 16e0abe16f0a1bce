import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerCore

// No process of a suspended application executes an instruction (contract §2). But another program
// can resume a process at any time: with `systemctl thaw`, a write to cgroup.freeze, or SIGCONT.
//
// The kernel reports a thawed control group at once. It reports a resumed process only to the
// parent. The daemon therefore asks the kernel whether the processes of suspended instances are
// still stopped. It does so when a client asks for states, and when a suspended application calls
// the daemon. It reports the instances that run, and suspends them again.

/// The suspended instances for which the daemon must still check that no process runs.
struct SuspensionComparisons {
  struct Waiting {
    var id: InstanceID
    /// The number of processes that the daemon has already checked.
    var place = 0
  }

  /// The waiting instances. The daemon checks the last of them next.
  var waiting: [Waiting] = []
  var timer: TimerSource?
}

extension ProcessController {
  /// The maximum time for which a client waits for the check. The daemon then continues the check
  /// in steps of half that time, and handles other events between two steps.
  private static let comparisonTime: Duration = .milliseconds(4)
  /// If other programs resume an instance twice within this time, the daemon reports a problem of
  /// the application to operators. The problem disappears when no other program has resumed the
  /// instance for this time.
  private static let repeatedResumeInterval: Duration = .seconds(60)

  /// Watches the control group of a frozen instance.
  func watchFrozen(_ instance: InstanceProcesses) {
    guard let group = instance.origin.group else { return }
    attempt(instance) { () throws(SystemError) in
      instance.frozenWatch = try FrozenGroupWatch(group, loop: loop) { [weak self, weak instance] in
        guard let self, let instance else { return }
        compare(instance)
      }
    }
  }

  /// Checks whether the processes of suspended instances are still stopped. After a limited time,
  /// the function returns, and the daemon checks the remaining instances later. A call for several
  /// instances does not restart a check in progress. Otherwise the daemon might never check the
  /// last instance.
  ///
  /// - Returns: Whether this call has found an instance that runs.
  @discardableResult
  func compareSuspended(_ ids: [InstanceID]) -> Bool {
    if ids.count == 1, ids.last != comparisons.waiting.last?.id {
      // A single requested instance comes first. Its check is complete when this call returns,
      // unless the instance has thousands of processes.
      comparisons.waiting.removeAll { $0.id == ids[0] }
      comparisons.waiting.append(.init(id: ids[0]))
    } else {
      let waiting = Set(comparisons.waiting.map(\.id))
      let new = ids.filter { !waiting.contains($0) }.reversed()
      comparisons.waiting.insert(contentsOf: new.map { .init(id: $0) }, at: 0)
    }
    return compareWaiting(for: Self.comparisonTime)
  }

  func compareRest() { compareWaiting(for: Self.comparisonTime / 2) }

  @discardableResult
  private func compareWaiting(for time: Duration) -> Bool {
    let start = BootClock.now()
    let end = Instant(nanoseconds: start).advanced(by: time).nanoseconds
    var isAnyLost = false
    waiting: while let next = comparisons.waiting.popLast() {
      switch self[next.id].map({ compare($0, from: next.place, until: end) }) ?? .still {
      case .lost: isAnyLost = true
      case .still: break
      case .goesOn(let place):
        comparisons.waiting.append(.init(id: next.id, place: place))
        break waiting
      }
      if BootClock.now() >= end { break }
    }
    if comparisons.waiting.isEmpty { return isAnyLost }
    let now = BootClock.now()
    comparisons.timer?.set(now + (now - start))
    return isAnyLost
  }

  /// The result of a check.
  private enum Comparison {
    case still
    case lost(reason: String)
    /// The processes before this index are stopped. The time was too short to examine the others.
    case goesOn(Int)
  }

  /// Checks whether a suspended instance is still stopped, and reports the instance if it runs.
  @discardableResult
  private func compare(
    _ instance: InstanceProcesses, from place: Int = 0, until end: UInt64 = .max
  ) -> Comparison {
    guard instance.suspension == nil, !instance.isToBeSuspended, instance.problem == nil,
      instance.isFullyStopped || isSuspended(instance.id)
    else { return .still }
    let outcome = resumption(of: instance, from: place, until: end)
    guard case .lost(let reason) = outcome else { return outcome }
    instance.frozenWatch = nil
    if instance.isFullyStopped {
      // The daemon has not reported the suspension as complete yet, so it reports that the
      // suspension failed.
      instance.isFullyStopped = false
      suspensionEnded(instance, .failed(reason: reason))
      return outcome
    }
    instance.repeatedResumeProblem =
      wasResumedRecently(instance) ? "it does not stay suspended; most recently, \(reason)" : nil
    instance.lostAt = Instant(nanoseconds: BootClock.now())
    report(.process(.suspensionLost(instance.id, reason: reason)))
    return outcome
  }

  /// Returns whether another program has thawed the control group of a suspended instance, or
  /// resumed one of its processes.
  private func resumption(
    of instance: InstanceProcesses, from place: Int, until end: UInt64
  ) -> Comparison {
    if let group = instance.frozenWatch?.group {
      return group.isThawed
        ? .lost(reason: "another program thawed its control group \(group.path)") : .still
    }
    let stopped = instance.stopped
    for next in min(place, stopped.count)..<stopped.count {
      if next > place, BootClock.now() >= end { return .goesOn(next) }
      let process = stopped[next].process.identity
      guard let stat = (try? proc.stat(process.pid)) ?? nil, stat.identity == process, runs(stat)
      else { continue }
      return .lost(
        reason: "another program resumed its process \(process.pid) (\(stat.command))")
    }
    return .still
  }

  /// Returns whether a process runs after SIGSTOP. Reads the state of the process's first thread.
  /// If that thread has ended, reads the states of the other threads.
  private func runs(_ stat: ProcessStat) -> Bool {
    if stat.state.hasEnded, !stat.hasEnded {
      let threads = ((try? proc.threadStates(stat.pid)) ?? nil) ?? []
      return threads.contains { !$0.state.isStandingStill && $0.state != .diskSleep }
    }
    guard stat.state == .diskSleep else { return !stat.state.isStandingStill }
    // A process with pending SIGSTOP stops before its next instruction.
    return ((try? proc.details(stat.pid)) ?? nil)?.isPending(SIGSTOP) == false
  }

  /// Returns the problem of an application that other programs resume repeatedly.
  func repeatedResumeProblem(of key: ApplicationKey) -> String? {
    instances.values.first {
      $0.repeatedResumeProblem != nil && $0.application == key.id.name && $0.uid == key.owner.uid
        && wasResumedRecently($0)
    }?.repeatedResumeProblem
  }

  private func wasResumedRecently(_ instance: InstanceProcesses) -> Bool {
    guard let lostAt = instance.lostAt else { return false }
    return BootClock.now() < lostAt.advanced(by: Self.repeatedResumeInterval).nanoseconds
  }
}
