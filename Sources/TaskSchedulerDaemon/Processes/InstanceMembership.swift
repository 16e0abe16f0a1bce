import Glibc
import LinuxSystem
import TaskSchedulerCore

let noSuchProcess = ESRCH

/// The assignment of processes to instances (contract §1). The processes in an instance's own
/// control group belong to the instance. Without such a group, the leader and its descendants
/// belong to the instance, whatever their current parents are.
///
/// A descendant may outlive its parents. If the leader leads the descendant's session or process
/// group, that session or group then identifies the instance. Otherwise the marker in the
/// descendant's environment identifies the instance.
final class InstanceMembership {
  /// The environment variable that contains the marker of an instance.
  static let markerName = EnvironmentMarkers.markerName

  let proc: ProcFS
  let ownPID = getpid()
  /// The ancestors of the daemon at its start. Later, the daemon can lose ancestors but cannot gain
  /// any.
  private let ownAncestors: [ProcessIdentity]
  fileprivate var byLeader: [Int32: InstanceProcesses] = [:]
  fileprivate var byMarker: [String: InstanceProcesses] = [:]
  private var byGroup: [String: InstanceProcesses] = [:]
  /// The number of instances that were added so far. A process that belongs to no instance in one
  /// generation may belong to an instance in the next.
  private(set) var generation: UInt64 = 0
  private var observers: [(InstanceProcesses) -> Void] = []
  /// Called for each instance that is removed.
  var removed: (InstanceID) -> Void = { _ in }

  init(proc: ProcFS) throws(SystemError) {
    self.proc = proc
    ownAncestors = try proc.ancestors(getpid())
  }

  func add(_ instance: InstanceProcesses) {
    generation += 1
    byLeader[instance.leader.identity.pid] = instance
    // A marker belongs to one instance. A later instance with the same marker counts as unmarked.
    if let marker = instance.origin.marker, byMarker[marker] == nil { byMarker[marker] = instance }
    if let group = instance.origin.group { byGroup[group.path] = instance }
    for observer in observers { observer(instance) }
  }

  /// Calls a function for each instance that is added from now on.
  func observe(_ added: @escaping (InstanceProcesses) -> Void) { observers.append(added) }

  func remove(_ instance: InstanceProcesses) {
    let pid = instance.leader.identity.pid
    if byLeader[pid] === instance { byLeader[pid] = nil }
    if let marker = instance.origin.marker, byMarker[marker] === instance {
      byMarker[marker] = nil
    }
    if let group = instance.origin.group { byGroup[group.path] = nil }
    removed(instance.id)
  }

  // MARK: From process to instance

  /// Returns the instance that a process belongs to; nil if there is none.
  func instance(
    of process: ProcessIdentity, uid: UInt32
  ) throws(SystemError) -> InstanceProcesses? {
    if let own = ledBy(process) { return own }
    if !byGroup.isEmpty, let found = try grouped(process.pid) { return found }
    for ancestor in try proc.ancestors(process.pid) {
      if let found = ledBy(ancestor) { return found }
    }
    if let stat = try proc.stat(process.pid), stat.identity == process {
      if let found = byLeader[stat.session], found.leadsSession, found.uid == uid,
        inheritedFromLeader(found, stat, holder: try proc.identity(stat.session))
      {
        return found
      }
      if let found = byLeader[stat.processGroup], found.leadsGroup, found.uid == uid,
        inheritedFromLeader(found, stat, holder: try proc.identity(stat.processGroup))
      {
        return found
      }
    }
    return try markedInstance(of: process.pid, uid: uid)
  }

  /// Returns the instance whose control group contains the process, directly or in a group below;
  /// nil if there is none.
  private func grouped(_ pid: Int32) throws(SystemError) -> InstanceProcesses? {
    var path = try ControlGroup.of(pid, in: proc)?.path[...] ?? ""
    while !path.isEmpty {
      if let found = byGroup[String(path)] { return found }
      path = path.lastIndex(of: "/").map { path[..<$0] } ?? ""
    }
    return nil
  }

  /// Returns the instance that a process leads; nil if there is none.
  func instance(ledBy process: ProcessIdentity) -> InstanceProcesses? { ledBy(process) }

  private func ledBy(_ process: ProcessIdentity) -> InstanceProcesses? {
    byLeader[process.pid].flatMap { $0.leader.identity == process ? $0 : nil }
  }

