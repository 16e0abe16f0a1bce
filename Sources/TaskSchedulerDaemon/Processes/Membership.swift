import Glibc
import LinuxSystem
import TaskSchedulerCore

let noSuchProcess = ESRCH

/// Which processes belong to which instance (contract §1): those in its own control group; else
/// the leader and its descendants, whoever their parent is by now.
///
/// A descendant whose parents have ended is known by its session or process group where the leader
/// leads that, or by the marker in its environment.
final class Membership {
  /// The entry of the environment that holds the marker.
  static let markerName = ProcessMarks.markerName

  let proc: ProcFS
  let ownPID = getpid()
  /// At the start; an end of one of them only makes the list shorter.
  private let ownAncestors: [ProcessIdentity]
  fileprivate var byLeader: [Int32: InstanceProcesses] = [:]
  fileprivate var byMarker: [String: InstanceProcesses] = [:]
  private var byGroup: [String: InstanceProcesses] = [:]
  /// How many instances have been added: a process that was of none may be of one of those.
  private(set) var generation: UInt64 = 0
  /// Hears of each instance that is removed.
  var removed: (InstanceID) -> Void = { _ in }

  init(proc: ProcFS) throws(SystemError) {
    self.proc = proc
    ownAncestors = try proc.ancestors(getpid())
  }

  func add(_ instance: InstanceProcesses) {
    generation += 1
    byLeader[instance.leader.identity.pid] = instance
    // A marker is one instance's: who comes later with the same one goes without.
    if let marker = instance.origin.marker, byMarker[marker] == nil { byMarker[marker] = instance }
    if let group = instance.origin.group { byGroup[group.path] = instance }
  }

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

  /// The instance that a process belongs to; nil where it is of none.
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
        isHeirOf(found, stat, holder: try proc.identity(stat.session)) {
        return found
      }
      if let found = byLeader[stat.processGroup], found.leadsGroup, found.uid == uid,
        isHeirOf(found, stat, holder: try proc.identity(stat.processGroup)) {
        return found
      }
    }
    return try markedInstance(of: process.pid, uid: uid)
  }

  /// By its control group, or one above that.
  private func grouped(_ pid: Int32) throws(SystemError) -> InstanceProcesses? {
    var path = try ControlGroup.of(pid, in: proc)?.path[...] ?? ""
    while !path.isEmpty {
      if let found = byGroup[String(path)] { return found }
      path = path.lastIndex(of: "/").map { path[..<$0] } ?? ""
    }
    return nil
  }

  /// The instance whose leader a process is.
  func instance(ledBy process: ProcessIdentity) -> InstanceProcesses? { ledBy(process) }

  private func ledBy(_ process: ProcessIdentity) -> InstanceProcesses? {
    byLeader[process.pid].flatMap { $0.leader.identity == process ? $0 : nil }
  }

  /// By the environment, which anybody may write: only processes of the leader's user count.
  ///
  /// - Parameter uid: the process's user, where it is known already.
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
      // Another user's process, in a daemon without privileges: none of ours.
      guard error.errno == EACCES || error.errno == EPERM else { throw error }
      return nil
    }
  }

  /// Whether the process is one that no application may be led by: ourselves and those we descend
  /// from, whose stop would stop us.
  func isOurs(_ process: ProcessIdentity) -> Bool {
    process.pid == ownPID || process.pid <= 1 || ownAncestors.contains(process)
  }

  // MARK: From instance to processes

  /// The members that a ``MemberWalk`` finds, at once: for few processes, or where no event waits.
  ///
  /// - Parameter max: no more are looked for.
  func tree(
    _ instance: InstanceProcesses, max: Int = .max
  ) throws(SystemError) -> [ProcessStat] {
    var found: [ProcessStat] = []
    var walk = MemberWalk(instance, self)
    while found.count < max {
      switch try walk.next() {
      case .member(let stat): found.append(stat)
      case .nothing: break
      case .end: return found
      }
    }
    return found
  }

  /// Whether the process is the leader of another instance.
  func leadsAnother(_ stat: ProcessStat, than instance: InstanceProcesses) -> Bool {
    byLeader[stat.pid].map { $0 !== instance && $0.leader.identity == stat.identity } ?? false
  }

  /// What a look at every process has found.
  struct Sweep {
    var members: [InstanceID: [ProcessStat]] = [:]
    /// Whether no member can have been missed. False where processes came and went too fast.
    var isWhole = false
  }

  /// The instance that a process belongs to, among all that were seen.
  fileprivate func owner(
    of stat: ProcessStat, _ table: [Int32: ProcessStat], _ roots: [Int32: InstanceProcesses],
    markedFrom: UInt64
  ) throws(SystemError) -> InstanceProcesses? {
    var next: ProcessStat? = stat
    var steps = 0
    while let current = next, steps < 4096 {
      if let root = roots[current.pid], root.isKnown(current.identity) { return root }
      // A process that is younger than its child has reused the parent's pid.
      next = table[current.parent].flatMap { $0.startTime <= current.startTime ? $0 : nil }
      steps += 1
    }
    if let led = byLeader[stat.session], led.leadsSession,
      isHeirOf(led, stat, holder: table[stat.session]?.identity) {
      return led
    }
    if let led = byLeader[stat.processGroup], led.leadsGroup,
      isHeirOf(led, stat, holder: table[stat.processGroup]?.identity) {
      return led
    }
    guard stat.startTime >= markedFrom,
      let marked = try markedInstance(of: stat.pid, uid: nil),
      stat.startTime >= marked.leader.identity.startTime
    else { return nil }
    return marked
  }

  /// The numbers of sessions and process groups are pids and live as long as their last member; a
  /// process that has the leader's pid and is not the leader shows that they have been reused.
  ///
  /// - Parameter holder: the process that has the leader's pid now; nil where there is none.
  private func isHeirOf(
    _ instance: InstanceProcesses, _ stat: ProcessStat, holder: ProcessIdentity?
  ) -> Bool {
    let leader = instance.leader.identity
    return stat.startTime >= leader.startTime && (holder == nil || holder == leader)
  }
}

