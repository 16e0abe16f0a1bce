import HeapModule
import TaskSchedulerCore

/// One run of the scheduler in a simulated world.
///
/// In the safety phase, faults happen, drawn from the seed. In the liveness phase that follows, no
/// fault happens, and all work must finish. Checkers examine every event and every effect.
public final class Simulation {
  let options: SimulationOptions
  let configuration: SimulatedConfiguration
  var faults: Faults
  var checkers: Checkers
  var canary: PlantedDefect?
  var hash = TraceHash()
  private(set) var violation: Violation?

  // MARK: The clock and the planned events
  static let start = 1_000 * Nanoseconds.second
  var now = Simulation.start
  var agenda: Heap<AgendaEntry> = []
  private var agendaLast: UInt64 = 0
  /// The scheduler's next deadline, and the instant at which the daemon's timer fires for it; nil
  /// if the timer is off.
  private var armed: (deadline: Instant, fires: UInt64)?
  var isSettling = false

  // MARK: The processes
  var processes: [SimulatedProcess] = []
  /// The index of each instance's leader in ``processes``, by the number of the instance.
  var byInstance: [Int?] = []
  /// The index of the process that each launch created, by the number of the instance. If the
  /// daemon dies during a launch, the next daemon repeats the launch and finds the process here.
  var byMark: [Int?] = []
  var requesters: [Requester] = []
  var configurationLast: UInt64 = 0
  var draws: UInt64 = 0
  var sockets = SimulatedSockets()
  var socketLast: UInt64 = 0
  let store = SimulatedStore()
  let locationStore = SimulatedLocationStore()
  /// The memory of the simulated machine.
  var machine = SimulatedMemory()
  /// The offset of the wall clock from the time since boot, in nanoseconds.
  var wallOffset: Int64 = 1_800_000_000_000_000_000

  // MARK: The sessions
  var sessions: [UserID: SimulatedSession] = [:]
  var lockedSeats: Set<SeatID> = []
  /// The calls of the modem.
  var modemCalls: [ModemCall] = []
  var location: SimulatedLocation

  // MARK: The daemon
  var isUp = true
  lazy var pump = boot(Scheduler(policy: policyAtStart))
  private let policyAtStart: Policy
  let files = SimulatedFiles()
  /// Events that wait in sockets until the daemon runs again.
  var waiting: [Event] = []
  /// The planned death of the daemon. Before it dies, the daemon handles `events` more events in
  /// full, and then carries out `effects` effects of the following event.
  var deathPlanned: (events: Int, effects: Int)?
  /// The number of effects of the current event that precede the planned death; nil if no death is
  /// planned for this event.
  var effectsUntilDeath: Int?
  /// The call that the daemon is carrying out, or during which it died.
  var call: Event?
  /// The requests to which the daemon has not replied.
  var unanswered: Set<RequestID> = []
  /// The scheduler of the daemon that died last.
  var schedulerAtDeath: Scheduler?
  /// The current event as it was posted. With a canary, the scheduler may receive a different one.
  var current: (event: Event, at: Instant)?
  /// With a canary, the posted events that the pump has not taken yet; otherwise empty.
  var posted: [Event] = []
  /// With a canary, the effects that replace each effect of the current event; otherwise empty.
  var planted: ArraySlice<[Effect]> = []
  var eventCount = 0
  var recoveryCount = 0

  /// A function that receives every event with its effects, for traces.
  public var observer: ((Event, [Effect], Instant) -> Void)?

  /// The sender of a request.
  enum Requester { case `operator`, process(Int) }

  public init(_ options: SimulationOptions) {
    self.options = options
    configuration = SimulatedConfiguration(seed: options.seed)
    faults = Faults(seed: options.seed, without: options.without)
    let policy = configuration.policy(0)
    canary = options.canary.map { PlantedDefect($0, seed: options.seed) }
    policyAtStart = canary?.policy(policy) ?? policy
    checkers = Checkers(policy: policy, timerDelayMax: Self.timerDelayMax)
    location = SimulatedLocation(
      seed: options.seed, at: Self.start, sources: configuration.locationSources)
  }

  /// The faults of the seed, as text.
  public var faultsText: String { faults.text }

  /// Runs to the end, or to the first violation.
  public func run() -> SimulationOutcome {
    post(.scheduler(.manifestsChanged(configuration.manifests(0))))
    post(.scheduler(.clockRead(wallClock)))
    post(.notification(.loaded([], idLast: 0)))
    startLocation()
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
    pump.stop()
  }

