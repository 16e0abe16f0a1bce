import Glibc

/// What one step of a walk over processes has come to.
public enum WalkStep: Sendable {
  case member(ProcessStat)
  /// No member; there may be more.
  case nothing
  /// The walk is over.
  case end
}

/// Gives back priorities that were lowered, in steps: what one does grows neither with the number
/// of processes nor with that of their threads.
///
/// First it takes in what was lowered. Then it walks over the processes, for one that was born
/// since has inherited what its parent had. Then it restores each process. One that was not
/// restored yet may have forked meanwhile, so it walks again until a walk finds no new thread.
public struct PriorityRelease {
  private struct Key: Hashable {
    let thread: ProcessIdentity
    let lever: PriorityLever
  }

  /// What was before, and all that it was lowered to.
  private struct Memory {
    let item: LoweredPriority
    var after: [Int]
  }

  private enum Phase {
    /// Takes in what was lowered, from this place on.
    case learning(Int)
    case walking
    /// Looks for these processes, which the walk has not shown.
    case looking([Int32])
    /// Restores these, the last first; of the first of them, these threads.
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
  /// The process whose values those have that are not known.
  private var leader: ProcessIdentity?
  /// The processes that this walk has shown.
  private var stats: [Int32: ProcessStat] = [:]
  /// Threads that were restored, and how many there were before this walk.
  private var seen: Set<Int32> = []
  private var seenBefore = 0
  private var walks = 0
  private let waits: Bool
  /// What could not be given back, the first of each lever.
  public private(set) var failures: [PriorityLever: SystemError] = [:]
  /// How many were given back.
  public private(set) var count = 0

  /// How often the threads are listed again while there come new ones.
  private static let walksMax = 16
  /// How much of what was lowered one step takes in, and how many threads it restores.
  private static let learnedAtOnce = 64
  private static let threadsAtOnce = 16

  /// - Parameters:
  ///   - lowered: in the order in which it was: the first of each thread and lever says what was
  ///     before.
  ///   - waits: for the kernel to take another autogroup, of which it takes ten in a second.
  public init(_ lowered: [LoweredPriority], in proc: ProcFS, waits: Bool = false) {
    self.proc = proc
    self.lowered = lowered
    self.waits = waits
    for item in lowered where item.group != nil {
      groups.append(Memory(item: item, after: [item.after]))
    }
  }

  /// Gives all back that is still as it was lowered to: what a program has set itself since is its
  /// own. Whoever was born since has what its process had, or the nearest above that is known.
  ///
  /// - Parameter members: the processes that may have been born since.
  public mutating func run(members: () throws(SystemError) -> [ProcessStat]) {
    giveBackGroups()
    var left: [ProcessStat]?
    while step({ () throws(SystemError) in
      if left == nil { left = try members() }
      if let member = left?.popLast() { return .member(member) }
      left = nil
      return .end
    }) {}
  }

  /// Restores what is of a control group.
  public mutating func giveBackGroups() {
    for memory in groups { giveBack(memory, to: nil) }
    groups = []
  }

  /// Does a part of the rest. Returns false when all is done.
  ///
  /// - Parameter next: a step of the walk over the processes that may have been born since. After
  ///   its end, the next step begins another walk.
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
      // Else the list would be copied.
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

  /// Begins another walk, over processes that the walks so far do not show. To be called after the
  /// last step; there are further ones then.
  public mutating func continueWithOthers() {
    phase = .walking
    (stats, seenBefore, walks) = ([:], seen.count, Self.walksMax)
  }

  private mutating func learn(from place: Int) {
    let end = min(place + Self.learnedAtOnce, lowered.count)
    for item in lowered[place..<end] where item.group == nil {
      threads.insert(item.thread)
      processes.insert(item.process)
      let key = Key(thread: item.thread, lever: item.lever)
      if known[key]?.after.contains(item.after) != true {
        known[key, default: Memory(item: item, after: [])].after.append(item.after)
      }
    }
    guard end == lowered.count else { return phase = .learning(end) }
    leader = lowered.first { $0.group == nil }
      .map { first in threads.first { $0.pid == first.process } ?? first.thread }
    phase = .walking
  }

  /// Restores the last of them, or some of its threads.
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

  /// Restores what is of the whole process. Returns its threads that are yet to be restored.
  private mutating func begin(_ stat: ProcessStat) -> [Int32] {
    // The walk may have seen it long ago: the pid may have been reused.
    guard stat.threadCount > 1 || !seen.contains(stat.pid),
      let now = (try? proc.stat(stat.pid)) ?? nil, now.identity == stat.identity
    else { return [] }
    if !seen.contains(stat.pid) { restoreProcess(stat) }
    return (((try? proc.threads(of: now)) ?? nil) ?? []).filter { !seen.contains($0) }
  }

  private mutating func restoreProcess(_ stat: ProcessStat) {
    if let score = memory(of: .outOfMemoryScore, stat) { giveBack(score, to: stat.pid) }
    let session = known[Key(thread: stat.identity, lever: .autogroup)]
    if let session { giveBack(session, to: stat.pid) }
  }

  private mutating func restore(_ thread: Int32, of stat: ProcessStat) {
    let found = stat.threadCount == 1 && thread == stat.pid
      ? stat : (try? proc.stat(stat.pid, thread: thread)) ?? nil
    guard seen.insert(thread).inserted, let identity = found?.identity,
      let current = (try? ThreadPriority(of: thread)) ?? nil
    else { return }
    for lever in PriorityLever.ofThreads {
      // Whether a new thread would have been scheduled in real time nobody can tell.
      let memory = known[Key(thread: identity, lever: lever)]
        ?? (lever == .policy ? nil : memory(of: lever, stat))
      guard let memory, let value = current[lever], value != memory.item.before,
        memory.after.contains(value)
      else { continue }
      set(memory.item, thread: thread, process: stat.pid)
    }
  }

  /// What a process had before, or the nearest above it of which that is known: one may have been
  /// born while its parent's levers were lowered one after the other, and have some from there.
  private func memory(of lever: PriorityLever, _ stat: ProcessStat) -> Memory? {
    var next: ProcessStat? = stat
    for _ in 0..<64 {
      guard let current = next else { break }
      if let memory = known[Key(thread: current.identity, lever: lever)] { return memory }
      next = stats[current.parent]
    }
    return leader.flatMap { known[Key(thread: $0, lever: lever)] }
  }

  /// A lever of a process, or of a control group.
  private mutating func giveBack(_ memory: Memory, to process: Int32?) {
    let item = memory.item
    do throws(SystemError) {
      let current = try proc.value(
        of: item.lever, thread: process ?? 0, process: process ?? 0, group: item.group)
      guard let current, current != item.before, memory.after.contains(current) else { return }
      set(item, thread: process ?? 0, process: process ?? 0)
    } catch {
      failures[item.lever] = failures[item.lever] ?? error
    }
  }

  /// Others may set autogroups too, and come first.
  private static let attemptsMax = 20

  private mutating func set(_ item: LoweredPriority, thread: Int32, process: Int32) {
    for attempt in 1... {
      do throws(SystemError) {
        try proc.set(
          item.lever, to: item.before, thread: thread, process: process, group: item.group)
        count += 1
        return
      } catch {
        guard waits, error.errno == EAGAIN, attempt < Self.attemptsMax else {
          failures[item.lever] = failures[item.lever] ?? error
          return
        }
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
