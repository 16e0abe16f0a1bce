import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerEventLog

/// The priorities of background instances. The daemon lowers the priorities (contract §12), and
/// later restores exactly the previous values.
///
/// If the control group of an instance has a CPU controller, the daemon lowers the CPU weight of
/// the group. Otherwise it sets the nice value of each thread. If the group has an I/O controller,
/// the daemon lowers the I/O weight. Otherwise it sets the I/O priority of each thread. A new
/// thread or process inherits the values of the thread that creates it. The event log stores each
/// previous value before the daemon changes the value.
final class Priorities {
  /// The interval between two changes of sessions' nice values (autogroups). The kernel refuses a
  /// change less than 100 ms after the previous change, unless the process has CAP_SYS_ADMIN.
  static let autogroupInterval: Duration = .milliseconds(110)
  private static let scanDelay: Duration = .milliseconds(500)
  /// The maximum number of values in one record. A longer record might not fit into an event log.
  private static let notedMax = 1024
  private static let notRestored = "the daemon could not restore it without CAP_SYS_NICE"

  let membership: InstanceMembership
  let steps: ProcessWorkQueue
  private let eventLog: EventLog
  let report: (Event) -> Void
  private let rights: PriorityRights
  private let usesAutogroups: Bool
  private var retryTimer: TimerSource?
  private var retries: [InstanceResources] = []
  /// The current work that restores priorities, by instance.
  private var releases: [InstanceID: ProcessWorkQueue.Work] = [:]
  private var scanTimer: TimerSource?
  private var toScan: [InstanceID] = []
  var options: DaemonOptions
  /// Searches all processes of the machine for the processes of an instance. Also finds processes
  /// that are not in the instance's process trees. Set by ``ProcessController``.
  var scan: (InstanceID, @escaping (InstanceResources, [ProcessStat]) -> Void) -> Void = {
    _, _ in
  }

  var proc: ProcFS { membership.proc }

  init(
    membership: InstanceMembership, steps: ProcessWorkQueue, loop: EventLoop, eventLog: EventLog,
    options: DaemonOptions, report: @escaping (Event) -> Void
  ) throws(SystemError) {
    self.membership = membership
    self.steps = steps
    self.eventLog = eventLog
    self.options = options
    self.report = report
    rights = PriorityRights(isPrivileged: membership.proc.mayRaisePriorities)
    usesAutogroups = membership.proc.usesAutogroups
    retryTimer = try loop.timer { [weak self] in self?.retry() }
    scanTimer = try loop.timer { [weak self] in self?.lowerRemaining() }
  }

  /// Sets the priority of an instance. Cancels the work for the previous priority.
  func prioritize(_ instance: InstanceResources, _ priority: ProcessPriority) {
    let before = instance.priority
    instance.priority = priority
    guard priority.isLowered else { return restore(instance) }
    let isFirst = !instance.hasLowered
    // If the priorities of the instance are already low, only the out-of-memory score changes. New
    // processes have inherited the other values.
    let onlyScore = !isFirst && before.isLowered && before != priority && !instance.isPartlyLowered
    lower(instance, onlyScore: onlyScore)
    guard isFirst, instance.origin.group == nil else { return }
    if toScan.isEmpty { scanTimer?.set(BootClock.after(Self.scanDelay)) }
    toScan.append(instance.id)
  }

  /// Lowers the priorities of processes that belong to an instance but are not in its process
  /// trees. Handles the instances without a control group whose priorities the daemon has begun to
  /// lower since the last call. One walk over all processes of the machine serves all these
  /// instances.
  private func lowerRemaining() {
    let ids = toScan
    toScan = []
    for id in ids {
      scan(id) { [weak self] instance, members in
        guard let self, instance.priority.isLowered else { return }
        let fresh = members.filter { !instance.lowered.isKnown($0.identity) }
        if fresh.isEmpty { return }
        let walk = ProcessTreeWalk(only: fresh, of: instance.processes, membership)
        begin(PriorityLowering(instance, walk, in: self))
      }
    }
  }

  /// Lowers the priorities of threads that have raised their priority, or that joined the instance
  /// without inheriting a low priority.
  func lowerAgain(_ instance: InstanceResources) {
    if instance.priority.isLowered { lower(instance, onlyScore: false) }
  }

  // MARK: Lowering

