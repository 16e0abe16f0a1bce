import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerCore

/// Measures the memory of instances within a time limit. If the limit expires before the daemon has
/// read the size of a process, the daemon estimates the size from `/proc/PID/statm`.
final class MemoryMeasuring {
  /// The time limit for each of two steps: to list the processes, and to read their smaps_rollup
  /// (100 processes of 12 MB take 28 ms). With these limits, the choice of the application to
  /// terminate takes less than 100 ms for 500 applications.
  static let timeMax = Policy.memoryMeasuringLead / 2
  /// The maximum number of processes that the daemon measures for one instance. The size of an
  /// instance with more processes is an estimate.
  static let processesMax = 512

  private let membership: InstanceMembership
  private let loop: EventLoop
  private let find: (InstanceID) -> InstanceProcesses?
  private var rounds: [UInt64: MeasuringRound] = [:]
  private var jobLast: UInt64 = 0
  /// The path of meminfo.
  private let memInfo: String

  init(
    membership: InstanceMembership, loop: EventLoop, memInfo: String,
    find: @escaping (InstanceID) -> InstanceProcesses?
  ) {
    self.membership = membership
    self.loop = loop
    self.memInfo = memInfo
    self.find = find
  }

  /// Calls `answer` with the sizes of the given instances, in the order of `ids`. The size of an
  /// ended instance is 0.
  func measure(_ ids: [InstanceID], answer: @escaping ([MemorySize]) -> Void) {
    let round = MeasuringRound(findProcesses(ids), ids)
    jobLast += 1
    let number = jobLast
    do throws(SystemError) {
      try round.begin(membership.proc)
      guard let descriptor = round.descriptor else { return answer(round.sizes) }
      let finish = { [unowned self] in
        guard rounds.removeValue(forKey: number) != nil else { return }
        // The round owns the timer, and the timer's handler refers to the round. Without this
        // release, neither would ever be freed.
        round.source = nil
        round.timer = nil
        answer(round.sizes)
      }
      round.source = try loop.watch(descriptor, for: .input) { [unowned round] _ in
        if !round.take() { finish() }
      }
      round.timer = try loop.timer { finish() }
      round.timer?.set(BootClock.after(Self.timeMax))
      rounds[number] = round
    } catch {
      // No descriptor or thread is available, so the sizes are estimates.
      answer(round.sizes)
    }
  }

  /// Returns the sizes of the given instances. Blocks until they have been measured or the time
  /// limit expires.
  func measure(_ ids: [InstanceID]) -> [MemorySize] {
    let round = MeasuringRound(findProcesses(ids), ids)
    do throws(SystemError) {
      try round.begin(membership.proc)
      try round.waitForEnd(until: BootClock.after(Self.timeMax))
    } catch {
      // No descriptor or thread is available, so the sizes are estimates.
    }
    return round.sizes
  }

  // MARK: Listing the processes

  private func findProcesses(_ ids: [InstanceID]) -> [MeasuredInstance] {
    let limit = BootClock.after(Self.timeMax)
    let machine = (try? MachineMemory.read(path: memInfo)) ?? nil
    let hasSwapped = machine.map { $0.swapFree < $0.swapTotal } ?? false
    var found: [MeasuredInstance] = []
    for id in ids {
      guard let instance = find(id) else { continue }
      found.append(findProcesses(instance, hasSwapped: hasSwapped, limit: limit))
    }
    return found.sorted { ($0.bound, $0.id) > ($1.bound, $1.id) }
  }

  private func findProcesses(
    _ instance: InstanceProcesses, hasSwapped: Bool, limit: UInt64
  ) -> MeasuredInstance {
    var measured = MeasuredInstance(id: instance.id)
    var members = [instance.leader.identity]
    if BootClock.now() < limit {
      let tree = (try? membership.tree(instance, max: Self.processesMax)) ?? []
      if !tree.isEmpty { members = tree.map(\.identity) }
      measured.isWhole = tree.count < Self.processesMax
    } else {
      measured.isWhole = false
    }
    for process in members {
      guard let pages = (try? membership.proc.pages(process.pid)) ?? nil else { continue }
      let swapped = hasSwapped ? ((try? membership.proc.swapped(process.pid)) ?? nil) ?? 0 : 0
      measured.processes.append(
        MeasuredInstance.Process(
          identity: process, resident: pages.resident + swapped,
          estimate: pages.resident - min(pages.shared, pages.resident) + swapped))
    }
    return measured
  }
}

