import Glibc
import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerJournal

/// Lets the background come after the foreground (contract §12), and gives back what was lowered,
/// exactly.
///
/// Where an instance has a control group with the controllers, by its weights; else by the nice
/// value and I/O priority of each thread of each process, which what they make inherits. What was
/// before is in the journal before it is changed.
final class Priorities {
  /// How often the threads are listed again while there come new ones.
  private static let walksMax = 16
  /// Without CAP_SYS_ADMIN one autogroup may be set in this time.
  private static let autogroupInterval: Duration = .milliseconds(110)

  private let membership: Membership
  private let journal: Journal
  private let report: (Event) -> Void
  private let rights: PriorityRights
  private let usesAutogroups: Bool
  private var retryTimer: TimerSource?
  private var retries: [InstanceProcesses] = []
  var options: DaemonOptions
  /// Looks at all processes for those that the tree does not show; set by the owner.
  var sweep: (InstanceID, @escaping ([ProcessStat]) -> Void) -> Void = { _, _ in }

  private var proc: ProcFS { membership.proc }

  init(
    membership: Membership, loop: EventLoop, journal: Journal, options: DaemonOptions,
    report: @escaping (Event) -> Void
  ) throws(SystemError) {
    self.membership = membership
    self.journal = journal
    self.options = options
    self.report = report
    rights = PriorityRights(isPrivileged: membership.proc.mayRaisePriorities)
    usesAutogroups = membership.proc.usesAutogroups
    retryTimer = try loop.timer { [weak self] in self?.retry() }
  }

  /// Favours an instance so from here on; also where that was begun before.
  func prioritize(_ instance: InstanceProcesses, _ priority: ProcessPriority) {
    let before = instance.lowered.priority
    instance.lowered.priority = priority
    guard priority.isLowered else { return giveBack(instance) }
    let isFirst = instance.lowered.items.isEmpty
    // Whoever is lowered already needs another score alone: what is born inherits the rest.
    lower(instance, onlyScore: !isFirst && before.isLowered && before != priority)
    guard isFirst, instance.origin.group == nil else { return }
    sweep(instance.id) { [weak self, weak instance] members in
      guard let self, let instance, instance.lowered.priority.isLowered else { return }
      attempt(instance) { () throws(SystemError) in
        var seen: Set<Int32> = []
        _ = try lower(instance, members, &seen, isFirst: true, onlyScore: false)
      }
    }
  }

  /// Whoever has changed its own priority back, or came by another way, is lowered again.
  func lowerAgain(_ instance: InstanceProcesses) {
    if instance.lowered.priority.isLowered { lower(instance, onlyScore: false) }
  }

  // MARK: Lowering

  private func lower(_ instance: InstanceProcesses, onlyScore: Bool) {
    attempt(instance) { () throws(SystemError) in
      let isFirst = instance.lowered.items.isEmpty
      if !onlyScore { try lowerGroup(instance) }
      var seen: Set<Int32> = []
      for _ in 0..<Self.walksMax {
        let members = try membership.tree(instance)
        if try !lower(instance, members, &seen, isFirst: isFirst, onlyScore: onlyScore) { break }
      }
    }
  }

  /// Returns whether there was a thread that had not been seen.
  private func lower(
    _ instance: InstanceProcesses, _ members: [ProcessStat], _ seen: inout Set<Int32>,
    isFirst: Bool, onlyScore: Bool
  ) throws(SystemError) -> Bool {
    var foundNew = false
    var items: [LoweredPriority] = []
    for stat in members {
      if onlyScore {
        items += try score(stat, instance, isFirst: false)
        continue
      }
      for thread in try proc.threads(stat.pid) ?? [] where seen.insert(thread).inserted {
        foundNew = true
        guard
          let identity = thread == stat.pid
            ? stat.identity : try proc.stat(stat.pid, thread: thread)?.identity
        else { continue }
        items += try levers(of: identity, stat.pid, instance, isFirst: isFirst)
        if thread == stat.pid { items += try score(stat, instance, isFirst: isFirst) }
      }
    }
    apply(items, instance)
    return foundNew
  }

