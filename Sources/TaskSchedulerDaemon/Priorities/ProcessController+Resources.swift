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
    var isTraced = false
    instance.meter.begin()
    attempt(instance) { () throws(SystemError) in
      let members = try membership.tree(instance)
      if let group = instance.origin.group {
        try instance.meter.readProcessors(of: group)
      } else {
        instance.meter.readProcessors(of: members)
      }
      instance.meter.readGPUs(OpenFiles(of: members.map(\.pid), in: proc))
      isTraced = try isTracedFromOutside(instance, members)
    }
    if !isFirst { priorities.lowerAgain(instance) }
    report(.resources(.used(id, instance.meter.use(isTraced: isTraced))))
  }

  /// All processes stand still: what they have and hold now, they have and hold until they run.
  /// Before, a lock could be taken or let go between the look and the stop.
  ///
  /// Who was suspended already, and is stopped again after the daemon's absence, has done nothing.
  func lookAtSuspended(_ instance: InstanceProcesses, _ tables: inout SocketTables) {
    if isSuspended(instance.id) { return }
    let members = ((try? membership.tree(instance)) ?? []).map(\.pid)
    let files = OpenFiles(of: members, in: proc)
    if instance.meter.isWatched {
      instance.meter.readGPUs(files)
      instance.meter.end()
      report(.resources(.used(instance.id, instance.meter.use(isTraced: false))))
    }
    if let path = files.firstHeld(of: options.sharedResources) {
      report(.resources(.held(instance.id, path: path)))
    }
    let addresses = instance.sockets.addresses(of: files, in: &tables)
    if addresses != instance.listening {
      instance.listening = addresses
      report(.resources(.listens(instance.id, addresses)))
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
        stop: { [weak self, unowned instance] in self?.pause(instance) },
        letRun: { [weak self, unowned instance] in self?.letRun(instance) })
    }
  }

  func endThrottle(_ instance: InstanceProcesses, lettingRun: Bool) {
    instance.throttle?.end(lettingRun: lettingRun)
    instance.throttle = nil
  }

  private func pause(_ instance: InstanceProcesses) {
    attempt(instance) { () throws(SystemError) in
      let mechanism = instance.origin.mechanism ?? options.suspendMechanism
      if mechanism != .signal, let group = instance.origin.group, group.canFreeze {
        instance.mayBeFrozen = true
        try group.freeze()
      } else {
        _ = try instance.stop(membership.tree(instance), proc)
      }
    }
  }
}
