import LinuxSystem
import TaskSchedulerCore

// What instances use of the machine, and how far they may (contract §12).

extension ProcessController {
  func run(_ effect: ResourceEffect) {
    switch effect {
    case .prioritize(let id, let priority): prioritize(id, priority)
    case .look(let id): look(id)
    case .throttle(let id, let percent): throttle(id, percent)
    }
  }

  private func prioritize(_ id: InstanceID, _ priority: ProcessPriority) {
    guard let instance = instances[id] else { return }
    // Hundreds may be taken over at once, most of them as they should be. The foreground waits for
    // none of them.
    if catchUp?.isUnderWay == true, priority.isLowered {
      instance.priority = priority
      priorityCatchUp?.add(id)
      priorityCatchUp?.start()
    } else {
      priorities.prioritize(instance, priority)
    }
  }

  private func look(_ id: InstanceID) {
    // After a takeover as well.
    if catchUp?.isUnderWay == true {
      useCatchUp?.add(id)
      useCatchUp?.start()
    } else {
      readUse(id)
    }
  }

  /// Reads what the instance has used so far.
  func readUse(_ id: InstanceID) {
    guard let instance = instances[id] else { return }
    // At the first look, all has just been lowered.
    let isFirst = !instance.meter.isWatched
    instance.meter.begin()
    instance.look?.cancel()
    instance.look = lookForTracers(instance, .later) { [weak self, unowned instance] result in
      guard let self else { return }
      instance.look = nil
      var found: (members: [ProcessStat], isTraced: Bool) = ([], false)
      attempt(instance) { () throws(SystemError) in
        found = try result.get()
        if let group = instance.origin.group {
          try instance.meter.readProcessors(of: group)
        } else {
          instance.meter.readProcessors(of: found.members)
        }
      }
      if !isFirst { priorities.lowerAgain(instance) }
      guard let gpuLooks, gpuLooks.hasGPUs else {
        return reportUse(instance, isTraced: found.isTraced)
      }
      gpuLooks.look(instance, members: found.members) { [weak self] in
        self?.reportUse(instance, isTraced: found.isTraced)
      }
    }
    if instance.look?.isUnderWay == false { instance.look = nil }
  }

  private func reportUse(_ instance: InstanceProcesses, isTraced: Bool) {
    report(.resources(.used(instance.id, instance.meter.use(isTraced: isTraced))))
  }

  /// The use of a GPU was found between two looks.
  func reportGPU(_ instance: InstanceProcesses) {
    checkTracer(instance.id) { [weak self] in self?.reportUse(instance, isTraced: $0) }
  }

  /// All processes of the instance stand still: what they have and hold now, they have and hold
  /// until they run. Before, a lock could be taken or released between the look and the stop.
  ///
  /// One that was suspended already, and is stopped again after the daemon's absence, has done
  /// nothing meanwhile.
  func lookAtSuspended(_ instance: InstanceProcesses) {
    if isSuspended(instance.id) {
      lastLooks?.add(instance.id)
      return
    }
    guard instance.origin.group != nil else {
      // Without a walk over the tree: all were signalled.
      let stopped = instance.stopped.map(\.process.identity)
      return scan(
        instance, instance.hasStopped(instance.leader.identity)
          ? stopped : [instance.leader.identity] + stopped)
    }
    var members: [ProcessIdentity] = []
    instance.lastLook?.cancel()
    instance.lastLook = visit(instance) { members.append($0.identity) } end: { [weak self] _ in
      guard let self, instance.standsStill else { return }
      scan(instance, members)
    }
  }

  private func scan(_ instance: InstanceProcesses, _ processes: [ProcessIdentity]) {
    var scan = DescriptorScan(of: processes)
    scan.sharedPaths = options.sharedResources
    scan.findsListeners = true
    scan.findsGPUs = instance.meter.isWatched
    scan.knownGPUFiles = instance.meter.gpuFiles
    lastLooks?.add(instance.id, user: instance.uid, scan)
  }

  /// Takes what the last look has found.
  func take(_ findings: DescriptorScan.Findings, of instance: InstanceProcesses) {
    if instance.meter.isWatched {
      instance.meter.readGPUs(findings, at: BootClock.now())
      instance.meter.end()
      report(.resources(.used(instance.id, instance.meter.use(isTraced: false))))
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

  // MARK: Throttling

  private func throttle(_ id: InstanceID, _ percent: Int?) {
    guard let instance = instances[id] else { return }
    endThrottle(instance, lettingRun: true)
    attempt(instance) { () throws(SystemError) in
      if try priorities.limit(instance, percent: percent) { return }
      guard let percent else { return }
      instance.throttle = try Throttle(
        percent: percent, loop: loop,
        stop: { [weak self, unowned instance] done in self?.pause(instance, done: done) },
        letRun: { [weak self, unowned instance] in
          instance.pausing?.cancel()
          self?.letRun(instance)
        })
    }
  }

  func endThrottle(_ instance: InstanceProcesses, lettingRun: Bool) {
    instance.pausing?.cancel()
    instance.throttle?.end(lettingRun: lettingRun)
    instance.throttle = nil
  }

  /// Stops it once; what is born meanwhile is stopped the next time.
  private func pause(_ instance: InstanceProcesses, done: @escaping () -> Void) {
    let mechanism = instance.origin.mechanism ?? options.suspendMechanism
    if mechanism != .signal, let group = instance.origin.group, group.canFreeze {
      instance.mayBeFrozen = true
      attempt(instance) { () throws(SystemError) in try group.freeze() }
      return done()
    }
    stopResuming(instance)
    instance.pausing = visit(instance) { [proc] stat throws(SystemError) in
      if !instance.hasStopped(stat.identity) { _ = try instance.stop(stat, proc) }
    } end: { [weak self] error in
      if let error { self?.report(.signalFailed(instance.id, reason: String(describing: error))) }
      done()
    }
  }
}
