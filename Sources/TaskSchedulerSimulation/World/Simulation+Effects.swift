import TaskSchedulerCore

// The effects of the scheduler on the simulated world. An effect may come twice, because after a
// death the next daemon repeats the remaining effects of the last event.
extension Simulation {
  /// Returns the leader of an instance, and the index of that process; nil if the instance has no
  /// process.
  func process(of id: InstanceID) -> (index: Int, process: SimulatedProcess)? {
    let number = Int(id.number)
    guard number < byInstance.count, let index = byInstance[number] else { return nil }
    return (index, processes[index])
  }

  func newProcess(_ key: ApplicationKey) -> Int {
    let number = processes.count
    var chance = SeededGenerator(seed: options.seed, .habits, UInt64(number))
    processes.append(
      SimulatedProcess(
        leader: Leader(pid: Int32(100 + number), startTime: UInt64(7 * number + 3)), key: key,
        habits: SimulatedBehavior(&chance, faults)))
    return number
  }

  func carryOut(_ effect: Effect) {
    switch effect {
    case .reply(let request, let reply):
      store.check(request, reply)
      locationStore.check(request, reply)
      answer(request, reply)
    case .deliver(let id, let callback, _): deliver(callback, to: id)
    case .expire(let id, let task, _): expire(task, of: id)
    case .notify(let id, let notice): deliver(notice, to: id)
    case .socket(let effect): carryOut(effect)
    case .notification(let effect): store.carryOut(effect, in: self)
    case .spawn(let id, let key, _): spawn(id, key)
    case .manage(let id, let leader, _): manage(id, leader)
    case .suspend(let id): suspend(id)
    case .resume(let id): resume(id)
    case .terminate(let id, _): terminate(id)
    case .kill(let id): kill(id)
    case .release(let id, let killing): release(id, killing: killing)
    case .checkTracer(let id):
      post(.process(.tracerChecked(id, isTraced: process(of: id)?.process.isTraced ?? false)))
    case .record, .dropPicture: break
    case .memory(let effect): carryOut(effect)
    case .resources(let effect): carryOut(effect)
    case .audio(let effect): carryOut(effect)
    case .remote(let effect): carryOut(effect)
    case .location(let effect): carryOut(effect)
    }
  }

  // MARK: Messages to applications

  private func answer(_ request: RequestID, _ reply: Reply) {
    guard case .process(let index) = requesters[Int(request.number)] else { return }
    let process = processes[index]
    guard process.isAlive else { return }
    switch reply {
    case .registered(let registration):
      process.hasStream = true
      process.habits.isAware = true
      process.tasks = registration.tasks.map(\.id)
      for task in registration.tasks where task.isExpired { planEnd(of: task.id, index) }
    case .began(let task, _):
      process.tasks.append(task)
      if isSettling { planEnd(of: task, index) }
    case .managed(let socket):
      if !process.sockets.contains(socket) { process.sockets.append(socket) }
    case .scheduled(let id): process.notifications.append(id)
    case .done, .started, .ended, .cancelled, .controlled, .located, .refused: break
    }
  }

  private func deliver(_ callback: Callback, to id: InstanceID) {
    guard let (index, process) = process(of: id), process.isAlive, process.hasStream else { return }
    var chance = draw(.reactions)
    if chance.happens(faults[.acknowledgesNever]) { return }
    let limit = Nanoseconds.of(
      callback.kind == .keepAlive
        ? checkers.policy.keepAliveHandlerTime : checkers.policy.callbackTimeout)
    let delay: UInt64 =
      if chance.happens(faults[.acknowledgesLate]) {
        limit - min(limit, Nanoseconds.second / 2) + chance.below(Nanoseconds.second)
      } else if chance.happens(100) {
        chance.below(limit)
      } else {
        chance.below(50 * Nanoseconds.millisecond)
      }
    schedule(after: delay, .reaction(index, .acknowledge(callback.id)))
    if chance.happens(faults[.acknowledgesTwice]) {
      let again = delay + chance.below(Nanoseconds.second)
      schedule(after: again, .reaction(index, .acknowledge(callback.id)))
    }
  }

  private func expire(_ task: TaskID, of id: InstanceID) {
    guard let (index, process) = process(of: id), process.isAlive, process.hasStream else { return }
    if process.habits.ignoresExpiration { return }
    planEnd(of: task, index)
  }

  private func planEnd(of task: TaskID, _ index: Int) {
    var chance = draw(.reactions)
    schedule(
      after: chance.below(200 * Nanoseconds.millisecond), .reaction(index, .end(task)))
  }

  // MARK: Processes