  /// The weights of its control group, and the nice value of its session's autogroup.
  private func lowerGroup(_ instance: InstanceProcesses) throws(SystemError) {
    guard options.backgroundPriority else { return }
    let leader = instance.leader.identity
    var items: [LoweredPriority] = []
    for lever in [PriorityLever.processorWeight, .ioWeight] {
      guard let group = instance.origin.group,
        let current = try proc.value(of: lever, thread: 0, process: 0, group: group)
      else { continue }
      let after = min(current, max(1, current * options.backgroundWeight / 100))
      items.append(
        LoweredPriority(
          thread: leader, process: leader.pid, group: group, lever: lever,
          before: instance.lowered.items.first { $0.lever == lever }?.before ?? current,
          after: instance.lowered.items.first { $0.lever == lever }?.after ?? after))
    }
    instance.hasWeights = (
      items.contains { $0.lever == .processorWeight }, items.contains { $0.lever == .ioWeight })
    if usesAutogroups, instance.leadsSession, !instance.hasWeights.processor,
      let current = try proc.value(
        of: .autogroup, thread: leader.pid, process: leader.pid, group: nil) {
      items.append(
        LoweredPriority(
          thread: leader, process: leader.pid, lever: .autogroup, before: current,
          after: max(current, options.backgroundNice)))
    }
    apply(items, instance)
  }

  /// What of a thread is to be lowered. Who was not there at first, and is low, was born so.
  private func levers(
    of thread: ProcessIdentity, _ process: Int32, _ instance: InstanceProcesses, isFirst: Bool
  ) throws(SystemError) -> [LoweredPriority] {
    guard let current = try ThreadPriority(of: thread.pid) else { return [] }
    let isNew = !instance.lowered.isKnown(thread)
    var items: [LoweredPriority] = []
    func add(_ lever: PriorityLever, _ before: Int, _ after: Int, isLower: Bool) {
      guard isLower || isFirst && isNew else { return }
      items.append(
        LoweredPriority(
          thread: thread, process: process, lever: lever, before: before,
          after: isLower ? after : before))
    }
    if ThreadPriority.isRealTime(policy: current.policy) {
      if rights.mayRestore(policy: current.policy, of: process) {
        add(
          .policy, current.policy, ThreadPriority.ordinary(policy: current.policy), isLower: true)
      } else {
        instance.lowered.obstacles[.policy] = "it could not be given back without CAP_SYS_NICE"
      }
    } else if current.policy & 0xff == 6 {
      instance.lowered.obstacles[.policy] = "SCHED_DEADLINE is the kernel's promise to a thread"
    }
    guard options.backgroundPriority else { return items }
    if !instance.hasWeights.processor {
      if rights.mayRestore(nice: current.nice, of: process) {
        add(
          .nice, current.nice, options.backgroundNice,
          isLower: current.nice < options.backgroundNice)
      } else {
        instance.lowered.obstacles[.nice] = "it could not be given back without CAP_SYS_NICE"
      }
    }
    if !instance.hasWeights.io {
      add(
        .ioPriority, current.ioPriority, ThreadPriority.ioPriorityLast,
        isLower: ThreadPriority.isAboveLast(ioPriority: current.ioPriority))
    }
    return items
  }

  private func score(
    _ stat: ProcessStat, _ instance: InstanceProcesses, isFirst: Bool
  ) throws(SystemError) -> [LoweredPriority] {
    guard let least = instance.lowered.priority.outOfMemoryScoreMin,
      let current = try proc.value(
        of: .outOfMemoryScore, thread: stat.pid, process: stat.pid, group: nil)
    else { return [] }
    let own = instance.lowered.items.first {
      $0.thread == stat.identity && $0.lever == .outOfMemoryScore
    }
    let before = own?.before ?? inheritedScore(current, instance, isFirst: isFirst)
    let target = max(least, before)
    // What it has raised itself stays.
    let isOurs = ProcessPriority.allCases.contains { $0.outOfMemoryScoreMin == current }
    guard isFirst && own == nil || current < target || isOurs && current > target else { return [] }
    return [
      LoweredPriority(
        thread: stat.identity, process: stat.pid, lever: .outOfMemoryScore, before: before,
        after: target)
    ]
  }

  /// Who was born lowered had what its leader had.
  private func inheritedScore(
    _ current: Int, _ instance: InstanceProcesses, isFirst: Bool
  ) -> Int {
    if isFirst { return current }
    return instance.lowered.items.first {
      $0.lever == .outOfMemoryScore && $0.thread == instance.leader.identity
    }?.before ?? current
  }

