import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerEventLog

/// The controller that suspends, resumes, terminates and kills processes for the scheduler, and
/// reports the results.
///
/// The daemon sends every signal through a pidfd, after it has checked the start time of the
/// process. A signal thus never reaches a process that has reused the pid
/// (contract.md#never-wrong-process).
final class ProcessController {
  let membership: InstanceMembership
  let proc: ProcFS
  let loop: EventLoop
  let report: (Event) -> Void
  let eventLog: EventLog
  let store: DescriptorStore
  private(set) var instances: [InstanceID: InstanceProcesses] = [:]
  /// The ended instances whose processes the daemon still kills or resumes, or whose priorities it
  /// still restores.
  var departing: [InstanceID: InstanceProcesses] = [:]
  /// The resource use and the restrictions of instances.
  var resources: [InstanceID: InstanceResources] = [:]
  private var leaderExits: LeaderExits?
  let steps: ProcessWorkQueue
  private var processScanner: ProcessScanner?
  let descriptorScans: DescriptorScans
  private(set) var suspensionScans: SuspensionScans?
  private(set) var gpuSampling: GPUSampling?
  private(set) var takeoverWork: TakeoverWork?
  private(set) var priorityTakeoverWork: TakeoverWork?
  private(set) var useTakeoverWork: TakeoverWork?
  let priorities: Priorities
  private(set) var endedInstanceGroups: EndedInstanceGroups?
  /// The suspended instances for which the daemon must still check that no process runs.
  var comparisons = SuspensionComparisons()
  /// The instances with a process that the daemon could not resume yet.
  var refusals: [InstanceID: InstanceProcesses] = [:]
  private(set) var refusalTimer: TimerSource?
  var options: DaemonOptions {
    didSet { priorities.options = options }
  }
  /// Returns the state of an instance in the scheduler.
  let state: (InstanceID) -> ApplicationState
  /// The exit statuses that systemd reports for leaders in systemd units; nil if the kernel reports
  /// all exit statuses.
  let unitExits: UnitExits?

  /// - Parameter report: Called with each event. An event may occur while the daemon carries out
  ///   the scheduler's effects. `report` must then queue the event.
  init(
    proc: ProcFS, loop: EventLoop, options: DaemonOptions, eventLog: EventLog,
    scans: DescriptorScans, store: DescriptorStore, unitExits: UnitExits? = nil,
    state: @escaping (InstanceID) -> ApplicationState, report: @escaping (Event) -> Void
  ) throws(SystemError) {
    self.unitExits = unitExits
    self.state = state
    self.proc = proc
    descriptorScans = scans
    self.eventLog = eventLog
    self.store = store
    self.loop = loop
    self.options = options
    self.report = report
    membership = try InstanceMembership(proc: proc)
    steps = try ProcessWorkQueue(loop: loop)
    priorities = try Priorities(
      membership: membership, steps: steps, loop: loop, eventLog: eventLog, options: options,
      report: report)
    priorityTakeoverWork = try TakeoverWork(loop: loop) { [weak self] id in
      guard let self, let instance = instances[id] else { return }
      let resources = resources(of: instance)
      priorities.prioritize(resources, resources.priority)
    }
    useTakeoverWork = try TakeoverWork(loop: loop) { [weak self] in self?.readUse($0) }
    priorities.scan = { [weak self] id, answer in
      self?.processScanner?.request(id) { [weak self] in
        guard let self, let found = try? $0.get(), let instance = instances[id] else { return }
        answer(resources(of: instance), found.members)
      }
    }
    takeoverWork = try TakeoverWork(loop: loop) { [weak self] id in
      guard let self, let instance = instances[id], instance.isToBeSuspended,
        instance.suspension == nil
      else { return }
      instance.isToBeSuspended = false
      beginSuspending(instance)
    }
    processScanner = try ProcessScanner(membership: membership, steps: steps, loop: loop) {
      [weak self] in
      self?.instances[$0] ?? self?.departing[$0]
    }
    takeoverWork?.underWay = { [weak self] in self?.processScanner?.isDeferred = $0 }
    try createScans()
    endedInstanceGroups = EndedInstanceGroups(loop: loop)
    refusalTimer = try loop.timer { [weak self] in self?.resumeRefused() }
    comparisons.timer = try loop.timer { [weak self] in self?.compareRest() }
    leaderExits = try LeaderExits(loop: loop) { [weak self] in self?.leaderEnded($0) }
  }

  private func createScans() throws(SystemError) {
    suspensionScans = try SuspensionScans(scans: descriptorScans, loop: loop) {
      [weak self] id, findings in
      guard let self, let instance = instances[id], instance.isFullyStopped else { return }
      take(findings, of: instance)
    } ended: { [weak self] in
      self?.reportSuspended($0)
    }
    gpuSampling = try GPUSampling(
      scans: descriptorScans, membership: membership, loop: loop,
      instances: { [weak self] in
        guard let self else { return [] }
        return resources.sortedByKey.map(\.value)
          .filter {
            $0.meter.isWatched && self.instances[$0.id] != nil && self.state($0.id) == .background
          }
      },
      found: { [weak self] in self?.reportGPU($0) })
  }