  private func lower(_ instance: InstanceResources, onlyScore: Bool) {
    stop(instance)
    instance.lowered.begin()
    if onlyScore {
      var walk = ProcessTreeWalk(instance.processes, membership)
      instance.prioritizing = begin(instance) { [unowned self] () throws(SystemError) in
        switch try walk.next() {
        case .member(let stat): apply(try score(stat, instance), instance)
        case .nothing: break
        case .end: return false
        }
        return true
      }
      return
    }
    attempt(instance) { () throws(SystemError) in try lowerGroup(instance) }
    instance.isPartlyLowered = true
    instance.prioritizing = begin(PriorityLowering(instance, in: self))
  }

  @discardableResult
  private func begin(_ walk: PriorityLowering) -> ProcessWorkQueue.Work {
    var walk = walk
    return begin(walk.instance) { () throws(SystemError) in try walk.step() }
  }

  private func begin(
    _ instance: InstanceResources, _ step: @escaping () throws(SystemError) -> Bool
  ) -> ProcessWorkQueue.Work {
    steps.begin(.later, user: instance.uid, atOnce: true) { [weak self] in
      guard let self else { return false }
      var goesOn = false
      attempt(instance) { () throws(SystemError) in goesOn = try step() }
      return goesOn
    }
  }

  /// Cancels the current work for an instance.
  private func stop(_ instance: InstanceResources) {
    instance.prioritizing?.cancel()
    instance.prioritizing = nil
    releases[instance.id] = nil
  }

  /// Lowers the priorities of a thread. For the first thread of a process, also lowers the
  /// priorities of the process, and of the session that the process leads.
  func lower(
    _ thread: Int32, of stat: ProcessStat, _ instance: InstanceResources
  ) throws(SystemError) {
    guard
      let identity = thread == stat.pid
        ? stat.identity : try proc.stat(stat.pid, thread: thread)?.identity
    else { return }
    var items = try kinds(of: identity, stat.pid, instance)
    if thread == stat.pid {
      items += try score(stat, instance)
      items += try session(stat, instance)
    }
    apply(items, instance)
  }

  /// Lowers the weights of an instance's control group.
  private func lowerGroup(_ instance: InstanceResources) throws(SystemError) {
    guard options.backgroundPriority else { return }
    let leader = instance.leader.identity
    var items: [LoweredPriority] = []
    for kind in [PriorityKind.processorWeight, .ioWeight] {
      guard let group = instance.origin.group, group.isWritable,
        let current = try proc.value(of: kind, thread: 0, process: 0, group: group)
      else { continue }
      let after = min(current, max(1, current * options.backgroundWeight / 100))
      items.append(
        LoweredPriority(
          thread: leader, process: leader.pid, group: group, kind: kind,
          before: instance.lowered.before(leader, kind) ?? current,
          after: instance.lowered.items.first { $0.kind == kind }?.after ?? after))
    }
    instance.hasWeights = (
      items.contains { $0.kind == .processorWeight }, items.contains { $0.kind == .ioWeight }
    )
    apply(items, instance)
  }

  /// Returns the nice value of the session that a process leads, if the daemon must lower that
  /// value. With autogroups, the threads' own nice values have little effect on other sessions.
  private func session(
    _ stat: ProcessStat, _ instance: InstanceResources
  ) throws(SystemError) -> [LoweredPriority] {
    guard options.backgroundPriority, usesAutogroups, !instance.hasWeights.processor,
      stat.session == stat.pid,
      let current = try proc.value(of: .autogroup, thread: stat.pid, process: stat.pid, group: nil),
      current < options.backgroundNice
    else { return [] }
    guard rights.mayRestore(autogroup: current) else {
      instance.lowered.obstacles[.autogroup] = Self.notRestored
      return []
    }
    return [
      LoweredPriority(
        thread: stat.identity, process: stat.pid, kind: .autogroup, before: current,
        after: options.backgroundNice)
    ]
  }