  private func apply(_ items: [LoweredPriority], _ instance: InstanceProcesses) {
    let fresh = instance.lowered.add(items)
    // Whoever comes after us must be able to give it back, whenever we die.
    if !fresh.isEmpty { journal.note(.lowering(instance.id, fresh.map(\.held))) }
    for item in items where item.before != item.after || item.lever == .outOfMemoryScore {
      do throws(SystemError) {
        try proc.set(
          item.lever, to: item.after, thread: item.thread.pid, process: item.process,
          group: item.group)
        instance.lowered.obstacles[item.lever] = nil
      } catch {
        if error.errno == EAGAIN { return retryLater(instance) }
        instance.lowered.obstacles[item.lever] = "\(error)"
      }
    }
  }

  // MARK: Throttling

  /// Limits the processors of its control group to so many hundredths of one; nil gives back.
  ///
  /// - Returns: false where there is no controller for it.
  func limit(_ instance: InstanceProcesses, percent: Int?) throws(SystemError) -> Bool {
    guard let percent else {
      let items = instance.lowered.items.filter { $0.lever == .processorLimit }
      var release = PriorityRelease(items, in: proc)
      release.run { () throws(SystemError) in [] }
      if let error = release.failures[.processorLimit] { throw error }
      return true
    }
    guard let group = instance.origin.group,
      let current = try proc.value(of: .processorLimit, thread: 0, process: 0, group: group)
    else { return false }
    let leader = instance.leader.identity
    apply(
      [
        LoweredPriority(
          thread: leader, process: leader.pid, group: group, lever: .processorLimit,
          before: current, after: PriorityLever.limit(percent: percent))
      ], instance)
    return true
  }

  // MARK: Giving back

  /// Gives everything back that was lowered.
  func giveBack(_ instance: InstanceProcesses) {
    instance.lowered.priority = .foreground
    let items = instance.lowered.items
    if items.isEmpty { return instance.lowered.forget() }
    var release = PriorityRelease(items, in: proc)
    release.run { () throws(SystemError) in try membership.tree(instance) }
    if release.failures.values.contains(where: { $0.errno == EAGAIN }) {
      return retryLater(instance)
    }
    finish(release, instance)
    if instance.origin.group != nil || instance.isReleased { return }
    sweep(instance.id) { [weak self, weak instance] members in
      guard let self, let instance, !instance.lowered.priority.isLowered else { return }
      var release = PriorityRelease(items, in: proc)
      release.run { () throws(SystemError) in members }
    }
  }

  private func finish(_ release: PriorityRelease, _ instance: InstanceProcesses) {
    // What could not be lowered need not be given back.
    for lever in PriorityLever.allCases {
      guard let error = release.failures[lever], instance.lowered.obstacles[lever] == nil else {
        continue
      }
      report(.signalFailed(instance.id, reason: "its \(lever.name) is not given back: \(error)"))
    }
    instance.lowered.forget()
    journal.note(.gaveBack(instance.id))
  }

  private func retryLater(_ instance: InstanceProcesses) {
    if retries.isEmpty { retryTimer?.set(BootClock.after(Self.autogroupInterval)) }
    if !retries.contains(where: { $0 === instance }) { retries.append(instance) }
  }

  private func retry() {
    let waiting = retries
    retries = []
    for instance in waiting { prioritize(instance, instance.lowered.priority) }
  }

  private func attempt(_ instance: InstanceProcesses, _ body: () throws(SystemError) -> Void) {
    do throws(SystemError) {
      try body()
    } catch {
      report(.signalFailed(instance.id, reason: "its priority is not lowered: \(error)"))
    }
  }
}

/// What this daemon may raise again after it was lowered: nothing else is lowered.
struct PriorityRights {
  /// CAP_SYS_NICE, by which all may be.
  let isPrivileged: Bool

  func mayRestore(nice: Int, of process: Int32) -> Bool {
    isPrivileged || PriorityLimits(of: process).map { $0.niceMin <= nice } ?? false
  }

  func mayRestore(policy: Int, of process: Int32) -> Bool {
    isPrivileged || PriorityLimits(of: process).map { $0.realTimeMax >= policy >> 16 } ?? false
  }
}