  private func spawn(_ id: InstanceID, _ key: ApplicationKey) {
    let number = Int(id.number)
    if number < byMark.count, let index = byMark[number] {
      // The program was executed before the daemon died.
      return post(.process(.spawned(id, processes[index].leader)))
    }
    var chance = draw(.effects)
    if chance.happens(faults[.spawnFails]) {
      return post(.process(.spawnFailed(id, reason: "ENOMEM")))
    }
    let index = newProcess(key)
    while byMark.count <= number { byMark.append(nil) }
    byMark[number] = index
    if chance.happens(faults[.crashLoops]) {
      let status: ExitStatus = chance.pick([.exited(code: 1), .signaled(11), .unknown])
      exit(index, status, after: chance.below(3 * Nanoseconds.second))
    }
    if processes[index].habits.isAware {
      let delay = chance.below(chance.happens(800) ? 50 * Nanoseconds.millisecond : 40_000_000_000)
      schedule(after: delay, .reaction(index, .openStream))
    }
    post(.process(.spawned(id, processes[index].leader)))
  }

  private func manage(_ id: InstanceID, _ leader: Leader) {
    let index = Int(leader.pid) - 100
    let number = Int(id.number)
    while byInstance.count <= number { byInstance.append(nil) }
    byInstance[number] = index
    processes[index].instance = id
    var chance = draw(.effects)
    if !processes[index].isAlive {
      post(.process(.leaderExited(id, processes[index].status ?? .unknown)))
    } else if chance.happens(faults[.manageFails]) {
      processes[index].isUnwatchable = true
      post(.process(.leaderExited(id, .unknown)))
    }
  }

  private func suspend(_ id: InstanceID) {
    guard let (index, process) = process(of: id), process.isAlive else { return }
    var chance = draw(.effects)
    process.suspensionGeneration += 1
    if chance.happens(faults[.suspendFails]) {
      resumeProcesses(index)
      return post(.process(.suspensionFailed(id, reason: "EBUSY")))
    }
    let fails = process.habits.forks && !isSettling && chance.happens(500)
    let delay = chance.happens(300) ? 0 : chance.below(500 * Nanoseconds.millisecond)
    schedule(
      after: delay,
      .suspensionEnds(index, generation: process.suspensionGeneration, failure: fails))
  }

  private func resume(_ id: InstanceID) {
    guard let (index, process) = process(of: id) else { return }
    process.suspensionGeneration += 1
    resumeProcesses(index)
  }

  func resumeProcesses(_ index: Int) {
    let process = processes[index]
    process.count(until: now)
    process.isStopped = false
    var postponed = process.postponed
    process.postponed = []
    // A process without an event stream receives no notice, but reads its sockets nevertheless.
    if let id = process.instance, !process.hasStream, sockets.unread(where: { $0 == id }) != nil {
      postponed.append(.read)
    }
    for reaction in postponed {
      var chance = draw(.reactions)
      schedule(after: chance.below(Nanoseconds.millisecond), .reaction(index, reaction))
    }
  }

  private func terminate(_ id: InstanceID) {
    guard let (index, process) = process(of: id), process.isAlive else { return }
    var chance = draw(.effects)
    if chance.happens(faults[.terminateFails]) {
      return post(.process(.signalFailed(id, reason: "EPERM")))
    }
    if process.habits.ignoresTermination { return }
    let status: ExitStatus = chance.happens(700) ? .exited(code: 0) : .signaled(15)
    exit(index, status, after: chance.below(300 * Nanoseconds.millisecond))
  }

  private func kill(_ id: InstanceID) {
    guard let (index, process) = process(of: id), process.isAlive else { return }
    process.suspensionGeneration += 1
    var chance = draw(.effects)
    if chance.happens(faults[.killFails]) {
      schedule(after: chance.below(100 * Nanoseconds.millisecond), .signalFails(id))
    } else {
      exit(index, .signaled(9), after: chance.below(20 * Nanoseconds.millisecond))
    }
  }

  func exit(_ index: Int, _ status: ExitStatus, after delay: UInt64) {
    schedule(after: delay, .exits(index, status))
  }

  private func release(_ id: InstanceID, killing: Bool) {
    guard let (index, process) = process(of: id) else { return }
    byInstance[Int(id.number)] = nil
    process.instance = nil
    sockets.forget(id)
    process.sockets = []
    process.hasStream = false
    process.suspensionGeneration += 1
    process.priority = .foreground
    process.throttledTo = nil
    resumeProcesses(index)
  }

  private func carryOut(_ effect: ResourceEffect) {
    switch effect {
    case .prioritize(let id, let priority): process(of: id)?.process.priority = priority
    case .sample(let id):
      guard let process = process(of: id)?.process else { return }
      process.isSampled = true
      post(.resources(.used(id, process.use(at: now))))
    case .throttle(let id, let percent):
      guard let process = process(of: id)?.process else { return }
      process.count(until: now)
      process.throttledTo = percent
    }
  }
}
