import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerCore
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

/// Test machines have no GPU, so the process and its descriptors are simulated. The directory of
/// the devices is real, so that the kernel reports files that are opened in it.
@Suite("§12: The daemon finds the use of a GPU in the background within 2 s")
struct GPUSamplingTests {
  private let root = TemporaryDirectory()
  private let devices = TemporaryDirectory()
  private let loop: EventLoop
  private let instance: InstanceResources
  private let membership: InstanceMembership
  private let scans: DescriptorScans

  init() throws {
    for folder in ["42", "42/fd", "42/fdinfo", "42/task", "42/task/42"] {
      mkdir(root.file(folder), 0o755)
    }
    root.write("42/stat", "42 (a) S 1 2 3 0 -1 0 0 0 0 0 10 5 0 0 20 0 1 0 7")
    root.write("42/task/42/children", "")
    devices.write("renderD128", "")
    loop = try EventLoop()
    let proc = try ProcFS(root: root.path)
    membership = try InstanceMembership(proc: proc)
    scans = try DescriptorScans(proc: proc, loop: loop)
    guard let own = try PIDFD.open(getpid()) else {
      throw SystemError(call: "pidfd_open", errno: ESRCH)
    }
    let identity = ProcessIdentity(pid: 42, startTime: 7)
    instance = InstanceResources(
      InstanceProcesses(
        InstanceID(1), of: "org.test.gpu", leader: ProcessHandle(identity, held: own), uid: 1,
        origin: .init(), stat: nil))
    instance.meter.begin()
  }

  private func sampling(
    rest: Duration = .zero, _ found: @escaping (Duration) -> Void
  ) throws -> GPUSampling {
    try GPUSampling(
      folders: [devices.path, "/nowhere"], scans: scans, membership: membership, loop: loop,
      instances: { [instance] in [instance] }, found: { found($0.meter.gpu) },
      rest: { max($0 * 20, rest) })
  }

  /// Simulates that the process has the device open and has used the GPU for the given time.
  private func use(_ milliseconds: Int) {
    symlink("/dev/dri/renderD128", root.file("42/fd/3"))
    root.write(
      "42/fdinfo/3",
      "drm-driver:\ti915\ndrm-client-id:\t1\ndrm-engine-render:\t\(milliseconds)000000 ns\n")
  }

  private func openDevice() throws {
    _ = try FileDescriptor.open(reading: devices.file("renderD128"))
  }

  private func members() throws -> [ProcessStat] { try membership.tree(instance.processes) }

  @Test("The use of a device that is opened in the background is found within 2 s")
  func opened() throws {
    var found: [Duration] = []
    let sampling = try sampling { found.append($0) }
    #expect(sampling.hasGPUs)
    var isAnswered = false
    sampling.sample(instance, members: try members()) { isAnswered = true }
    while !isAnswered { try loop.turn(within: deadline) }
    #expect(instance.meter.gpuFiles.isEmpty)
    use(60)
    try openDevice()
    let start = BootClock.now()
    while found.isEmpty { try loop.turn(within: deadline) }
    #expect(found == [.milliseconds(60)])
    #expect(BootClock.now() - start < 2_000_000_000)
  }

  @Test("The use of a device that is opened soon after a long scan is found within 2 s")
  func openedAfterLongScan() throws {
    var found: [Duration] = []
    // The daemon does not scan the instance during this rest. The rest is so long that it delays
    // the scan that is due `openingDelay` after the device is opened.
    let sampling = try sampling(rest: GPUSampling.openingDelay * 3) { found.append($0) }
    var isAnswered = false
    sampling.sample(instance, members: try members()) { isAnswered = true }
    while !isAnswered { try loop.turn(within: deadline) }
    use(60)
    try openDevice()
    let start = BootClock.now()
    while found.isEmpty { try loop.turn(within: deadline) }
    #expect(found == [.milliseconds(60)])
    #expect(BootClock.now() - start < 2_000_000_000)
  }

  @Test("The use of a device that was opened in the foreground is found within 2 s")
  func usedAgain() throws {
    var found: [Duration] = []
    let sampling = try sampling { found.append($0) }
    use(1000)
    var isAnswered = false
    sampling.sample(instance, members: try members()) { isAnswered = true }
    while !isAnswered { try loop.turn(within: deadline) }
    #expect(instance.meter.gpu == .zero, "GPU use before the background does not count")
    use(1070)
    let start = BootClock.now()
    while found.isEmpty { try loop.turn(within: deadline) }
    #expect(found == [.milliseconds(70)])
    #expect(BootClock.now() - start < 2_000_000_000)
  }

  @Test("Without an open GPU device, or without a GPU, the daemon has no checks to make")
  func none() throws {
    let sampling = try sampling { _ in Issue.record("the sampling reported GPU use") }
    var isAnswered = false
    sampling.sample(instance, members: try members()) { isAnswered = true }
    while !isAnswered { try loop.turn(within: deadline) }
    // If a timer were set or a scan in progress, the loop would have work.
    #expect(try Readiness.wait(for: Int16(POLLIN), on: loop.descriptor, timeout: .zero) == 0)
    let without = try GPUSampling(
      folders: ["/nowhere"], scans: scans, membership: membership, loop: loop,
      instances: { [] }, found: { _ in })
    #expect(!without.hasGPUs)
  }
}
