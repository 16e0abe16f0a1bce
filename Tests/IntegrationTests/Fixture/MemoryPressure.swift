import Glibc
import LinuxSystem
import TestSupport

/// Real memory pressure in a new cgroup. A process reads at random positions in a file that is
/// larger than the memory limit of the cgroup. The pressure does not affect the rest of the
/// machine.
final class RealPressure: Sendable {
  private static let limit = 32 << 20
  private static let program = """
    import mmap, os, random, sys
    size = \(limit * 3)
    with open(sys.argv[1], "wb") as file:
        for _ in range(size >> 20):
            file.write(os.urandom(1 << 20))
    file = os.open(sys.argv[1], os.O_RDONLY)
    os.fsync(file)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    # Joins the cgroups only now: unwritten pages of the file could exceed the memory limit.
    for group in sys.argv[2:]:
        open(group + "/cgroup.procs", "w").write(str(os.getpid()))
    held = mmap.mmap(file, size, prot=mmap.PROT_READ)
    print("ready", flush=True)
    sys.stdin.readline()
    while True:
        held[random.randrange(size)]
    """

  private let group = try? TestControlGroup()
  /// The cgroup of the process in the version 1 hierarchy, if that hierarchy has the memory
  /// controller.
  private let older: ControlGroup?
  private let folder = TemporaryDirectory()
  private let process: TestProcess

  private static let olderMount = "/sys/fs/cgroup/memory"

  /// The reason why this machine cannot create the pressure; nil if it can.
  static let missing: String? = {
    if geteuid() != 0 { return "only root can set memory limits" }
    if let missing = TestControlGroup.missing { return missing }
    guard let group = try? TestControlGroup() else {
      return "this process cannot create a control group"
    }
    // The cgroup exists only as long as `group`, so `group` must live until the checks are done.
    return withExtendedLifetime(group) {
      if access("\(group.group.path)/memory.pressure", W_OK) != 0 {
        return "the kernel does not report pressure (PSI)"
      }
      let hasController =
        access("\(group.group.path)/memory.max", W_OK) == 0
        || access("\(olderMount)/memory.limit_in_bytes", F_OK) == 0
      return hasController ? nil : "there is no memory controller"
    }
  }()

  init() throws {
    guard let group else { throw SystemError(call: "TestControlGroup", errno: ENOENT) }
    var groups = [group.group.path]
    let own = "\(group.group.path)/memory.max"
    if access(own, W_OK) == 0 {
      older = nil
      try Self.write("\(Self.limit)", to: own)
    } else {
      let limited = ControlGroup(path: "\(Self.olderMount)/\(group.group.name)")
      try limited.create()
      older = limited
      try Self.write("\(Self.limit)", to: "\(limited.path)/memory.limit_in_bytes")
      groups.append(limited.path)
    }
    process = try TestProcess.python(Self.program, [folder.file("file")] + groups)
    guard try process.readLine() == "ready" else {
      throw SystemError(call: "making pressure", errno: EPIPE)
    }
  }

  deinit {
    _ = try? process.pidfd.send(signal: SIGKILL)
    _ = try? process.waitForExit()
    try? older?.remove()
  }

  /// The file in which the kernel reports the pressure.
  var path: String { "\(group?.group.path ?? "")/memory.pressure" }

  /// Creates pressure, and runs `body`. The pressure lasts until this value is destroyed.
  func press(_ body: () throws -> Void) throws {
    try process.writeLine("begin")
    try withExtendedLifetime(self, body)
  }

  private static func write(_ text: String, to path: String) throws {
    let file = try FileDescriptor.open(writing: path)
    var text = text
    let written = text.withUTF8 { Glibc.write(file.rawValue, $0.baseAddress, $0.count) }
    guard written > 0 else { throw SystemError(call: "write \(path)", errno: errno) }
  }
}
