import HeapModule
import TaskSchedulerCore

/// One run of the scheduler in a simulated world.
///
/// In the safety phase, the faults of the seed happen. In the liveness phase that follows, no fault
/// happens, and all work must finish. Checkers examine every event and every effect.
public final class Simulation {
  let options: SimulationOptions
  let configuration: SimulatedConfiguration
  var faults: Faults
  var scheduler: Scheduler
  var checkers: Checkers
  var canary: PlantedDefect?
  var hash = TraceHash()
  private(set) var violation: Violation?

  // The clock and what is to come.
  static let start = 1_000 * Nanoseconds.second
  var now = Simulation.start
  var agenda: Heap<Appointment> = []
  private var appointmentLast: UInt64 = 0
  /// When the daemon's timer fires: at the policy's next deadline, and a little later.
  private var armed: (deadline: Instant, fires: UInt64)?
  var isSettling = false

  // The processes.
  var processes: [SimulatedProcess] = []
  /// The process that leads each instance, by the instance's number.
  var byInstance: [Int?] = []
  /// The processes with the mark of a launch, by the instance's number.
  var byMark: [Int?] = []
  var requesters: [Requester] = []
  var configurationLast: UInt64 = 0
  var draws: UInt64 = 0
  /// Acknowledged to have begun and to be going on.
  var activities: [(InstanceID, Activity)] = []
  var sockets = SimulatedSockets()
  var socketLast: UInt64 = 0
  let store = SimulatedStore()
  /// The available memory, in MiB of ``SimulatedMemory/total``.
  var machine = SimulatedMemory()
  /// The offset of the wall clock from the time since boot, in nanoseconds.
  var wallOffset: Int64 = 1_800_000_000_000_000_000

  // The daemon.
  var isUp = true
  var backlog: [Event] = []
  private var backlogNext = 0
  private var isHandling = false
  /// Events that wait in sockets until the daemon runs again.
  var waiting: [Event] = []
  var memory = DaemonMemory()
  /// The daemon dies at this many events from now, after so many effects of the last.
  var deathPlanned: (events: Int, effects: Int)?
  var effectsDoneAtDeath = 0
  private(set) var eventCount = 0
  var recoveryCount = 0

  /// Is shown every event with what came of it.
  public var observer: ((Event, [Effect], Instant) -> Void)?

  /// The sender of a request.
  enum Requester { case `operator`, process(Int) }

  public init(_ options: SimulationOptions) {
    self.options = options
    configuration = SimulatedConfiguration(seed: options.seed)
    faults = Faults(seed: options.seed, without: options.without)
    let policy = configuration.policy(0)
    canary = options.canary.map { PlantedDefect($0, seed: options.seed) }
    scheduler = Scheduler(policy: canary?.policy(policy) ?? policy)
    checkers = Checkers(policy: policy, timerDelayMax: Self.timerDelayMax)
    memory.snapshot = scheduler
  }

  /// The faults of the seed, as text.
  public var faultsText: String { faults.text }

  /// Runs to the end, or to the first violation.
  public func run() -> SimulationOutcome {
    post(.scheduler(.manifestsChanged(configuration.manifests(0))))
    post(.scheduler(.clockRead(wallClock)))
    post(.notification(.loaded([], idLast: 0)))
    post(.scheduler(.started))
    safetyPhase()
    if violation == nil { livenessPhase() }
    return SimulationOutcome(
      eventCount: eventCount, recoveryCount: recoveryCount, traceHash: hash.value,
      violation: violation)
  }

  func report(_ checker: String, _ sentence: String) {
    guard violation == nil else { return }
    violation = Violation(
      checker: checker, sentence: sentence, eventNumber: eventCount,
      after: .nanoseconds(Int64(now - Self.start)))
  }

  // MARK: The daemon

  /// Handles an event and carries out its effects, as `Daemon.post` does. Events that occur
  /// meanwhile are handled afterwards.
  func post(_ event: Event) {
    guard isUp else {
      waiting.append(event)
      return
    }
    backlog.append(event)
    if !isHandling { handleBacklog() }
  }

  /// Carries out the effects that were left when the daemon died, and then handles new events.
  func carryOut(rest effects: ArraySlice<Effect>) {
    isHandling = true
    for effect in effects { carryOut(effect) }
    isHandling = false
    handleBacklog()
  }

  private func handleBacklog() {
    isHandling = true
    while backlogNext < backlog.count, isUp, violation == nil {
      let event = backlog[backlogNext]
      backlogNext += 1
      handle(event)
    }
    backlog.removeAll(keepingCapacity: true)
    backlogNext = 0
    isHandling = false
    if isUp { armTimer() }
  }

  private func handle(_ event: Event) {
    let instant = Instant(nanoseconds: now)
    let taken = canary?.event(event) ?? event
    var effects = scheduler.handle(taken, at: instant)
    memory.append(taken, at: instant, effects)
    if canary != nil { canary?.mutate(&effects) }
    eventCount += 1
    if let request = event.request { store.note(effects, of: request) }
    hash.add(event, at: instant, effects)
    observer?(event, effects, instant)
    if let violatedInvariant = scheduler.violatedInvariant {
      return report("invariants", violatedInvariant)
    }
    if let found = checkers.check(event, effects, at: now) {
      return report(found.checker, found.sentence)
    }
    var effectCount = effects.count
    var dies = false
    if let planned = deathPlanned {
      dies = planned.events == 0
      deathPlanned = dies ? nil : (planned.events - 1, planned.effects)
      if dies { effectCount = min(planned.effects, effectCount) }
    }
    for effect in effects.prefix(effectCount) { carryOut(effect) }
    if dies { die(effectsDone: effectCount) } else { memory.snapshotIfDue(scheduler) }
  }