  /// Determines which priorities of a thread the daemon must lower.
  ///
  /// If the thread started before the daemon began to lower the instance's priorities, the thread
  /// did not inherit its low priorities. The result then contains them too: the daemon stores them,
  /// but does not change them. If the thread started later, it may have inherited its low
  /// priorities, so the result omits them.
  private func kinds(
    of thread: ProcessIdentity, _ process: Int32, _ instance: InstanceResources
  ) throws(SystemError) -> [LoweredPriority] {
    guard let current = try ThreadPriority(of: thread.pid) else { return [] }
    let isItsOwn = !instance.lowered.isKnown(thread) && instance.lowered.isOlder(thread)
    var items: [LoweredPriority] = []
    func add(_ kind: PriorityKind, _ before: Int, _ after: Int, isLower: Bool) {
      guard isLower || isItsOwn else { return }
      items.append(
        LoweredPriority(
          thread: thread, process: process, kind: kind, before: before,
          after: isLower ? after : before))
    }
    if ThreadPriority.isRealTime(policy: current.policy) {
      if rights.mayRestore(policy: current.policy, of: process) {
        add(
          .policy, current.policy, ThreadPriority.ordinary(policy: current.policy), isLower: true)
      } else {
        instance.lowered.obstacles[.policy] = Self.notRestored
      }
    } else if current.policy & 0xff == 6 {
      instance.lowered.obstacles[.policy] = "the kernel guarantees CPU time with SCHED_DEADLINE"
    }
    guard options.backgroundPriority else { return items }
    if !instance.hasWeights.processor {
      if rights.mayRestore(nice: current.nice, of: process) {
        add(
          .nice, current.nice, options.backgroundNice,
          isLower: current.nice < options.backgroundNice)
      } else {
        instance.lowered.obstacles[.nice] = Self.notRestored
      }
    }
    if !instance.hasWeights.io {
      if rights.mayRestore(ioPriority: current.ioPriority) {
        add(
          .ioPriority, current.ioPriority, ThreadPriority.ioPriorityLast,
          isLower: ThreadPriority.isAboveLast(ioPriority: current.ioPriority))
      } else {
        instance.lowered.obstacles[.ioPriority] = Self.notRestored
      }
    }
    return items
  }

  private func score(
    _ stat: ProcessStat, _ instance: InstanceResources
  ) throws(SystemError) -> [LoweredPriority] {
    guard let least = instance.priority.outOfMemoryScoreMin,
      let current = try proc.value(
        of: .outOfMemoryScore, thread: stat.pid, process: stat.pid, group: nil)
    else { return [] }
    let own = instance.lowered.before(stat.identity, .outOfMemoryScore)
    let isItsOwn = own == nil && instance.lowered.isOlder(stat.identity)
    // A process that inherited a lowered score never had another score. The daemon later gives it
    // the score that the leader had before.
    let isOurs = ProcessPriority.allCases.contains { $0.outOfMemoryScoreMin == current }
    let before = own ?? (isItsOwn || !isOurs
      ? current
      : instance.lowered.before(instance.leader.identity, .outOfMemoryScore) ?? current)
    let target = max(least, before)
    // The daemon does not change a score that the process itself has raised.
    guard isItsOwn || current < target || isOurs && current > target else { return [] }
    return [
      LoweredPriority(
        thread: stat.identity, process: stat.pid, kind: .outOfMemoryScore, before: before,
        after: target)
    ]
  }

  private func apply(_ items: [LoweredPriority], _ instance: InstanceResources) {
    let fresh = instance.lowered.add(items)
    // After a crash, the next daemon must be able to restore the values.
    for start in stride(from: 0, to: fresh.count, by: Self.notedMax) {
      let part = fresh[start..<min(start + Self.notedMax, fresh.count)]
      eventLog.note(.lowering(instance.id, part.map(\.held)))
    }
    for item in items where item.before != item.after || item.kind == .outOfMemoryScore {
      do throws(SystemError) {
        try proc.set(
          item.kind, to: item.after, thread: item.thread.pid, process: item.process,
          group: item.group)
        instance.lowered.obstacles[item.kind] = nil
      } catch {
        if error.errno == EAGAIN {
          retryLater(instance)
        } else {
          instance.lowered.obstacles[item.kind] = "\(error)"
        }
      }
    }
  }

  // MARK: Throttling

  /// Limits the CPU time of the instance's control group, in percent of one CPU; nil restores the
  /// previous limit.
  ///
  /// - Returns: false if the instance has no writable control group with a CPU controller.
  func limit(_ instance: InstanceResources, percent: Int?) throws(SystemError) -> Bool {
    guard let percent else {
      let items = instance.lowered.items.filter { $0.kind == .processorLimit }
      var release = PriorityRelease(items, in: proc)
      release.run { () throws(SystemError) in [] }
      if let error = release.failures[.processorLimit] { throw error }
      return true
    }
    guard let group = instance.origin.group, group.isWritable,
      let current = try proc.value(of: .processorLimit, thread: 0, process: 0, group: group)
    else { return false }
    let leader = instance.leader.identity
    apply(
      [
        LoweredPriority(
          thread: leader, process: leader.pid, group: group, kind: .processorLimit,
          before: current, after: PriorityKind.limit(percent: percent))
      ], instance)
    return true
  }

