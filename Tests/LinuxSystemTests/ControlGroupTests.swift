import Glibc
import LinuxSystem
import TestSupport
import Testing

@Suite(
  "A control group",
  .enabled(
    if: TestControlGroup.isPossible, Comment(rawValue: TestControlGroup.missing ?? "possible")))
struct ControlGroupTests {
  private let test: TestControlGroup
  private var group: ControlGroup { test.group }

  init() throws { test = try TestControlGroup() }

  /// Waits until the contents of cgroup.events satisfy a condition.
  private func wait(
    _ watch: borrowing FileDescriptor, until reached: (ControlGroup.Events) -> Bool
  ) throws {
    while let events = try ControlGroup.events(of: watch.rawValue), !reached(events) {
      try waitFor(POLLPRI, on: watch.rawValue)
    }
  }

  private func start(_ script: String) throws -> PIDFD {
    let request = SpawnRequest(
      path: "/bin/sh", arguments: ["sh", "-c", script], environment: ["PATH=/usr/bin:/bin"])
    let child = try HeldChild.spawn(request)
    do {
      try group.add(child.pid)
    } catch {
      child.abandon()
      throw error
    }
    return try child.releaseAndWaitForExec()
  }

  @Test("A child is in its control group before its first instruction, with all its children")
  func membership() throws {
    let proc = try ProcFS()
    #expect(group.exists)
    #expect(group.isDelegated)
    #expect(try !group.isPopulated())
    let watch = try group.watchEvents()
    let pidfd = try start("sleep 1000 & sleep 1000 & wait")
    #expect(try group.isPopulated())
    #expect(try group.processes().contains(pidfd.pid))
    #expect(try ControlGroup.of(pidfd.pid, in: proc) == group)
    #expect(throws: SystemError(call: "rmdir \(group.path)", errno: EBUSY)) { try group.remove() }
    try group.kill()
    try waitFor(POLLIN, on: pidfd.rawValue)
    #expect(try pidfd.exitStatus(in: proc) == .signaled(signal: SIGKILL))
    try wait(watch) { !$0.isPopulated }
    #expect(try group.processes().isEmpty)
  }

  @Test("Frozen processes use no CPU time, and run again when they are thawed")
  func freezing() throws {
    let watch = try group.watchEvents()
    #expect(try ControlGroup.events(of: watch.rawValue)?.isFrozen == false)
    let pidfd = try start("while :; do :; done & while :; do :; done")
    try spend(microseconds: 20_000)
    #expect(try group.isToBeFrozen() == false)
    try group.freeze()
    // The request to freeze is visible immediately, even if the group's processes still run.
    #expect(try group.isToBeFrozen() == true)
    try wait(watch) { $0.isFrozen }
    #expect(try group.isFrozen())
    let frozen = try group.cpuMicroseconds()
    // Waits until another process has used 50 ms of CPU time.
    let other = try TestProcess.python("import time\nwhile time.process_time() < 0.05: pass")
    #expect(try other.waitForExit() == .exited(code: 0))
    #expect(try group.cpuMicroseconds() == frozen)
    try group.thaw()
    try wait(watch) { !$0.isFrozen }
    try spend(microseconds: 20_000)
    #expect(try group.isToBeFrozen() == false)
    #expect(try group.child("none").isToBeFrozen() == nil)
    try group.kill()
    _ = try pidfd.wait()
  }

  /// Waits until the group has used the given additional CPU time.
  private func spend(microseconds: UInt64) throws {
    let start = try group.cpuMicroseconds()
    let end = BootClock.now() + 20_000_000_000
    while try group.cpuMicroseconds() < start + microseconds {
      try #require(BootClock.now() < end)
      _ = sched_yield()
    }
  }

  @Test(
    "A control group counts the processes of the groups below it, and is removed with these groups")
  func nested() throws {
    let lowest = group.child("a").child("b")
    try group.child("a").create()
    try lowest.create()
    try group.child("c").create()
    let request = SpawnRequest(path: "/bin/sh", arguments: ["sh"], environment: [])
    let child = try HeldChild.spawn(request)
    let pid = child.pid
    try lowest.add(pid)
    let members = Result { try group.processes() }
    let populated = Result { try group.isPopulated() }
    child.abandon()
    #expect(try members.get() == [pid])
    #expect(try populated.get())
    #expect(Set(try group.children().map(\.name)) == ["a", "c"])
    try group.remove()
    #expect(!group.exists)
    try group.remove()
    #expect(try group.processes().isEmpty)
  }

  @Test("A watch of a removed control group returns nil")
  func watchedAndRemoved() throws {
    let child = group.child("short-lived")
    try child.create()
    let watch = try child.watchEvents()
    try child.remove()
    #expect(try ControlGroup.events(of: watch.rawValue) == nil)
  }
}

@Suite("The mount point of cgroup v2")
struct ControlGroupMountTests {
  private let directory = TemporaryDirectory()

  @Test("The mount point is found on a machine with cgroup v1 and v2, and if the path has spaces")
  func mountInfo() throws {
    let path = directory.write(
      "mountinfo",
      """
      24 30 0:22 / /proc rw,nosuid - proc proc rw
      31 30 0:27 / /sys/fs/cgroup/cpu rw shared:9 - cgroup cgroup rw,cpu
      32 30 0:28 / /sys/fs/a\\040b rw,relatime shared:9 master:1 - cgroup2 cgroup2 rw

      """)
    #expect(try ControlGroup.mountPoint(mountInfo: path)?.path == "/sys/fs/a b")
  }

  @Test("The mount point is nil if cgroup v2 is not mounted")
  func none() throws {
    let path = directory.write("mountinfo", "24 30 0:22 / /proc rw - proc proc rw\n")
    #expect(try ControlGroup.mountPoint(mountInfo: path) == nil)
  }
}
