import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerJournal

/// What was lowered of one instance.
struct LoweredState {
  private struct Key: Hashable {
    let thread: ProcessIdentity
    let lever: PriorityLever
    let after: Int
  }

  /// How it is to be favoured.
  var priority = ProcessPriority.foreground
  /// In the order in which it was written down.
  private(set) var items: [LoweredPriority] = []
  private var written: Set<Key> = []
  private var threads: Set<ProcessIdentity> = []
  /// What could not be lowered, and why.
  var obstacles: [PriorityLever: String] = [:]

  /// Whether something of this thread is known from before it was lowered.
  func isKnown(_ thread: ProcessIdentity) -> Bool { threads.contains(thread) }

  /// Takes in what is about to be lowered.
  ///
  /// - Returns: what has not been written down before.
  mutating func add(_ lowering: [LoweredPriority]) -> [LoweredPriority] {
    let fresh = lowering.filter {
      threads.insert($0.thread)
      return written.insert(Key(thread: $0.thread, lever: $0.lever, after: $0.after)).inserted
    }
    items += fresh
    return fresh
  }

  mutating func forget() {
    (items, written, threads, obstacles) = ([], [], [], [:])
  }

  /// For people: what was lowered, and what could not be.
  var words: [String] {
    if !priority.isLowered, items.isEmpty { return [] }
    var words: [String] = []
    for lever in PriorityLever.allCases {
      let lowered = items.filter { $0.lever == lever && $0.before != $0.after }
      if let item = lowered.last {
        let count = Set(lowered.map(\.thread)).count
        words.append(lever.words(item.after, before: item.before, count: count))
      }
      if let obstacle = obstacles[lever] { words.append("not the \(lever.name): \(obstacle)") }
    }
    words.append("not the network: that would take CAP_NET_ADMIN")
    return words
  }
}

extension PriorityLever {
  var name: String {
    switch self {
    case .nice: "nice value"
    case .ioPriority: "I/O priority"
    case .policy: "real-time scheduling"
    case .outOfMemoryScore: "score for the out-of-memory killer"
    case .autogroup: "session's nice value"
    case .processorWeight: "weight for processors"
    case .ioWeight: "weight for I/O"
    case .processorLimit: "limit of processors"
    }
  }

  fileprivate func words(_ after: Int, before: Int, count: Int) -> String {
    let threads = count == 1 ? "of 1 thread" : "of \(count) threads"
    return switch self {
    case .nice: "nice value \(after) \(threads)"
    case .ioPriority: "I/O priority best effort, the last, \(threads)"
    case .policy: "real-time scheduling taken away \(threads)"
    case .outOfMemoryScore:
      "score for the out-of-memory killer \(after) of \(count == 1 ? "1 process" : "\(count)")"
    case .autogroup: "nice value \(after) of its session"
    case .processorWeight: "weight for processors \(after), from \(before)"
    case .ioWeight: "weight for I/O \(after), from \(before)"
    case .processorLimit: "processors limited by its control group"
    }
  }
}

extension LoweredPriority {
  /// - Returns: nil for a lever that this version does not know.
  init?(_ held: Holdings.Lowered) {
    guard let lever = PriorityLever(rawValue: held.lever) else { return nil }
    self.init(
      thread: ProcessIdentity(held.thread), process: held.process,
      group: held.group.map { ControlGroup(path: $0) }, lever: lever, before: held.before,
      after: held.after)
  }

  var held: Holdings.Lowered {
    Holdings.Lowered(
      thread: Leader(thread), process: process, group: group?.path, lever: lever.rawValue,
      before: before, after: after)
  }
}
