import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

@Suite("taskctl: exit codes 0 done, 1 refused, 2 usage, 3 no daemon")
struct TaskctlTests {
  /// Runs it to its end; both its outputs are returned.
  private func taskctl(
    _ daemon: DaemonFixture, _ arguments: String...
  ) throws -> (exit: ProcessExit?, text: String) {
    let program = try TestProcess(
      "/bin/sh",
      ["sh", "-c", "exec \"$0\" \"$@\" 2>&1", Programs.path(of: "taskctl")] + arguments
    ) { $0.environment = daemon.environment().map { SystemString($0) } }
    let text = try program.remainingText()
    return (try program.waitForExit(), text)
  }

  @Test("run returns the program's exit code; task is killed at the limit, and says why")
  func programs() throws {
    let daemon = try DaemonFixture(
      .init(policy: [("BackgroundTime", "300ms"), ("ExpirationLead", "100ms")]))
    let done = try taskctl(daemon, "run", "--", "sh", "-c", "echo out; exit 7")
    #expect(done.exit == .exited(code: 7))
    #expect(done.text == "out\n")
    #expect(try taskctl(daemon, "task", "--", "true").exit == .exited(code: 0))
    let late = try taskctl(daemon, "task", "--id", "org.test.late", "--", "sh", "-c", "read x")
    #expect(late.exit == .exited(code: 137))
    #expect(late.text.contains("backgroundTimeExpired"), "\(late.text)")
  }

  @Test("what a person mistypes gets the nearest right name")
  func mistakes() throws {
    let daemon = try DaemonFixture()
    let program = try daemon.shell("read line")
    try daemon.adopt("org.test.program", program)
    let list = try taskctl(daemon, "list", "--json")
    #expect(list.exit == .exited(code: 0))
    #expect(list.text.contains("\"application\":\"org.test.program\""), "\(list.text)")
    let unknown = try taskctl(daemon, "status", "org.test.progam")
    #expect(unknown.exit == .exited(code: 1))
    #expect(unknown.text.contains("UnknownApplication"))
    #expect(unknown.text.contains("'org.test.program'"))
    let usage = try taskctl(daemon, "lst")
    #expect(usage.exit == .exited(code: 2))
    #expect(usage.text.contains("taskctl list"), "\(usage.text)")
    let none = try taskctl(daemon, "list", "--socket", daemon.folder.file("nothing"))
    #expect(none.exit == .exited(code: 3))
  }
}
