import DequeModule
import EventLoop
import LinuxSystem
import TaskSchedulerCore

/// The detection of GPU use by instances in the background, within 2 s (contract §12).
///
/// If a process has opened a GPU device, the kernel reports the GPU use of the process in the
/// fdinfo of the descriptor. The daemon therefore reads counters only for instances with such a
/// descriptor. It searches for the descriptors when an instance enters the background, and at each
/// measurement. Between measurements, inotify reports when any process of the machine opens a GPU
/// device. After ``openingDelay``, the daemon scans each background instance that has no known GPU
/// descriptor. If it scanned an instance too recently, it scans the instance later. If no program
/// opens a GPU device, the watch costs nothing. inotify does not report a descriptor that the
/// instance received from another application, or that belongs to a container's own device file.
/// The next measurement finds such a descriptor.
///
/// While an instance has an open device, the daemon reads the counters of the known descriptors
/// every ``interval``. It scans all descriptors of the instance so rarely that the scans take at
/// most 5 % of the time of one CPU.
final class GPUSampling {
  /// The interval between two readings. With a driver that counts cycles, the daemon can compute
  /// the use only after two intervals. Two intervals, ``openingDelay`` and a scan together take
  /// less than 2 s.
  static let interval: Duration = .milliseconds(600)
  static let openingDelay: Duration = .milliseconds(200)
  private static let processesMax = 512

  /// The directories of the GPU devices. If a sandbox hides /dev from the daemon, the daemon finds
  /// the devices through the root directory of process 1.
  private let folders: [String]
  private let scans: DescriptorScans
  private let membership: InstanceMembership
  private let instances: () -> [InstanceResources]
  private let found: (InstanceResources) -> Void
  private let rest: (Duration) -> Duration
  private let watch: Watch
  private var openings: DescriptorSource?
  private var isWatching = false
  private var openingTimer: TimerSource?
  private var timer: TimerSource?
  private var isTimerSet = false
  private var underWay: Set<InstanceID> = []
  /// The background instances that the daemon must scan now, because a program has opened a device.
  private var toScan: Deque<InstanceID> = []
  /// The background instances that the daemon must scan later for the same reason, because it
  /// scanned them too recently.
  private var postponed: Set<InstanceID> = []
  private var nextScan: [InstanceID: UInt64] = [:]

  private final class Watch {
    let watch: DirectoryWatch
    init(_ watch: consuming DirectoryWatch) { self.watch = watch }
  }

  /// - Parameters:
  ///   - instances: Returns the instances in the background that the daemon measures.
  ///   - found: Called with an instance if a reading shows that it has used a GPU.
  ///   - rest: Returns the minimum time until the next scan of an instance. The argument is the CPU
  ///     time of the last scan. By default, scans take at most 5 % of the time.
  init(
    folders: [String] = ["/dev/dri", "/proc/1/root/dev/dri"], scans: DescriptorScans,
    membership: InstanceMembership, loop: EventLoop, instances: @escaping () -> [InstanceResources],
    found: @escaping (InstanceResources) -> Void,
    rest: @escaping (Duration) -> Duration = { $0 * 20 }
  ) throws(SystemError) {
    self.folders = folders
    self.scans = scans
    self.membership = membership
    self.instances = instances
    self.found = found
    self.rest = rest
    watch = Watch(try DirectoryWatch())
    openingTimer = try loop.timer { [weak self] in self?.scanNextAfterOpening() }
    timer = try loop.timer { [weak self] in self?.readAgain() }
    openings = try loop.watch(watch.watch.descriptor.rawValue, for: .input) { [weak self] _ in
      self?.scheduleOpeningScan()
    }
    watchDirectories()
  }

  deinit {
    // The source must be removed before its descriptor is closed.
    openings = nil
  }

  /// Whether the machine has a GPU. Searches again while there is none, because a driver may be
  /// loaded at any time.
  var hasGPUs: Bool {
    if !isWatching { watchDirectories() }
    return isWatching
  }