  // MARK: Restoring

  /// Restores all lowered priorities.
  ///
  /// - Parameter end: Called when the daemon has restored everything that it can restore now. Not
  ///   called if the daemon lowers the priorities again before that.
  func restore(_ instance: InstanceResources, end: @escaping () -> Void = {}) {
    stop(instance)
    instance.priority = .foreground
    instance.isPartlyLowered = false
    if instance.lowered.items.isEmpty {
      instance.lowered.forget()
      return end()
    }
    var release = PriorityRelease(instance.lowered.items, in: proc)
    release.restoreGroups()
    let work = begin(release, instance, ProcessTreeWalk(instance.processes, membership)) {
      [weak self] release in
      self?.releaseEnded(release, instance)
      end()
    }
    if work.isUnderWay { (instance.prioritizing, releases[instance.id]) = (work, work) }
  }

  private func begin(
    _ release: PriorityRelease, _ instance: InstanceResources, _ members: ProcessTreeWalk,
    end: @escaping (PriorityRelease) -> Void
  ) -> ProcessWorkQueue.Work {
    var release = release
    var walk = members
    return steps.begin(.first, user: instance.uid, atOnce: true) { [membership] in
      let goesOn = release.step { () throws(SystemError) in
        let step = try walk.next()
        if case .end = step { walk = ProcessTreeWalk(instance.processes, membership) }
        return step
      }
      if !goesOn { end(release) }
      return goesOn
    }
  }

  private func releaseEnded(_ release: PriorityRelease, _ instance: InstanceResources) {
    stop(instance)
    if release.failures.values.contains(where: { $0.errno == EAGAIN }) {
      return retryLater(instance)
    }
    finish(release, instance)
    if instance.origin.group != nil || instance.processes.isReleased { return }
    scan(instance.id) { [weak self] instance, members in
      guard let self, !instance.priority.isLowered else { return }
      var release = release
      release.continueWithOthers()
      let walk = ProcessTreeWalk(only: members, of: instance.processes, membership)
      instance.prioritizing = begin(release, instance, walk) { _ in }
    }
  }

  private func finish(_ release: PriorityRelease, _ instance: InstanceResources) {
    // A value that the daemon could not lower is unchanged, so a failure to restore it is no
    // problem.
    for kind in PriorityKind.allCases {
      guard let error = release.failures[kind], instance.lowered.obstacles[kind] == nil else {
        continue
      }
      report(
        .process(.signalFailed(instance.id, reason: "cannot restore its \(kind.name): \(error)")))
    }
    instance.lowered.forget()
    eventLog.note(.restored(instance.id))
  }

  /// Schedules another attempt to set the nice value of the instance's session. The kernel permits
  /// one change in each ``autogroupInterval``. Sessions of foreground instances come first.
  private func retryLater(_ instance: InstanceResources) {
    if retries.contains(where: { $0 === instance }) { return }
    retries.insert(instance, at: instance.priority.isLowered ? retries.count : 0)
    retryTimer?.set(BootClock.after(Self.autogroupInterval))
  }

  private func retry() {
    guard !retries.isEmpty else { return }
    let instance = retries.removeFirst()
    prioritize(instance, instance.priority)
    if !retries.isEmpty { retryTimer?.set(BootClock.after(Self.autogroupInterval)) }
  }

  /// Restores at once all priorities that still wait to be restored. Called before the daemon
  /// exits.
  func finish() {
    for work in releases.values { work.finish() }
    for instance in retries where !instance.priority.isLowered {
      var release = PriorityRelease(instance.lowered.items, in: proc, waits: true)
      release.run { () throws(SystemError) in [] }
      finish(release, instance)
    }
  }

  func attempt(_ instance: InstanceResources, _ body: () throws(SystemError) -> Void) {
    do throws(SystemError) {
      try body()
    } catch {
      report(.process(.signalFailed(instance.id, reason: "cannot lower its priority: \(error)")))
    }
  }
}
