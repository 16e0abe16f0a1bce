import Glibc
import LinuxSystem
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

@Suite("§12: GPU use from the counters of fdinfo, with a simulated /proc")
struct ResourceMeterTests {
  private let root = TemporaryDirectory()
  private let process = ProcessIdentity(pid: 42, startTime: 7)

  init() throws {
    for folder in ["42", "42/fd", "42/fdinfo"] { mkdir(root.file(folder), 0o755) }
    root.write("42/stat", "42 (a) T 1 2 3 0 -1 0 0 0 0 0 10 5 0 0 20 0 1 0 7")
  }

  private func client(
    _ number: Int, _ id: Int, render: Int, copy: Int = 0, device: String = "0000:00:02.0",
    path: String = "/dev/dri/renderD128"
  ) {
    unlink(root.file("42/fd/\(number)"))
    symlink(path, root.file("42/fd/\(number)"))
    root.write(
      "42/fdinfo/\(number)",
      """
      pos:\t0
      flags:\t02100002
      drm-driver:\ti915
      drm-pdev:\t\(device)
      drm-client-id:\t\(id)
      drm-engine-render:\t\(render) ns
      drm-engine-copy:\t\(copy) ns
      drm-engine-capacity-copy:\t2
      drm-total-memory:\t4096 KiB

      """)
  }

  /// Reads the counters of the process's descriptors at the given instant. Returns the GPU use so
  /// far.
  private func read(_ meter: inout ResourceMeter, at milliseconds: UInt64 = 0) throws -> Duration {
    var scan = DescriptorScan(of: [process])
    scan.findsGPUs = true
    let findings = try #require(scan.run(in: try ProcFS(root: root.path)))
    meter.readGPUs(findings, at: milliseconds * 1_000_000)
    return meter.use(isTraced: false).gpu
  }

  /// Simulates a client whose driver counts cycles.
  private func cycles(_ id: Int, _ lines: String) {
    unlink(root.file("42/fd/3"))
    symlink("/dev/dri/renderD128", root.file("42/fd/3"))
    root.write("42/fdinfo/3", "drm-driver:\txe\ndrm-client-id:\t\(id)\n\(lines)")
  }

  @Test("The cycles of a client are converted to time by the total cycles of the engine")
  func cyclesOfAll() throws {
    var meter = ResourceMeter()
    cycles(7, "drm-cycles-rcs:\t1000\ndrm-total-cycles-rcs:\t50000\n")
    #expect(try read(&meter, at: 0) == .zero, "use before the first reading does not count")
    // The engine ran 10,000 cycles in 100 ms. The client used 6,000 of them.
    cycles(7, "drm-cycles-rcs:\t7000\ndrm-total-cycles-rcs:\t60000\n")
    #expect(try read(&meter, at: 100) == .milliseconds(60))
    cycles(7, "drm-cycles-rcs:\t7000\ndrm-total-cycles-rcs:\t70000\n")
    #expect(try read(&meter, at: 200) == .milliseconds(60))
  }

  @Test("The second reading of a new client counts all cycles since the client's start")
  func cyclesOfNewClient() throws {
    var meter = ResourceMeter()
    _ = try read(&meter, at: 0)
    cycles(8, "drm-cycles-rcs:\t3000\ndrm-total-cycles-rcs:\t50000\n")
    #expect(try read(&meter, at: 100) == .zero, "the speed of the engine is not known yet")
    cycles(8, "drm-cycles-rcs:\t8000\ndrm-total-cycles-rcs:\t60000\n")
    #expect(try read(&meter, at: 200) == .milliseconds(80))
  }

  @Test("Cycles without a total are converted to time by the highest frequency")
  func cyclesByFrequency() throws {
    var meter = ResourceMeter()
    cycles(7, "drm-cycles-gpu:\t0\ndrm-maxfreq-gpu:\t800 MHz\n")
    _ = try read(&meter, at: 0)
    cycles(7, "drm-cycles-gpu:\t80000000\ndrm-maxfreq-gpu:\t800 MHz\n")
    #expect(try read(&meter, at: 100) == .milliseconds(100))
    // If the driver also counts time, the meter uses the time.
    cycles(9, "drm-engine-gpu:\t5000000 ns\ndrm-cycles-gpu:\t80000000\n")
    #expect(try read(&meter, at: 200) == .milliseconds(105))
  }

  @Test("The use is the increase of the simulated counters, of all engines together")
  func advances() throws {
    var meter = ResourceMeter()
    client(3, 7, render: 1_000_000, copy: 5)
    #expect(try read(&meter) == .zero, "use before the first reading does not count")
    #expect(try read(&meter) == .zero)
    client(3, 7, render: 1_000_010, copy: 10)
    #expect(try read(&meter) == .nanoseconds(15))
  }

  @Test(
    "Two simulated descriptors of one client count once; a client of another device counts, too")
  func duplicates() throws {
    var meter = ResourceMeter()
    client(3, 7, render: 10)
    client(4, 7, render: 10)
    client(5, 7, render: 10, device: "0000:03:00.0")
    _ = try read(&meter)
    client(3, 7, render: 20)
    client(4, 7, render: 20)
    client(5, 7, render: 30, device: "0000:03:00.0")
    #expect(try read(&meter) == .nanoseconds(30))
  }

  @Test("Simulated clients that appear after the first reading count completely")
  func comeAndGo() throws {
    var meter = ResourceMeter()
    client(3, 7, render: 1000)
    _ = try read(&meter)
    unlink(root.file("42/fd/3"))
    #expect(try read(&meter) == .zero)
    client(4, 8, render: 40)
    #expect(try read(&meter) == .nanoseconds(40), "all use of a new client counts")
    client(4, 9, render: 1)
    #expect(try read(&meter) == .nanoseconds(41))
  }

  @Test("A simulated client that is missing at one reading does not count as new later")
  func handedOn() throws {
    var meter = ResourceMeter()
    meter.begin()
    client(3, 7, render: 1000)
    _ = try read(&meter)
    unlink(root.file("42/fd/3"))
    _ = try read(&meter)
    client(4, 7, render: 1003)
    #expect(try read(&meter) == .nanoseconds(3))
    // Use of the GPU in the foreground, between two periods in the background, does not count.
    meter.end()
    client(4, 7, render: 5000)
    meter.begin()
    #expect(try read(&meter) == .nanoseconds(3))
  }

  @Test("A simulated file that is not a GPU, or has no counters, does not count")
  func others() throws {
    var meter = ResourceMeter()
    client(3, 7, render: 5, path: "/tmp/renderD128")
    symlink("/dev/dri/card0", root.file("42/fd/6"))
    root.write("42/fdinfo/6", "drm-driver:\tvgem\ndrm-engine-x:\t12 cycles\n")
    symlink("/dev/dri/card0", root.file("42/fd/7"))
    _ = try read(&meter)
    client(3, 7, render: 500, path: "/tmp/renderD128")
    #expect(try read(&meter) == .zero)
  }
}