  /// Scans the descriptors of the given processes of an instance. Calls `answer` when the meter has
  /// the result.
  func sample(
    _ instance: InstanceResources, members: [ProcessStat], answer: @escaping () -> Void = {}
  ) {
    var scan = DescriptorScan(of: members.map(\.identity))
    scan.findsGPUs = true
    scan.knownGPUFiles = instance.meter.gpuFiles
    request(scan, instance, answer: answer)
  }

  private func request(
    _ scan: DescriptorScan, _ instance: InstanceResources, answer: @escaping () -> Void
  ) {
    let id = instance.id
    underWay.insert(id)
    _ = scans.request(scan, user: instance.uid) { [weak self] findings in
      let now = BootClock.now()
      instance.meter.readGPUs(findings, at: now)
      if let self {
        underWay.remove(id)
        if !scan.processes.isEmpty {
          nextScan[id] = BootClock.after(rest(findings.processorTime))
        }
        if !instance.meter.gpuFiles.isEmpty { setTimer() }
      }
      answer()
    }
  }

  // MARK: Openings

  private func watchDirectories() {
    isWatching = false
    for folder in folders where (try? watch.watch.addOpenings(folder)) != nil { isWatching = true }
  }

  /// Schedules a scan. Until the scan, the daemon ignores further events, because a program can
  /// open devices thousands of times a second.
  private func scheduleOpeningScan() {
    openings?.wait(for: [])
    openingTimer?.set(BootClock.after(Self.openingDelay))
  }

  /// Scans one instance in each iteration of the event loop, because a walk over the processes of
  /// one instance takes some milliseconds.
  private func scanNextAfterOpening() {
    if toScan.isEmpty {
      let all = instances().filter { $0.meter.gpuFiles.isEmpty }.map(\.id)
      toScan = Deque(takeOpenings() ? all : all.filter { postponed.contains($0) })
      postponed = []
    }
    if let id = toScan.popFirst(), let instance = instances().first(where: { $0.id == id }) {
      if mayScan(instance) { scanForUse(instance) } else { postponed.insert(id) }
    }
    guard toScan.isEmpty else {
      openingTimer?.set(BootClock.now())
      return
    }
    openings?.wait(for: .input)
    let soonest = BootClock.after(Self.openingDelay)
    let restEnd = postponed.map { Swift.max(nextScan[$0] ?? 0, soonest) }.min()
    if let restEnd { openingTimer?.set(restEnd) }
  }

  /// Reads the events of the watched directories. Returns whether there were any.
  private func takeOpenings() -> Bool {
    var areOpenings = false
    while let changes = try? watch.watch.takeChanges(), !changes.isEmpty {
      areOpenings = true
      if changes.contains(where: \.isEnd) { watchDirectories() }
    }
    return areOpenings
  }

  private func mayScan(_ instance: InstanceResources) -> Bool {
    !underWay.contains(instance.id) && nextScan[instance.id] ?? 0 <= BootClock.now()
  }

  private func scanForUse(_ instance: InstanceResources) {
    let members = (try? membership.tree(instance.processes, max: Self.processesMax)) ?? []
    let before = instance.meter.gpu
    sample(instance, members: members) { [weak self] in
      if instance.meter.gpu > before { self?.found(instance) }
    }
  }

  // MARK: Counters

  private func setTimer() {
    if isTimerSet { return }
    isTimerSet = true
    timer?.set(BootClock.after(Self.interval))
  }

  private func readAgain() {
    isTimerSet = false
    let all = instances()
    let ids = Set(all.map(\.id))
    nextScan = nextScan.filter { ids.contains($0.key) }
    var hasScanned = false
    for instance in all where !instance.meter.gpuFiles.isEmpty {
      setTimer()
      if !hasScanned, mayScan(instance) {
        hasScanned = true
        scanForUse(instance)
      } else if !underWay.contains(instance.id) {
        var scan = DescriptorScan(of: [])
        scan.findsGPUs = true
        scan.knownGPUFiles = instance.meter.gpuFiles
        let before = instance.meter.gpu
        request(scan, instance) { [weak self] in
          if instance.meter.gpu > before { self?.found(instance) }
        }
      }
    }
  }
}