  /// Returns the instance that the marker in the process's environment names. Any program can set
  /// the variable, so only processes of the leader's user count.
  ///
  /// - Parameter uid: The process's user, if the caller already knows it.
  private func markedInstance(
    of pid: Int32, uid: UInt32?
  ) throws(SystemError) -> InstanceProcesses? {
    guard !byMarker.isEmpty else { return nil }
    do throws(SystemError) {
      guard let marker = try proc.environmentValue(pid, of: Self.markerName),
        let found = byMarker[marker]
      else { return nil }
      if let uid { return found.uid == uid ? found : nil }
      return try proc.details(pid)?.uids.real == found.uid ? found : nil
    } catch {
      // A daemon without privileges cannot read a process of another user. Such a process belongs
      // to none of the daemon's instances.
      guard error.errno == EACCES || error.errno == EPERM else { throw error }
      return nil
    }
  }

  /// Returns whether a process must not lead an application. This applies to the daemon and its
  /// ancestors, because stopping an ancestor could stop the daemon.
  func isOurs(_ process: ProcessIdentity) -> Bool {
    process.pid == ownPID || process.pid <= 1 || ownAncestors.contains(process)
  }

  // MARK: From instance to processes

  /// Returns the processes that a ``ProcessTreeWalk`` finds for an instance. Blocks the event loop
  /// until the walk is complete, so call this function only to find few processes.
  ///
  /// - Parameter max: The maximum number of processes to find.
  func tree(
    _ instance: InstanceProcesses, max: Int = .max
  ) throws(SystemError) -> [ProcessStat] {
    var found: [ProcessStat] = []
    var walk = ProcessTreeWalk(instance, self)
    while found.count < max {
      switch try walk.next() {
      case .member(let stat): found.append(stat)
      case .nothing: break
      case .end: return found
      }
    }
    return found
  }

  /// Returns whether the process is the leader of another instance.
  func leadsAnother(_ stat: ProcessStat, than instance: InstanceProcesses) -> Bool {
    byLeader[stat.pid].map { $0 !== instance && $0.leader.identity == stat.identity } ?? false
  }

  /// The findings of a sweep over every process.
  struct Scan {
    var members: [InstanceID: [ProcessStat]] = [:]
    /// Whether the sweep has certainly found all processes of the instances; false if processes
    /// started and ended too fast.
    var isWhole = false
  }

  /// Determines the instance that a process belongs to, from the processes that the sweep has found
  /// so far.
  fileprivate func owner(
    of stat: ProcessStat, _ table: [Int32: ProcessStat], _ roots: [Int32: InstanceProcesses],
    markedFrom: UInt64
  ) throws(SystemError) -> InstanceProcesses? {
    var next: ProcessStat? = stat
    var steps = 0
    while let current = next, steps < 4096 {
      if let root = roots[current.pid], root.isKnown(current.identity) { return root }
      // A process that is younger than its child is not the real parent: it has reused the pid.
      next = table[current.parent].flatMap { $0.startTime <= current.startTime ? $0 : nil }
      steps += 1
    }
    if let led = byLeader[stat.session], led.leadsSession,
      inheritedFromLeader(led, stat, holder: table[stat.session]?.identity)
    {
      return led
    }
    if let led = byLeader[stat.processGroup], led.leadsGroup,
      inheritedFromLeader(led, stat, holder: table[stat.processGroup]?.identity)
    {
      return led
    }
    guard stat.startTime >= markedFrom,
      let marked = try markedInstance(of: stat.pid, uid: nil),
      stat.startTime >= marked.leader.identity.startTime
    else { return nil }
    return marked
  }

  /// Returns whether a process inherited its session or process group from the leader. The number
  /// of a session or group is a pid, which stays in use until the last member has ended. If another
  /// process has the leader's pid, the session or group with this number is a new one.
  ///
  /// - Parameter holder: The process that now has the leader's pid; nil if there is none.
  private func inheritedFromLeader(
    _ instance: InstanceProcesses, _ stat: ProcessStat, holder: ProcessIdentity?
  ) -> Bool {
    let leader = instance.leader.identity
    return stat.startTime >= leader.startTime && (holder == nil || holder == leader)
  }
}

