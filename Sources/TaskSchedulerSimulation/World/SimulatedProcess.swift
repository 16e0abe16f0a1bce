import TaskSchedulerCore

/// The behavior of a simulated application, drawn for each process.
struct SimulatedBehavior {
  /// Whether the application opens an event stream after its launch.
  var isAware: Bool
  var ignoresExpiration: Bool
  var ignoresTermination: Bool
  var forks: Bool
  var usesGPU: Bool
  /// The CPU time of the running application, in thousandths of one CPU.
  var processorRate: UInt64
  /// Whether the application keeps a lock on a shared file when it goes to the background.
  var keepsLock: Bool

  init(_ chance: inout SeededGenerator, _ faults: Faults) {
    isAware = chance.happens(650)
    ignoresExpiration = chance.happens(faults[.ignoresExpiration])
    ignoresTermination = chance.happens(faults[.ignoresTermination])
    forks = chance.happens(faults[.forks])
    usesGPU = chance.happens(faults[.usesGPU])
    processorRate = chance.happens(faults[.hogsCPU]) ? 500 + UInt64(chance.below(2500)) : 10
    keepsLock = chance.happens(faults[.keepsLock])
  }
}

/// A simulated program: the leader of an instance, with all its processes.
final class SimulatedProcess {
  let leader: Leader
  let key: ApplicationKey
  var habits: SimulatedBehavior
  /// The instance of this leader; nil before the daemon manages it and after its release.
  var instance: InstanceID?
  var isAlive = true
  var status: ExitStatus?
  /// Whether the daemon cannot watch for the end of the process, and therefore does not manage it.
  var isUnwatchable = false
  /// Whether no process of the program executes an instruction.
  var isStopped = false
  /// A number that each suspension, resume and kill increments. A planned event with an earlier
  /// number has no effect.
  var suspensionGeneration = 0
  /// Whether the process believes that its event stream is open.
  var hasStream = false
  var isTraced = false
  /// The reactions that a stopped program postpones.
  var postponed: [Reaction] = []
  var tasks: [TaskID] = []
  var tasksEnded: [TaskID] = []
  var callbacksAcknowledged: [CallbackID] = []
  var isExitPlanned = false
  /// The sockets that the program believes to be managed.
  var sockets: [SocketID] = []
  /// The notifications that the program has scheduled.
  var notifications: [NotificationID] = []

  /// The priority that the daemon has set.
  var priority = ProcessPriority.foreground
  /// The percentage of one CPU to which the process is throttled; nil if it is not.
  var throttledTo: Int?
  /// The resource use up to `countedAt`, as the daemon counts it.
  private var processor: UInt64 = 0
  private var gpu: UInt64 = 0
  private var countedAt: UInt64 = 0
  /// Whether the daemon has sampled the use since it last stopped the program.
  var isSampled = false

  /// Adds the resource use since the last call of this method. Call it before each change of the
  /// process's state or throttle.
  func count(until now: UInt64) {
    let time = isStopped || !isAlive ? 0 : now - min(now, countedAt)
    countedAt = now
    let rate = min(habits.processorRate, throttledTo.map { UInt64($0) * 10 } ?? .max)
    processor += time / 1000 * rate
    if habits.usesGPU { gpu += time / 2 }
  }

  func use(at now: UInt64) -> ResourceUse {
    count(until: now)
    return ResourceUse(
      processor: .nanoseconds(Int64(clamping: processor)), gpu: .nanoseconds(Int64(clamping: gpu)),
      isTraced: isTraced)
  }

  /// Restarts the counters, because a new daemon counts resource use from its own start.
  func restartCounters(at now: UInt64) {
    (processor, gpu, countedAt) = (0, 0, now)
  }

  init(leader: Leader, key: ApplicationKey, habits: SimulatedBehavior) {
    self.leader = leader
    self.key = key
    self.habits = habits
  }
}

/// An action that an application performs by itself. A stopped application performs the action when
/// it is resumed.
enum Reaction {
  case acknowledge(CallbackID)
  case end(TaskID)
  case openStream
  /// The application reads all data on its sockets.
  case read
  /// The application pauses or continues its audio.
  case play(Bool)
}

/// An event that is planned for an instant.
enum PlannedEvent {
  case reaction(Int, Reaction)
  /// The daemon receives a message.
  case arrives(Event)
  case suspensionEnds(Int, generation: Int, failure: Bool)
  /// Another program resumes a suspended process.
  case resumedFromOutside(Int, generation: Int)
  /// The daemon checks whether a suspended process runs.
  case runningFound(Int, generation: Int)
  case exits(Int, ExitStatus)
  case signalFails(InstanceID)
  case debuggerLeaves(Int)
  case daemonStarts
  /// The daemon receives a result of the store or of the calendar.
  case storeAnswers(NotificationEvent, generation: Int)
  /// The store writes waiting transactions.
  case storeWrites(generation: Int)
  /// The store has reported all results of the last write.
  case storeRests(generation: Int)
  /// The kernel reports memory pressure. `again` is the number of further reports.
  case presses(again: Int)
  /// The daemon receives the result of a memory effect.
  case memoryAnswers(MemoryEvent, generation: Int)
  /// Work that would repeat forever ends. With `isLast`, relaunches and looks for a location end
  /// instead.
  case repeatingWorkEnds(isLast: Bool)
  /// The session agent of a user connects.
  case agentAttaches(UserID)
  /// The daemon receives a message of the session agent of a user.
  case agentMessageArrives(SessionEvent, of: UserID)
  /// A session agent receives an order about streams.
  case orderArrives(AudioEffect, attachment: Int)
  /// All players and recorders of a user pause.
  case playersPause(UserID)
  case location(PlannedLocationEvent)
}

/// A planned event with its instant. Events of the same instant happen in the order in which they
/// were planned.
struct AgendaEntry: Comparable {
  let at: UInt64
  let number: UInt64
  let planned: PlannedEvent

  static func < (one: AgendaEntry, other: AgendaEntry) -> Bool {
    (one.at, one.number) < (other.at, other.number)
  }

  static func == (one: AgendaEntry, other: AgendaEntry) -> Bool {
    (one.at, one.number) == (other.at, other.number)
  }
}

/// Durations in nanoseconds, the unit of the simulated world.
enum Nanoseconds {
  static let millisecond: UInt64 = 1_000_000
  static let second: UInt64 = 1_000_000_000

  static func of(_ duration: Duration) -> UInt64 {
    let (seconds, attoseconds) = duration.components
    return UInt64(seconds) * second + UInt64(attoseconds / 1_000_000_000)
  }
}
