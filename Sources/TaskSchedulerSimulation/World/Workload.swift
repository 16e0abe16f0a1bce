import TaskSchedulerCore

/// The actions of users, programs and the machine, drawn from a seed. The same actions drive the
/// simulated world and real processes.
public struct Workload: Sendable {
  /// One action. The index of a process is its position in the order of creation.
  public enum Action: Equatable, Sendable {
    // MARK: The machine
    case machineSleeps(nanoseconds: UInt64)
    case daemonDies(events: Int, effects: Int)
    case configurationChanges(isPolicy: Bool)
    case exit(process: Int, ExitStatus)
    case debuggerAttaches(process: Int, nanoseconds: UInt64)
    case losesStream(process: Int, nanoseconds: UInt64)
    // MARK: Operators
    case activate(ApplicationKey)
    case deactivate(ApplicationKey)
    case sendToBackground(ApplicationKey)
    case terminate(ApplicationKey, byUser: Bool)
    case launch(ApplicationKey, LaunchTarget, LaunchReason)
    /// An operator puts a new process under management. An aware application opens its event stream
    /// later.
    case adopt(
      ApplicationKey, LaunchTarget, SeatID, AdoptionOptions, opensAfterNanoseconds: UInt64)
    // A new process registers its application, and so opens its event stream.
    case register(ApplicationKey, LaunchTarget, SeatID)
    case begin(process: Int, name: String?)
    case end(process: Int, TaskID)
    case endWrongly(process: Int, TaskID)
    case acknowledgeWrongly(process: Int, CallbackID)
    case openStream(process: Int)
    /// An application opens an event stream under the given name, which may be that of another
    /// application.
    case openStreamAs(process: Int, ApplicationID)
  }

  /// The options of an adoption.
  public struct AdoptionOptions: Equatable, Sendable {
    public var backgroundTask: String?
    public var backgroundModes: [BackgroundMode]
  }

  /// The applications that requests may name.
  let keys: [ApplicationKey]
  let seats: [SeatID]

  /// Creates a workload.
  ///
  /// - Parameters:
  ///   - keys: The applications that run.
  ///   - seats: The seats at which they may run.
  public init(keys: [ApplicationKey], seats: [SeatID]) {
    self.keys = keys
    self.seats = seats
  }

  static let unknownKey: ApplicationKey = {
    guard let id = ApplicationID("org.example.unheard-of") else { preconditionFailure("an id") }
    return ApplicationKey(id, owner: UserID(0))
  }()

  /// Returns the action with this number, drawn from a seed; nil if it would have no effect.
  public func action(
    _ number: UInt64, seed: UInt64, faults: Faults, in world: some WorkloadState
  ) -> Action? {
    var chance = SeededGenerator(seed: seed, .actions, number)
    return action(&chance, faults, world)
  }

  /// Returns an action drawn from a stream of random numbers, or nil if that action would have no
  /// effect.
  func action(_ chance: inout SeededGenerator, _ faults: Faults, _ world: some WorkloadState)
    -> Action?
  {
    if let fault = fault(&chance, faults, world) { return fault }
    switch chance.below(100) {
    case 0..<34: return operatorAction(&chance)
    case 34..<44:
      let key = chance.pick(keys)
      let target: LaunchTarget = chance.happens(800) ? .foreground : .background
      return .register(key, target, chance.pick(seats))
    case _: return applicationAction(&chance, faults, world)
    }
  }

