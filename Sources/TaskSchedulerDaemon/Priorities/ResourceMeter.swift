import LinuxSystem
import TaskSchedulerCore

/// A meter of the resources that the processes of one instance use.
struct ResourceMeter {
  /// Whether a measurement is in progress.
  private(set) var isWatched = false
  private var processor: Duration = .zero
  /// The CPU time at the last reading, in microseconds (control group) or in ticks (processes).
  private var processorLast: UInt64?
  private(set) var gpu: Duration = .zero
  private var engines: [GPUClient: [String: EngineMeter]]?
  /// The descriptors of GPU devices that the last scan found.
  private(set) var gpuFiles: [GPUFile] = []

  /// Begins a measurement. The meter does not count GPU use between two measurements. It does count
  /// CPU time between two measurements, but the scheduler subtracts that time.
  mutating func begin() {
    if !isWatched { (isWatched, engines, gpuFiles) = (true, nil, []) }
  }

  mutating func end() { isWatched = false }

  /// Reads the CPU time that the processes of a control group have used.
  mutating func readProcessors(of group: ControlGroup) throws(SystemError) {
    add(try group.cpuMicroseconds(), unit: .microseconds(1))
  }

  /// Reads the CPU time of a tree of processes. The time of a process includes the time of the
  /// ended children that it has waited for.
  mutating func readProcessors(of members: [ProcessStat]) {
    add(members.reduce(0) { $0 &+ $1.cpuTicks &+ $1.childrenTicks }, unit: .milliseconds(10))
  }

  private mutating func add(_ count: UInt64, unit: Duration) {
    // If a process ends after its parent, no process of the instance waits for it. The sum then
    // lacks the CPU time of the ended process, and decreases.
    if let last = processorLast, count > last { processor += unit * Int(clamping: count - last) }
    processorLast = count
  }

  /// Adds the GPU use that a scan found.
  ///
  /// - Parameter now: The time of the reading, in nanoseconds.
  mutating func readGPUs(_ findings: DescriptorScan.Findings, at now: UInt64) {
    gpuFiles = findings.gpuFiles
    // A GPU client that the scan missed may still exist: its descriptor may be in a message to
    // another process. The daemon therefore keeps the client's meters. They never count for another
    // client, because the kernel never assigns the id of a client twice.
    var known = engines ?? [:]
    for (client, found) in findings.gpus {
      var meters = known[client] ?? [:]
      for (name, reading) in found {
        var meter = meters[name] ?? EngineMeter(isNew: engines != nil)
        gpu += meter.read(reading, at: now)
        meters[name] = meter
      }
      known[client] = meters
    }
    engines = known
  }

  func use(isTraced: Bool) -> ResourceUse {
    ResourceUse(processor: processor, gpu: gpu, isTraced: isTraced)
  }
}

/// A meter of one client's use of one GPU engine. It converts the client's counters into time.
private struct EngineMeter {
  /// The highest value read from each counter.
  private var nanoseconds: UInt64?
  private var cycles: UInt64?
  /// The engine's count of all cycles at the last reading, and the time of that reading.
  private var total: (cycles: UInt64, at: UInt64)?

  /// - Parameter isNew: Whether the client has appeared since the first scan. If so, the whole use
  ///   of the client counts.
  init(isNew: Bool) {
    if isNew { (nanoseconds, cycles) = (0, 0) }
  }

  /// Returns how long the engine has worked for the client since the last reading.
  mutating func read(_ engine: GPUEngine, at now: UInt64) -> Duration {
    if let time = engine.nanoseconds {
      let before = nanoseconds ?? time
      nanoseconds = max(before, time)
      return .nanoseconds(Int64(clamping: max(before, time) - before))
    }
    guard let count = engine.cycles else { return .zero }
    let before = cycles ?? count
    // If the frequency is not known yet, the next reading determines it and counts these cycles.
    let frequency = count > before ? frequency(engine, at: now) : nil
    total = engine.totalCycles.map { ($0, now) }
    cycles = frequency == nil ? before : count
    guard let frequency else { return .zero }
    return .nanoseconds(Int64(Double(count - before) / frequency * 1e9))
  }

  /// Returns the engine's cycles per second.
  ///
  /// If the engine reports the count of all its cycles, returns the frequency since the last
  /// reading, or nil at the first reading. Otherwise, returns the engine's maximum frequency, or
  /// 4 GHz if the maximum is unknown. No GPU reaches 4 GHz, so the computed use never exceeds the
  /// actual use.
  private func frequency(_ engine: GPUEngine, at now: UInt64) -> Double? {
    guard let all = engine.totalCycles else {
      return Double(engine.frequencyMax.map { max($0, 1) } ?? 4_000_000_000)
    }
    guard let total, all > total.cycles, now > total.at else { return nil }
    return Double(all - total.cycles) / Double(now - total.at) * 1e9
  }
}
