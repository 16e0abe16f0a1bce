import LinuxSystem
import TaskSchedulerCore

// Carries out the scheduler's decisions about the resource use of instances (contract §12).

extension ProcessController {
  func run(_ effect: ResourceEffect) {
    switch effect {
    case .prioritize(let id, let priority): prioritize(id, priority)
    case .sample(let id): sample(id)
    case .throttle(let id, let percent): throttle(id, percent)
    }
  }

  /// Returns the resources of an instance. The daemon keeps them until it has restored all
  /// priorities of the instance.
  func resources(of instance: InstanceProcesses) -> InstanceResources {
    if let known = resources[instance.id] { return known }
    let fresh = InstanceResources(instance)
    resources[instance.id] = fresh
    return fresh
  }

  /// Returns descriptions of an instance's lowered priorities.
  func loweredWords(of id: InstanceID) -> [String] {
    resources[id].map { $0.lowered.words($0.priority) } ?? []
  }

  private func prioritize(_ id: InstanceID, _ priority: ProcessPriority) {
    guard let instance = instances[id] else { return }
    // After a takeover there may be hundreds of instances, most of which already have this
    // priority. The foreground application must not wait for them.
    if takeoverWork?.isUnderWay == true, priority.isLowered {
      resources(of: instance).priority = priority
      priorityTakeoverWork?.add(id)
      priorityTakeoverWork?.start()
    } else {
      priorities.prioritize(resources(of: instance), priority)
    }
  }

  private func sample(_ id: InstanceID) {
    if takeoverWork?.isUnderWay == true {
      useTakeoverWork?.add(id)
      useTakeoverWork?.start()
    } else {
      readUse(id)
    }
  }

  /// Reads the resource use of the instance so far.
  func readUse(_ id: InstanceID) {
    guard let instance = instances[id] else { return }
    let resources = resources(of: instance)
    // The first reading follows soon after the daemon has lowered the priorities of all threads.
    // Only later readings lower the priorities of new threads.
    let isFirst = !resources.meter.isWatched
    resources.meter.begin()
    resources.measurement?.cancel()
    resources.measurement = lookForTracers(instance, .later) {
      [weak self, unowned resources] result in
      guard let self else { return }
      resources.measurement = nil
      var found: (members: [ProcessStat], isTraced: Bool) = ([], false)
      attempt(instance) { () throws(SystemError) in
        found = try result.get()
        if let group = instance.origin.group {
          try resources.meter.readProcessors(of: group)
        } else {
          resources.meter.readProcessors(of: found.members)
        }
      }
      if !isFirst { priorities.lowerAgain(resources) }
      guard let gpuSampling, gpuSampling.hasGPUs else {
        return reportUse(resources, isTraced: found.isTraced)
      }
      gpuSampling.sample(resources, members: found.members) { [weak self] in
        self?.reportUse(resources, isTraced: found.isTraced)
      }
    }
    if resources.measurement?.isUnderWay == false { resources.measurement = nil }
  }

  private func reportUse(_ instance: InstanceResources, isTraced: Bool) {
    report(.resources(.used(instance.id, instance.meter.use(isTraced: isTraced))))
  }

  /// Reports GPU use that was found between two readings.
  func reportGPU(_ instance: InstanceResources) {
    checkTracer(instance.id) { [weak self] in self?.reportUse(instance, isTraced: $0) }
  }

  /// Examines an instance while all its processes are stopped, so that no process takes or releases
  /// a lock between the examination and the suspension.
  ///
  /// After a takeover, an instance that is already suspended needs no examination: its processes
  /// have not run since the previous daemon examined it.
  func scanSuspended(_ instance: InstanceProcesses) {
    if isSuspended(instance.id) {
      suspensionScans?.add(instance.id)
      return
    }
    guard instance.origin.group != nil else {
      // The daemon has sent SIGSTOP to every process, so it knows all of them without a walk.
      let stopped = instance.stopped.map(\.process.identity)
      return scan(
        instance, instance.hasStopped(instance.leader.identity)
          ? stopped : [instance.leader.identity] + stopped)
    }
    var members: [ProcessIdentity] = []
    instance.lastScan?.cancel()
    instance.lastScan = visit(instance) {
      members.append($0.identity)
    } end: { [weak self] _ in
      guard let self, instance.isFullyStopped else { return }
      scan(instance, members)
    }
  }