  // MARK: Time

  /// The machine's own delay, from a deadline to the timer that was set for it.
  static let timerDelayMax = 20 * Nanoseconds.millisecond

  private func armTimer() {
    let next = scheduler.nextDeadline
    if next == armed?.deadline { return }
    armed = next.map { deadline in
      var chance = draw(.effects)
      let delay = chance.happens(500) ? 0 : chance.below(Self.timerDelayMax)
      let extra = canary?.timerDelay ?? 0
      return (deadline, max(now, deadline.nanoseconds) + delay + extra)
    }
  }

  func disarmTimer() { armed = nil }

  /// A stream of chance for what is done in the order of time, not of the actions.
  func draw(_ stream: Chance.Stream) -> Chance {
    draws += 1
    return Chance(seed: options.seed, stream, draws)
  }

  func schedule(after delay: UInt64, _ happening: Happening) {
    appointmentLast += 1
    agenda.insert(Appointment(at: now + delay, number: appointmentLast, happening: happening))
  }

  /// Processes all planned events until `end`, in order. Returns false when none was left.
  @discardableResult
  func advance(to end: UInt64) -> Bool {
    while violation == nil {
      let timer = isUp ? armed?.fires : nil
      let next = agenda.min?.at
      guard let at = [timer, next].compactMap({ $0 }).min(), at <= end else { break }
      now = max(now, at)
      if let timer, timer <= next ?? .max {
        armed = nil
        post(.scheduler(.deadlineReached))
      } else if let appointment = agenda.popMin() {
        happen(appointment.happening)
      }
    }
    let isIdle = agenda.isEmpty && (armed == nil || !isUp)
    if end != .max { now = max(now, end) }
    return !isIdle
  }

  // MARK: The phases

  private func safetyPhase() {
    for number in 0..<options.actionCount where violation == nil {
      if options.skipped.contains(where: { $0.contains(number) }) { continue }
      var chance = Chance(seed: options.seed, .actions, UInt64(number))
      advance(to: now + pause(&chance))
      guard violation == nil else { return }
      act(&chance)
      if violation == nil { runShort(number) }
    }
  }

  /// Mostly short ones, in which things meet; some in which limits pass.
  private func pause(_ chance: inout Chance) -> UInt64 {
    switch chance.below(100) {
    case 0..<25: chance.below(2 * Nanoseconds.millisecond)
    case 25..<60: chance.below(400 * Nanoseconds.millisecond)
    case 60..<88: chance.below(3 * Nanoseconds.second)
    case 88..<98: chance.below(12 * Nanoseconds.second)
    case _: chance.below(700 * Nanoseconds.second)
    }
  }

  /// Runs without faults until all work has finished.
  private func livenessPhase() {
    isSettling = true
    faults = Faults()
    deathPlanned = nil
    if !isUp { advance(to: now + 400 * Nanoseconds.second) }
    endFaults()
    let end = now + 4000 * Nanoseconds.second
    while violation == nil, advance(to: min(end, now + 100 * Nanoseconds.second)), now < end {}
    guard violation == nil else { return }
    if now >= end { return report("liveness", "it does not come to rest") }
    if let found = checkers.checkSettled(at: now) { return report(found.checker, found.sentence) }
    checkProcesses()
    if let unread = sockets.unread(where: { scheduler.state(of: $0) == .suspended }) {
      return report(
        "sockets",
        "data waits for instance \(unread.number), and the daemon does not resume it")
    }
    store.checkBadges()
    if let sentence = store.violatedInvariant { return report("notifications", sentence) }
    post(.scheduler(.stop))
    advance(to: now + 100 * Nanoseconds.second)
    guard violation == nil else { return }
    if let found = checkers.checkStopped() { return report(found.checker, found.sentence) }
    if let frozen = processes.first(where: { $0.isAlive && $0.isStopped }) {
      report("release", "process \(frozen.leader.pid) is still stopped after the scheduler's end")
    }
  }

  /// Checks that exactly the processes of suspended applications are stopped.
  private func checkProcesses() {
    for process in processes where process.isAlive {
      let state = process.instance.map { scheduler.state(of: $0) } ?? .notRunning
      if process.priority != ProcessPriority(state) {
        report(
          "priorities",
          "process \(process.leader.pid) of a \(state) application is favoured as "
            + "\(process.priority)")
      }
      guard let id = process.instance else {
        if process.isStopped {
          report("release", "process \(process.leader.pid) is stopped, and no instance's")
        }
        continue
      }
      let isSuspended = scheduler.state(of: id) == .suspended
      if isSuspended != process.isStopped {
        report(
          "suspension",
          "instance \(id.number) is \(scheduler.state(of: id)), and its processes are "
            + (process.isStopped ? "stopped" : "running"))
      }
    }
  }
}
