import HeapModule
import TaskSchedulerCore

/// Runs the scheduler in virtual time with the applications of a scenario.
public final class ScenarioRunner {
  let scenario: Scenario
  lazy var pump = boot()
  let files = SimulatedFiles()
  /// The instant at which the daemon's timer fires; nil if the timer is off.
  var deadline: Instant?
  private var timeline = Timeline()
  var actors: [Actor]
  var byInstance: [InstanceID: Int] = [:]
  private var agenda: Heap<AgendaEntry> = []
  private var agendaLast: UInt64 = 0
  private var pidLast: Int32 = 0
  private(set) var requests: [Request] = []
  var isAway = false
  var waiting: [Event] = []

  static let start = 1_000 * Nanoseconds.second
  var now = ScenarioRunner.start
  var store = ScenarioStore()
  /// The available memory, in bytes.
  var available = ScenarioMemory.total
  var receiver = ScenarioReceiver()
  /// For each user, the number of the last order to confirm all earlier orders about audio.
  var confirmed: [UserID: UInt64] = [:]

  /// A request that awaits its reply, with the index of the application that sent it. For a task,
  /// a socket or a notification, it also has the name that the scenario uses.
  enum Request {
    case `operator`
    case stream(Int)
    case task(Int, name: String)
    case socket(Int, name: String)
    case notification(Int, name: String)
  }

  struct Actor {
    var leader: Leader?
    var instance: InstanceID?
    var hasStream = false
    var isStopped = false
    var isTraced = false
    var tasks: [(name: String, id: TaskID)] = []
    var postponed: [ApplicationAction] = []
    /// A number that each suspension and resume increments. A planned event with an earlier number
    /// has no effect.
    var generation = 0
    var isStopping = false
    var sockets: [(name: String, id: SocketID)] = []
    /// The data that the application has not read.
    var unread: [(id: SocketID, conditions: SocketConditions)] = []
    var isWatched = false
    /// Whether the application plays audio.
    var isPlaying = false
    /// Whether the daemon has muted the audio.
    var isMuted = false
  }

  /// An action of a running application.
  enum ApplicationAction {
    case open
    case acknowledge(CallbackID)
    case begin(String)
    case end(TaskID)
    case endNamed(String)
    case keepAlive(Duration?)
    case handOver(String)
    case takeBack(String)
    case startLocation(LocationService)
    case stopLocation(LocationService)
    case monitor(Region)
    case forget(RegionID)
  }

  enum PlannedEvent {
    case step(Scenario.Step)
    case action(Int, Leader, ApplicationAction)
    case stopped(Int, Int)
    case exits(Int, Leader, ExitStatus)
    case daemonReturns
    case reclaimed(InstanceID)
    /// The receiver reports the position.
    case located(Int, again: Bool)
  }

  private struct AgendaEntry: Comparable {
    let at: UInt64
    let number: UInt64
    let planned: PlannedEvent

    static func < (one: Self, other: Self) -> Bool {
      (one.at, one.number) < (other.at, other.number)
    }

    static func == (one: Self, other: Self) -> Bool { one.number == other.number }
  }

  private init(_ scenario: Scenario) {
    self.scenario = scenario
    actors = scenario.applications.map { _ in Actor() }
  }

  /// Returns the timeline of a scenario, of at most `turnsMax` instants.
  public static func timeline(
    of scenario: Scenario, turnsMax: Int = Timeline.turnsMax
  ) -> Timeline {
    let play = ScenarioRunner(scenario)
    play.run(turnsMax: turnsMax)
    play.pump.stop()
    return play.timeline
  }

