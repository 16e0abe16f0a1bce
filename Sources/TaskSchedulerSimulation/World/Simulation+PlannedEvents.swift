import TaskSchedulerCore

// The planned events of the simulated world, performed at their instants.
extension Simulation {
  func perform(_ planned: PlannedEvent) {
    switch planned {
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
      // A dead daemon does not report the failure.
      if isUp { post(.process(.signalFailed(id, reason: "EPERM"))) }
    case .debuggerLeaves(let index): processes[index].isTraced = false
    case .daemonStarts: start()
    case .storeAnswers(let event, let generation):
      // A result dies with the daemon that requested it.
      if isUp, generation == recoveryCount { post(.notification(event)) }
    case .storeWrites(let generation):
      if isUp, generation == recoveryCount { store.write(in: self) }
    case .storeRests(let generation):
      if isUp, generation == recoveryCount { store.rest(in: self) }
    case .presses(let again):
      if isUp { press(again: again) }
    case .memoryAnswers(let event, let generation):
      // A result dies with the daemon that requested it.
      if isUp, generation == recoveryCount { post(.memory(event)) }
    case .repeatingWorkEnds(let isLast): endRepeatingWork(isLast: isLast)
    case .agentAttaches(let user): attach(user)
    case .agentMessageArrives(let event, let user):
      sessions[user]?.inTransit -= 1
      post(.session(event))
    case .orderArrives(let order, let attachment):
      carryOutOrder(order, attachment: attachment)
    case .playersPause(let user): pausePlayers(of: user)
    case .location(let planned): perform(planned)
    }
  }

  private func suspensionEnds(
    _ process: SimulatedProcess, _ index: Int, _ generation: Int, _ failure: Bool
  ) {
    guard process.isAlive, process.suspensionGeneration == generation, let id = process.instance
    else { return }
    process.count(until: now)
    guard isUp else {
      // The kernel completes a suspension without the daemon.
      process.isStopped = true
      return
    }
    if failure {
      process.isStopped = false
      post(.process(.suspensionFailed(id, reason: "it made new processes")))
    } else {
      process.isStopped = true
      if process.isSampled { post(.resources(.used(id, process.use(at: now)))) }
      process.isSampled = false
      if process.habits.keepsLock { post(.resources(.held(id, path: "/var/lib/shared.db"))) }
      if id.number % 5 == 0 { post(.resources(.listens(id, .init(["127.0.0.1:80"])))) }
      post(
        pump.scheduler.state(of: id) == .suspended
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
    resumeProcesses(index)
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
    // While the daemon is down, the kernel keeps the exit status for the next daemon.
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
    case .play(let isPlaying): play(index, isPlaying)
    }
  }

  func request(_ process: Int?) -> RequestID {
    requesters.append(process.map { .process($0) } ?? .operator)
    return RequestID(UInt64(requesters.count - 1))
  }

  /// Sends a message, which the daemon receives at once or later.
  func send(_ event: Event) {
    var chance = draw(.reactions)
    if chance.happens(faults[.messagesAreSlow]) {
      schedule(after: chance.below(300 * Nanoseconds.millisecond), .arrives(event))
    } else {
      post(event)
    }
  }
}
