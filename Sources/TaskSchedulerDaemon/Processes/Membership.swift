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
  private let ownPID = getpid()
  /// At the start; an end of one of them only makes the list shorter.
  private let ownAncestors: [ProcessIdentity]
  private var byLeader: [Int32: InstanceProcesses] = [:]
  private var byMarker: [String: InstanceProcesses] = [:]
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

  /// The members that can be found from the leader and from those known before, going down: all,
  /// but for descendants whose parents have ended.
  ///
  /// - Parameter max: no more are looked for.
  func tree(
    _ instance: InstanceProcesses, max: Int = .max
  ) throws(SystemError) -> [ProcessStat] {
    if let group = instance.origin.group { return try processes(of: group, max: max) }
    var found: [ProcessStat] = []
    var seen: Set<Int32> = [ownPID]
    var queue = [instance.leader.identity] + instance.stopped.map(\.process.identity)
    queue += instance.remembered
    while found.count < max, let next = queue.popLast() {
      guard !seen.contains(next.pid), let stat = try proc.stat(next.pid), stat.identity == next
      else { continue }
      seen.insert(next.pid)
      if !stat.hasEnded { found.append(stat) }
      let children = try proc.children(next.pid) ?? []
      for child in children where !seen.contains(child) {
        guard let childStat = try proc.stat(child), !leadsAnother(childStat, than: instance) else {
          continue
        }
        queue.append(childStat.identity)
      }
    }
    return found
  }

  private func processes(
    of group: ControlGroup, max: Int
  ) throws(SystemError) -> [ProcessStat] {
    var found: [ProcessStat] = []
    for pid in try group.processes() where found.count < max {
      if let stat = try proc.stat(pid), !stat.hasEnded { found.append(stat) }
    }
    return found
  }

  private func leadsAnother(_ stat: ProcessStat, than instance: InstanceProcesses) -> Bool {
    byLeader[stat.pid].map { $0 !== instance && $0.leader.identity == stat.identity } ?? false
  }

  /// What a look at every process has found.
  struct Sweep {
    var members: [InstanceID: [ProcessStat]] = [:]
    /// Whether no member can have been missed. False where processes came and went too fast.
    var isWhole = false
  }

  /// How often the list of processes is read again in one sweep.
  private static let relistsMax = 64

  /// One look at every process of the machine, for several instances at once: finds the members
  /// that ``tree(_:)`` cannot, too.
  ///
  /// A process may fork and end between being listed and being looked at; then its child is in no
  /// list yet. But whoever of a family lives when a list has been read is in that list. So the list
  /// is read again until all that are new in it were still there after they had been looked at.
  func sweep(_ instances: [InstanceProcesses]) throws(SystemError) -> Sweep {
    var table = ProcessTable()
    var roots: [Int32: InstanceProcesses] = [:]
    for instance in byLeader.values { roots[instance.leader.identity.pid] = instance }
    for instance in instances {
      for member in instance.stopped { roots[member.process.identity.pid] = instance }
      for member in instance.remembered { roots[member.pid] = instance }
    }
    let wanted = Set(instances.map(\.id))
    // Nobody is older than the leader that they descend from.
    let markedFrom = byMarker.values.map(\.leader.identity.startTime).min() ?? .max
    var sweep = Sweep()
    for round in 0...Self.relistsMax {
      let listed = try table.look(proc)
      for stat in listed.fresh where stat.pid != ownPID && !stat.hasEnded {
        guard let owner = try owner(of: stat, table, roots, markedFrom: markedFrom),
          wanted.contains(owner.id) else {
          continue
        }
        sweep.members[owner.id, default: []].append(stat)
      }
      // The first list is long, and old by now: it is read again in any case.
      guard round > 0, !listed.hasLost else { continue }
      sweep.isWhole = true
      for stat in listed.fresh where try proc.stat(stat.pid)?.hasEnded != false {
        sweep.isWhole = false
      }
      if sweep.isWhole { break }
    }
    return sweep
  }

  private func owner(
    of stat: ProcessStat, _ table: ProcessTable, _ roots: [Int32: InstanceProcesses],
    markedFrom: UInt64
  ) throws(SystemError) -> InstanceProcesses? {
    var next: ProcessStat? = stat
    var steps = 0
    while let current = next, steps < 4096 {
      if let root = roots[current.pid], root.isKnown(current.identity) { return root }
      next = table.byPID[current.parent]
      steps += 1
    }
    if let led = byLeader[stat.session], led.leadsSession,
      isHeirOf(led, stat, holder: table.byPID[stat.session]?.identity) {
      return led
    }
    if let led = byLeader[stat.processGroup], led.leadsGroup,
      isHeirOf(led, stat, holder: table.byPID[stat.processGroup]?.identity) {
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

/// All processes of the machine at about one moment.
private struct ProcessTable {
  private(set) var byPID: [Int32: ProcessStat] = [:]

  /// Adds those that are not in it yet.
  ///
  /// - Returns: what was added, and whether some had gone before they could be looked at.
  mutating func look(
    _ proc: ProcFS
  ) throws(SystemError) -> (fresh: [ProcessStat], hasLost: Bool) {
    var fresh: [ProcessStat] = []
    var hasLost = false
    for pid in try proc.pids() where byPID[pid] == nil {
      guard let stat = try proc.stat(pid) else {
        hasLost = true
        continue
      }
      byPID[pid] = stat
      fresh.append(stat)
    }
    return (fresh, hasLost)
  }
}
