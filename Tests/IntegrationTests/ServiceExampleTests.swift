import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

@Suite("An application that runs the services of swift-service-lifecycle")
struct ServiceExampleTests {
  private let id = "org.example.outbox"

  private func start(_ daemon: DaemonFixture) throws -> TestProcess {
    let program = try TestProcess(
      Programs.path(of: "outbox-example"), ["outbox-example", "1000"]
    ) {
      $0.environment = daemon.environment().map { SystemString($0) }
    }
    #expect(try program.nextLine().hasPrefix("didFinishLaunching("))
    #expect(try program.nextLine() == "didBecomeActive")
    return program
  }

  @Test("A terminated application shuts its services down before the daemon ends it")
  func terminated() throws {
    let daemon = try DaemonFixture()
    let program = try start(daemon)
    let end = try daemon.terminate(id)
    let text = try program.remainingText()
    #expect(text.contains("willTerminate\n"))
    #expect(text.hasSuffix("the outbox is closed\n"))
    #expect(end.reason == .terminatedByOperator)
  }

  @Test("A loop over events receives the way to the background and back")
  func background() throws {
    let daemon = try DaemonFixture()
    let program = try start(daemon)
    try daemon.sendToBackground(id)
    try daemon.activate(id)
    var events: [String] = []
    while events.last != "didBecomeActive" {
      let line = try program.nextLine()
      if !line.hasPrefix("letter ") { events.append(line) }
    }
    #expect(
      events == [
        "willResignActive", "didEnterBackground", "willEnterForeground", "didBecomeActive",
      ])
  }
}
