import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

@Suite("taskctl's exit codes: 0 done, 1 refused, 2 usage, 3 no daemon")
struct TaskctlTests {
  @Test(
    "The run command returns the program's exit code; task says why the daemon killed its program")
  func programs() throws {
    let daemon = try DaemonFixture(
      .init(policy: [("BackgroundTime", "300ms"), ("ExpirationLead", "100ms")]))
    let done = try daemon.taskctl("run", "--", "sh", "-c", "echo out; exit 7")
    #expect(done.exit == .exited(code: 7))
    #expect(done.text == "out\n")
    #expect(try daemon.taskctl("task", "--", "true").exit == .exited(code: 0))
    let late = try daemon.taskctl("task", "--id", "org.test.late", "--", "sh", "-c", "read x")
    #expect(late.exit == .exited(code: 137))
    #expect(late.text.contains("backgroundTimeExpired"), "\(late.text)")
  }

  @Test(
      """
      §2: A request for the present state succeeds and changes nothing; launching a running \
      application is AlreadyRunning
      """)
  func alreadyThere() throws {
    let id = "org.test.program"
    let daemon = try DaemonFixture(
      .init(manifests: [(id, "command = [\"/bin/sleep\", \"1000\"]")]))
    let monitor = try Monitor(daemon)
    func twice(_ command: String, _ state: ControlInterface.State) throws {
      for _ in 0..<2 {
        let done = try daemon.taskctl(command, id)
        #expect(done.exit == .exited(code: 0), "\(done.text)")
      }
      #expect(try daemon.application(id).state == state)
    }
    #expect(try daemon.taskctl("terminate", id).text == "\(id): has never run\n")
    try twice("foreground", .active)
    let launched = try daemon.taskctl("launch", id)
    #expect(launched.exit == .exited(code: 1))
    #expect(launched.text.contains("AlreadyRunning"), "\(launched.text)")
    try twice("inactive", .inactive)
    try daemon.sendToBackground(id)
    try monitor.transition(id, to: .suspended)
    try twice("background", .suspended)
    try twice("terminate", .notRunning)
    #expect(monitor.seen.count { $0.kind == .transition } == 4)
    #expect(!monitor.seen.contains { $0.kind == .refused && $0.reason != "AlreadyRunning" })
    #expect(try daemon.taskctl("terminate", "org.test.unknown").exit == .exited(code: 1))
  }

  @Test("A mistyped command, option or id gets the nearest correct name")
  func mistakes() throws {
    let daemon = try DaemonFixture()
    let program = try daemon.shell("read line")
    try daemon.adopt("org.test.program", program)
    let list = try daemon.taskctl("list", "--json")
    #expect(list.exit == .exited(code: 0))
    #expect(list.text.contains("\"application\":\"org.test.program\""), "\(list.text)")
    let unknown = try daemon.taskctl("status", "org.test.progam")
    #expect(unknown.exit == .exited(code: 1))
    #expect(unknown.text.contains("UnknownApplication"))
    #expect(unknown.text.contains("'org.test.program'"))
    let usage = try daemon.taskctl("lst")
    #expect(usage.exit == .exited(code: 2))
    #expect(usage.text.contains("taskctl list"), "\(usage.text)")
    let none = try daemon.taskctl("list", "--socket", daemon.folder.file("nothing"))
    #expect(none.exit == .exited(code: 3))
  }
}
