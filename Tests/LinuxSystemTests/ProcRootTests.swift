import Glibc
import LinuxSystem
import TestSupport
import Testing

@Suite("/proc of simulated processes")
struct ProcRootTests {
  private let directory = TemporaryDirectory()

  private func stat(_ text: String) throws -> ProcessStat? {
    mkdir(directory.file("42"), 0o755)
    directory.write("42/stat", text)
    return try ProcFS(root: directory.path).stat(42)
  }

  @Test("A stat line of an old kernel without the last fields is parsed")
  func short() throws {
    let stat = try #require(
      try stat("42 (a) T 1 2 3 0 -1 0 0 0 0 0 10 5 0 0 20 0 4 0 99999999999"))
    #expect(stat.state == .stopped)
    #expect((stat.parent, stat.processGroup, stat.session) == (1, 2, 3))
    #expect(stat.cpuTicks == 15)
    #expect(stat.threadCount == 4)
    #expect(stat.identity == ProcessIdentity(pid: 42, startTime: 99_999_999_999))
  }

  @Test(
    "The parser returns nil for a malformed stat line",
    arguments: [
      "", "42", "42 (", "42 (a", "42 (a)", "42 (a) ", "42 )a( R 1", "42 (a) R 1 2 3", "(a) R 1",
    ])
  func malformed(line: String) throws {
    #expect(try stat(line) == nil)
  }

  @Test("The error for a missing root directory names the directory")
  func noRoot() {
    #expect(throws: SystemError(call: "open /nowhere", errno: ENOENT)) {
      _ = try ProcFS(root: "/nowhere")
    }
  }

  @Test("On a hybrid machine, the cgroup v2 line is used")
  func cgroup() throws {
    mkdir(directory.file("42"), 0o755)
    directory.write("42/cgroup", "4:memory:/x\n1:name=systemd:/y\n0::/user.slice/a:b\n")
    #expect(try ProcFS(root: directory.path).cgroup(42) == "/user.slice/a:b")
  }
}
