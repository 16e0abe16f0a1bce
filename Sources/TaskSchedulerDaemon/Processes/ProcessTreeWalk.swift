import LinuxSystem
import TaskSchedulerCore

/// A walk over the processes of an instance. A step examines one process.
///
/// If the instance has a control group, the walk lists the processes of the group. Otherwise it
/// descends the process tree from the leader and the other known processes. It then does not find
/// descendants whose parents have ended.
struct ProcessTreeWalk {
  private enum Place {
    case known(ProcessIdentity)
    /// The pid of a child, or of a process in the control group, and the time at which the kernel
    /// listed it. A process that started after that time has reused the pid. The time is in ticks,
    /// like start times.
    case listed(Int32, at: UInt64)
  }

  private let membership: InstanceMembership
  private let instance: InstanceProcesses
  private var queue: [Place] = []
  private var seen: Set<Int32>
  private let isDescending: Bool
  /// The group whose processes the walk must still list, if any.
  private var group: ControlGroup?

  init(_ instance: InstanceProcesses, _ membership: InstanceMembership) {
    self.membership = membership
    self.instance = instance
    group = instance.origin.group
    isDescending = group == nil
    seen = [membership.ownPID]
    guard isDescending else { return }
    queue = instance.remembered.map { .known($0) }
    queue += instance.stopped.map { .known($0.process.identity) }
    queue.append(.known(instance.leader.identity))
  }

  /// Creates a walk over the given processes only.
  init(
    only members: [ProcessStat], of instance: InstanceProcesses, _ membership: InstanceMembership
  ) {
    self.membership = membership
    self.instance = instance
    isDescending = false
    seen = [membership.ownPID]
    queue = members.reversed().map { .known($0.identity) }
  }

  /// Examines the next process. Returns the process if it belongs to the instance and has not
  /// ended.
  mutating func next() throws(SystemError) -> WalkStep {
    if let group {
      let pids = try group.processes()
      let now = BootClock.ticks()
      queue = pids.reversed().map { .listed($0, at: now) }
      self.group = nil
    }
    guard let place = queue.popLast() else { return .end }
    guard let stat = try examine(place) else { return .nothing }
    seen.insert(stat.pid)
    if isDescending, !stat.hasEnded {
      let children = try membership.proc.children(of: stat) ?? []
      let now = BootClock.ticks()
      for child in children where !seen.contains(child) {
        queue.append(.listed(child, at: now))
      }
    }
    return stat.hasEnded ? .nothing : .member(stat)
  }

  /// Returns a process; nil if the walk has already visited it, if it no longer exists, or if it
  /// leads another instance.
  private func examine(_ place: Place) throws(SystemError) -> ProcessStat? {
    switch place {
    case .known(let identity):
      guard !seen.contains(identity.pid), let stat = try membership.proc.stat(identity.pid),
        stat.identity == identity
      else { return nil }
      return stat
    case .listed(let pid, let time):
      guard !seen.contains(pid), let stat = try membership.proc.stat(pid), stat.startTime <= time,
        !isDescending || !membership.leadsAnother(stat, than: instance)
      else { return nil }
      return stat
    }
  }
}

/// A walk over the threads of an instance's processes. A step examines one process, or advances to
/// one thread.
struct ThreadWalk {
  private let proc: ProcFS
  private var members: ProcessTreeWalk
  private var member: ProcessStat?
  /// The remaining threads of the current process.
  private var threads: [Int32] = []

  enum Step {
    case thread(Int32, of: ProcessStat)
    case nothing
    case end
  }

  init(_ members: ProcessTreeWalk, in proc: ProcFS) {
    self.members = members
    self.proc = proc
  }

  /// Advances by one step. The first thread of a process comes before its other threads.
  mutating func next() throws(SystemError) -> Step {
    if let member, let thread = threads.popLast() { return .thread(thread, of: member) }
    switch try members.next() {
    case .member(let stat):
      member = stat
      threads = try proc.threads(of: stat)?.reversed() ?? []
      return threads.popLast().map { .thread($0, of: stat) } ?? .nothing
    case .nothing: return .nothing
    case .end: return .end
    }
  }
}