  /// The processes of an instance; nil once it has ended.
  subscript(id: InstanceID) -> InstanceProcesses? { instances[id] }

  /// Returns whether an instance is suspended, according to the scheduler.
  func isSuspended(_ id: InstanceID) -> Bool { state(id) == .suspended }

  /// Begins to manage an instance. Reports the end of its leader, even if the leader has already
  /// ended.
  ///
  /// If the daemon cannot monitor a leader that it launched, it kills the leader, because no other
  /// program would kill it.
  func manage(
    _ id: InstanceID, of application: String, leader: ProcessHandle, uid: UInt32,
    origin: InstanceProcesses.Origin
  ) throws(SystemError) {
    do throws(SystemError) {
      let stat = try proc.stat(leader.identity.pid)
      let instance = InstanceProcesses(
        id, of: application, leader: leader, uid: uid, origin: origin, stat: stat)
      try watch(instance)
      store.save(leader: leader.pidfd.rawValue, of: id)
    } catch {
      if origin.isLaunched {
        _ = try? leader.pidfd.send(signal: SIGKILL)
        try? origin.group?.kill()
      }
      throw error
    }
  }

  func watch(_ instance: InstanceProcesses) throws(SystemError) {
    let id = instance.id
    try leaderExits?.watch(instance.leader.pidfd, of: id)
    instance.willStop = { [eventLog] in eventLog.note(.stopping(id, $0)) }
    instances[id] = instance
    membership.add(instance)
    if let group = instance.origin.group, InstanceGroups.isUnit(group) {
      unitExits?.follow(group.name)
    }
  }

  private func leaderEnded(_ id: InstanceID) {
    guard let instance = instances[id] else { return }
    leaderExits?.forget(instance.leader.pidfd)
    if let unitExits, let group = instance.origin.group, InstanceGroups.isUnit(group) {
      return unitExits.status(of: group.name) { [weak self] in
        self?.report(.process(.leaderExited(id, ExitStatus($0))))
      }
    }
    let status = (try? instance.leader.pidfd.exitStatus(in: proc)) ?? nil
    report(.process(.leaderExited(id, ExitStatus(status))))
  }

  /// Takes over an ended instance that a previous daemon was killing, and continues to kill its
  /// processes.
  func resumeKilling(_ instance: InstanceProcesses) {
    instance.isReleased = true
    kill(instance)
    if instance.isBeingKilled { departing[instance.id] = instance } else { forget(instance) }
  }

  // MARK: Suspension

  func suspend(_ id: InstanceID) {
    guard let instance = instances[id], instance.suspension == nil, !instance.isFullyStopped
    else { return }
    endThrottle(instance, resuming: false)
    if let takeoverWork, takeoverWork.isUnderWay {
      instance.isToBeSuspended = true
      return takeoverWork.add(id)
    }
    beginSuspending(instance)
  }

  private func beginSuspending(_ instance: InstanceProcesses) {
    stopResuming(instance)
    forgetRefusal(instance)
    do throws(SystemError) {
      let suspension = try suspension(of: instance)
      instance.suspension = suspension
      try suspension.begin()
    } catch {
      suspensionEnded(instance, .failed(reason: String(describing: error)))
    }
  }

  private func suspension(of instance: InstanceProcesses) throws(SystemError) -> any Suspension {
    let finish: (SuspensionOutcome) -> Void = { [weak self, unowned instance] outcome in
      self?.suspensionEnded(instance, outcome)
    }
    let mechanism = instance.origin.mechanism ?? options.suspendMechanism
    if mechanism != .signal, let group = instance.origin.group, group.canFreeze {
      instance.mayBeFrozen = true
      return try FreezerSuspension(
        group, timeout: options.suspendTimeout, loop: loop, finish: finish)
    }
    if mechanism == .freezer {
      throw SystemError(
        call: "cgroup.freeze: the instance has no control group of its own that can be frozen",
        errno: ENOTSUP)
    }
    guard let processScanner else { preconditionFailure("the scanner lives as long as its owner") }
    return try SignalSuspension(
      instance, membership: membership, processScanner: processScanner, steps: steps,
      timeout: options.suspendTimeout, loop: loop, finish: finish)
  }

  func suspensionEnded(_ instance: InstanceProcesses, _ outcome: SuspensionOutcome) {
    let isFrozen = instance.suspension is FreezerSuspension
    instance.suspension = nil
    switch outcome {
    case .completed:
      instance.isFullyStopped = true
      if isFrozen { watchFrozen(instance) }
      scanSuspended(instance)
    case .failed(let reason):
      resumeProcesses(of: instance)
      report(.process(.suspensionFailed(instance.id, reason: reason)))
    }
  }

  /// Reports suspended instances, unless they have been resumed since.
  private func reportSuspended(_ ids: [InstanceID]) {
    func takesReport(_ id: InstanceID) -> Bool {
      guard let instance = instances[id], instance.isFullyStopped else { return false }
      instance.isFullyStopped = false
      return true
    }
    let still = ids.filter { isSuspended($0) && takesReport($0) }
    if !still.isEmpty { report(.process(.stillSuspended(still))) }
    for id in ids where takesReport(id) { report(.process(.suspensionCompleted(id))) }
  }

