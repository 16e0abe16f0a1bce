import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerEventLog

/// The lowered priorities of one instance.
struct LoweredPriorities {
  private struct Key: Hashable {
    let thread: ProcessIdentity
    let kind: PriorityKind
    let after: Int
  }

  private struct Origin: Hashable {
    let thread: ProcessIdentity
    let kind: PriorityKind
  }

  /// An index of the items by thread and kind of priority.
  private struct Index {
    var written: Set<Key> = []
    var before: [Origin: Int] = [:]
    var threads: Set<ProcessIdentity> = []

    init(_ items: [LoweredPriority]) { for item in items { add(item) } }

    mutating func add(_ item: LoweredPriority) {
      threads.insert(item.thread)
      written.insert(Key(thread: item.thread, kind: item.kind, after: item.after))
      let origin = Origin(thread: item.thread, kind: item.kind)
      if before[origin] == nil { before[origin] = item.before }
    }
  }

  /// The items, in the order of their records in the event log.
  private(set) var items: [LoweredPriority] = []
  /// The index, if there are many items. Most instances have one process with few items, for which
  /// a linear search is fast enough. An index would take six times the memory of the items.
  private var index: Index?
  private var countMax = Self.countMin
  /// The instant at which the daemon began to lower the instance's priorities, in the ticks of
  /// ``ProcessIdentity/startTime``. A thread that started earlier did not inherit a lowered
  /// priority. nil if the daemon has not begun yet, or if a previous daemon lowered the priorities.
  private var since: UInt64?
  /// The priorities that the daemon could not lower, with the reasons.
  var obstacles: [PriorityKind: String] = [:]

  /// The initial and lowest value of `countMax`. If there are more items than `countMax`, the
  /// daemon removes the items of ended threads.
  private static let countMin = 1024
  /// The maximum number of items without an index.
  private static let unindexedMax = 16

  init(_ held: [DaemonState.Lowered] = []) {
    _ = add(held.compactMap { LoweredPriority($0) })
  }

  mutating func begin() {
    if items.isEmpty { since = BootClock.ticks() }
  }

  /// Returns whether there is an item for the thread.
  func isKnown(_ thread: ProcessIdentity) -> Bool {
    index?.threads.contains(thread) ?? items.contains { $0.thread == thread }
  }

  /// Returns whether the thread existed before the daemon began to lower the instance's priorities.
  /// Such a thread did not inherit its priority from a lowered parent.
  func isOlder(_ thread: ProcessIdentity) -> Bool {
    since.map { thread.startTime < $0 } ?? false
  }

  /// Returns the value that a thread's priority had before the daemon lowered the priority; nil if
  /// the daemon has not lowered it.
  func before(_ thread: ProcessIdentity, _ kind: PriorityKind) -> Int? {
    if let index { return index.before[Origin(thread: thread, kind: kind)] }
    return items.first { $0.thread == thread && $0.kind == kind }?.before
  }

  /// Adds priorities that are about to be lowered.
  ///
  /// - Returns: The priorities that the caller must still write to the event log.
  mutating func add(_ lowering: [LoweredPriority]) -> [LoweredPriority] {
    let countBefore = items.count
    // Usually this function is called once, with all priorities of one process. Without this
    // reservation, the array would allocate more memory than it needs.
    if items.isEmpty { items.reserveCapacity(lowering.count) }
    for item in lowering where !isWritten(item) {
      items.append(item)
      index?.add(item)
      if index == nil, items.count > Self.unindexedMax { index = Index(items) }
    }
    return Array(items[countBefore...])
  }

  private func isWritten(_ item: LoweredPriority) -> Bool {
    if let index {
      return index.written.contains(
        Key(thread: item.thread, kind: item.kind, after: item.after))
    }
    return items.contains {
      $0.thread == item.thread && $0.kind == item.kind && $0.after == item.after
    }
  }

