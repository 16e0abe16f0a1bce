import EventLoop
import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerEventLog

/// One process, held by its pidfd: whatever is sent to it reaches this one and no other.
final class ProcessHandle {
  let identity: ProcessIdentity
  let pidfd: PIDFD

  /// - Throws: EINVAL for no pidfd, ESRCH where the process has been reaped.
  init(_ pidfd: consuming PIDFD, in proc: ProcFS) throws(SystemError) {
    guard let identity = try pidfd.identity(in: proc) else {
      throw SystemError(call: "pidfd", errno: noSuchProcess)
    }
    self.identity = identity
    self.pidfd = pidfd
  }

  /// Takes hold of the process that was seen with this identity; nil where it has ended.
  init?(_ identity: ProcessIdentity, in proc: ProcFS) throws(SystemError) {
    // It had the pid before and has it afterwards, so no other had it in between.
    guard let pidfd = try PIDFD.open(identity.pid), try proc.exists(identity)
    else { return nil }
    self.identity = identity
    self.pidfd = pidfd
  }

  /// A process that an earlier daemon held, by its pidfd; it may have ended meanwhile.
  init(_ identity: ProcessIdentity, held pidfd: consuming PIDFD) {
    self.identity = identity
    self.pidfd = pidfd
  }
}

/// The processes of one instance: the leader, and what is known of the others.
final class InstanceProcesses {
  /// What the daemon knows of an instance's processes before it is managed.
  struct Origin {
    /// Its own control group, where the daemon launched it in one.
    var group: ControlGroup?
    /// What TASKSCHEDD_INSTANCE is in the environment of its processes.
    var marker: String?
    /// How its manifest wants it to be stopped.
    var mechanism: SuspendMechanism?
    /// Whether the daemon started it; then nothing of it outlives its leader.
    var isLaunched = false
  }

  let id: InstanceID
  /// The id of the application, for messages.
  let application: String
  let leader: ProcessHandle
  let origin: Origin
  let uid: UInt32
  /// Whether the leader leads its session and its process group, by which descendants are known
  /// whose parents have ended.
  let leadsSession: Bool
  let leadsGroup: Bool

  /// A suspension that is under way.
  var suspension: (any Suspension)?
  /// Whether one is to be begun when others have been.
  var isToBeSuspended = false
  /// While those that were stopped are being resumed.
  var resumption: Resumption?
  /// Whether it has come to its end, but for a last look.
  var standsStill = false
  /// While it is suspended by the freezer.
  var frozenWatch: FrozenGroupWatch?
  /// When something other than the daemon last resumed it, and what is to be told of that where it
  /// happened again and again.
  var lostAt: Instant?
  var resistance: String?
  /// Those that an earlier daemon has stopped, before they are taken hold of: that is done when
  /// they are asked for, for until a new daemon serves, everybody waits.
  private(set) var heldStopped: [Holdings.Stopped] = []
  private var takenStopped: [StoppedProcess] = []
  /// Takes hold of one of those; nil where it has ended, or runs by now.
  private let takeHold: (Holdings.Stopped) throws(SystemError) -> ProcessHandle?
  /// Who was a member when the leader was told to end: after its end, its children are nobody's.
  var remembered: Set<ProcessIdentity> = []
  /// Work under way: recording the members, and examining them before a suspension is reported.
  var remembering: [ProcessSteps.Work] = []
  var lastLook: ProcessSteps.Work?
  private var stoppedIdentities: Set<ProcessIdentity> = []
  /// Whether its control group was asked to freeze, by us or perhaps by an earlier daemon.
  var mayBeFrozen = false
  /// Why some process could not be let run yet.
  var problem: String?
  /// The killing of all its processes, under way (`isBeingKilled`) or done.
  var killing: Killing?
  var isBeingKilled = false
  /// Whether the instance is over.
  var isReleased = false
  /// What it listened on when it was last seen to stand still.
  var listening = ListeningReport()
  /// The systemd unit of its leader, as it was last looked up: see `ProcessController.unit(of:)`.
  var unit: SystemdUnit??
  /// To be called before processes are sent SIGSTOP.
  var willStop: ([Holdings.Stopped]) -> Void = { _ in }

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

