import TaskSchedulerCore

// What happens when its time has come.
extension Simulation {
  func happen(_ happening: Happening) {
    switch happening {
    case .reaction(let index, let reaction): react(index, reaction)
    case .arrives(let event): post(event)
    case .suspensionEnds(let index, let generation, let failure):
      suspensionEnds(processes[index], index, generation, failure)
    case .resumedFromOutside(let index, let generation):
      resumeFromOutside(processes[index], index, generation)
    case .runningFound(let index, let generation):
      findRunning(processes[index], generation)
    case .exits(let index, let status): exits(index, status)
    case .signalFails(let id):
      // What the daemon found out is lost with it.
      if isUp { post(.process(.signalFailed(id, reason: "EPERM"))) }
    case .debuggerLeaves(let index): processes[index].isTraced = false
    case .daemonStarts: start()
    case .storeAnswers(let event, let generation):
      // What the daemon was about to hear is lost with it.
      if isUp, generation == recoveryCount { post(.notification(event)) }
    case .storeWrites(let generation):
      if isUp, generation == recoveryCount { store.write(in: self) }
    case .storeRests(let generation):
      if isUp, generation == recoveryCount { store.rest(in: self) }
    case .presses(let again):
      if isUp { press(again: again) }
    case .memoryAnswers(let event, let generation):
      // What the daemon was about to hear is lost with it.
      if isUp, generation == recoveryCount { post(.memory(event)) }
    case .farewell(let isLast): sayFarewell(isLast: isLast)
    }
  }

  private func suspensionEnds(
    _ process: SimulatedProcess, _ index: Int, _ generation: Int, _ failure: Bool
  ) {
    guard process.isAlive, process.suspensionGeneration == generation, let id = process.instance
    else { return }
    process.count(until: now)
    guard isUp else {
      // What the freezer was told it does without the daemon.
      process.isStopped = true
      return
    }
    if failure {
      process.isStopped = false
      post(.process(.suspensionFailed(id, reason: "it made new processes")))
    } else {
      process.isStopped = true
      if process.isLookedAt { post(.resources(.used(id, process.use(at: now)))) }
      process.isLookedAt = false
      if process.habits.keepsLock { post(.resources(.held(id, path: "/var/lib/shared.db"))) }
      if id.number % 5 == 0 { post(.resources(.listens(id, .init(["127.0.0.1:80"])))) }
      post(
        scheduler.state(of: id) == .suspended
          ? .process(.stillSuspended([id])) : .process(.suspensionCompleted(id)))
      planResumptionFromOutside(index, generation)
    }
  }

  private func planResumptionFromOutside(_ index: Int, _ generation: Int) {
    guard faults[.resumedFromOutside] > 0, !isSettling else { return }
    var chance = draw(.effects)
    guard chance.happens(faults[.resumedFromOutside]) else { return }
    schedule(
      after: chance.below(20 * Nanoseconds.second),
      .resumedFromOutside(index, generation: generation))
  }

  private func resumeFromOutside(_ process: SimulatedProcess, _ index: Int, _ generation: Int) {
    guard process.isAlive, process.isStopped, process.suspensionGeneration == generation
    else { return }
    letRun(index)
    var chance = draw(.effects)
    schedule(
      after: chance.below(5 * Nanoseconds.second), .runningFound(index, generation: generation))
  }

  private func findRunning(_ process: SimulatedProcess, _ generation: Int) {
    guard isUp, process.isAlive, !process.isStopped, process.suspensionGeneration == generation,
      let id = process.instance
    else { return }
    post(.process(.suspensionLost(id, reason: "its process runs")))
  }

  private func exits(_ index: Int, _ status: ExitStatus) {
    let process = processes[index]
    guard process.isAlive else { return }
    process.isAlive = false
    process.status = status
    process.isStopped = false
    // While the daemon is away, the kernel keeps it for the daemon to find.
    if let id = process.instance, isUp { post(.process(.leaderExited(id, status))) }
  }