  /// Returns threads that may have ended. An application can stay in the background for months
  /// while its processes come and go. The daemon removes ended threads before they outnumber the
  /// living threads.
  ///
  /// - Parameter seen: The ids of threads that existed just now.
  /// - Returns: Threads that may have ended; an empty array if there are few items.
  func possiblyEnded(_ seen: Set<Int32>) -> [(thread: ProcessIdentity, process: Int32)] {
    guard items.count > countMax else { return [] }
    var found: [ProcessIdentity: Int32] = [:]
    for item in items where item.group == nil && !seen.contains(item.thread.pid) {
      found[item.thread] = item.process
    }
    return found.map { ($0.key, $0.value) }
  }

  /// Removes threads that have ended.
  mutating func forget(_ ended: Set<ProcessIdentity>) {
    items.removeAll { $0.group == nil && ended.contains($0.thread) }
    index = items.count > Self.unindexedMax ? Index(items) : nil
    countMax = max(Self.countMin, 2 * items.count)
  }

  mutating func forget() {
    (items, index, obstacles) = ([], nil, [:])
    (since, countMax) = (nil, Self.countMin)
  }

  /// Returns descriptions of the lowered priorities and of those that the daemon could not lower.
  ///
  /// - Parameter priority: The current priority of the instance.
  func words(_ priority: ProcessPriority) -> [String] {
    if !priority.isLowered, items.isEmpty { return [] }
    var words: [String] = []
    // The interface reports the CPU limit of the throttle in another field, so this list omits it.
    for kind in PriorityKind.allCases where kind != .processorLimit {
      let lowered = items.filter { $0.kind == kind && $0.before != $0.after }
      if let last = lowered.last {
        let threads = Set(lowered.map(\.thread)).count
        words.append(kind.words(last.after, before: last.before, count: threads))
      }
      if let obstacle = obstacles[kind] { words.append("\(kind.name) unchanged: \(obstacle)") }
    }
    words.append("network priority unchanged: a change would need CAP_NET_ADMIN")
    return words
  }
}

extension PriorityKind {
  var name: String {
    switch self {
    case .nice: "nice value"
    case .ioPriority: "I/O priority"
    case .policy: "real-time scheduling"
    case .outOfMemoryScore: "out-of-memory score"
    case .autogroup: "session's nice value"
    case .processorWeight: "CPU weight"
    case .ioWeight: "I/O weight"
    case .processorLimit: "CPU limit"
    }
  }

  fileprivate func words(_ after: Int, before: Int, count: Int) -> String {
    let threads = count == 1 ? "of 1 thread" : "of \(count) threads"
    return switch self {
    case .nice: "nice value \(after) \(threads)"
    case .ioPriority: "lowest best-effort I/O priority \(threads)"
    case .policy: "no real-time scheduling \(threads)"
    case .outOfMemoryScore:
      "out-of-memory score \(after) of "
        + (count == 1 ? "1 process" : "\(count) processes")
    case .autogroup:
      "nice value \(after) of \(count == 1 ? "its session" : "its \(count) sessions")"
    case .processorWeight: "CPU weight \(after), from \(before)"
    case .ioWeight: "I/O weight \(after), from \(before)"
    case .processorLimit: "CPU time limited by its control group"
    }
  }
}

extension LoweredPriority {
  /// Creates the item from its form in the event log.
  ///
  /// - Returns: nil for a kind of priority that this version does not know.
  init?(_ held: DaemonState.Lowered) {
    guard let kind = PriorityKind(rawValue: held.kind) else { return nil }
    self.init(
      thread: ProcessIdentity(held.thread), process: held.process,
      group: held.group.map { ControlGroup(path: $0) }, kind: kind, before: held.before,
      after: held.after)
  }

  var held: DaemonState.Lowered {
    DaemonState.Lowered(
      thread: Leader(thread), process: process, group: group?.path, kind: kind.rawValue,
      before: before, after: after)
  }
}
