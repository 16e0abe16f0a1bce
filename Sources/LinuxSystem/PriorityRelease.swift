import Glibc

/// The result of one step of a walk over the processes of an instance.
public enum WalkStep: Sendable {
  case member(ProcessStat)
  /// This step found no process. Later steps may find more.
  case nothing
  /// The walk has ended.
  case end
}

/// An operation that restores lowered priorities in steps. Each step takes little time: it reads at
/// most 64 entries of the list, examines one process, or restores at most 16 threads.
///
/// First the release reads the list of lowered priorities. Then it walks over the processes,
/// because a new process has inherited the priorities of its parent. Then it restores each process.
/// A process may fork before the release restores it, so the release walks again until a walk finds
/// no new thread.
public struct PriorityRelease {
  private struct Key: Hashable {
    let thread: ProcessIdentity
    let kind: PriorityKind
  }

  /// The original value of a setting, and all values to which the daemon lowered it.
  private struct Memory {
    let item: LoweredPriority
    var after: [Int]
  }

  private enum Phase {
    /// Reads the list of lowered priorities from this index on.
    case learning(Int)
    case walking
    /// Reads the state of each process that is in the list of lowered priorities, but that the walk
    /// has not found.
    case looking([Int32])
    /// Restores these processes, from the last to the first. `threads` are the remaining threads of
    /// the current process.
    case restoring([Int32], threads: [Int32])
    case over
  }

  private let proc: ProcFS
  private let lowered: [LoweredPriority]
  private var phase = Phase.learning(0)
  private var known: [Key: Memory] = [:]
  private var groups: [Memory] = []
  private var threads: Set<ProcessIdentity> = []
  private var processes: Set<Int32> = []
  /// The process of the first entry in `lowered`. A new process without a known ancestor gets the
  /// original values of this process.
  private var leader: ProcessIdentity?
  /// The processes that this walk has found.
  private var stats: [Int32: ProcessStat] = [:]
  /// The restored threads, and their number before this walk.
  private var seen: Set<Int32> = []
  private var seenBefore = 0
  private var walks = 0
  private let waits: Bool
  /// The first failure of each setting.
  public private(set) var failures: [PriorityKind: SystemError] = [:]
  /// The number of restored priorities.
  public private(set) var count = 0

  /// The maximum number of walks while new threads appear.
  private static let walksMax = 16
  /// The maximum number of list entries in a step (`examinedAtOnceMax`), and the maximum number of
  /// threads in a step (`threadsAtOnce`).
  private static let examinedAtOnceMax = 64
  private static let threadsAtOnce = 16

  /// - Parameters:
  ///   - lowered: The lowered priorities, the oldest entries first. The first entry of a thread and
  ///     setting has the original value.
  ///   - waits: Whether to wait until the kernel accepts another change of an autogroup. The kernel
  ///     accepts ten changes per second.
  public init(_ lowered: [LoweredPriority], in proc: ProcFS, waits: Bool = false) {
    self.proc = proc
    self.lowered = lowered
    self.waits = waits
    for item in lowered where item.group != nil {
      groups.append(Memory(item: item, after: [item.after]))
    }
  }

  /// Restores all priorities that still have the lowered value. Does not change a value that a
  /// program has set itself. A new process gets the original value of its nearest known ancestor.
  ///
  /// - Parameter members: Returns the processes to walk over. They include the processes that have
  ///   started since the priorities were lowered.
  public mutating func run(members: () throws(SystemError) -> [ProcessStat]) {
    restoreGroups()
    var left: [ProcessStat]?
    while step({ () throws(SystemError) in
      if left == nil { left = try members() }
      if let member = left?.popLast() { return .member(member) }
      left = nil
      return .end
    }) {}
  }

  /// Restores the settings of control groups.
  public mutating func restoreGroups() {
    for memory in groups { restore(memory, to: nil) }
    groups = []
  }

  /// Performs a step. Returns false after the last step.
  ///
  /// - Parameter next: Performs a step of the walk over the processes of the instance, including
  ///   new ones. After the end of a walk, the next call begins another walk.
  public mutating func step(_ next: () throws(SystemError) -> WalkStep) -> Bool {
    switch phase {
    case .learning(let place):
      learn(from: place)
    case .walking:
      do throws(SystemError) {
        switch try next() {
        case .member(let stat): stats[stat.pid] = stat
        case .nothing: break
        case .end: phase = .looking(Array(processes))
        }
      } catch {
        failures[.nice] = failures[.nice] ?? error
        phase = .over
      }
    case .looking(var pids):
      // The assignment releases the reference of `phase` to the list. Otherwise popLast() would
      // copy the list.
      phase = .over
      guard let pid = pids.popLast() else {
        phase = .restoring(stats.keys.sorted(by: >), threads: [])
        break
      }
      if stats[pid] == nil, let stat = (try? proc.stat(pid)) ?? nil, threads.contains(stat.identity)
      {
        stats[pid] = stat
      }
      phase = .looking(pids)
    case .restoring(var rest, var threads):
      phase = .over
      restore(&rest, &threads)
    case .over:
      break
    }
    if case .over = phase { return false }
    return true
  }

  /// Begins another walk, over processes that the previous walks did not visit. Call this function
  /// after the last step, and then perform further steps.
  public mutating func continueWithOthers() {
    phase = .walking
    (stats, seenBefore, walks) = ([:], seen.count, Self.walksMax)
  }

