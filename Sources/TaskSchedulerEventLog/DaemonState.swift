import TaskSchedulerCore

/// The part of the daemon's state that the scheduler does not have: processes and connections.
///
/// A process is identified by its pid and start time. A connection is identified by the cookie of
/// its socket (`SO_COOKIE`), which is unique in this boot.
public struct DaemonState: Equatable, Sendable {
  public var instances: [InstanceID: Instance] = [:]
  public var connections: [UInt64: Connection] = [:]
  /// Leaders that the scheduler does not manage yet. The next events report them to the scheduler.
  public var unmanagedLeaders: [Leader: LeaderDetails] = [:]
  /// Instances that continued to run when the scheduler stopped. The key is the leader. While such
  /// an instance runs, the daemon does not launch its application again.
  public var leftRunning: [Leader: Instance] = [:]

  public init() {}

  /// A leader, and the facts about it that the daemon has determined.
  public struct LeaderDetails: Equatable, Sendable {
    public var leader: Leader
    public var uid: UInt32
    /// The path of the leader's own control group below the mount point of cgroup2.
    public var group: String?
    /// The value of `TASKSCHEDD_INSTANCE` in the environment of the leader's processes.
    public var marker: String?
    /// The suspension mechanism that the application's manifest requests.
    public var mechanism: String?
    public var isLaunched: Bool
    /// The id of the instance, if the daemon chose it before the program ran; nil otherwise.
    public var launch: InstanceID?
    /// Whether the daemon adopted the process because of its window.
    public var isFromWindow: Bool

    public init(
      leader: Leader, uid: UInt32, group: String?, marker: String?, mechanism: String?,
      isLaunched: Bool, launch: InstanceID? = nil, isFromWindow: Bool = false
    ) {
      self.launch = launch
      self.isFromWindow = isFromWindow
      self.leader = leader
      self.uid = uid
      self.group = group
      self.marker = marker
      self.mechanism = mechanism
      self.isLaunched = isLaunched
    }
  }

  /// The processes of one instance.
  public struct Instance: Equatable, Sendable {
    public var application: String
    public var details: LeaderDetails
    /// The processes that the daemon has stopped, or is about to stop, in the order of the signals.
    public var stopped: [Stopped]
    /// What the daemon does with the remaining processes of the ended instance; nil before the end.
    public var release: Release?
    /// The priorities that the daemon has lowered, or is about to lower, in the order of the
    /// changes.
    public var lowered: [Lowered] = []
    /// Whether the leader was also a session leader (setsid(2)) when the daemon began to manage the
    /// instance; nil if the daemon has not examined that.
    public var leadsSession: Bool?
    /// Whether the leader was also a process group leader (setpgid(2)) when the daemon began to
    /// manage the instance; nil if the daemon has not examined that.
    public var leadsGroup: Bool?
  }

  /// An action of the daemon on the remaining processes of an ended instance.
  public enum Release: String, Equatable, Sendable {
    case resume, kill
  }

  /// A process that the daemon has stopped with SIGSTOP, or is about to stop.
  public struct Stopped: Equatable, Sendable {
    public var process: Leader
    /// Whether another program had stopped the process before the daemon did. If so, the daemon
    /// leaves the process stopped.
    public var wasStopped: Bool

    public init(process: Leader, wasStopped: Bool) {
      self.process = process
      self.wasStopped = wasStopped
    }
  }

  /// A priority of a thread, a process or a control group. The daemon has lowered this priority, or
  /// is about to lower it.
  public struct Lowered: Equatable, Sendable {
    /// The id and start time of the thread. If the priority belongs to a whole process, those of
    /// the process; if it belongs to a control group, those of the leader.
    public var thread: Leader
    /// The pid of the process that ``thread`` belongs to.
    public var process: Int32
    /// The path of the control group; nil if the priority belongs to a thread or a process.
    public var group: String?
    /// The daemon's name for the kind of priority.
    public var kind: String
    public var before: Int
    public var after: Int

    public init(
      thread: Leader, process: Int32, group: String?, kind: String, before: Int, after: Int
    ) {
      self.thread = thread
      self.process = process
      self.group = group
      self.kind = kind
      self.before = before
      self.after = after
    }
  }

  /// The part of a client connection's state that the kernel does not keep in the socket.
  public struct Connection: Equatable, Sendable {
    public var stream: InstanceID?
    public var monitor: Monitor?
    /// Whether a session agent receives its orders on the connection.
    public var isAgent: Bool
    public var waiting: Waiting?
    /// The received part of an incomplete message.
    public var input: MessagePart
    /// Whether a part of the connection's state exists only in the daemon's memory. The next daemon
    /// cannot take over such a connection.
    public var isUnsaved: Bool

    public init(
      stream: InstanceID? = nil, monitor: Monitor? = nil, isAgent: Bool = false,
      waiting: Waiting? = nil, input: MessagePart = MessagePart(), isUnsaved: Bool = false
    ) {
      self.stream = stream
      self.monitor = monitor
      self.isAgent = isAgent
      self.waiting = waiting
      self.input = input
      self.isUnsaved = isUnsaved
    }
  }

  /// The options of a connection that monitors changes.
  public struct Monitor: Equatable, Sendable {
    /// The user whose applications the monitor sees; nil for all users.
    public var uid: UInt32?
    /// The id of the only application that the monitor sees; nil for all applications.
    public var application: String?