  // MARK: Time

  /// The longest time from a deadline until the machine's timer fires, in nanoseconds.
  static let timerDelayMax = 20 * Nanoseconds.millisecond

  func armTimer(_ next: Instant?) {
    if next == armed?.deadline { return }
    armed = next.map { deadline in
      var chance = draw(.effects)
      let delay = chance.happens(500) ? 0 : chance.below(Self.timerDelayMax)
      let extra = canary?.timerDelay ?? 0
      let fires = max(now, deadline.nanoseconds) + delay + extra
      // If both the old and the new deadline have passed, the timer fires no later than planned for
      // the old deadline.
      let isDue = deadline.nanoseconds <= now
      guard isDue, let armed, armed.deadline.nanoseconds <= now else { return (deadline, fires) }
      return (deadline, min(armed.fires, fires))
    }
  }

  func disarmTimer() { armed = nil }

  /// Returns a new stream of random numbers, for a choice that does not belong to a numbered
  /// action.
  func draw(_ stream: SeededGenerator.Stream) -> SeededGenerator {
    draws += 1
    return SeededGenerator(seed: options.seed, stream, draws)
  }

  func schedule(after delay: UInt64, _ planned: PlannedEvent) {
    agendaLast += 1
    agenda.insert(AgendaEntry(at: now + delay, number: agendaLast, planned: planned))
  }

  /// Processes all planned events until `end`, in order. Returns whether a planned event or a timer
  /// remains.
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
      } else if let entry = agenda.popMin() {
        perform(entry.planned)
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
      var chance = SeededGenerator(seed: options.seed, .actions, UInt64(number))
      advance(to: now + pause(&chance))
      guard violation == nil else { return }
      act(&chance)
      if violation == nil { actInSession(number) }
      if violation == nil { actOnAudio(number) }
      if violation == nil { actOnPlayers(number) }
      if violation == nil { actOnCalls(number) }
      if violation == nil { actOnAudioSessions(number) }
      if violation == nil { actOnLocation(number) }
      if violation == nil { runShort(number) }
    }
  }

  /// Returns the pause before the next action. Most pauses are short, so that actions coincide.
  /// Some are so long that limits expire.
  private func pause(_ chance: inout SeededGenerator) -> UInt64 {
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
    if now >= end {
      return report("liveness", "the scheduler still has work 4000 s after the last fault")
    }
    if let found = checkers.checkSettled(at: now) { return report(found.checker, found.sentence) }
    checkProcesses()
    checkMutes()
    checkVolumes()
    if let unread = sockets.unread(where: { pump.scheduler.state(of: $0) == .suspended }) {
      return report(
        "sockets",
        "instance \(unread.number) has unread data, but the daemon does not resume it")
    }
    store.checkBadges()
    if let sentence = store.violatedInvariant { return report("notifications", sentence) }
    locationStore.checkRegions(pump.scheduler, at: Instant(nanoseconds: now))
    if let sentence = locationStore.violatedInvariant {
      return report("stored location services", sentence)
    }
    post(.scheduler(.stop))
    advance(to: now + 100 * Nanoseconds.second)
    guard violation == nil else { return }
    if let found = checkers.checkStopped() { return report(found.checker, found.sentence) }
    checkMutes()
    checkVolumes()
    if let frozen = processes.first(where: { $0.isAlive && $0.isStopped }) {
      report(
        "release", "process \(frozen.leader.pid) is still stopped after the scheduler has stopped")
    }
  }

  /// Checks that exactly the processes of suspended applications are stopped. Also checks that each
  /// process has the priority that follows from the state of its application.
  private func checkProcesses() {
    for process in processes where process.isAlive {
      let state = process.instance.map { pump.scheduler.state(of: $0) } ?? .notRunning
      if process.priority != ProcessPriority(state) {
        report(
          "priorities",
          "process \(process.leader.pid) of a \(state) application has \(process.priority) "
            + "priority")
      }
      guard let id = process.instance else {
        if process.isStopped {
          report("release", "process \(process.leader.pid) is stopped, but has no instance")
        }
        continue
      }
      let isSuspended = pump.scheduler.state(of: id) == .suspended
      if isSuspended != process.isStopped {
        report(
          "suspension",
          "instance \(id.number) is \(pump.scheduler.state(of: id)), but its processes are "
            + (process.isStopped ? "stopped" : "running"))
      }
    }
  }
}
