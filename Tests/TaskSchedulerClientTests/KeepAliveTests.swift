import Dispatch
import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerClient

@Suite struct KeepAliveTests {
  private func calls(_ daemon: StandInDaemon) -> [String] {
    daemon.state.current.calls.filter { $0.hasPrefix("SetKeepAliveTimeout") }
  }

  @Test("The return of the keep-alive handler acknowledges the call of the daemon")
  func runs() throws {
    let fixture = try Fixture()
    let gate = Gate()
    try fixture.application.setKeepAliveTimeoutAndWait(.seconds(900)) { gate.pass() }
    #expect(fixture.daemon.state.current.memory.keepAliveSeconds == 900)
    fixture.daemon.send(.keepAlive)
    gate.waitForHandler()
    // If the library had already acknowledged the call, the stand-in would have received the
    // acknowledgement before this request.
    _ = try fixture.application.backgroundTimeRemainingAndWait()
    #expect(fixture.daemon.state.current.memory.callback != nil)
    gate.open()
    try fixture.daemon.waitForAcknowledgement()
    #expect(fixture.recorder.log.current == [])
  }

  @Test("The end of an asynchronous keep-alive handler acknowledges the call of the daemon")
  func runsAsynchronously() async throws {
    let fixture = try Fixture()
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    let entered = Watched(false)
    try await fixture.application.setKeepAliveTimeout(.seconds(600)) {
      entered.update { $0 = true }
      for await _ in stream {}
    }
    fixture.daemon.send(.keepAlive)
    try await entered.waitAsync("the handler runs") { $0 }
    #expect(fixture.daemon.state.current.memory.callback != nil)
    continuation.finish()
    try await fixture.daemon.state.waitAsync("the callback is acknowledged") {
      $0.memory.callback == nil
    }
  }

  @Test("A second keep-alive handler replaces the first handler and its interval")
  func replaces() throws {
    let fixture = try Fixture()
    let ran = Watched<[String]>([])
    try fixture.application.setKeepAliveTimeoutAndWait(.seconds(600)) {
      ran.update { $0.append("first") }
    }
    try fixture.application.setKeepAliveTimeoutAndWait(.seconds(601.5)) {
      ran.update { $0.append("second") }
    }
    fixture.daemon.send(.keepAlive)
    try fixture.daemon.waitForAcknowledgement()
    #expect(ran.current == ["second"])
    #expect(
      calls(fixture.daemon) == ["SetKeepAliveTimeout 600.0", "SetKeepAliveTimeout 601.5"])
  }

  @Test("A cleared keep-alive handler does not run; the library itself acknowledges a late call")
  func clears() throws {
    let fixture = try Fixture()
    let ran = Watched(0)
    try fixture.application.setKeepAliveTimeoutAndWait(.seconds(600)) { ran.update { $0 += 1 } }
    try fixture.application.clearKeepAliveTimeoutAndWait()
    #expect(fixture.daemon.state.current.memory.keepAliveSeconds == nil)
    fixture.daemon.send(.keepAlive)
    try fixture.daemon.waitForAcknowledgement()
    #expect(ran.current == 0)
  }

  @Test("A refused keep-alive handler throws the refusal, and the previous handler stays")
  func refused() throws {
    let fixture = try Fixture()
    let ran = Watched(0)
    try fixture.application.setKeepAliveTimeoutAndWait(.seconds(600)) { ran.update { $0 += 1 } }
    let refusal = ApplicationInterface.Failure.keepAliveTooShort(minimumUSec: 600_000_000)
    fixture.daemon.refuseNext("SetKeepAliveTimeout", with: refusal)
    let error = #expect(throws: ApplicationError.self) {
      try fixture.application.setKeepAliveTimeoutAndWait(.seconds(1)) {}
    }
    #expect(error == .refused(.keepAliveTooShort(minimum: .seconds(600))))
    #expect(
      error?.description == "the keep-alive interval is too short; the minimum is 600.0 seconds")
    fixture.daemon.send(.keepAlive)
    try fixture.daemon.waitForAcknowledgement()
    #expect(ran.current == 1)
  }

  @Test("The library does not repeat the keep-alive handler to a daemon that knows it")
  func remembered() throws {
    let fixture = try Fixture()
    let ran = Watched(0)
    try fixture.launch()
    try fixture.application.setKeepAliveTimeoutAndWait(.seconds(600)) { ran.update { $0 += 1 } }
    let daemon = try fixture.restartDaemon()
    defer { daemon.stop() }
    daemon.send(.keepAlive)
    try daemon.waitForAcknowledgement()
    #expect(ran.current == 1)
    #expect(calls(daemon) == [])
  }

  @Test(
    "The library passes the keep-alive handler to a daemon that has forgotten the process",
    arguments: [7, 8])
  func restored(instance: Int) throws {
    let fixture = try Fixture()
    try fixture.launch()
    try fixture.application.setKeepAliveTimeoutAndWait(.seconds(600)) {}
    let daemon = try fixture.replaceDaemon(instance: instance)
    defer { daemon.stop() }
    try daemon.waitForAcknowledgement()
    // The library sets the handler before it acknowledges the launch, because the daemon may
    // suspend the application directly after the acknowledgement.
    #expect(
      daemon.state.current.calls == [
        "Register org.example.test", "SetKeepAliveTimeout 600.0", "Acknowledge 1",
      ])
  }

  @Test("The delegate learns that a daemon refuses the keep-alive handler after a restart")
  func lost() throws {
    let fixture = try Fixture()
    try fixture.launch()
    try fixture.application.setKeepAliveTimeoutAndWait(.seconds(600)) {}
    let daemon = try fixture.restartDaemon { $0 = StandInDaemon.Memory(instance: 8) }
    defer { daemon.stop() }
    daemon.refuseNext(
      "SetKeepAliveTimeout",
      with: ApplicationInterface.Failure.modeNotDeclared(
        application: "org.example.test", mode: "voip"))
    daemon.send(.didFinishLaunching, reason: .user)
    let log = try fixture.recorder.wait(for: 2)
    #expect(log[1].hasPrefix("lost keep-alive: org.example.test does not have the background mode"))
  }

  @Test("A keep-alive call that the daemon repeats while the handler runs does not run it again")
  func deliveredAgain() throws {
    let fixture = try Fixture()
    let gate = Gate()
    let ran = Watched(0)
    try fixture.application.setKeepAliveTimeoutAndWait(.seconds(600)) {
      ran.update { $0 += 1 }
      gate.pass()
    }
    fixture.daemon.send(.keepAlive)
    gate.waitForHandler()
    let daemon = try fixture.restartDaemon()
    defer { daemon.stop() }
    gate.open()
    try daemon.waitForAcknowledgement()
    daemon.send(.willResignActive)
    try daemon.waitForAcknowledgement()
    #expect(ran.current == 1)
  }

  @Test("Without a daemon, the library accepts a keep-alive handler")
  func unmanaged() throws {
    let directory = TemporaryDirectory()
    let application = try ScheduledApplication.registerAndWait(
      "org.example.test", at: SocketPath(directory.file("socket")), ifAvailable: true)
    defer { application.close() }
    try application.setKeepAliveTimeoutAndWait(.seconds(600)) {}
    try application.clearKeepAliveTimeoutAndWait()
  }
}
