import Glibc
import LinuxSystem
import TestSupport
import Testing

extension SystemdTests {
  @Suite("The isolated machine of the tests")
  struct Machines {
    @Test("The machine sees only its own processes and cgroups")
    func isolation() throws {
      let tree = TemporaryDirectory(mode: 0o755)
      defer { withExtendedLifetime(tree) {} }
      let machine = try Machine(tree: tree.path)
      #expect(try machine.must("cat", "/proc/1/cgroup").lines.last == "0::/init.scope")
      let pids = try machine.must("ps", "-eo", "pid=").lines
      #expect(pids.count < 20)
      // The isolated machine has a host name of its own.
      #expect(try machine.must("hostname").text == "machine\n")
    }

    @Test("The machine ends with all its processes and files when the test is killed")
    func killed() throws {
      let tree = TemporaryDirectory(mode: 0o755)
      defer { withExtendedLifetime(tree) {} }
      let test = try TestProcess.python(
        """
        import subprocess, sys
        pipe = subprocess.PIPE
        guardian = subprocess.Popen(sys.argv[1:], stdin=pipe, stdout=pipe, start_new_session=True)
        print(guardian.pid)
        print(guardian.stdout.readline().decode(), end="")
        sys.stdin.read()
        """,
        [Machine.guardianPath, try Machine.parent().path, tree.path])
      let guardian = try unwrap(
        PIDFD.open(try #require(try test.readLine().flatMap { Int32($0) })))
      let words = try #require(try test.readLine()).split(separator: " ").map(String.init)
      try #require(words.count == 3, "\(words)")
      let manager = try unwrap(PIDFD.open(try #require(Int32(words[1]))))
      let group = ControlGroup(path: words[2])
      #expect(try group.isPopulated())

      _ = try test.pidfd.send(signal: SIGKILL)
      #expect(try manager.waitForEnd(timeout: deadline))
      #expect(try guardian.waitForEnd(timeout: deadline))
      #expect(!group.exists)
    }
  }
}
