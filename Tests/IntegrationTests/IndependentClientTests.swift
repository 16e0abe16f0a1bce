import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

@Suite("Programs in other languages can use the protocol")
struct IndependentClientTests {
  private static let client = "Tests/IntegrationTests/Resources/independent_client.py"

  @Test(
      """
      A Python client of 30 lines registers, begins a task, receives the expiration and ends the \
      task, and is then stopped (state T)
      """)
  func client() throws {
    let text = try Programs.text(of: Self.client)
    #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 31)
    let daemon = try DaemonFixture(
      .init(policy: [("BackgroundTime", "3s"), ("ExpirationLead", "2800ms")]))
    let monitor = try Monitor(daemon)
    let program = try daemon.python(text, [daemon.socketPath])
    let id = "org.example.independent"
    try monitor.next("the client's registration") { $0.kind == .registered && $0.application == id }
    try daemon.sendToBackground(id)
    let began = try program.nextLine().split(separator: " ")
    #expect(began.first == "began")
    #expect(try program.nextLine() == "warned \(began[1])")
    try monitor.transition(id, to: .suspended)
    #expect(try daemon.state(of: program.pid) == .stopped)
    #expect(try daemon.application(id).instance?.tasks.isEmpty == true)
  }

  // Also passes the path as argv[0], because Python finds its packages by argv[0].
  private static let hasVarlink =
    (try? TestProcess(Programs.python, [Programs.python, "-c", "import varlink"]).waitForExit())
    == .exited(code: 0)

  @Test(
    "The standard command line client prints each interface of the daemon",
    .enabled(if: hasVarlink, "\(Programs.python) has no varlink: make test-setup"),
    arguments: ["Application", "Control"])
  func help(_ name: String) throws {
    let daemon = try DaemonFixture()
    let program = try TestProcess(
      Programs.python,
      [
        Programs.python, "-m", "varlink.cli", "help",
        "unix:\(daemon.socketPath)/org.taskschedd.\(name)",
      ])
    let text = try program.remainingText()
    #expect(try program.waitForExit() == .exited(code: 0))
    #expect(text.contains("interface org.taskschedd.\(name)"))
    #expect(text.contains(name == "Control" ? "method Adopt" : "method BeginBackgroundTask"))
  }

  @Test("The example uploaders upload in the background, stop at the expiration, and are suspended",
    arguments: ["uploader.py", "uploader-example"])
  func uploaders(_ name: String) throws {
    let daemon = try DaemonFixture(
      .init(policy: [("BackgroundTime", "3s"), ("ExpirationLead", "2500ms")]))
    let monitor = try Monitor(daemon)
    let id = "org.example.uploader"
    let target = daemon.folder.file("uploaded")
    let program =
      name == "uploader.py"
      ? try daemon.python(Programs.text(of: "Examples/\(name)"), [target])
      : try TestProcess(Programs.path(of: name), [name, target]) {
        $0.environment = daemon.environment().map { SystemString($0) }
      }
    try monitor.next("the uploader's registration") {
      $0.kind == .registered && $0.application == id
    }
    try daemon.sendToBackground(id)
    try monitor.next("the uploader's task") { $0.kind == .taskBegan && $0.application == id }
    try monitor.next("the warning") { $0.kind == .taskExpired && $0.application == id }
    try monitor.transition(id, to: .suspended)
    #expect(try daemon.state(of: program.pid) == .stopped)
  }
}
