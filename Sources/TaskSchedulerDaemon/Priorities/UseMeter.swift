import LinuxSystem
import TaskSchedulerCore

/// Counts what the processes of one instance use.
struct UseMeter {
  /// Whether it was asked since the instance was last stopped.
  private(set) var isWatched = false
  private var processor: Duration = .zero
  /// What the counters showed when they were last read.
  private var processorLast: UInt64?
  private var gpu: UInt64 = 0
  private var gpuLast: [GPUClient: UInt64]?

  /// What is used from here on counts.
  mutating func begin() {
    if !isWatched { (isWatched, gpuLast) = (true, nil) }
  }

  mutating func end() { isWatched = false }

  /// Reads the counters of a control group, where there is one.
  mutating func readProcessors(of group: ControlGroup) throws(SystemError) {
    add(try group.cpuMicroseconds(), unit: .microseconds(1))
  }

  /// Reads those of a tree of processes. What has ended is counted by whoever waited for it.
  mutating func readProcessors(of members: [ProcessStat]) {
    add(members.reduce(0) { $0 &+ $1.cpuTicks &+ $1.childrenTicks }, unit: .milliseconds(10))
  }

  private mutating func add(_ count: UInt64, unit: Duration) {
    // Whoever has ended as nobody's child takes what it has used along.
    if let last = processorLast, count > last { processor += unit * Int(clamping: count - last) }
    processorLast = count
  }

  mutating func readGPUs(_ files: OpenFiles) {
    let times = files.gpuTimes()
    if let last = gpuLast {
      for (client, time) in times {
        let before = last[client] ?? 0
        if time > before { gpu &+= time - before }
      }
    }
    // One that is not there may only be on its way, in a message to another process; the kernel
    // gives no id twice.
    gpuLast = (gpuLast ?? [:]).merging(times) { max($0, $1) }
  }

  func use(isTraced: Bool) -> ResourceUse {
    ResourceUse(
      processor: processor, gpu: .nanoseconds(Int64(clamping: gpu)), isTraced: isTraced)
  }
}