  private func react(_ index: Int, _ reaction: Reaction) {
    let process = processes[index]
    guard process.isAlive else { return }
    if process.isStopped {
      process.postponed.append(reaction)
      return
    }
    switch reaction {
    case .acknowledge(let callback):
      guard let id = process.instance, process.hasStream else { return }
      process.callbacksAcknowledged.append(callback)
      send(.application(.acknowledge(request(index), id, callback)))
    case .end(let task):
      guard let id = process.instance, process.tasks.contains(task) else { return }
      process.tasks.removeAll { $0 == task }
      process.tasksEnded.append(task)
      send(.application(.endBackgroundTask(request(index), id, task)))
    case .openStream:
      guard let id = process.instance else { return }
      send(.application(.openStream(request(index), id, named: process.key.id)))
    case .read: if let id = process.instance { sockets.read(by: id) }
    }
  }

  func request(_ process: Int?) -> RequestID {
    requesters.append(process.map { .process($0) } ?? .operator)
    return RequestID(UInt64(requesters.count - 1))
  }

  /// A message goes into a socket; it comes out at once, or later.
  func send(_ event: Event) {
    var chance = draw(.reactions)
    if chance.happens(faults[.messagesAreSlow]) {
      schedule(after: chance.below(300 * Nanoseconds.millisecond), .arrives(event))
    } else {
      post(event)
    }
  }

  // MARK: The daemon's death

  /// - Parameter effectsDone: how many of the last event's effects were carried out.
  func die(effectsDone: Int) {
    isUp = false
    sockets.daemonDied()
    store.daemonDied()
    effectsDoneAtDeath = effectsDone
    disarmTimer()
    var chance = draw(.deaths)
    let delay =
      chance.happens(900)
      ? chance.below(500 * Nanoseconds.millisecond) : chance.below(300 * Nanoseconds.second)
    schedule(after: delay, .daemonStarts)
  }

  /// Snapshot, replay, and what has changed in the world meanwhile.
  private func start() {
    var chance = draw(.deaths)
    // Of the effect in hand at the death it is not known whether it was carried out.
    let effectsDone = max(0, effectsDoneAtDeath - chance.below(2))
    guard
      let (recovered, effectsLeft) = memory.replay(
        effectsDone: effectsDone, throughBytes: chance.happens(500))
    else { return report("replay", "the event log does not bring about what it did before") }
    scheduler = recovered
    isUp = true
    recoveryCount += 1
    checkers.machineWoke(at: now)
    for process in processes { process.restartCounters(at: now) }
    let keepsConnections = chance.happens(600)
    let arrivals = keepsConnections ? waiting : waiting.filter { $0.request == nil }
    waiting = []
    memory.isRecovering = true
    carryOut(rest: effectsLeft)
    reconcile(keepsConnections, &chance)
    if isUp, !keepsConnections, chance.happens(500) { loseSockets() }
    if isUp {
      memory.isRecovering = false
      post(.scheduler(.recovered(lastAlive: memory.lastAlive)))
      post(.scheduler(.clockRead(wallClock)))
    }
    for event in arrivals { post(event) }
  }

  /// Reports the leaders and connections that ended while the daemon was down.
  private func reconcile(_ keepsConnections: Bool, _ chance: inout Chance) {
    for (number, index) in byInstance.enumerated() {
      guard isUp, let index else { continue }
      let id = InstanceID(UInt64(number))
      let process = processes[index]
      if !process.isAlive || process.isUnwatchable {
        post(.process(.leaderExited(id, process.status ?? .unknown)))
      } else if !keepsConnections, process.hasStream {
        process.hasStream = false
        post(.application(.streamClosed(id)))
        schedule(
          after: chance.below(100 * Nanoseconds.millisecond), .reaction(index, .openStream))
      }
    }
  }
}
