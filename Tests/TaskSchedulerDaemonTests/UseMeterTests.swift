import Glibc
import LinuxSystem
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

@Suite("§12: Using the GPU, with a made-up proc root: the counters of fdinfo")
struct UseMeterTests {
  private let root = TemporaryDirectory()
  private let pid: Int32 = 42

  init() throws {
    for folder in ["42", "42/fd", "42/fdinfo"] { mkdir(root.file(folder), 0o755) }
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

  private func read(_ meter: inout UseMeter) throws -> Duration {
    let files = OpenFiles(of: [pid], in: try ProcFS(root: root.path))
    meter.readGPUs(files)
    return meter.use(isTraced: false).gpu
  }

  @Test("with made-up counters: what they advance by is used, all engines together")
  func advances() throws {
    var meter = UseMeter()
    client(3, 7, render: 1_000_000, copy: 5)
    #expect(try read(&meter) == .zero, "what was used before the first look does not count")
    #expect(try read(&meter) == .zero)
    client(3, 7, render: 1_000_010, copy: 10)
    #expect(try read(&meter) == .nanoseconds(15))
  }

  @Test("with made-up counters: a descriptor that was handed on counts once, another device again")
  func duplicates() throws {
    var meter = UseMeter()
    client(3, 7, render: 10)
    client(4, 7, render: 10)
    client(5, 7, render: 10, device: "0000:03:00.0")
    _ = try read(&meter)
    client(3, 7, render: 20)
    client(4, 7, render: 20)
    client(5, 7, render: 30, device: "0000:03:00.0")
    #expect(try read(&meter) == .nanoseconds(30))
  }

  @Test("with made-up counters: clients that come and go")
  func comeAndGo() throws {
    var meter = UseMeter()
    client(3, 7, render: 1000)
    _ = try read(&meter)
    unlink(root.file("42/fd/3"))
    #expect(try read(&meter) == .zero)
    client(4, 8, render: 40)
    #expect(try read(&meter) == .nanoseconds(40), "a new one was not there before")
    client(4, 9, render: 1)
    #expect(try read(&meter) == .nanoseconds(41))
  }

  @Test("with made-up counters: one that is handed on in a message is missed at a look, not new")
  func handedOn() throws {
    var meter = UseMeter()
    meter.begin()
    client(3, 7, render: 1000)
    _ = try read(&meter)
    unlink(root.file("42/fd/3"))
    _ = try read(&meter)
    client(4, 7, render: 1003)
    #expect(try read(&meter) == .nanoseconds(3))
    // What it uses between two stints in the background does not count.
    meter.end()
    client(4, 7, render: 5000)
    meter.begin()
    #expect(try read(&meter) == .nanoseconds(3))
  }

  @Test("with made-up files: what is no GPU, or has no such counters, is none")
  func others() throws {
    var meter = UseMeter()
    client(3, 7, render: 5, path: "/tmp/renderD128")
    symlink("/dev/dri/card0", root.file("42/fd/6"))
    root.write("42/fdinfo/6", "drm-driver:\tvgem\ndrm-engine-x:\t12 cycles\n")
    symlink("/dev/dri/card0", root.file("42/fd/7"))
    _ = try read(&meter)
    client(3, 7, render: 500, path: "/tmp/renderD128")
    #expect(try read(&meter) == .zero)
  }
}
