import TaskSchedulerCore

// What people, programs and the machine do by themselves.
extension Simulation {
  /// One action, drawn from a stream of its own.
  func act(_ chance: inout Chance) {
    if actOfFault(&chance) { return }
    switch chance.below(100) {
    case 0..<34: operate(&chance)
    case 34..<44: runProgram(&chance)
    case 44..<88: actOfApplication(&chance)
    case _: actOfActivity(&chance)
    }
  }

  /// - Returns: whether a fault came about, in place of an action.
  private func actOfFault(_ chance: inout Chance) -> Bool {
    if chance.happens(faults[.machineSleeps]) {
      let length =
        chance.happens(500)
        ? chance.below(10 * Nanoseconds.second) : chance.below(5000 * Nanoseconds.second)
      now += length
      checkers.machineWoke(at: now)
      return true
    }
    if chance.happens(faults[.daemonDies]) {
      deathPlanned = (chance.below(4), chance.happens(300) ? 100 : chance.below(5))
      return true
    }
    if chance.happens(faults[.configurationChanges]) {
      configurationLast += 1
      changeConfiguration(chance.happens(500))
      return true
    }
    guard let index = someone(&chance) else { return false }
    if chance.happens(faults[.exits]) {
      let status: ExitStatus =
        chance.pick([.exited(code: 0), .exited(code: 1), .signaled(11), .signaled(9), .unknown])
      exit(index, status, after: 0)
      return true
    }
    if chance.happens(faults[.debuggerAttaches]) {
      processes[index].isTraced = true
      schedule(after: chance.below(60 * Nanoseconds.second), .debuggerLeaves(index))
      return true
    }
    if chance.happens(faults[.losesStream]), let id = processes[index].instance,
      processes[index].hasStream {
      processes[index].hasStream = false
      post(.streamClosed(id))
      schedule(after: chance.below(3 * Nanoseconds.second), .reaction(index, .openStream))
      return true
    }
    return false
  }

  private func changeConfiguration(_ isPolicy: Bool) {
    if isPolicy {
      let policy = casting.policy(configurationLast)
      post(.policyChanged(policy))
    } else {
      post(.manifestsChanged(casting.manifests(configurationLast)))
    }
  }

  /// A process that runs; the newest more often.
  private func someone(_ chance: inout Chance) -> Int? {
    guard !processes.isEmpty else { return nil }
    for _ in 0..<4 {
      let index = processes.count - 1 - chance.below(min(processes.count, 12))
      if processes[index].isAlive { return index }
    }
    return nil
  }

  // MARK: Operators

  private func operate(_ chance: inout Chance) {
    let key = chance.happens(970) ? chance.pick(casting.keys) : Self.unknownKey
    let request = request(nil)
    let target = chance.pick([LaunchTarget.foreground, .background])
    switch chance.below(16) {
    case 0..<5: send(.activate(request, key))
    case 5: send(.deactivate(request, key))
    case 6..<9: send(.sendToBackground(request, key))
    case 9: send(.terminate(request, key, byUser: chance.happens(500)))
    case 10..<14:
      send(.launch(request, key, target: target, reason: chance.pick(LaunchReason.allCases)))
    case _: adopt(key, request, target, &chance)
    }
  }

  private static let unknownKey: ApplicationKey = {
    guard let id = ApplicationID("org.example.unheard-of") else { preconditionFailure("an id") }
    return ApplicationKey(id, owner: UserID(0))
  }()

  private func adopt(
    _ key: ApplicationKey, _ request: RequestID, _ target: LaunchTarget, _ chance: inout Chance
  ) {
    let index = newProcess(key)
    let adoption = Adoption(
      application: key, leader: processes[index].leader, target: target,
      seat: chance.pick(casting.seats), backgroundTask: chance.pick([nil, "command"]),
      backgroundModes: chance.pick([[], [], [.audio], [.location, .voip]]))
    send(.adopt(request, adoption))
    if processes[index].habits.isAware {
      schedule(after: chance.below(30 * Nanoseconds.second), .reaction(index, .openStream))
    }
  }

  // MARK: Applications

  /// A program starts by itself, and opens its event stream.
  private func runProgram(_ chance: inout Chance) {
    let key = chance.pick(casting.keys)
    let index = newProcess(key)
    send(
      .register(
        request(index), key, processes[index].leader,
        target: chance.happens(800) ? .foreground : .background, seat: chance.pick(casting.seats)))
  }

  private func actOfApplication(_ chance: inout Chance) {
    guard let index = someone(&chance) else { return }
    let process = processes[index]
    guard let id = process.instance, !process.isStopped else { return }
    if chance.happens(faults[.acknowledgesWrong]) {
      let wrong = process.callbacksAcknowledged.isEmpty || chance.happens(300)
        ? CallbackID(chance.pick([0, 1 << 62, .max])) : chance.pick(process.callbacksAcknowledged)
      return send(.acknowledge(request(index), id, wrong))
    }
    if chance.happens(faults[.endsWrongTask]) {
      let wrong = process.tasksEnded.isEmpty || chance.happens(300)
        ? TaskID(chance.pick([0, 1 << 62, .max])) : chance.pick(process.tasksEnded)
      return send(.endBackgroundTask(request(index), id, wrong))
    }
    switch chance.below(20) {
    case 0..<9:
      send(.beginBackgroundTask(request(index), id, name: chance.pick([nil, "sync", "upload"])))
    case 9..<18:
      guard !process.tasks.isEmpty else { return }
      happen(.reaction(index, .end(chance.pick(process.tasks))))
    case 18: happen(.reaction(index, .openStream))
    case _:
      let other = chance.pick(casting.keys).id
      send(.openStream(request(index), id, named: other))
    }
  }

  // MARK: Activities

  /// What the daemon sees of sound, location and events.
  private func actOfActivity(_ chance: inout Chance) {
    guard isUp else { return }
    if !activities.isEmpty, chance.happens(550) {
      let (id, activity) = activities.remove(at: chance.below(activities.count))
      return post(.activityEnded(id, activity))
    }
    guard let index = someone(&chance), let id = processes[index].instance else { return }
    let activity = chance.pick(Activity.allCases)
    activities.append((id, activity))
    post(.activityBegan(id, activity))
  }

  // MARK: Settling

  /// From now on everyone behaves.
  func behave() {
    for (index, process) in processes.enumerated() where process.isAlive {
      process.isTraced = false
      process.habits.ignoresExpiration = false
      process.habits.ignoresTermination = false
      process.habits.forks = false
      if process.habits.isAware, !process.hasStream {
        schedule(after: Nanoseconds.millisecond, .reaction(index, .openStream))
      }
    }
    let ending = activities
    activities = []
    for (id, activity) in ending { post(.activityEnded(id, activity)) }
  }
}