/// An instance that is being measured.
private struct MeasuredInstance {
  struct Process {
    let identity: ProcessIdentity
    /// The resident and swapped memory, an upper bound of the dirty memory.
    let resident: UInt64
    /// The estimate of the dirty memory: the resident anonymous memory, and the swapped memory.
    let estimate: UInt64
    var dirty: UInt64?
    var proportional: UInt64?
  }

  let id: InstanceID
  var processes: [Process] = []
  /// Whether the daemon has listed all processes of the instance.
  var isWhole = true

  var bound: UInt64 { processes.reduce(0) { $0 + $1.resident } }

  /// Returns the size of the instance.
  ///
  /// - Parameter likeness: The ratio of dirty memory to the estimate. The estimates of processes
  ///   that were not read are multiplied by this ratio.
  func size(likeness: Double) -> MemorySize {
    MemorySize(
      id,
      dirty: processes.reduce(0) { $0 + ($1.dirty ?? UInt64(Double($1.estimate) * likeness)) },
      total: processes.reduce(0) { $0 + ($1.proportional ?? $1.resident) },
      isEstimate: !isWhole || processes.contains { $0.dirty == nil })
  }
}

/// One measurement of several instances.
private final class MeasuringRound {
  private var measured: [MeasuredInstance]
  private let ids: [InstanceID]
  private var reading: Reading?
  var source: DescriptorSource?
  var timer: TimerSource?

  private final class Reading {
    let scan: MemoryScan
    init(_ scan: consuming MemoryScan) { self.scan = scan }
  }

  init(_ measured: [MeasuredInstance], _ ids: [InstanceID]) {
    self.measured = measured
    self.ids = ids
  }

  deinit {
    // The source must be released before the descriptor that it watches.
    source = nil
  }

  func begin(_ proc: ProcFS) throws(SystemError) {
    let groups = measured.map { one in
      MemoryScan.Group(processes: one.processes.map(\.identity), bound: one.bound)
    }
    if groups.contains(where: { !$0.processes.isEmpty }) {
      reading = Reading(try MemoryScan(of: groups, in: proc))
    }
  }

  var descriptor: Int32? { reading?.scan.rawValue }

  /// Collects the readings that have arrived. Returns false when no more will arrive.
  func take() -> Bool {
    guard let readings = (try? reading?.scan.take()) ?? nil else { return false }
    for one in readings {
      switch one.error {
      case nil:
        measured[one.group].processes[one.process].dirty = one.dirty
        measured[one.group].processes[one.process].proportional = one.proportional
      case .some(noSuchProcess):
        measured[one.group].processes[one.process].dirty = 0
        measured[one.group].processes[one.process].proportional = 0
      case .some:
        // The daemon has no permission to read the process, and uses the estimate.
        break
      }
    }
    return true
  }

  func waitForEnd(until limit: UInt64) throws(SystemError) {
    guard let descriptor else { return }
    while true {
      let now = BootClock.now()
      guard now < limit else { return }
      let isReady = try Readiness.wait(
        for: Int16(POLLIN), on: descriptor, timeout: .nanoseconds(Int64(limit - now))) != 0
      if !isReady || !take() { return }
    }
  }

  /// The ratio of dirty memory to the estimates, over all processes that were read.
  ///
  /// An estimate includes pages shared with a parent or siblings. Without a correction, a process
  /// that was not read would appear too large, and the daemon would terminate its application
  /// first.
  private var likeness: Double {
    var (dirty, estimate): (UInt64, UInt64) = (0, 0)
    for process in measured.lazy.flatMap(\.processes) where process.proportional ?? 0 > 0 {
      dirty += process.dirty ?? 0
      estimate += process.estimate
    }
    return dirty < estimate ? Double(dirty) / Double(estimate) : 1
  }

  /// The sizes in the order of the ids; 0 for an instance that has ended.
  var sizes: [MemorySize] {
    var known: [InstanceID: MemorySize] = [:]
    let likeness = self.likeness
    for one in measured { known[one.id] = one.size(likeness: likeness) }
    return ids.map { known[$0] ?? MemorySize($0, dirty: 0, total: 0) }
  }
}