  /// Resumes an instance. Cancels a suspension in progress.
  func resume(_ id: InstanceID) {
    guard let instance = instances[id] else { return }
    clearSuspension(instance)
    resumeProcesses(of: instance)
  }

  /// Cancels a suspension in progress.
  func clearSuspension(_ instance: InstanceProcesses) {
    instance.suspension = nil
    instance.frozenWatch = nil
    instance.isToBeSuspended = false
    instance.isFullyStopped = false
    instance.lastScan?.cancel()
    suspensionScans?.cancel(instance.id)
    endThrottle(instance, resuming: false)
  }

  // MARK: Ends

  /// Sends the leader the signal that asks it to terminate. Other processes receive no signal, so
  /// that the leader can end them itself.
  func terminate(_ id: InstanceID, by signal: Signal) {
    remember(id) { [weak self] in
      guard let self, let instance = instances[id] else { return }
      attempt(instance) { () throws(SystemError) in
        _ = try instance.leader.pidfd.send(signal: signal.number)
      }
    }
  }

  /// Records the processes of an instance that is about to end. After the end of the leader, the
  /// kernel no longer reports the leader as the parent of the others.
  ///
  /// - Parameter end: Called when the walk over the processes is complete or has failed, unless the
  ///   instance is killed or ends first.
  func remember(_ id: InstanceID, end: @escaping () -> Void = {}) {
    guard let instance = instances[id] else { return }
    // The kernel lists the processes of a control group, so the daemon need not record them.
    if instance.origin.group != nil { return end() }
    instance.remembering.append(
      visit(instance, atOnce: true) { instance.remembered.insert($0.identity) } end: {
        [weak self] error in
        if let error {
          self?.report(.process(.signalFailed(id, reason: String(describing: error))))
        }
        end()
      })
    instance.remembering.removeAll { !$0.isUnderWay }
  }

  /// Sends SIGKILL to every process of an instance.
  func kill(_ id: InstanceID) {
    guard let instance = instances[id] else { return }
    clearSuspension(instance)
    cancelMeasurements(instance)
    kill(instance)
  }

  /// Stops managing an instance. Kills the remaining processes if `killing` is true, or if the
  /// daemon launched the instance and its leader has ended. Otherwise they run unmanaged.
  func release(_ id: InstanceID, killing: Bool) {
    guard let instance = instances.removeValue(forKey: id) else { return }
    instance.isReleased = true
    leaderExits?.forget(instance.leader.pidfd)
    clearSuspension(instance)
    cancelMeasurements(instance)
    store.removeLeader(of: id)
    let hasEnded = (try? instance.leader.pidfd.hasEnded()) ?? false
    if killing || (instance.origin.isLaunched && hasEnded), instance.killing == nil {
      kill(instance)
    }
    if instance.isBeingKilled { departing[id] = instance } else { forget(instance) }
  }

  func kill(_ instance: InstanceProcesses) {
    if let group = instance.origin.group, group.exists, group.isWritable {
      return attempt(instance) { () throws(SystemError) in try group.kill() }
    }
    stopResuming(instance)
    guard let processScanner else { preconditionFailure("the scanner lives as long as its owner") }
    let killing = Killing(
      instance, membership: membership, processScanner: processScanner, steps: steps,
      timeout: options.suspendTimeout
    ) { [weak self, unowned instance] problem in
      self?.killingEnded(instance, problem)
    }
    instance.killing = killing
    instance.isBeingKilled = true
    killing.begin()
  }

  private func killingEnded(_ instance: InstanceProcesses, _ problem: String?) {
    instance.isBeingKilled = false
    if let problem {
      instance.killing = nil
      report(.process(.signalFailed(instance.id, reason: problem)))
    }
    if departing.removeValue(forKey: instance.id) != nil { forget(instance) }
  }

  /// Completes the resumptions and terminations in progress. Called before the daemon exits.
  func finish() {
    for instance in Array(instances.values) + Array(departing.values) {
      for work in instance.remembering { work.finish() }
      instance.resumption?.work?.finish()
    }
  }

  /// Cancels the examinations of an instance's processes.
  private func cancelMeasurements(_ instance: InstanceProcesses) {
    let resources = resources[instance.id]
    resources?.measurement?.cancel()
    resources?.measurement = nil
    for work in instance.remembering { work.cancel() }
    instance.remembering = []
  }

  func attempt(
    _ instance: InstanceProcesses, _ body: () throws(SystemError) -> Void
  ) {
    do throws(SystemError) {
      try body()
    } catch {
      report(.process(.signalFailed(instance.id, reason: String(describing: error))))
    }
  }
}

extension ExitStatus {
  /// Creates the scheduler's form of an exit status; `unknown` if `status` is nil.
  init(_ status: ProcessExit?) {
    switch status {
    case .exited(let code): self = .exited(code: code)
    case .signaled(let signal): self = .signaled(signal)
    case nil: self = .unknown
    }
  }
}
