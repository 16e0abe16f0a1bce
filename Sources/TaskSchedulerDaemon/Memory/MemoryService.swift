import EventLoop
import LinuxSystem
import TaskSchedulerCore

/// Reports the machine's memory to the scheduler, and carries out the scheduler's memory effects
/// (contract §11).
final class MemoryService {
  /// The files in which the kernel reports memory and pressure.
  struct Locations {
    var memInfo = "/proc/meminfo"
    var pressure = "/proc/pressure/memory"
    /// The path of `memory.pressure` in the applications' control group.
    var slicePressure: String?
  }

  private let locations: Locations
  private let processes: ProcessController
  private let log: Log
  private let post: (Event) -> Void
  private let measuring: MemoryMeasuring
  private let reclaiming: MemoryReclaiming
  private var triggers: MemoryTriggers?
  /// The failures that the daemon has logged. It logs each failure once.
  private var hasSaid: Set<String> = []

  init(
    locations: Locations, processes: ProcessController, loop: EventLoop, log: Log,
    post: @escaping (Event) -> Void
  ) {
    self.locations = locations
    self.processes = processes
    self.log = log
    self.post = post
    measuring = MemoryMeasuring(
      membership: processes.membership, loop: loop, memInfo: locations.memInfo
    ) { [unowned processes] in processes[$0] }
    reclaiming = MemoryReclaiming(proc: processes.proc, loop: loop)
    var paths = [MemoryPressure.Source.machine: locations.pressure]
    paths[.slice] = locations.slicePressure
    triggers = MemoryTriggers(loop: loop, log: log, paths: paths) { [unowned self] source in
      post(.memory(.pressed(MemoryPressure(source: source, memory: reading))))
    }
  }

  /// Applies the limits for memory pressure.
  func apply(_ policy: Policy) {
    triggers?.set(stall: policy.memoryPressureStall, window: policy.memoryPressureWindow)
  }

  /// The sources for which the kernel reports memory pressure.
  var heard: [MemoryPressure.Source] { triggers?.heard ?? [] }

  /// The descriptors of the pressure triggers, which the kernel takes long to close (see
  /// ``DescriptorStore/save(slowToClose:)``).
  var slowToClose: [Int32] { triggers?.numbers ?? [] }

  /// The machine's memory. If the daemon cannot read it, both values are 0. The scheduler then
  /// finds no shortage of memory, and terminates no application.
  var reading: MemoryReading {
    do throws(SystemError) {
      let memory = try MachineMemory.read(path: locations.memInfo)
      return MemoryReading(available: memory.available, total: memory.total)
    } catch {
      say("could not read the machine's memory: \(error)")
      return MemoryReading(available: 0, total: 0)
    }
  }

  func run(_ effect: MemoryEffect) {
    switch effect {
    case .read:
      post(.memory(.read(reading)))
    case .measure(let ids):
      measuring.measure(ids) { [unowned self] in post(.memory(.measured($0))) }
    case .reclaim(let id):
      reclaiming.reclaim(processes[id] ?? processes.departing[id]) { [unowned self] in
        post(.memory(.reclaimed(id, reading)))
      }
    case .pageOut(let id):
      pageOut(id)
    }
  }

  /// Returns the present memory use of each instance.
  func sizes(of ids: [InstanceID]) -> [MemorySize] { measuring.measure(ids) }

  private func pageOut(_ id: InstanceID) {
    guard let instance = processes[id] else { return }
    do throws(SystemError) {
      guard try MachineMemory.read(path: locations.memInfo).swapTotal > 0 else { return }
      for stat in try processes.membership.tree(instance, max: MemoryMeasuring.processesMax) {
        guard let handle = try ProcessHandle(stat.identity, in: processes.proc),
          let maps = try processes.proc.maps(stat.pid)
        else { continue }
        try ProcessMemory.pageOut(handle.pidfd.rawValue, maps: maps)
      }
    } catch {
      say("could not page out suspended applications: \(error)")
    }
  }

  private func say(_ problem: String) {
    if hasSaid.insert(problem).inserted { log.write(.warning, problem) }
  }
}