  private func run(turnsMax: Int) {
    post(.scheduler(.manifestsChanged(scenario.applications.map(\.manifest))))
    post(.scheduler(.clockRead(wallClock)))
    reportReceiver()
    for step in scenario.steps { schedule(at: Self.start + Nanoseconds.of(step.at), .step(step)) }
    let end = scenario.end.map { Self.start + Nanoseconds.of($0) } ?? .max
    var turns = 0
    var quietTurns = 0
    while timeline.entries.count < Timeline.entriesMax, turns < turnsMax,
      quietTurns < Timeline.quietTurnsMax
    {
      turns += 1
      let entryCount = timeline.entries.count
      defer {
        quietTurns = !hasPlans && timeline.entries.count == entryCount ? quietTurns + 1 : 0
      }
      let timer = isAway ? nil : deadline?.nanoseconds
      let next = agenda.min?.at
      guard let at = [timer, next].compactMap({ $0 }).min() else { return }
      guard at <= end else { break }
      now = max(now, at)
      if let next, next <= timer ?? .max, let entry = agenda.popMin() {
        perform(entry.planned)
      } else {
        post(.scheduler(.deadlineReached))
      }
    }
    timeline.isCut = true
  }

  /// Whether an event other than a report of the location is planned.
  private var hasPlans: Bool {
    agenda.unordered.contains { if case .located = $0.planned { false } else { true } }
  }

  private func schedule(at: UInt64, _ planned: PlannedEvent) {
    agendaLast += 1
    agenda.insert(AgendaEntry(at: at, number: agendaLast, planned: planned))
  }

  func schedule(after delay: Duration, _ planned: PlannedEvent) {
    schedule(at: now + Nanoseconds.of(delay), planned)
  }

  func note(_ index: Int?, _ kind: Timeline.Kind) {
    timeline.entries.append(
      Timeline.Entry(
        at: .nanoseconds(Int64(now - Self.start)),
        application: index.map { scenario.applications[$0].key.id }, kind: kind))
  }

  func request(_ request: Request = .operator) -> RequestID {
    requests.append(request)
    return RequestID(UInt64(requests.count - 1))
  }

  // MARK: Effects

  func carryOut(_ effect: Effect) {
    switch effect {
    case .reply(let request, let reply): answer(requests[Int(request.number)], reply)
    case .deliver(let id, let callback, _):
      guard let index = byInstance[id] else { return }
      note(index, .callback(callback.kind))
      plan(index, scenario.applications[index].acknowledgeDelay, .acknowledge(callback.id))
    case .expire(let id, let task, let remaining):
      guard let index = byInstance[id] else { return }
      note(index, .expiration(task, remaining: remaining))
      plan(index, scenario.applications[index].expireDelay, .end(task))
    case .notify(let id, let notice): deliver(notice, to: id)
    case .socket(let effect): carryOut(effect)
    case .notification(let effect): carryOut(effect)
    case .memory(let effect): carryOut(effect)
    case .spawn(let id, let key, _): spawn(id, key)
    case .manage(let id, _, let key):
      guard let index = self.index(of: key) else { return }
      byInstance[id] = index
      actors[index].instance = id
    case .suspend(let id): suspend(id)
    case .resume(let id): if let index = byInstance[id] { resumeProcesses(index) }
    case .terminate(let id, let signal):
      guard let index = byInstance[id] else { return }
      note(index, .signal(signal))
      if let delay = scenario.applications[index].terminateDelay {
        exit(index, .exited(code: 0), after: delay)
      }
    case .kill(let id):
      guard let index = byInstance[id] else { return }
      note(index, .signal(.kill))
      exit(index, .signaled(9), after: .zero)
    case .release(let id, _):
      guard let index = byInstance.removeValue(forKey: id) else { return }
      let wasPlaying = actors[index].isPlaying
      actors[index] = Actor()
      if wasPlaying { reportAudio(of: scenario.applications[index].key.owner) }
    case .checkTracer(let id):
      post(
        .process(.tracerChecked(id, isTraced: byInstance[id].map { actors[$0].isTraced } ?? false)))
    case .record(let record): note(index(of: record.application), .change(record.change))
    case .resources(.sample(let id)):
      // The applications of a scenario use no resources.
      post(.resources(.used(id, ResourceUse(processor: .zero, gpu: .zero))))
    case .audio(let effect): carryOut(effect)
    case .location(let effect): carryOut(effect)
    // The applications of a scenario are no media players.
    case .resources, .dropPicture, .remote: break
    }
  }

