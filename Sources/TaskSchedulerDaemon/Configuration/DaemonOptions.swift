import TaskSchedulerCore

/// The mechanism that suspends the processes of an instance.
public enum SuspendMechanism: String, CaseIterable, Hashable, Sendable {
  /// The freezer if the instance has a cgroup of its own, else signals.
  case auto
  /// SIGSTOP for every process.
  case signal
  /// The freezer (`cgroup.freeze`). An instance without a cgroup of its own cannot be suspended.
  case freezer
}

/// The mechanism by which the daemon starts the programs of manifests.
public enum LaunchMechanism: String, CaseIterable, Hashable, Sendable {
  /// Starts a program as a unit if systemd started the daemon as a service, and otherwise as a
  /// child.
  case auto
  /// Starts a program as a transient systemd service. The system's daemon places the service in
  /// `taskschedd.slice`, and a user's daemon in `app-taskschedd.slice` inside `app.slice`.
  case unit
  /// Starts a program as a child of the daemon, within the daemon's sandbox. The child gets its own
  /// cgroup if the daemon has permission to create one.
  case child
}

/// The daemon's settings that the scheduler does not need.
public struct DaemonOptions: Hashable, Sendable {
  /// `suspend-mechanism`.
  public var suspendMechanism = SuspendMechanism.auto
  /// `suspend-timeout`: how long the daemon waits until all processes of an instance have stopped.
  /// If they have not stopped by then, the daemon resumes them. Source: this project; most
  /// processes stop within milliseconds, but an uninterruptible wait for a disk may last seconds.
  public var suspendTimeout: Duration = .seconds(2)
  /// `launch-mechanism`. Takes effect when the daemon starts.
  public var launchMechanism = LaunchMechanism.auto
  /// `operator-group`: the group of operators, in addition to root and the daemon's own user; empty
  /// for no group.
  public var operatorGroup = "taskschedd"
  /// `log-level`.
  public var logLevel = LogLevel.info
  /// `MaxConnectionsPerUser`. Source: this project; 1,000 applications with two connections each,
  /// doubled, because old and new connections exist together while the applications reconnect.
  public var connectionsPerUserMax = 4096
  /// `MaxMonitorsPerUser`. The daemon sends each change to every monitor before it serves the next
  /// call. Source: this project; sending to all of them takes about 0.2 ms.
  public var monitorsPerUserMax = 64
  /// `MaxQueuedBytesPerConnection`: the number of unread bytes at which the daemon closes a
  /// connection. Source: this project; the size of the longest message.
  public var queuedBytesPerConnectionMax = 1 << 20
  /// `MaxQueuedBytesPerUser`: the memory for unfinished messages and unread replies of all
  /// connections of one user. Source: this project; enough for about ten replies, each of which
  /// lists the maximum number of tasks of a user.
  public var queuedBytesPerUserMax = 64 << 20
  /// `MaxUnfinishedBytesPerUser`: the part of `MaxQueuedBytesPerUser` for unfinished messages. The
  /// event log also stores these messages, on a file system that all users share. Source: this
  /// project; a message has at most 1 MiB and mostly arrives whole.
  public var unfinishedBytesPerUserMax = 4 << 20
  /// `MaxUnfinishedDescriptorsPerUser`: the number of descriptors in unfinished messages and unread
  /// replies. The descriptors occupy the daemon's descriptor table. Source: this project; a call
  /// needs one descriptor, and most calls arrive whole.
  public var unfinishedDescriptorsPerUserMax = 64

  /// `background-priority`: whether background applications run with lower priority.
  public var backgroundPriority = true
  /// `background-nice`: the minimum nice value of background threads. Source: this project; at 15,
  /// a thread has about a thirtieth of the weight of a thread at 0 (sched(7)).
  public var backgroundNice = 15
  /// `SharedResources`: files on which an application must hold no lock when the daemon suspends
  /// it. Source: contract §12.
  public var sharedResources: [String] = []

  /// `CallApplication`: the application that the daemon wakes or launches for an incoming call of a
  /// modem; nil for none.
  public var callApplication: ApplicationID?

  /// `[focus]`.
  public var adoption = AdoptionSettings()
  /// `[location]`.
  public var location = LocationSettings()

  /// The control group weight that corresponds to `backgroundNice`, in percent of the default
  /// weight. Each step of the nice value is a factor of 1.25 (sched(7)).
  public var backgroundWeight: Int {
    max(1, Int((0..<backgroundNice).reduce(100.0) { weight, _ in weight / 1.25 }.rounded()))
  }

  public init() {}
}
