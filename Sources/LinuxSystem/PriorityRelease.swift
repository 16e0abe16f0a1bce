import Glibc

/// Gives back priorities that were lowered.
public struct PriorityRelease {
  private struct Key: Hashable {
    let thread: ProcessIdentity
    let lever: PriorityLever
  }

  /// What was before, and all that it was lowered to.
  private struct Memory {
    let item: LoweredPriority
    var after: Set<Int>
  }

  private let proc: ProcFS
  private var known: [Key: Memory] = [:]
  private var groups: [Memory] = []
  private var threads: Set<ProcessIdentity> = []
  private var processes: Set<Int32> = []
  /// Of whom all are who are not known.
  private var leader: ProcessIdentity?
  private var seen: Set<Int32> = []
  private let waits: Bool
  /// What could not be given back, the first of each lever.
  public private(set) var failures: [PriorityLever: SystemError] = [:]
  /// How many were given back.
  public private(set) var count = 0

  /// How often the threads are listed again while there come new ones.
  private static let walksMax = 16

  /// - Parameters:
  ///   - lowered: in the order in which it was: the first of each thread and lever says what was
  ///     before.
  ///   - waits: for the kernel to take another autogroup, of which it takes ten in a second.
  public init(_ lowered: [LoweredPriority], in proc: ProcFS, waits: Bool = false) {
    self.proc = proc
    self.waits = waits
    for item in lowered {
      if item.group != nil {
        groups.append(Memory(item: item, after: [item.after]))
        continue
      }
      threads.insert(item.thread)
      processes.insert(item.process)
      known[Key(thread: item.thread, lever: item.lever), default: Memory(item: item, after: [])]
        .after.insert(item.after)
    }
    leader = lowered.first { $0.group == nil }
      .map { first in threads.first { $0.pid == first.process } ?? first.thread }
  }

  /// Gives all back that is still as it was lowered to: what a program has set itself since is its
  /// own. Whoever was born since has what its process had, or the nearest above that is known.
  ///
  /// - Parameter members: the processes that may have been born since.
  public mutating func run(members: () throws(SystemError) -> [ProcessStat]) {
    for memory in groups { giveBack(memory, thread: 0, process: 0) }
    for _ in 0..<Self.walksMax {
      let stats: [Int32: ProcessStat]
      do throws(SystemError) {
        stats = try all(members())
      } catch {
        failures[.nice] = failures[.nice] ?? error
        return
      }
      let before = seen.count
      for stat in stats.values.sorted(by: { $0.pid < $1.pid }) { giveBack(stat, among: stats) }
      if seen.count == before { return }
    }
  }

  private func all(_ members: [ProcessStat]) throws(SystemError) -> [Int32: ProcessStat] {
    var stats: [Int32: ProcessStat] = [:]
    for stat in members { stats[stat.pid] = stat }
    for pid in processes where stats[pid] == nil {
      if let stat = try proc.stat(pid), isKnown(stat.identity) { stats[pid] = stat }
    }
    return stats
  }

  private func isKnown(_ process: ProcessIdentity) -> Bool {
    threads.contains(process)
  }

  private mutating func giveBack(_ stat: ProcessStat, among stats: [Int32: ProcessStat]) {
    for lever in [PriorityLever.outOfMemoryScore, .autogroup] where !seen.contains(stat.pid) {
      let memory = lever == .autogroup
        ? known[Key(thread: stat.identity, lever: lever)] : memory(of: lever, stat, among: stats)
      if let memory { giveBack(memory, thread: stat.pid, process: stat.pid) }
    }
    for thread in ((try? proc.threads(stat.pid)) ?? nil) ?? [] {
      guard seen.insert(thread).inserted,
        let identity = ((try? proc.stat(stat.pid, thread: thread)) ?? nil)?.identity
      else { continue }
      for lever in PriorityLever.ofThreads {
        // Whether a new thread would have been scheduled in real time nobody can tell.
        let memory = known[Key(thread: identity, lever: lever)]
          ?? (lever == .policy ? nil : memory(of: lever, stat, among: stats))
        if let memory { giveBack(memory, thread: thread, process: stat.pid) }
      }
    }
  }

  /// What a process had before, or the nearest above it of which that is known: one may have been
  /// born while its parent's levers were lowered one after the other, and have some from there.
  private func memory(
    of lever: PriorityLever, _ stat: ProcessStat, among stats: [Int32: ProcessStat]
  ) -> Memory? {
    var next: ProcessStat? = stat
    for _ in 0..<64 {
      guard let current = next else { break }
      if let memory = known[Key(thread: current.identity, lever: lever)] { return memory }
      next = stats[current.parent]
    }
    return leader.flatMap { known[Key(thread: $0, lever: lever)] }
  }

  private mutating func giveBack(_ memory: Memory, thread: Int32, process: Int32) {
    let item = memory.item
    do throws(SystemError) {
      guard
        let current = try proc.value(
          of: item.lever, thread: thread, process: process, group: item.group),
        current != item.before, memory.after.contains(current)
      else { return }
      try set(item, thread: thread, process: process)
      count += 1
    } catch {
      failures[item.lever] = failures[item.lever] ?? error
    }
  }

  /// Others may set autogroups too, and come first.
  private static let attemptsMax = 20

  private func set(
    _ item: LoweredPriority, thread: Int32, process: Int32
  ) throws(SystemError) {
    for attempt in 1... {
      do throws(SystemError) {
        return try proc.set(
          item.lever, to: item.before, thread: thread, process: process, group: item.group)
      } catch {
        guard waits, error.errno == EAGAIN, attempt < Self.attemptsMax else { throw error }
        usleep(100_000)
      }
    }
  }
}

extension PriorityRelease {
  /// Gives back what a daemon that is gone had lowered, instance by instance; whoever was born of
  /// those processes since is found by their children.
  ///
  /// - Returns: how many priorities were given back, and what went wrong.
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
      for lever in PriorityLever.allCases {
        if let error = release.failures[lever] { failures.append("\(lever.rawValue): \(error)") }
      }
    }
    return (count, failures)
  }
}
