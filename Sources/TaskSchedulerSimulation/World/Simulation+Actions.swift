import TaskSchedulerCore

// The actions of users, programs and the machine.
extension Simulation {
  /// Draws one action from its own stream of random numbers, and performs the action.
  func act(_ chance: inout SeededGenerator) {
    if chance.happens(300) { return wake(&chance) }
    let workload = Workload(keys: configuration.keys, seats: configuration.seats)
    if let action = workload.action(&chance, faults, self) { perform(action) }
  }

  private func perform(_ action: Workload.Action) {
    switch action {
    case .machineSleeps, .daemonDies, .configurationChanges, .exit, .debuggerAttaches, .losesStream:
      performMachineAction(action)
    case .activate, .deactivate, .sendToBackground, .terminate, .launch, .adopt:
      performOperatorAction(action)
    case .register, .begin, .end, .endWrongly, .acknowledgeWrongly, .openStream, .openStreamAs:
      performApplicationAction(action)
    }
  }

  private func performMachineAction(_ action: Workload.Action) {
    switch action {
    case .machineSleeps(let length):
      now += length
      checkers.machineWoke(at: now)
    case .daemonDies(let events, let effects): deathPlanned = (events, effects)
    case .configurationChanges(let isPolicy):
      configurationLast += 1
      post(
        isPolicy
          ? .scheduler(.policyChanged(configuration.policy(configurationLast)))
          : .scheduler(.manifestsChanged(configuration.manifests(configurationLast))))
    case .exit(let index, let status): exit(index, status, after: 0)
    case .debuggerAttaches(let index, let length):
      processes[index].isTraced = true
      schedule(after: length, .debuggerLeaves(index))
    case .losesStream(let index, let length):
      guard let id = processes[index].instance else { return }
      processes[index].hasStream = false
      post(.application(.streamClosed(id)))
      schedule(after: length, .reaction(index, .openStream))
    case .activate, .deactivate, .sendToBackground, .terminate, .launch, .adopt, .register, .begin,
      .end, .endWrongly, .acknowledgeWrongly, .openStream, .openStreamAs:
      preconditionFailure("not an action of the machine: \(action)")
    }
  }

  // MARK: Operators

  private func performOperatorAction(_ action: Workload.Action) {
    let request = request(nil)
    switch action {
    case .activate(let key): send(.operation(.activate(request, key)))
    case .deactivate(let key): send(.operation(.deactivate(request, key)))
    case .sendToBackground(let key): send(.operation(.sendToBackground(request, key)))
    case .terminate(let key, let byUser): send(.operation(.terminate(request, key, byUser: byUser)))
    case .launch(let key, let target, let reason):
      send(.operation(.launch(request, key, target: target, reason: reason)))
    case .adopt(let key, let target, let seat, let options, let delay):
      let index = newProcess(key)
      let adoption = Adoption(
        application: key, leader: processes[index].leader, target: target, seat: seat,
        backgroundTask: options.backgroundTask, backgroundModes: options.backgroundModes)
      send(.operation(.adopt(request, adoption)))
      if processes[index].habits.isAware {
        schedule(after: delay, .reaction(index, .openStream))
      }
    case .machineSleeps, .daemonDies, .configurationChanges, .exit, .debuggerAttaches, .losesStream,
      .register, .begin, .end, .endWrongly, .acknowledgeWrongly, .openStream, .openStreamAs:
      preconditionFailure("not an action of an operator: \(action)")
    }
  }

  // MARK: Applications

  private func performApplicationAction(_ action: Workload.Action) {
    /// Sends an event for the instance of a process, if the process has one.
    func sendFromInstance(_ index: Int, _ event: (RequestID, InstanceID) -> Event) {
      guard let id = processes[index].instance else { return }
      send(event(request(index), id))
    }
    switch action {
    case .register(let key, let target, let seat):
      let index = newProcess(key)
      let leader = processes[index].leader
      send(.application(.register(request(index), key, leader, target: target, seat: seat)))
    case .begin(let index, let name):
      sendFromInstance(index) { .application(.beginBackgroundTask($0, $1, name: name)) }
    case .end(let index, let task): perform(.reaction(index, .end(task)))
    case .endWrongly(let index, let task):
      sendFromInstance(index) { .application(.endBackgroundTask($0, $1, task)) }
    case .acknowledgeWrongly(let index, let callback):
      sendFromInstance(index) { .application(.acknowledge($0, $1, callback)) }
    case .openStream(let index): perform(.reaction(index, .openStream))
    case .openStreamAs(let index, let name):
      sendFromInstance(index) { .application(.openStream($0, $1, named: name)) }
    case .machineSleeps, .daemonDies, .configurationChanges, .exit, .debuggerAttaches, .losesStream,
      .activate, .deactivate, .sendToBackground, .terminate, .launch, .adopt:
      preconditionFailure("not an action of an application: \(action)")
    }
  }

  // MARK: The liveness phase

  /// Ends all faults, and plans the end of all repeating work.
  func endFaults() {
    for (index, process) in processes.enumerated() where process.isAlive {
      process.isTraced = false
      process.habits.ignoresExpiration = false
      process.habits.ignoresTermination = false
      process.habits.forks = false
      process.habits.keepsLock = false
      process.habits.usesGPU = false
      process.habits.processorRate = 10
      if process.habits.isAware, !process.hasStream {
        schedule(after: Nanoseconds.millisecond, .reaction(index, .openStream))
      }
    }
    endSessionFaults()
    endAudioFaults()
    endLocationFaults()
    // After 60 s, all messages in transit have arrived and a slow disk has written its
    // transactions. After 1500 s, all planned relaunches have happened.
    schedule(after: 60 * Nanoseconds.second, .repeatingWorkEnds(isLast: false))
    schedule(after: 1500 * Nanoseconds.second, .repeatingWorkEnds(isLast: true))
  }
}

extension Simulation: WorkloadState {
  /// The number of processes, including those that have ended.
  public var processCount: Int { processes.count }

  /// Returns whether the process is alive.
  public func isAlive(_ process: Int) -> Bool { processes[process].isAlive }
  /// Returns whether the process is the leader of an instance.
  public func isManaged(_ process: Int) -> Bool { processes[process].instance != nil }
  /// Returns whether the process executes no instruction.
  public func isStopped(_ process: Int) -> Bool { processes[process].isStopped }
  /// Returns whether the process is the leader of an instance and has an event stream.
  public func hasStream(_ process: Int) -> Bool {
    processes[process].instance != nil && processes[process].hasStream
  }
  /// Returns the tasks that the process believes to be outstanding.
  public func tasks(of process: Int) -> [TaskID] { processes[process].tasks }
  /// Returns the tasks that the process may end a second time.
  public func tasksEnded(by process: Int) -> [TaskID] { processes[process].tasksEnded }
  /// Returns the callbacks that the process may acknowledge a second time.
  public func callbacksAcknowledged(by process: Int) -> [CallbackID] {
    processes[process].callbacksAcknowledged
  }
}