/// One look at every process of the machine, for several instances at once: finds the members
/// that a ``MemberWalk`` cannot, too. A step examines some processes.
///
/// A process may fork and end between being listed and being looked at; then its child is in no
/// list yet. But every process of a family that lives when a list has been read is in that list. So
/// the list is read again until all that are new in it were still there after they had been looked
/// at.
struct MachineSweep {
  private enum Phase {
    case listing
    /// Looks at those that were listed.
    case looking([Int32])
    /// Finds the owners of those that are new, from this place on.
    case assigning(Int)
    /// Looks whether they are still there, from this place on.
    case checking(Int)
    case over
  }

  /// How often the list of processes is read again in one sweep.
  private static let relistsMax = 64
  /// How many processes are examined in a step.
  private static let examinedAtOnce = 8

  private let membership: Membership
  private let wanted: Set<InstanceID>
  private let roots: [Int32: InstanceProcesses]
  /// No marked process is older than this: none is older than its leader.
  private let markedFrom: UInt64
  private var phase = Phase.listing
  private var round = 0
  private var table: [Int32: ProcessStat] = [:]
  /// Those that are new in this round, and whether some had gone before they could be looked at.
  private var fresh: [ProcessStat] = []
  private var hasLost = false
  private(set) var found = Membership.Sweep()

  init(_ instances: [InstanceProcesses], _ membership: Membership) {
    self.membership = membership
    wanted = Set(instances.map(\.id))
    (roots, markedFrom) = membership.roots(instances)
  }

  /// Returns false when the look is over.
  mutating func step() throws(SystemError) -> Bool {
    switch phase {
    case .listing:
      (fresh, hasLost) = ([], false)
      phase = .looking(try membership.proc.pids().filter { table[$0] == nil })
    case .looking(var pids):
      // Else the list would be copied.
      phase = .over
      for pid in pids.suffix(Self.examinedAtOnce) { try look(pid) }
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

  private mutating func look(_ pid: Int32) throws(SystemError) {
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

  /// The first list is long, and old by now: it is read again in any case.
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

extension Membership {
  /// By whom members are known in a sweep for these instances, and since when any is marked.
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
