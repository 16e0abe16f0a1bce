import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerCore

// Suspended means that no process runs one instruction (contract §2), and something other than the
// daemon may resume a process at any time: `systemctl thaw`, a write to cgroup.freeze, SIGCONT.
//
// Of a frozen control group the kernel tells at once. Of a stopped process it tells nobody but the
// parent; so what is said to be suspended is compared with the kernel whenever the daemon is asked
// for it, and when a suspended application calls. What runs is reported, and suspended again.

/// The instances that one look had no time for, the next one last.
struct SuspensionComparisons {
  var waiting: [InstanceID] = []
  /// The number of processes of the next instance that have been compared.
  var place = 0
  var timer: TimerSource?
}

extension ProcessController {
  /// How long those who ask wait for a look at all that is suspended. The rest is looked at later,
  /// as often as there is time for half as much.
  private static let comparisonTime: Duration = .milliseconds(4)
  /// A suspension that is lost again within this time is a problem that operators are told of.
  private static let resistanceInterval: Duration = .seconds(60)

  /// Watches the control group of an instance that has been frozen.
  func watchFrozen(_ instance: InstanceProcesses) {
    guard let group = instance.origin.group else { return }
    attempt(instance) { () throws(SystemError) in
      instance.frozenWatch = try FrozenGroupWatch(group, loop: loop) { [weak self, weak instance] in
        guard let self, let instance else { return }
        compare(instance)
      }
    }
  }

  /// Compares those that are said to be suspended with the kernel, as far as there is time; the
  /// rest later. A look that is under way goes on: beginning it anew each time would never come to
  /// the last.
  ///
  /// - Returns: whether any runs.
  @discardableResult
  func compareSuspended(_ ids: [InstanceID]) -> Bool {
    if ids.count == 1, ids.last != comparisons.waiting.last {
      // A single application is always told as it is, unless it has thousands of processes.
      comparisons.waiting.removeAll { $0 == ids[0] }
      comparisons.waiting += ids
      comparisons.place = 0
    } else {
      let waiting = Set(comparisons.waiting)
      comparisons.waiting.insert(contentsOf: ids.filter { !waiting.contains($0) }.reversed(), at: 0)
    }
    return compareWaiting(for: Self.comparisonTime)
  }

  func compareRest() { compareWaiting(for: Self.comparisonTime / 2) }

  @discardableResult
  private func compareWaiting(for time: Duration) -> Bool {
    let start = BootClock.now()
    let end = Instant(nanoseconds: start).advanced(by: time).nanoseconds
    var isAnyLost = false
    waiting: while let id = comparisons.waiting.last {
      switch self[id].map({ compare($0, from: comparisons.place, until: end) }) ?? .still {
      case .lost: isAnyLost = true
      case .still: break
      case .goesOn(let place):
        comparisons.place = place
        break waiting
      }
      comparisons.waiting.removeLast()
      comparisons.place = 0
      if BootClock.now() >= end { break }
    }
    if comparisons.waiting.isEmpty { return isAnyLost }
    let now = BootClock.now()
    comparisons.timer?.set(now + (now - start))
    return isAnyLost
  }

  /// What a comparison has come to.
  private enum Comparison {
    case still
    case lost(reason: String)
    /// Those before this place stand still; there was no time for the others.
    case goesOn(Int)
  }

  /// Reports an instance that is said to be suspended and runs.
  @discardableResult
  private func compare(
    _ instance: InstanceProcesses, from place: Int = 0, until end: UInt64 = .max
  ) -> Comparison {
    guard instance.suspension == nil, !instance.isToBeSuspended, instance.problem == nil,
      instance.standsStill || isSuspended(instance.id)
    else { return .still }
    let outcome = resumption(of: instance, from: place, until: end)
    guard case .lost(let reason) = outcome else { return outcome }
    instance.frozenWatch = nil
    if instance.standsStill {
      // Its suspension has not been reported yet.
      instance.standsStill = false
      suspensionEnded(instance, .failed(reason: reason))
      return outcome
    }
    instance.resistance =
      wasLostLately(instance) ? "it does not stay suspended: \(reason), again and again" : nil
    instance.lostAt = Instant(nanoseconds: BootClock.now())
    report(.process(.suspensionLost(instance.id, reason: reason)))
    return outcome
  }

  /// What something other than the daemon has resumed.
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

  /// Whether a process that was sent SIGSTOP runs, by its first thread or, where that has ended, by
  /// the others.
  private func runs(_ stat: ProcessStat) -> Bool {
    if stat.state.hasEnded, !stat.hasEnded {
      let threads = ((try? proc.threadStates(stat.pid)) ?? nil) ?? []
      return threads.contains { !$0.state.isStandingStill && $0.state != .diskSleep }
    }
    guard stat.state == .diskSleep else { return !stat.state.isStandingStill }
    // It stops before its next instruction where SIGSTOP is pending still.
    return ((try? proc.details(stat.pid)) ?? nil)?.isPending(SIGSTOP) == false
  }

  /// What is to be told of an application that something else resumes again and again.
  func resistance(of key: ApplicationKey) -> String? {
    instances.values.first {
      $0.resistance != nil && $0.application == key.id.name && $0.uid == key.owner.uid
        && wasLostLately($0)
    }?.resistance
  }

  private func wasLostLately(_ instance: InstanceProcesses) -> Bool {
    guard let lostAt = instance.lostAt else { return false }
    return BootClock.now() < lostAt.advanced(by: Self.resistanceInterval).nanoseconds
  }
}
