/// How the processes of an instance are stopped.
public enum SuspendMechanism: String, CaseIterable, Hashable, Sendable {
  /// By the freezer where the instance has a cgroup of its own, else by signals.
  case auto
  /// SIGSTOP to every process.
  case signal
  /// `cgroup.freeze`; an instance without a cgroup of its own cannot be suspended so.
  case freezer
}

/// How what manifests name is started.
public enum LaunchMechanism: String, CaseIterable, Hashable, Sendable {
  /// In a unit where systemd has started the daemon as a service, else as a child.
  case auto
  /// As a transient service of systemd's, in `app-taskschedd.slice` of a user's `app.slice`, or in
  /// the machine's `taskschedd.slice`.
  case unit
  /// As a child of the daemon, within its sandbox; in a cgroup of its own where the daemon may
  /// make one.
  case child
}

/// What is written to the log: records of this level and graver ones, in syslog's words.
public enum LogLevel: String, CaseIterable, Hashable, Sendable {
  case error, warning, notice, info, debug
}

/// The settings that are the daemon's own and none of the policy's.
public struct DaemonOptions: Hashable, Sendable {
  /// `suspend-mechanism`.
  public var suspendMechanism = SuspendMechanism.auto
  /// `suspend-timeout`: how long all processes of an instance may take to be seen stopped; then the
  /// suspension is undone. Source: this project; a stop takes milliseconds, a process in an
  /// uninterruptible wait on a disk up to seconds.
  public var suspendTimeout: Duration = .seconds(2)
  /// `launch-mechanism`. Takes effect when the daemon starts.
  public var launchMechanism = LaunchMechanism.auto
  /// `operator-group`: its members are operators, beside root and the daemon's own user. Empty for
  /// none.
  public var operatorGroup = "taskschedd"
  /// `log-level`.
  public var logLevel = LogLevel.info
  /// `MaxConnectionsPerUser`. Source: this project; some 1,000 applications with two connections
  /// each, and as many again while those reconnect.
  public var connectionsPerUserMax = 4096
  /// `MaxMonitorsPerUser`: each change is sent to each of them before the next call is served.
  /// Source: this project; some 0.2 ms for all of them.
  public var monitorsPerUserMax = 64
  /// `MaxQueuedBytesPerConnection`: what a slow reader may leave unread before its connection is
  /// closed. Source: this project; the longest message is as long.
  public var queuedBytesPerConnectionMax = 1 << 20
  /// `MaxQueuedBytesPerUser`: what is kept in memory for all connections of one user: unfinished
  /// messages and unread answers. Source: this project; some ten lists of as many tasks as a user
  /// may have.
  public var queuedBytesPerUserMax = 64 << 20
  /// `MaxUnfinishedBytesPerUser`: what of that may be of unfinished messages. The journal has them,
  /// too, which lies in a file system that all share. Source: this project; a message has 1 MiB at
  /// most, and is mostly whole at once.
  public var unfinishedBytesPerUserMax = 4 << 20
  /// `MaxUnfinishedDescriptorsPerUser`: descriptors that came with unfinished messages, and are
  /// in the daemon's table. Source: this project; a call needs one, and is mostly whole at
  /// once.
  public var unfinishedDescriptorsPerUserMax = 64

  /// `background-priority`: whether background applications run with lower priority.
  public var backgroundPriority = true
  /// `background-nice`: the nice value at least of their threads. Source: this project; at 15, a
  /// thread has a thirtieth of the weight of one at 0 (sched(7)).
  public var backgroundNice = 15
  /// `SharedResources`: files on which nobody may hold a lock when it is suspended. Source:
  /// contract §12.
  public var sharedResources: [String] = []

  /// How many hundredths of its weight a control group has where threads have `backgroundNice`:
  /// each step of nice is a factor of 1.25 (sched(7)).
  public var backgroundWeight: Int {
    max(1, Int((0..<backgroundNice).reduce(100.0) { weight, _ in weight / 1.25 }.rounded()))
  }

  public init() {}
}