  /// As an earlier daemon held it.
  init(
    _ id: InstanceID, _ held: Holdings.Instance, leader: ProcessHandle, in proc: ProcFS
  ) throws(SystemError) {
    self.id = id
    application = held.application
    self.leader = leader
    origin = Origin(held.arrival)
    uid = held.arrival.uid
    if let leadsSession = held.leadsSession, let leadsGroup = held.leadsGroup {
      (self.leadsSession, self.leadsGroup) = (leadsSession, leadsGroup)
    } else {
      let found = try proc.stat(leader.identity.pid)
      let stat = found?.identity == leader.identity ? found : nil
      leadsSession = stat?.session == leader.identity.pid
      leadsGroup = stat?.processGroup == leader.identity.pid
    }
    takeHold = { stopped throws(SystemError) in
      // Only who stands still as we left it: whoever runs by now is to be stopped again, where it
      // should be.
      let identity = ProcessIdentity(stopped.process)
      guard let stat = try proc.stat(identity.pid), stat.identity == identity,
        stat.state == .stopped
      else { return nil }
      return identity == leader.identity ? leader : try ProcessHandle(identity, in: proc)
    }
    heldStopped = held.stopped
  }

  /// Processes that we have stopped, in that order.
  var stopped: [StoppedProcess] {
    takeHeldStopped()
    return takenStopped
  }

  /// Those that the system does not let us take hold of now stay held.
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

  /// Takes out the process that was stopped last; nil where none is left but those that could not
  /// be taken hold of.
  func takeLastStopped() -> StoppedProcess? {
    if takenStopped.isEmpty { takeHeldStopped() }
    guard let last = takenStopped.popLast() else { return nil }
    stoppedIdentities.remove(last.process.identity)
    return last
  }

  var hasAnyStopped: Bool { !takenStopped.isEmpty || !heldStopped.isEmpty }

  /// All that are stopped, as the event log names them.
  var allStopped: [Holdings.Stopped] {
    let taken = takenStopped + (resumption?.refused.reversed() ?? [])
    return heldStopped
      + taken.map { .init(process: Leader($0.process.identity), wasStopped: $0.wasStopped) }
  }

  /// What the next daemon has to know of them.
  var held: Holdings.Instance {
    var held = Holdings.Instance(
      application: application, arrival: origin.arrival(of: leader.identity, uid: uid),
      stopped: allStopped)
    (held.leadsSession, held.leadsGroup) = (leadsSession, leadsGroup)
    if isReleased { held.release = isBeingKilled ? .kill : .letRun }
    return held
  }

  /// Whether it was seen to be a member.
  func isKnown(_ process: ProcessIdentity) -> Bool {
    leader.identity == process || hasStopped(process) || remembered.contains(process)
  }
}

/// A process that was sent SIGSTOP.
struct StoppedProcess {
  let process: ProcessHandle
  /// Whether somebody else had stopped it before: then it stays so when the instance resumes.
  let wasStopped: Bool
}

extension InstanceProcesses.Origin {
  /// As the event log has it.
  func arrival(
    of leader: ProcessIdentity, uid: UInt32, launch: InstanceID? = nil
  ) -> Holdings.Arrival {
    Holdings.Arrival(
      leader: Leader(leader), uid: uid, group: group?.path, marker: marker,
      mechanism: mechanism?.rawValue, isLaunched: isLaunched, launch: launch)
  }

  init(_ arrival: Holdings.Arrival) {
    self.init(
      group: arrival.group.map { ControlGroup(path: $0) }, marker: arrival.marker,
      mechanism: arrival.mechanism.flatMap { SuspendMechanism(rawValue: $0) },
      isLaunched: arrival.isLaunched)
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