/// A sweep over every process of the machine, for several instances at once. It also finds the
/// processes of an instance that a ``ProcessTreeWalk`` cannot find. A step examines some processes.
///
/// A sweep reads the kernel's list of processes. A process in the list may fork and end before the
/// sweep examines it, and the list does not contain the child. But each list contains at least one
/// living process of every process tree that has not ended. The sweep therefore reads the list
/// again until every new process in the list still exists after the sweep has examined it.
struct MachineScan {
  private enum Phase {
    case listing
    /// Examines the listed processes.
    case looking([Int32])
    /// Finds the instances of new processes, from this index on.
    case assigning(Int)
    /// Checks whether new processes still exist, from this index on.
    case checking(Int)
    case over
  }

  /// The maximum number of times that a sweep reads the list.
  private static let relistsMax = 64
  /// The number of processes to examine in a step.
  private static let examinedAtOnce = 8

  private let membership: InstanceMembership
  private let wanted: Set<InstanceID>
  private let roots: [Int32: InstanceProcesses]
  /// The start time of the oldest leader with a marker. No process with a marker is older.
  private let markedFrom: UInt64
  private var phase = Phase.listing
  private var round = 0
  private var table: [Int32: ProcessStat] = [:]
  /// The new processes of this round, and whether some ended before their examination.
  private var fresh: [ProcessStat] = []
  private var hasLost = false
  private(set) var found = InstanceMembership.Scan()

  init(_ instances: [InstanceProcesses], _ membership: InstanceMembership) {
    self.membership = membership
    wanted = Set(instances.map(\.id))
    (roots, markedFrom) = membership.roots(instances)
  }

  /// Performs a step. Returns false when the sweep is complete.
  mutating func step() throws(SystemError) -> Bool {
    switch phase {
    case .listing:
      (fresh, hasLost) = ([], false)
      phase = .looking(try membership.proc.pids().filter { table[$0] == nil })
    case .looking(var pids):
      // The assignment releases the second reference to the list, so that the list is not copied.
      phase = .over
      for pid in pids.suffix(Self.examinedAtOnce) { try examine(pid) }
      pids.removeLast(min(Self.examinedAtOnce, pids.count))
      phase = pids.isEmpty ? .assigning(0) : .looking(pids)
    case .assigning(let place):
      let end = min(place + Self.examinedAtOnce, fresh.count)
      for stat in fresh[place..<end] { try assign(stat) }
      phase = end < fresh.count ? .assigning(end) : afterAssigning()
    case .checking(let place):
      let end = min(place + Self.examinedAtOnce, fresh.count)
      for stat in fresh[place..<end] where try membership.proc.stat(stat.pid)?.hasEnded != false {
        found.isWhole = false
      }
      phase = end < fresh.count ? .checking(end) : found.isWhole ? .over : again()
    case .over: break
    }
    if case .over = phase { return false }
    return true
  }

  private mutating func examine(_ pid: Int32) throws(SystemError) {
    guard let stat = try membership.proc.stat(pid) else {
      hasLost = true
      return
    }
    table[pid] = stat
    fresh.append(stat)
  }

  private mutating func assign(_ stat: ProcessStat) throws(SystemError) {
    guard stat.pid != membership.ownPID, !stat.hasEnded,
      let owner = try membership.owner(of: stat, table, roots, markedFrom: markedFrom),
      wanted.contains(owner.id)
    else { return }
    found.members[owner.id, default: []].append(stat)
  }

  /// Returns the next phase. The sweep lists the processes at least twice: the work on the first
  /// list takes long, and new processes may have started meanwhile.
  private mutating func afterAssigning() -> Phase {
    guard round > 0, !hasLost else { return again() }
    found.isWhole = true
    return .checking(0)
  }

  private mutating func again() -> Phase {
    round += 1
    return round > Self.relistsMax ? .over : .listing
  }
}

extension InstanceMembership {
  /// Returns the known processes by pid, and the start time of the oldest leader with a marker.
  /// Descendants of a known process belong to its instance.
  fileprivate func roots(
    _ instances: [InstanceProcesses]
  ) -> ([Int32: InstanceProcesses], markedFrom: UInt64) {
    var roots: [Int32: InstanceProcesses] = [:]
    for instance in byLeader.values { roots[instance.leader.identity.pid] = instance }
    for instance in instances {
      for member in instance.stopped { roots[member.process.identity.pid] = instance }
      for member in instance.remembered { roots[member.pid] = instance }
    }
    return (roots, byMarker.values.map(\.leader.identity.startTime).min() ?? .max)
  }
}