  private func scan(_ instance: InstanceProcesses, _ processes: [ProcessIdentity]) {
    var scan = DescriptorScan(of: processes)
    scan.sharedPaths = options.sharedResources
    scan.findsListeners = true
    if instance.origin.isFromWindow {
      scan.isServer = { AdoptionRules.isAudio($0) }
      scan.findsTerminals = true
    }
    let meter = resources(of: instance).meter
    scan.findsGPUs = meter.isWatched
    scan.knownGPUFiles = meter.gpuFiles
    suspensionScans?.add(instance.id, user: instance.uid, scan)
  }

  /// Reports the findings of the examination of a stopped instance. If the findings show that the
  /// daemon must not suspend an adopted program, reports only the reason.
  func take(_ findings: DescriptorScan.Findings, of instance: InstanceProcesses) {
    if instance.origin.isFromWindow, let reason = reasonForRelease(findings, instance) {
      return report(.process(.released(instance.id, reason: reason)))
    }
    let resources = resources(of: instance)
    if resources.meter.isWatched {
      resources.meter.readGPUs(findings, at: BootClock.now())
      resources.meter.end()
      reportUse(resources, isTraced: false)
    }
    if let path = findings.heldPath {
      report(.resources(.held(instance.id, path: path)))
    }
    let listening = ListeningReport(findings.listening, isComplete: findings.isComplete)
    if listening != instance.listening {
      instance.listening = listening
      report(.resources(.listens(instance.id, listening)))
    }
  }

  /// Returns the reason why the daemon must not suspend an instance that it adopted because of its
  /// window; nil if there is none.
  private func reasonForRelease(
    _ findings: DescriptorScan.Findings, _ instance: InstanceProcesses
  ) -> String? {
    let leader = (try? proc.stat(instance.leader.identity.pid)) ?? nil
    return AdoptionRules.reasonForRelease(findings, terminal: leader?.terminal)
  }

  // MARK: Throttling

  private func throttle(_ id: InstanceID, _ percent: Int?) {
    guard let instance = instances[id] else { return }
    let resources = resources(of: instance)
    endThrottle(instance, resuming: true)
    attempt(instance) { () throws(SystemError) in
      if try priorities.limit(resources, percent: percent) { return }
      guard let percent else { return }
      resources.throttle = try Throttle(
        percent: percent, loop: loop,
        stop: { [weak self, unowned resources] done in self?.pause(resources, done: done) },
        resume: { [weak self, unowned resources] in
          resources.pausing?.cancel()
          self?.resumeProcesses(of: resources.processes)
        })
    }
  }

  func endThrottle(_ instance: InstanceProcesses, resuming: Bool) {
    guard let resources = resources[instance.id] else { return }
    resources.pausing?.cancel()
    resources.throttle?.end(resuming: resuming)
    resources.throttle = nil
  }

  /// Stops the processes of an instance for the throttle. A process that is created while the
  /// daemon stops the others runs until the next pause.
  private func pause(_ resources: InstanceResources, done: @escaping () -> Void) {
    let instance = resources.processes
    let mechanism = instance.origin.mechanism ?? options.suspendMechanism
    if mechanism != .signal, let group = instance.origin.group, group.canFreeze {
      instance.mayBeFrozen = true
      attempt(instance) { () throws(SystemError) in try group.freeze() }
      return done()
    }
    stopResuming(instance)
    resources.pausing = visit(instance) { [proc] stat throws(SystemError) in
      if !instance.hasStopped(stat.identity) { _ = try instance.stop(stat, proc) }
    } end: { [weak self] error in
      if let error {
        self?.report(.process(.signalFailed(instance.id, reason: String(describing: error))))
      }
      done()
    }
  }
}
