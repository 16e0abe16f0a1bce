import EventLoop
import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerEventLog

/// The processes of one instance: the leader, and the other processes that the daemon knows.
final class InstanceProcesses {
  /// What the daemon knows about the processes of an instance before it manages the instance.
  struct Origin {
    /// The instance's own control group. Either the daemon launched the instance in this group, or
    /// a desktop created the group for the program.
    var group: ControlGroup?
    /// The value of TASKSCHEDD_INSTANCE in the environment of the instance's processes.
    var marker: String?
    /// The mechanism of suspension that the manifest sets; nil for the daemon's setting.
    var mechanism: SuspendMechanism?
    /// Whether the daemon launched the instance. If so, its processes do not outlive the leader.
    var isLaunched = false
    /// Whether the daemon adopted the instance because of its window.
    var isFromWindow = false
  }

  let id: InstanceID
  /// The id of the application, for messages.
  let application: String
  let leader: ProcessHandle
  let origin: Origin
  let uid: UInt32
  /// Whether the leader leads its session and its process group. The session or group then
  /// identifies descendants whose parents have ended.
  let leadsSession: Bool
  let leadsGroup: Bool

  /// A suspension in progress.
  var suspension: (any Suspension)?
  /// Whether the suspension waits for its turn in the work of a takeover.
  var isToBeSuspended = false
  /// A resumption in progress.
  var resumption: Resumption?
  /// Whether all processes are stopped, but the daemon has not reported the suspension yet.
  var isFullyStopped = false
  /// The watch that reports when another program thaws the instance; nil if the instance is not
  /// frozen.
  var frozenWatch: FrozenGroupWatch?
  /// The instant at which another program last resumed the instance, and the problem to report if
  /// programs resume it repeatedly.
  var lostAt: Instant?
  var repeatedResumeProblem: String?
  /// The processes that a previous daemon stopped. While the daemon starts, all clients wait for
  /// it. It therefore opens these processes only when it first needs them.
  private(set) var heldStopped: [DaemonState.Stopped] = []
  private var takenStopped: [StoppedProcess] = []
  /// Opens a process that a previous daemon stopped; returns nil if the process has ended or runs.
  private let takeHold: (DaemonState.Stopped) throws(SystemError) -> ProcessHandle?
  /// The processes of the instance at the time when the daemon asked the leader to terminate. After
  /// the leader's end, the kernel no longer reports the leader as their parent.
  var remembered: Set<ProcessIdentity> = []
  /// The work in progress that fills ``remembered``, and the work that examines the processes
  /// before the daemon reports the suspension.
  var remembering: [ProcessWorkQueue.Work] = []
  var lastScan: ProcessWorkQueue.Work?
  private var stoppedIdentities: Set<ProcessIdentity> = []
  /// Whether the control group may be frozen, because this daemon froze it or a previous daemon may
  /// have frozen it.
  var mayBeFrozen = false
  /// The reason why the daemon could not resume a process yet.
  var problem: String?
  /// The operation that kills all processes of the instance, in progress (`isBeingKilled`) or
  /// complete.
  var killing: Killing?
  var isBeingKilled = false
  /// Whether the instance has ended.
  var isReleased = false
  /// The addresses on which the instance listened at its last suspension.
  var listening = ListeningReport()
  /// The systemd unit of the leader, as last read by `ProcessController.unit(of:)`.
  var unit: SystemdUnit??
  /// Called before the daemon sends SIGSTOP to processes.
  var willStop: ([DaemonState.Stopped]) -> Void = { _ in }

  init(
    _ id: InstanceID, of application: String, leader: ProcessHandle, uid: UInt32, origin: Origin,
    stat: ProcessStat?
  ) {
    self.id = id
    self.application = application
    self.leader = leader
    self.origin = origin
    self.uid = uid
    leadsSession = stat?.session == leader.identity.pid
    leadsGroup = stat?.processGroup == leader.identity.pid
    takeHold = { (_) throws(SystemError) in nil }
  }