    public init(uid: UInt32?, application: String? = nil) {
      self.uid = uid
      self.application = application
    }
  }

  /// A client's call to which the daemon has not replied.
  public struct Waiting: Equatable, Sendable {
    public var request: RequestID
    /// The full name of the method, such as `org.taskschedd.Application.Register`.
    public var method: String
    /// The application's id as the caller wrote it.
    public var application: String
    /// Whether the caller accepts several replies.
    public var takesMore: Bool
    /// Whether the caller wants no reply.
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

/// The call that requested an event. The event log stores the call in the same record as the event.
public struct LoggedCall: Equatable, Sendable {
  /// The cookie of the connection.
  public var connection: UInt64
  public var waiting: DaemonState.Waiting

  public init(connection: UInt64, waiting: DaemonState.Waiting) {
    self.connection = connection
    self.waiting = waiting
  }
}

/// Bytes of an incomplete message.
public struct MessagePart: Equatable, Sendable {
  public var bytes: [UInt8]

  public init(_ bytes: [UInt8] = []) {
    self.bytes = bytes
  }
}

/// An entry of the event log that is not an event of the scheduler: an action or a state of the
/// daemon.
///
/// The daemon writes a note before the action that the note describes. If a repetition of the
/// action does no harm, the daemon may write the note after the action.
public enum Note: Equatable, Sendable {
  /// The daemon knows a new leader. A later event reports the leader to the scheduler.
  case leader(DaemonState.LeaderDetails)
  /// The daemon is about to send SIGSTOP to these processes.
  case stopping(InstanceID, [DaemonState.Stopped])
  /// The daemon has sent SIGCONT to all processes that it had stopped.
  case resumed(InstanceID)
  /// The daemon has finished with the processes of an ended instance.
  case forgotten(InstanceID)
  case stream(InstanceID, connection: UInt64)
  case monitor(DaemonState.Monitor, connection: UInt64)
  /// The daemon is about to receive these bytes of an incomplete message.
  case input(MessagePart, connection: UInt64)
  /// The daemon has received the rest of the incomplete message, and has handled the message.
  case inputComplete(connection: UInt64)
  case unsaved(Bool, connection: UInt64)
  /// The daemon is about to lower these priorities.
  case lowering(InstanceID, [DaemonState.Lowered])
  /// The daemon has restored all priorities of the instance.
  case restored(InstanceID)
  /// A session agent receives its orders on the connection, or no longer does.
  case agent(Bool, connection: UInt64)
}

extension DaemonState {
  /// Applies a note to the daemon's state.
  public mutating func apply(_ note: Note) {
    switch note {
    case .leader(let details): unmanagedLeaders[details.leader] = details
    case .stopping(let id, let stopped): instances[id]?.stopped += stopped
    case .resumed(let id): instances[id]?.stopped = []
    case .forgotten(let id): instances[id] = nil
    case .stream(let id, let cookie): connections[cookie, default: Connection()].stream = id
    case .monitor(let monitor, let cookie):
      connections[cookie, default: Connection()].monitor = monitor
    case .input(let bytes, let cookie):
      connections[cookie, default: Connection()].input.bytes += bytes.bytes
    case .inputComplete(let cookie): connections[cookie]?.input = MessagePart()
    case .unsaved(let isUnsaved, let cookie):
      connections[cookie, default: Connection()].isUnsaved = isUnsaved
    case .lowering(let id, let lowered): instances[id]?.lowered += lowered
    case .restored(let id): instances[id]?.lowered = []
    case .agent(let isAgent, let cookie):
      connections[cookie, default: Connection()].isAgent = isAgent
    }
  }

  /// Removes a leader after the scheduler has handled the event that reported the leader. If
  /// ``unmanagedLeaders`` still contains the leader then, the scheduler has refused to manage the
  /// leader.
  public mutating func forgetUnmanagedLeader(of leader: Leader) {
    unmanagedLeaders[leader] = nil
  }

  /// Records the instances that continue to run when the scheduler stops.
  public mutating func leaveRunning() {
    for instance in instances.values where instance.release == nil {
      leftRunning[instance.details.leader] = instance
    }
  }

  /// Updates the daemon's state for an effect that was carried out.
  ///
  /// For a reply, this method does nothing. Its caller removes the waiting call, because only the
  /// caller knows the connection of the call.
  public mutating func apply(_ effect: Effect) {
    switch effect {
    case .manage(let id, let leader, let key):
      leftRunning[leader] = nil
      guard let details = unmanagedLeaders.removeValue(forKey: leader) else { return }
      instances[id] = Instance(application: key.id.name, details: details)
    case .release(let id, let killing):
      // Even if `killing` is false, the daemon may kill the remaining processes of a launched
      // instance. This decision is not stored, because the next daemon makes it again.
      instances[id]?.release = killing ? .kill : .resume
    case .reply, .deliver, .expire, .notify, .socket, .notification, .memory, .spawn, .suspend,
      .resume, .terminate, .kill, .checkTracer, .record, .resources, .dropPicture, .audio, .remote,
      .location:
      break
    }
  }
}

extension DaemonState.Instance {
  public init(
    application: String, details: DaemonState.LeaderDetails, stopped: [DaemonState.Stopped] = []
  ) {
    self.application = application
    self.details = details
    self.stopped = stopped
  }
}