  private func index(of key: ApplicationKey) -> Int? {
    scenario.applications.firstIndex { $0.key == key }
  }

  private func answer(_ request: Request, _ reply: Reply) {
    switch (request, reply) {
    case (.stream(let index), .registered): actors[index].hasStream = true
    case (.task(let index, let name), .began(let task, _)):
      actors[index].tasks.append((name, task))
    case (.socket(let index, let name), .managed(let socket)):
      actors[index].sockets.append((name, socket))
    case (.notification(let index, let name), .scheduled(let id)):
      store.names[id] = ScenarioStore.Name(application: index, name: name)
    case (.operator, _), (.stream, _), (.task, _), (.socket, _), (.notification, _): break
    }
  }

  private func newLeader() -> Leader {
    pidLast += 1
    return Leader(pid: pidLast, startTime: UInt64(pidLast))
  }

  private func spawn(_ id: InstanceID, _ key: ApplicationKey) {
    guard let index = index(of: key) else { return }
    let leader = actors[index].leader ?? newLeader()
    actors[index].leader = leader
    plan(index, scenario.applications[index].openDelay, .open)
    post(.process(.spawned(id, leader)))
  }

  private func suspend(_ id: InstanceID) {
    guard let index = byInstance[id] else { return }
    actors[index].generation += 1
    guard let delay = scenario.applications[index].stopDelay else {
      return post(.process(.suspensionFailed(id, reason: "its processes cannot be stopped")))
    }
    actors[index].isStopping = true
    schedule(after: delay, .stopped(index, actors[index].generation))
  }

  private func resumeProcesses(_ index: Int) {
    actors[index].generation += 1
    actors[index].isStopped = false
    actors[index].isStopping = false
    actors[index].unread = []
    let postponed = actors[index].postponed
    actors[index].postponed = []
    for action in postponed { plan(index, .zero, action) }
  }

  // MARK: Planned events

  /// Plans an action of an application after a delay. If the delay is nil, plans nothing.
  func plan(_ index: Int, _ delay: Duration?, _ action: ApplicationAction) {
    guard let delay, let leader = actors[index].leader else { return }
    schedule(after: delay, .action(index, leader, action))
  }

  private func exit(_ index: Int, _ status: ExitStatus, after delay: Duration) {
    guard let leader = actors[index].leader else { return }
    schedule(after: delay, .exits(index, leader, status))
  }

  private func perform(_ planned: PlannedEvent) {
    switch planned {
    case .step(let step):
      note(nil, .step(step.text))
      take(step.action)
    case .action(let index, let leader, let action):
      if actors[index].leader == leader { perform(index, action) }
    case .stopped(let index, let generation):
      guard actors[index].generation == generation, let id = actors[index].instance else { return }
      actors[index].isStopped = true
      post(.process(.suspensionCompleted(id)))
    case .exits(let index, let leader, let status):
      guard actors[index].leader == leader, let id = actors[index].instance else { return }
      actors[index].leader = nil
      post(.process(.leaderExited(id, status)))
    case .daemonReturns: daemonReturns()
    case .reclaimed(let id): reportReclaimed(id)
    case .located(let generation, let again):
      if generation == receiver.generation { reportLocation(again: again) }
    }
  }