  /// Creates the processes of an instance from the state of a previous daemon.
  init(
    _ id: InstanceID, _ held: DaemonState.Instance, leader: ProcessHandle, in proc: ProcFS
  ) throws(SystemError) {
    self.id = id
    application = held.application
    self.leader = leader
    origin = Origin(held.details)
    uid = held.details.uid
    if let leadsSession = held.leadsSession, let leadsGroup = held.leadsGroup {
      (self.leadsSession, self.leadsGroup) = (leadsSession, leadsGroup)
    } else {
      let found = try proc.stat(leader.identity.pid)
      let stat = found?.identity == leader.identity ? found : nil
      leadsSession = stat?.session == leader.identity.pid
      leadsGroup = stat?.processGroup == leader.identity.pid
    }
    takeHold = { stopped throws(SystemError) in
      // If the process now runs, it does not count as stopped, so that the daemon stops it again.
      let identity = ProcessIdentity(stopped.process)
      guard let stat = try proc.stat(identity.pid), stat.identity == identity,
        stat.state == .stopped
      else { return nil }
      return identity == leader.identity ? leader : try ProcessHandle(identity, in: proc)
    }
    heldStopped = held.stopped
  }

  /// The processes that a daemon has stopped, in the order in which it stopped them.
  var stopped: [StoppedProcess] {
    takeHeldStopped()
    return takenStopped
  }

  /// Opens the processes that a previous daemon stopped. Processes that cannot be opened remain in
  /// `heldStopped`.
  private func takeHeldStopped() {
    let held = heldStopped
    heldStopped = []
    for stopped in held {
      do throws(SystemError) {
        guard let process = try takeHold(stopped) else { continue }
        noteStopped(process, wasStopped: stopped.wasStopped)
      } catch {
        heldStopped.append(stopped)
      }
    }
  }

  func hasStopped(_ process: ProcessIdentity) -> Bool {
    takeHeldStopped()
    return stoppedIdentities.contains(process)
  }

  func noteStopped(_ process: ProcessHandle, wasStopped: Bool) {
    takenStopped.append(StoppedProcess(process: process, wasStopped: wasStopped))
    stoppedIdentities.insert(process.identity)
  }

  /// Removes and returns the process that was stopped last; nil if no process is left that the
  /// daemon can open.
  func takeLastStopped() -> StoppedProcess? {
    if takenStopped.isEmpty { takeHeldStopped() }
    guard let last = takenStopped.popLast() else { return nil }
    stoppedIdentities.remove(last.process.identity)
    return last
  }

  var hasAnyStopped: Bool { !takenStopped.isEmpty || !heldStopped.isEmpty }

  /// All stopped processes, in the form of the event log.
  var allStopped: [DaemonState.Stopped] {
    let taken = takenStopped + (resumption?.refused.reversed() ?? [])
    return heldStopped
      + taken.map { .init(process: Leader($0.process.identity), wasStopped: $0.wasStopped) }
  }

  /// The processes in the form of the event log, for the next daemon.
  var held: DaemonState.Instance {
    var held = DaemonState.Instance(
      application: application, details: origin.details(of: leader.identity, uid: uid),
      stopped: allStopped)
    (held.leadsSession, held.leadsGroup) = (leadsSession, leadsGroup)
    if isReleased { held.release = isBeingKilled ? .kill : .resume }
    return held
  }

  /// Returns whether the daemon already knows that a process belongs to the instance.
  func isKnown(_ process: ProcessIdentity) -> Bool {
    leader.identity == process || hasStopped(process) || remembered.contains(process)
  }
}

/// A process that received SIGSTOP from the daemon.
struct StoppedProcess {
  let process: ProcessHandle
  /// Whether another program had stopped the process before the daemon's signal. The process then
  /// stays stopped when the instance resumes.
  let wasStopped: Bool
}

extension InstanceProcesses.Origin {
  /// Returns the origin in the form of the event log.
  func details(
    of leader: ProcessIdentity, uid: UInt32, launch: InstanceID? = nil
  ) -> DaemonState.LeaderDetails {
    DaemonState.LeaderDetails(
      leader: Leader(leader), uid: uid, group: group?.path, marker: marker,
      mechanism: mechanism?.rawValue, isLaunched: isLaunched, launch: launch,
      isFromWindow: isFromWindow)
  }

  init(_ details: DaemonState.LeaderDetails) {
    self.init(
      group: details.group.map { ControlGroup(path: $0) }, marker: details.marker,
      mechanism: details.mechanism.flatMap { SuspendMechanism(rawValue: $0) },
      isLaunched: details.isLaunched, isFromWindow: details.isFromWindow)
  }
}

extension ProcessIdentity {
  init(_ leader: Leader) {
    self.init(pid: leader.pid, startTime: leader.startTime)
  }
}

extension Leader {
  init(_ identity: ProcessIdentity) {
    self.init(pid: identity.pid, startTime: identity.startTime)
  }
}
