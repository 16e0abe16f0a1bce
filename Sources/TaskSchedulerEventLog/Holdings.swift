import TaskSchedulerCore

/// What the daemon holds of the world: processes by their identity, connections by the socket's
/// cookie (SO_COOKIE, which no other socket of this boot has).
public struct Holdings: Hashable, Sendable {
  public var instances: [InstanceID: Instance] = [:]
  public var connections: [UInt64: Connection] = [:]
  /// Leaders that the policy is about to be told of.
  public var arrivals: [Leader: Arrival] = [:]
  /// Instances that run on since the scheduler stopped, by their leaders. While one does, its
  /// application is not started a second time.
  public var runningOn: [Leader: Instance] = [:]

  public init() {}

  /// A leader, as it was found.
  public struct Arrival: Hashable, Sendable {
    public var leader: Leader
    public var uid: UInt32
    /// The path of its own control group below the mount of cgroup2.
    public var group: String?
    /// What TASKSCHEDD_INSTANCE is in the environment of its processes.
    public var marker: String?
    /// How its manifest wants it to be stopped.
    public var mechanism: String?
    public var isLaunched: Bool
    /// The launch that it was started for, where it is known before its program runs.
    public var launch: InstanceID?

    public init(
      leader: Leader, uid: UInt32, group: String?, marker: String?, mechanism: String?,
      isLaunched: Bool, launch: InstanceID? = nil
    ) {
      self.launch = launch
      self.leader = leader
      self.uid = uid
      self.group = group
      self.marker = marker
      self.mechanism = mechanism
      self.isLaunched = isLaunched
    }
  }

  /// The processes of one instance.
  public struct Instance: Hashable, Sendable {
    public var application: String
    public var arrival: Arrival
    /// Those that were sent SIGSTOP, in that order.
    public var stopped: [Stopped]
    /// Whether the instance is over, and what is left of its processes is being seen to.
    public var release: Release?
    /// The priorities that were, or are about to be, lowered, in that order.
    public var lowered: [Lowered] = []
    /// Whether the leader led its session and its process group when it was taken under management;
    /// nil where it is to be found out.
    public var leadsSession: Bool?
    public var leadsGroup: Bool?
  }

  /// What becomes of the processes that an instance leaves.
  public enum Release: String, Hashable, Sendable {
    case letRun, kill
  }

  /// A process that was, or is about to be, sent SIGSTOP.
  public struct Stopped: Hashable, Sendable {
    public var process: Leader
    /// Whether somebody else had stopped it before: then it stays so.
    public var wasStopped: Bool

    public init(process: Leader, wasStopped: Bool) {
      self.process = process
      self.wasStopped = wasStopped
    }
  }

  /// One priority that was, or is about to be, lowered.
  public struct Lowered: Hashable, Sendable {
    /// The id of a thread and when that began; the process, where the whole of it is concerned.
    public var thread: Leader
    /// The pid of the thread's process.
    public var process: Int32
    /// The path of the control group that is concerned instead.
    public var group: String?
    /// What was lowered: a name of the daemon's.
    public var lever: String
    public var before: Int
    public var after: Int

    public init(
      thread: Leader, process: Int32, group: String?, lever: String, before: Int, after: Int
    ) {
      self.thread = thread
      self.process = process
      self.group = group
      self.lever = lever
      self.before = before
      self.after = after
    }
  }

  /// A connection of which there is more to know than its socket tells.
  public struct Connection: Hashable, Sendable {
    public var stream: InstanceID?
    public var monitor: Monitor?
    public var waiting: Waiting?
    /// What was taken off the socket of a message that is not whole yet.
    public var input: MessagePart
    /// Whether something of it is in the daemon's memory alone: it cannot be taken over.
    public var isUnsaved: Bool

    public init(
      stream: InstanceID? = nil, monitor: Monitor? = nil, waiting: Waiting? = nil,
      input: MessagePart = MessagePart(), isUnsaved: Bool = false
    ) {
      self.stream = stream
      self.monitor = monitor
      self.waiting = waiting
      self.input = input
      self.isUnsaved = isUnsaved
    }
  }

  /// A connection that is told of changes.
  public struct Monitor: Hashable, Sendable {
    /// The user whose applications it sees; nil is all users.
    public var uid: UInt32?
    /// The id of the only application that it sees; nil is all applications.
    public var application: String?

    public init(uid: UInt32?, application: String? = nil) {
      self.uid = uid
      self.application = application
    }
  }