  func perform(_ index: Int, _ action: ApplicationAction) {
    guard let id = actors[index].instance else { return }
    if actors[index].isStopped {
      actors[index].postponed.append(action)
      return
    }
    let name = scenario.applications[index].key.id
    switch action {
    case .open: post(.application(.openStream(request(.stream(index)), id, named: name)))
    case .acknowledge(let callback): post(.application(.acknowledge(request(), id, callback)))
    case .begin(let task):
      post(.application(.beginBackgroundTask(request(.task(index, name: task)), id, name: task)))
    case .end(let task):
      // The program may have ended the task before the expiration handler ends it.
      guard let place = actors[index].tasks.firstIndex(where: { $0.id == task }) else { return }
      actors[index].tasks.remove(at: place)
      post(.application(.endBackgroundTask(request(), id, task)))
    case .endNamed(let name):
      let place = actors[index].tasks.firstIndex { $0.name == name }
      let task = place.map { actors[index].tasks.remove(at: $0).id } ?? TaskID(0)
      post(.application(.endBackgroundTask(request(), id, task)))
    case .keepAlive(let interval):
      post(.application(.setKeepAlive(request(), id, interval: interval)))
    case .handOver(let socket):
      store.socketLast += 1
      let request = request(.socket(index, name: socket))
      post(.socket(.manage(request, id, SocketID(store.socketLast))))
    case .takeBack(let name):
      let place = actors[index].sockets.firstIndex { $0.name == name }
      let socket = place.map { actors[index].sockets.remove(at: $0).id } ?? SocketID(0)
      post(.socket(.release(request(), id, socket)))
    case .startLocation, .stopLocation, .monitor, .forget: send(action, of: id)
    }
  }
}

// MARK: Steps

extension ScenarioRunner {
  private func take(_ action: Scenario.Action) {
    func key(_ index: Int) -> ApplicationKey { scenario.applications[index].key }
    switch action {
    case .launch(let index, let target):
      post(.operation(.launch(request(), key(index), target: target, reason: .operator)))
    case .register(let index, let target): appear(index, target, isAware: true)
    case .adopt(let index, let target): appear(index, target, isAware: false)
    case .activate(let index): post(.operation(.activate(request(), key(index))))
    case .interrupt(let index): post(.operation(.deactivate(request(), key(index))))
    case .sendAway(let index): post(.operation(.sendToBackground(request(), key(index))))
    case .terminate(let index): post(.operation(.terminate(request(), key(index), byUser: false)))
    case .begin(let index, let task): perform(index, .begin(task))
    case .end(let index, let task): perform(index, .endNamed(task))
    case .start(let index, let activity): change(activity, of: index, isBeginning: true)
    case .stop(let index, let activity): change(activity, of: index, isBeginning: false)
    case .exit(let index, let status): exit(index, status, after: .zero)
    case .debug(let index, let isTraced): actors[index].isTraced = isTraced
    case .machineStandby(let length): advanceAsleep(Nanoseconds.of(length))
    case .daemonDies(let length): daemonDies(for: length)
    case .set(let policy): post(.scheduler(.policyChanged(policy)))
    case .keepAlive, .handOver, .takeBack, .arrive, .schedule, .cancel, .choose, .post, .setClock,
      .daemonStarts, .memoryPressure, .warnMemory:
      takeServiceAction(action)
    case .locate, .receiver, .monitor, .forget, .authorizeLocation: takeLocationAction(action)
    }
  }

  /// Advances the time by the length of the machine's sleep. Delays the planned actions of
  /// applications by the same length.
  private func advanceAsleep(_ length: UInt64) {
    now += length
    agenda = Heap(
      agenda.unordered.map { entry in
        switch entry.planned {
        case .step, .daemonReturns: entry
        case .action, .stopped, .exits, .reclaimed, .located:
          AgendaEntry(
            at: entry.at + length, number: entry.number,
            planned: entry.planned)
        }
      })
  }

  /// Registers or adopts an application with a process that the daemon did not start.
  private func appear(_ index: Int, _ target: LaunchTarget, isAware: Bool) {
    let application = scenario.applications[index]
    let leader = actors[index].leader ?? newLeader()
    if actors[index].instance == nil { actors[index].leader = leader }
    if isAware {
      post(
        .application(
          .register(
            request(.stream(index)), application.key, leader, target: target, seat: application.seat
          )))
    } else {
      post(
        .operation(
          .adopt(
          request(),
          Adoption(
              application: application.key, leader: leader, target: target, seat: application.seat))
        ))
      plan(index, application.openDelay, .open)
    }
  }
}
