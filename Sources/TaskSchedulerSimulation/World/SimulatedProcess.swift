import TaskSchedulerCore

/// How an application of the made-up world behaves, drawn for each process.
struct Habits {
  /// Whether it opens an event stream when it has been launched.
  var isAware: Bool
  var ignoresExpiration: Bool
  var ignoresTermination: Bool
  var forks: Bool

  init(_ chance: inout Chance, _ faults: Faults) {
    isAware = chance.happens(650)
    ignoresExpiration = chance.happens(faults[.ignoresExpiration])
    ignoresTermination = chance.happens(faults[.ignoresTermination])
    forks = chance.happens(faults[.forks])
  }
}

/// A made-up program that runs: the leader of an instance, with all its processes.
final class SimulatedProcess {
  let leader: Leader
  let key: ApplicationKey
  var habits: Habits
  /// Which instance it leads; nil before it is managed and after it has been let go.
  var instance: InstanceID?
  /// The mark that a launched process carries.
  var launchedAs: InstanceID?
  var isAlive = true
  var status: ExitStatus?
  /// The daemon could not see its end, and so may not manage it.
  var isUnwatchable = false
  /// None of its processes runs an instruction.
  var isStopped = false
  /// Raised by each resume and kill, which end a suspension under way.
  var suspensionGeneration = 0
  /// Whether its connection is open, as it sees it.
  var hasStream = false
  var isTraced = false
  /// What it would do now, if it ran.
  var postponed: [Reaction] = []
  var tasks: [TaskID] = []
  var tasksEnded: [TaskID] = []
  var callbacksAcknowledged: [CallbackID] = []
  var isExitPlanned = false
  /// Sockets that it believes to have handed over.
  var sockets: [SocketID] = []
  /// What it has scheduled.
  var notifications: [NotificationID] = []

  init(leader: Leader, key: ApplicationKey, habits: Habits) {
    self.leader = leader
    self.key = key
    self.habits = habits
  }
}

/// What an application does by itself, when its time has come and it is not stopped.
enum Reaction {
  case acknowledge(CallbackID)
  case end(TaskID)
  case openStream
  /// It reads all that has come on its sockets.
  case read
}

/// What has a time at which it happens.
enum Happening {
  case reaction(Int, Reaction)
  /// A message comes out of a socket.
  case arrives(Event)
  case suspensionEnds(Int, generation: Int, failure: Bool)
  case exits(Int, ExitStatus)
  case signalFails(InstanceID)
  case debuggerLeaves(Int)
  case daemonStarts
  /// The store, or the calendar, has an answer.
  case storeAnswers(NotificationEvent, generation: Int)
  /// A trigger of the kernel fires, and so many more may.
  case presses(again: Int)
  /// What the daemon was asked of memory it has found out.
  case memoryAnswers(MemoryEvent, generation: Int)
  /// From now on nothing comes again and again.
  case farewell(isLast: Bool)
}

/// An entry of the agenda; those of the same time in the order in which they were made.
struct Appointment: Comparable {
  let at: UInt64
  let number: UInt64
  let happening: Happening

  static func < (one: Appointment, other: Appointment) -> Bool {
    (one.at, one.number) < (other.at, other.number)
  }

  static func == (one: Appointment, other: Appointment) -> Bool {
    (one.at, one.number) == (other.at, other.number)
  }
}

/// Lengths of time in nanoseconds, as the made-up world counts them.
enum Nanoseconds {
  static let millisecond: UInt64 = 1_000_000
  static let second: UInt64 = 1_000_000_000

  static func of(_ duration: Duration) -> UInt64 {
    let (seconds, attoseconds) = duration.components
    return UInt64(seconds) * second + UInt64(attoseconds / 1_000_000_000)
  }
}
