import LinuxSystem
import TaskSchedulerCore

/// Lowers the priorities of the threads of an instance, in steps.
///
/// A lowering of the whole instance walks over the threads until a walk finds no new thread, at
/// most `walksMax` times. It then removes ended threads from ``LoweredPriorities``. A lowering of
/// given processes walks over their threads only once.
struct PriorityLowering {
  /// The maximum number of walks while new threads appear.
  private static let walksMax = 16
  /// The number of threads that a step checks because they may have ended.
  private static let checkedAtOnce = 16

  let instance: InstanceResources
  private unowned let priorities: Priorities
  /// The current walk; nil after the last walk, while the lowering searches for ended threads.
  private var walk: ThreadWalk?
  /// Whether this lowering walks all processes of the instance; false if it walks only given ones.
  private let isWhole: Bool
  private var walks = 1
  private var foundNew = false
  private var seen: Set<Int32> = []
  private var sought: [(thread: ProcessIdentity, process: Int32)] = []
  private var ended: Set<ProcessIdentity> = []

  init(_ instance: InstanceResources, in priorities: Priorities) {
    self.init(
      instance, ProcessTreeWalk(instance.processes, priorities.membership), in: priorities,
      isWhole: true)
  }

  /// Creates a lowering that walks only the given processes of the instance.
  init(
    _ instance: InstanceResources, _ members: ProcessTreeWalk, in priorities: Priorities,
    isWhole: Bool = false
  ) {
    self.instance = instance
    self.priorities = priorities
    self.isWhole = isWhole
    walk = ThreadWalk(members, in: priorities.proc)
  }

  /// Performs a step, which lowers the priorities of at most one thread. Returns false when the
  /// lowering is complete.
  mutating func step() throws(SystemError) -> Bool {
    // The daemon may have begun to restore the instance after the walk had started.
    guard instance.priority.isLowered else { return false }
    guard let step = try walk?.next() else { return findEnded() }
    switch step {
    case .thread(let thread, let stat):
      guard seen.insert(thread).inserted else { break }
      foundNew = true
      try priorities.lower(thread, of: stat, instance)
    case .nothing: break
    case .end: return walkEnded()
    }
    return true
  }

  private mutating func walkEnded() -> Bool {
    guard isWhole else { return false }
    if foundNew, walks < Self.walksMax {
      (walks, foundNew) = (walks + 1, false)
      walk = ThreadWalk(
        ProcessTreeWalk(instance.processes, priorities.membership), in: priorities.proc)
      return true
    }
    instance.isPartlyLowered = false
    walk = nil
    sought = instance.lowered.possiblyEnded(seen)
    return !sought.isEmpty
  }

  private mutating func findEnded() -> Bool {
    for (thread, process) in sought.suffix(Self.checkedAtOnce) {
      let found = (try? priorities.proc.stat(process, thread: thread.pid)) ?? nil
      if found?.identity != thread { ended.insert(thread) }
    }
    sought.removeLast(min(Self.checkedAtOnce, sought.count))
    if sought.isEmpty { instance.lowered.forget(ended) }
    return !sought.isEmpty
  }
}
