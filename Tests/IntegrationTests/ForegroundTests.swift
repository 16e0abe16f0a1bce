import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §2 and §15: a foreground application runs, whatever it and other applications do.
@Suite("§15: The foreground application is never suspended")
struct ForegroundTests {
  private let id = "org.test.mail"

  @Test(
      """
      The daemon never stops a foreground application that begins and ends tasks, active or \
      inactive, and limits of other applications do not affect it
      """)
  func churn() throws {
    let daemon = try DaemonFixture(
      .init(policy: [
        ("BackgroundTime", "100ms"), ("ExpirationLead", "50ms"), ("LaunchTime", "20ms"),
      ]))
    let monitor = try Monitor(daemon)
    let application = try TestApplication(daemon, id)
    try application.registered()
    _ = try application.callbackKinds(2)
    let other = try daemon.shell("read line")
    try daemon.adopt("org.test.other", other, background: true)
    for round in 0..<200 {
      let task = try application.begin()
      if round == 100 { try daemon.call(ControlInterface.Deactivate.self, .init(application: id)) }
      #expect(try application.end(task).errorName == nil)
    }
    try monitor.next("both transitions") { _ in
      let interrupted = monitor.seen.contains { $0.application == id && $0.cause == "interruption" }
      return interrupted && monitor.seen.contains { $0.to == .suspended }
    }
    // The kernel keeps the last stop of a process until the process's parent asks for it with
    // waitid(2). The test is the parent of both programs.
    #expect(try other.pidfd.wait([.nonblocking, .stopped]) == .stopped(signal: SIGSTOP))
    #expect(try application.process.pidfd.wait([.nonblocking, .stopped, .continued]) == nil)
    #expect(try daemon.application(id).state == .inactive)
    let moves = monitor.seen.filter { $0.application == id && $0.kind == .transition }
    #expect(moves.map(\.to) == [.inactive, .active, .inactive])
  }

  @Test(
    """
    The activation of B while A is active sends A away. B does not wait for A's acknowledgement: A \
    never acknowledges, and is killed while B is active
    """)
  func neverAcknowledges() throws {
    let daemon = try DaemonFixture(.init(policy: [("CallbackTimeout", "1s")]))
    let monitor = try Monitor(daemon)
    let first = try TestApplication(daemon, "org.test.a", "manual")
    try first.registered()
    try first.acknowledge(["didFinishLaunching", "didBecomeActive"])
    let second = try TestApplication(daemon, "org.test.b")
    try second.registered()
    #expect(try second.callbackKinds(2) == ["didFinishLaunching", "didBecomeActive"])
    #expect(try daemon.application("org.test.b").state == .active)
    let away = try daemon.application("org.test.a")
    #expect(away.state == .background)
    #expect(
      away.instance?.callbacksPending == 2, "the application has acknowledged neither callback")
    #expect(try monitor.end("org.test.a") == "callbackTimeout")
    #expect(try first.process.waitForExit() == .signaled(signal: SIGKILL))
    #expect(try daemon.application("org.test.b").state == .active)
    #expect(try second.process.pidfd.wait([.nonblocking, .stopped, .continued]) == nil)
  }
}