  private func fault(
    _ chance: inout SeededGenerator, _ faults: Faults, _ world: some WorkloadState
  ) -> Action? {
    if chance.happens(faults[.machineSleeps]) {
      let length =
        chance.happens(500)
        ? chance.below(10 * Nanoseconds.second) : chance.below(5000 * Nanoseconds.second)
      return .machineSleeps(nanoseconds: length)
    }
    if chance.happens(faults[.daemonDies]) {
      let events = chance.below(4)
      return .daemonDies(events: events, effects: chance.happens(300) ? 100 : chance.below(5))
    }
    if chance.happens(faults[.configurationChanges]) {
      return .configurationChanges(isPolicy: chance.happens(500))
    }
    guard let process = runningProcess(&chance, world) else { return nil }
    if chance.happens(faults[.exits]) {
      let status: ExitStatus =
        chance.pick([.exited(code: 0), .exited(code: 1), .signaled(11), .signaled(9), .unknown])
      return .exit(process: process, status)
    }
    if chance.happens(faults[.debuggerAttaches]) {
      let length = chance.below(60 * Nanoseconds.second)
      return .debuggerAttaches(process: process, nanoseconds: length)
    }
    if chance.happens(faults[.losesStream]), world.hasStream(process) {
      let length = chance.below(3 * Nanoseconds.second)
      return .losesStream(process: process, nanoseconds: length)
    }
    return nil
  }

  /// Returns a running process among the 12 newest processes; nil if four draws find none.
  private func runningProcess(_ chance: inout SeededGenerator, _ world: some WorkloadState) -> Int?
  {
    let count = world.processCount
    guard count > 0 else { return nil }
    for _ in 0..<4 {
      let process = count - 1 - chance.below(min(count, 12))
      if world.isAlive(process) { return process }
    }
    return nil
  }

  private func operatorAction(_ chance: inout SeededGenerator) -> Action {
    let key = chance.happens(970) ? chance.pick(keys) : Self.unknownKey
    let target = chance.pick([LaunchTarget.foreground, .background])
    switch chance.below(16) {
    case 0..<5: return .activate(key)
    case 5: return .deactivate(key)
    case 6..<9: return .sendToBackground(key)
    case 9: return .terminate(key, byUser: chance.happens(500))
    case 10..<14: return .launch(key, target, chance.pick(LaunchReason.allCases))
    case _:
      let seat = chance.pick(seats)
      let task = chance.pick([nil, "command"])
      let options = AdoptionOptions(
        backgroundTask: task, backgroundModes: chance.pick([[], [], [.audio], [.location, .voip]]))
      let delay = chance.below(30 * Nanoseconds.second)
      return .adopt(key, target, seat, options, opensAfterNanoseconds: delay)
    }
  }

  private func applicationAction(
    _ chance: inout SeededGenerator, _ faults: Faults, _ world: some WorkloadState
  ) -> Action? {
    guard let process = runningProcess(&chance, world), world.isManaged(process),
      !world.isStopped(process)
    else { return nil }
    if chance.happens(faults[.acknowledgesWrong]) {
      let acknowledged = world.callbacksAcknowledged(by: process)
      let wrong = acknowledged.isEmpty || chance.happens(300)
        ? CallbackID(chance.pick([0, 1 << 62, .max])) : chance.pick(acknowledged)
      return .acknowledgeWrongly(process: process, wrong)
    }
    if chance.happens(faults[.endsWrongTask]) {
      let ended = world.tasksEnded(by: process)
      let wrong = ended.isEmpty || chance.happens(300)
        ? TaskID(chance.pick([0, 1 << 62, .max])) : chance.pick(ended)
      return .endWrongly(process: process, wrong)
    }
    switch chance.below(20) {
    case 0..<9: return .begin(process: process, name: chance.pick([nil, "sync", "upload"]))
    case 9..<18:
      let tasks = world.tasks(of: process)
      return tasks.isEmpty ? nil : .end(process: process, chance.pick(tasks))
    case 18: return .openStream(process: process)
    case _: return .openStreamAs(process: process, chance.pick(keys).id)
    }
  }
}

/// The state of the simulated or real world, on which the choice of the next action depends.
public protocol WorkloadState {
  /// The number of processes, including those that have ended.
  var processCount: Int { get }
  func isAlive(_ process: Int) -> Bool
  /// Returns whether the process is the leader of an instance.
  func isManaged(_ process: Int) -> Bool
  func isStopped(_ process: Int) -> Bool
  /// Returns whether the process is the leader of an instance and has an event stream.
  func hasStream(_ process: Int) -> Bool
  func tasks(of process: Int) -> [TaskID]
  func tasksEnded(by process: Int) -> [TaskID]
  func callbacksAcknowledged(by process: Int) -> [CallbackID]
}
