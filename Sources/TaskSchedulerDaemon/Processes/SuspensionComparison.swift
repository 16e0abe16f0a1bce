import Glibc
import LinuxSystem
import TaskSchedulerCore

// Suspended means that no process runs one instruction (contract §2), and something other than the
// daemon may resume a process at any time: `systemctl thaw`, a write to cgroup.freeze, SIGCONT.
//
// Of a frozen control group the kernel tells at once. Of a stopped process it tells nobody but the
// parent; so what is said to be suspended is compared with the kernel whenever the daemon is asked
// for it, and when a suspended application calls. What runs is reported, and suspended again.

/// Tells when a frozen control group is thawed by something other than the daemon.
final class FrozenGroupWatch {
  let group: ControlGroup
  private let events: FileDescriptor
  private var source: DescriptorSource?

  init(
    _ group: ControlGroup, loop: EventLoop, thawed: @escaping () -> Void
  ) throws(SystemError) {
    self.group = group
    events = try group.watchEvents()
    // A change is told since the last reading.
    _ = try ControlGroup.events(of: events.rawValue)
    source = try loop.watch(events.rawValue, for: .priority) { [weak self] _ in
      guard let self else { return }
      _ = try? ControlGroup.events(of: events.rawValue)
      // Not by what the events say: a process that is killed leaves the freezer for a moment.
      if group.isThawed { thawed() }
    }
  }

  deinit {
    // Before the descriptor that it watches.
    source = nil
  }
}

/// Those that one look had no time for.
struct SuspensionComparisons {
  var waiting: [InstanceID] = []
  var timer: TimerSource?
}

extension ControlGroup {
  /// Whether its processes were asked to run again; false where it is gone.
  fileprivate var isThawed: Bool { ((try? isToBeFrozen()) ?? nil) == false }
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

  /// Compares an instance that is said to be suspended with the kernel.
  func compareSuspended(_ id: InstanceID) {
    if let instance = self[id] { compare(instance) }
  }

  /// The same for several, as far as there is time. A look that is under way goes on: beginning it
  /// anew each time would never come to the last.
  ///
  /// - Returns: whether any runs.
  func compareSuspended(_ ids: [InstanceID]) -> Bool {
    let waiting = Set(comparisons.waiting)
    comparisons.waiting.insert(contentsOf: ids.filter { !waiting.contains($0) }.reversed(), at: 0)
    return compareWaiting(for: Self.comparisonTime)
  }

  func compareRest() { _ = compareWaiting(for: Self.comparisonTime / 2) }

  private func compareWaiting(for time: Duration) -> Bool {
    let start = BootClock.now()
    let end = Instant(nanoseconds: start).advanced(by: time).nanoseconds
    var isAnyLost = false
    while let id = comparisons.waiting.popLast() {
      if let instance = self[id], compare(instance) { isAnyLost = true }
      if BootClock.now() >= end { break }
    }
    if comparisons.waiting.isEmpty { return isAnyLost }
    let now = BootClock.now()
    comparisons.timer?.set(now + (now - start))
    return isAnyLost
  }

  /// Reports an instance that is said to be suspended and runs; returns whether it does.
  @discardableResult
  private func compare(_ instance: InstanceProcesses) -> Bool {
    guard instance.suspension == nil, !instance.isToBeSuspended, instance.problem == nil,
      instance.standsStill || isSuspended(instance.id), let reason = resumption(of: instance)
    else { return false }
    instance.frozenWatch = nil
    if instance.standsStill {
      // Its suspension has not been reported yet.
      instance.standsStill = false
      suspensionEnded(instance, .failed(reason: reason))
      return true
    }
    instance.resistance =
      wasLostLately(instance) ? "it does not stay suspended: \(reason), again and again" : nil
    instance.lostAt = Instant(nanoseconds: BootClock.now())
    report(.suspensionLost(instance.id, reason: reason))
    return true
  }

  /// What something other than the daemon has resumed; nil where all stands still.
  private func resumption(of instance: InstanceProcesses) -> String? {
    if let group = instance.frozenWatch?.group {
      return group.isThawed ? "another program thawed its control group \(group.path)" : nil
    }
    for member in instance.stopped {
      let process = member.process.identity
      guard let stat = (try? proc.stat(process.pid)) ?? nil, stat.identity == process, runs(stat)
      else { continue }
      return "another program resumed its process \(process.pid) (\(stat.command))"
    }
    return nil
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