  /// A call that waits for the policy's answer.
  public struct Waiting: Hashable, Sendable {
    public var request: RequestID
    public var method: String
    /// The application as the caller named it.
    public var application: String
    /// Whether the caller takes several answers.
    public var takesMore: Bool
    /// Whether the caller takes no answer.
    public var isOneway: Bool

    public init(
      request: RequestID, method: String, application: String, takesMore: Bool, isOneway: Bool
    ) {
      self.request = request
      self.method = method
      self.application = application
      self.takesMore = takesMore
      self.isOneway = isOneway
    }
  }
}

/// The call that an event answers. It is stored in the same record as the event.
public struct LoggedCall: Hashable, Sendable {
  /// The cookie of the connection.
  public var connection: UInt64
  public var waiting: Holdings.Waiting

  public init(connection: UInt64, waiting: Holdings.Waiting) {
    self.connection = connection
    self.waiting = waiting
  }
}

/// Bytes of a message that is not complete yet.
public struct MessagePart: Hashable, Sendable {
  public var bytes: [UInt8]

  public init(_ bytes: [UInt8] = []) {
    self.bytes = bytes
  }
}

/// What the daemon does or learns that is no event of the policy. Each is written before it is
/// done, or where it may be repeated without harm, after.
public enum Note: Hashable, Sendable {
  /// Before the event that tells the policy of this leader.
  case arrival(Holdings.Arrival)
  /// Before SIGSTOP.
  case stopping(InstanceID, [Holdings.Stopped])
  /// After SIGCONT to all that were stopped.
  case letRun(InstanceID)
  /// Nothing of an instance that is over is held any more.
  case forgotten(InstanceID)
  case stream(InstanceID, connection: UInt64)
  case monitor(Holdings.Monitor, connection: UInt64)
  /// Before these bytes of an unfinished message are taken off the socket.
  case input(MessagePart, connection: UInt64)
  /// The message has become whole, and is being carried out.
  case inputWhole(connection: UInt64)
  case unsaved(Bool, connection: UInt64)
  /// Before priorities are lowered.
  case lowering(InstanceID, [Holdings.Lowered])
  /// After all of them were given back.
  case gaveBack(InstanceID)
}

extension Holdings {
  /// What a note means for what is held.
  public mutating func apply(_ note: Note) {
    switch note {
    case .arrival(let arrival): arrivals[arrival.leader] = arrival
    case .stopping(let id, let stopped): instances[id]?.stopped += stopped
    case .letRun(let id): instances[id]?.stopped = []
    case .forgotten(let id): instances[id] = nil
    case .stream(let id, let cookie): connections[cookie, default: Connection()].stream = id
    case .monitor(let monitor, let cookie):
      connections[cookie, default: Connection()].monitor = monitor
    case .input(let bytes, let cookie):
      connections[cookie, default: Connection()].input.bytes += bytes.bytes
    case .inputWhole(let cookie): connections[cookie]?.input = MessagePart()
    case .unsaved(let isUnsaved, let cookie):
      connections[cookie, default: Connection()].isUnsaved = isUnsaved
    case .lowering(let id, let lowered): instances[id]?.lowered += lowered
    case .gaveBack(let id): instances[id]?.lowered = []
    }
  }

  /// The policy has answered the event that told it of this leader: whom it did not take was let
  /// go.
  public mutating func forgetArrival(of leader: Leader) {
    arrivals[leader] = nil
  }

  /// The scheduler stops: all that it held runs on.
  public mutating func keepRunningOn() {
    for instance in instances.values where instance.release == nil {
      runningOn[instance.arrival.leader] = instance
    }
  }

  /// What an effect that was carried out means for what is held, but for calls that wait: who finds
  /// those by their requests, knows where they wait.
  public mutating func apply(_ effect: Effect) {
    switch effect {
    case .manage(let id, let leader, let key):
      runningOn[leader] = nil
      guard let arrival = arrivals.removeValue(forKey: leader) else { return }
      instances[id] = Instance(application: key.id.name, arrival: arrival)
    case .release(let id, let killing):
      // Where it was launched and its leader has ended, it may be killed all the same: the one
      // who lets it go finds out again.
      instances[id]?.release = killing ? .kill : .letRun
    case .reply, .deliver, .expire, .notify, .socket, .notification, .memory, .spawn, .suspend,
      .resume, .terminate, .kill, .checkTracer, .record, .resources:
      break
    }
  }
}

extension Holdings.Instance {
  public init(application: String, arrival: Holdings.Arrival, stopped: [Holdings.Stopped] = []) {
    self.application = application
    self.arrival = arrival
    self.stopped = stopped
  }
}
