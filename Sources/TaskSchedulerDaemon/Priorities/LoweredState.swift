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

  private struct Origin: Hashable {
    let thread: ProcessIdentity
    let lever: PriorityLever
  }

  /// In the order in which it was written down.
  private(set) var items: [LoweredPriority] = []
  private var written: Set<Key> = []
  private var origins: [Origin: Int] = [:]
  private var threads: Set<ProcessIdentity> = []
  private var countMax = Self.countMin
  /// When it was begun, in ticks as ``ProcessIdentity/startTime`` has them; nil where an earlier
  /// daemon began it. Whoever is older has its priorities from elsewhere.
  private var since: UInt64?
  /// What could not be lowered, and why.
  var obstacles: [PriorityLever: String] = [:]

  /// Below this many, nothing is forgotten of who has ended.
  private static let countMin = 1024

  init(_ held: [Holdings.Lowered] = []) {
    _ = add(held.compactMap { LoweredPriority($0) })
  }

  mutating func begin() {
    if items.isEmpty { since = BootClock.ticks() }
  }

  /// Whether something of this thread is known from before it was lowered.
  func isKnown(_ thread: ProcessIdentity) -> Bool { threads.contains(thread) }

  /// Whether it was there before anything was lowered: what it has then, it has not from a parent
  /// that was lowered.
  func isOlder(_ thread: ProcessIdentity) -> Bool {
    since.map { thread.startTime < $0 } ?? false
  }

  /// What it was before it was lowered; nil where it was not.
  func before(_ thread: ProcessIdentity, _ lever: PriorityLever) -> Int? {
    origins[Origin(thread: thread, lever: lever)]
  }

  /// Takes in what is about to be lowered.
  ///
  /// - Returns: what has not been written down before.
  mutating func add(_ lowering: [LoweredPriority]) -> [LoweredPriority] {
    let fresh = lowering.filter {
      threads.insert($0.thread)
      let origin = Origin(thread: $0.thread, lever: $0.lever)
      if origins[origin] == nil { origins[origin] = $0.before }
      return written.insert(Key(thread: $0.thread, lever: $0.lever, after: $0.after)).inserted
    }
    items += fresh
    return fresh
  }

  /// An application may stay in the background for months, while its processes come and go: those
  /// that have gone are forgotten before they are more than those that are there.
  mutating func forgetEnded(_ exists: (LoweredPriority) -> Bool) {
    guard items.count > countMax else { return }
    let living = items.filter { $0.group != nil || exists($0) }
    (items, written, origins, threads) = ([], [], [:], [])
    _ = add(living)
    countMax = max(Self.countMin, 2 * items.count)
  }

  mutating func forget() {
    (items, written, origins, threads, obstacles) = ([], [], [:], [], [:])
    (since, countMax) = (nil, Self.countMin)
  }

  /// For people: what was lowered, and what could not be.
  ///
  /// - Parameter priority: what it was lowered for.
  func words(_ priority: ProcessPriority) -> [String] {
    if !priority.isLowered, items.isEmpty { return [] }
    var words: [String] = []
    // A list may ask this of thousands: most have some threads, and each of their levers once.
    var byLever: [PriorityLever: (last: LoweredPriority, threads: Set<ProcessIdentity>)] = [:]
    for item in items where item.before != item.after {
      byLever[item.lever, default: (item, [])].last = item
      byLever[item.lever]?.threads.insert(item.thread)
    }
    // A limit of processors is told of as a throttle.
    for lever in PriorityLever.allCases where lever != .processorLimit {
      if let (last, threads) = byLever[lever] {
        words.append(lever.words(last.after, before: last.before, count: threads.count))
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
    case .autogroup:
      "nice value \(after) of \(count == 1 ? "its session" : "its \(count) sessions")"
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