  private mutating func learn(from place: Int) {
    let end = min(place + Self.examinedAtOnceMax, lowered.count)
    for item in lowered[place..<end] where item.group == nil {
      threads.insert(item.thread)
      processes.insert(item.process)
      let key = Key(thread: item.thread, kind: item.kind)
      if known[key]?.after.contains(item.after) != true {
        known[key, default: Memory(item: item, after: [])].after.append(item.after)
      }
    }
    guard end == lowered.count else { return phase = .learning(end) }
    leader = lowered.first { $0.group == nil }
      .map { first in threads.first { $0.pid == first.process } ?? first.thread }
    phase = .walking
  }

  /// Restores the last process of `rest`, or some of its threads. If `rest` is empty and the last
  /// walk found new threads, begins another walk.
  private mutating func restore(_ rest: inout [Int32], _ threads: inout [Int32]) {
    guard let pid = rest.last, let stat = stats[pid] else {
      walks += 1
      if seen.count > seenBefore, walks < Self.walksMax {
        (phase, stats, seenBefore) = (.walking, [:], seen.count)
      }
      return
    }
    if threads.isEmpty { threads = begin(stat) }
    for thread in threads.suffix(Self.threadsAtOnce) { restore(thread, of: stat) }
    threads.removeLast(min(Self.threadsAtOnce, threads.count))
    if threads.isEmpty { rest.removeLast() }
    phase = .restoring(rest, threads: threads)
  }

  /// Restores the settings of the whole process. Returns the threads of the process that are not
  /// restored yet.
  private mutating func begin(_ stat: ProcessStat) -> [Int32] {
    // The kernel may have reused the pid since the walk.
    guard stat.threadCount > 1 || !seen.contains(stat.pid),
      let now = (try? proc.stat(stat.pid)) ?? nil, now.identity == stat.identity
    else { return [] }
    if !seen.contains(stat.pid) { restoreProcess(stat) }
    return (((try? proc.threads(of: now)) ?? nil) ?? []).filter { !seen.contains($0) }
  }

  private mutating func restoreProcess(_ stat: ProcessStat) {
    if let score = memory(of: .outOfMemoryScore, stat) { restore(score, to: stat.pid) }
    let session = known[Key(thread: stat.identity, kind: .autogroup)]
    if let session { restore(session, to: stat.pid) }
  }

  private mutating func restore(_ thread: Int32, of stat: ProcessStat) {
    let found = stat.threadCount == 1 && thread == stat.pid
      ? stat : (try? proc.stat(stat.pid, thread: thread)) ?? nil
    guard seen.insert(thread).inserted, let identity = found?.identity,
      let current = (try? ThreadPriority(of: thread)) ?? nil
    else { return }
    for kind in PriorityKind.ofThreads {
      // A new thread has no original policy, so its policy stays unchanged.
      let memory =
        known[Key(thread: identity, kind: kind)]
        ?? (kind == .policy ? nil : memory(of: kind, stat))
      guard let memory, let value = current[kind], value != memory.item.before,
        memory.after.contains(value)
      else { continue }
      set(memory.item, thread: thread, process: stat.pid)
    }
  }

  /// Returns the original value of a setting of a process, or of its nearest known ancestor. If the
  /// parent forked the process while the priorities of the parent were lowered, the process has
  /// inherited some of the lowered values.
  private func memory(of kind: PriorityKind, _ stat: ProcessStat) -> Memory? {
    var next: ProcessStat? = stat
    for _ in 0..<64 {
      guard let current = next else { break }
      if let memory = known[Key(thread: current.identity, kind: kind)] { return memory }
      next = stats[current.parent]
    }
    return leader.flatMap { known[Key(thread: $0, kind: kind)] }
  }

  /// Restores a setting of a process or of a control group.
  private mutating func restore(_ memory: Memory, to process: Int32?) {
    let item = memory.item
    do throws(SystemError) {
      let current = try proc.value(
        of: item.kind, thread: process ?? 0, process: process ?? 0, group: item.group)
      guard let current, current != item.before, memory.after.contains(current) else { return }
      set(item, thread: process ?? 0, process: process ?? 0)
    } catch {
      failures[item.kind] = failures[item.kind] ?? error
    }
  }

  /// The maximum number of attempts to change an autogroup. Other processes may also change
  /// autogroups, so an attempt may fail several times.
  private static let attemptsMax = 20

  private mutating func set(_ item: LoweredPriority, thread: Int32, process: Int32) {
    for attempt in 1... {
      do throws(SystemError) {
        try proc.set(
          item.kind, to: item.before, thread: thread, process: process, group: item.group)
        count += 1
        return
      } catch {
        guard waits, error.errno == EAGAIN, attempt < Self.attemptsMax else {
          failures[item.kind] = failures[item.kind] ?? error
          return
        }
        usleep(100_000)
      }
    }
  }
}

extension PriorityRelease {
  /// Restores the priorities that a dead daemon had lowered, one instance after the other,
  /// including the priorities of new descendants.
  ///
  /// - Returns: The number of restored priorities, and the failures.
  public static func all(
    _ lowered: [[LoweredPriority]], in proc: ProcFS
  ) -> (count: Int, failures: [String]) {
    var count = 0
    var failures: [String] = []
    for items in lowered {
      var release = PriorityRelease(items, in: proc, waits: true)
      release.run { () throws(SystemError) in
        try proc.descendants(of: items.filter { $0.group == nil }.map(\.thread))
      }
      count += release.count
      for kind in PriorityKind.allCases {
        if let error = release.failures[kind] { failures.append("\(kind.rawValue): \(error)") }
      }
    }
    return (count, failures)
  }
}
