import Dispatch
import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerClient

@Suite struct KeepAliveTests {
  private func calls(_ daemon: StandInDaemon) -> [String] {
    daemon.state.current.calls.filter { $0.hasPrefix("SetKeepAliveTimeout") }
  }

  @Test("The keep-alive handler runs when it is called, and its return is the acknowledgement")
  func runs() throws {
    let fixture = try Fixture()
    let entered = DispatchSemaphore(value: 0)
    let mayReturn = DispatchSemaphore(value: 0)
    try fixture.application.setKeepAliveTimeout(.seconds(900)) {
      entered.signal()
      mayReturn.wait()
    }
    #expect(fixture.daemon.state.current.memory.keepAliveSeconds == 900)
    fixture.daemon.send(.keepAlive)
    entered.wait()
    // The daemon has answered a later request: an acknowledgement would have come before it.
    _ = try fixture.application.backgroundTimeRemaining
    #expect(fixture.daemon.state.current.memory.callback != nil)
    mayReturn.signal()
    try fixture.daemon.waitForAcknowledgement()
    #expect(fixture.recorder.log.current == [])
  }

  @Test("An asynchronous keep-alive handler is acknowledged when it ends")
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

  @Test("Setting the keep-alive handler again replaces interval and handler")
  func replaces() throws {
    let fixture = try Fixture()
    let ran = Watched<[String]>([])
    try fixture.application.setKeepAliveTimeout(.seconds(600)) { ran.update { $0.append("first") } }
    try fixture.application.setKeepAliveTimeout(.seconds(601.5)) {
      ran.update { $0.append("second") }
    }
    fixture.daemon.send(.keepAlive)
    try fixture.daemon.waitForAcknowledgement()
    #expect(ran.current == ["second"])
    #expect(
      calls(fixture.daemon) == ["SetKeepAliveTimeout 600.0", "SetKeepAliveTimeout 601.5"])
  }

  @Test("Cleared, the keep-alive handler is called no more; a call on its way is acknowledged")
  func clears() throws {
    let fixture = try Fixture()
    let ran = Watched(0)
    try fixture.application.setKeepAliveTimeout(.seconds(600)) { ran.update { $0 += 1 } }
    try fixture.application.clearKeepAliveTimeout()
    #expect(fixture.daemon.state.current.memory.keepAliveSeconds == nil)
    fixture.daemon.send(.keepAlive)
    try fixture.daemon.waitForAcknowledgement()
    #expect(ran.current == 0)
  }

  @Test("A keep-alive that is refused throws the refusal, and the handler before stays")
  func refused() throws {
    let fixture = try Fixture()
    let ran = Watched(0)
    try fixture.application.setKeepAliveTimeout(.seconds(600)) { ran.update { $0 += 1 } }
    let refusal = ApplicationInterface.Failure.keepAliveTooShort(minimumUSec: 600_000_000)
    fixture.daemon.refuseNext("SetKeepAliveTimeout", with: refusal)
    let error = #expect(throws: ApplicationError.self) {
      try fixture.application.setKeepAliveTimeout(.seconds(1)) {}
    }
    #expect(error == .refused(refusal))
    #expect(
      error?.description == "the keep-alive interval is too short: at least 600.0 seconds")
    fixture.daemon.send(.keepAlive)
    try fixture.daemon.waitForAcknowledgement()
    #expect(ran.current == 1)
  }

  @Test("A daemon that comes back and knows the keep-alive handler is not told of it again")
  func remembered() throws {
    let fixture = try Fixture()
    let ran = Watched(0)
    try fixture.launch()
    try fixture.application.setKeepAliveTimeout(.seconds(600)) { ran.update { $0 += 1 } }
    let daemon = try fixture.restartDaemon()
    defer { daemon.stop() }
    daemon.send(.keepAlive)
    try daemon.waitForAcknowledgement()
    #expect(ran.current == 1)
    #expect(calls(daemon) == [])
  }

  @Test(
    "A daemon that comes back and has forgotten the process is told of the keep-alive handler",
    arguments: [7, 8])
  func restored(instance: Int) throws {
    let fixture = try Fixture()
    try fixture.launch()
    try fixture.application.setKeepAliveTimeout(.seconds(600)) {}
    let daemon = try fixture.replaceDaemon(instance: instance)
    defer { daemon.stop() }
    try daemon.waitForAcknowledgement()
    // What follows the acknowledgement may be suspension: it is told before.
    #expect(
      daemon.state.current.calls == [
        "Register org.example.test", "SetKeepAliveTimeout 600.0", "Acknowledge 1",
      ])
  }

  @Test("A keep-alive handler that the daemon takes no longer is reported as lost")
  func lost() throws {
    let fixture = try Fixture()
    try fixture.launch()
    try fixture.application.setKeepAliveTimeout(.seconds(600)) {}
    let daemon = try fixture.restartDaemon { $0 = StandInDaemon.Memory(instance: 8) }
    defer { daemon.stop() }
    daemon.refuseNext(
      "SetKeepAliveTimeout",
      with: ApplicationInterface.Failure.modeNotDeclared(
        application: "org.example.test", mode: "voip"))
    daemon.send(.didFinishLaunching, reason: .user)
    let log = try fixture.recorder.wait(for: 2)
    #expect(log[1].hasPrefix("lost keep-alive: the manifest of org.example.test"))
  }

  @Test("A keep-alive call that is delivered again while its handler runs runs it once")
  func deliveredAgain() throws {
    let fixture = try Fixture()
    let entered = DispatchSemaphore(value: 0)
    let mayReturn = DispatchSemaphore(value: 0)
    let ran = Watched(0)
    try fixture.application.setKeepAliveTimeout(.seconds(600)) {
      ran.update { $0 += 1 }
      entered.signal()
      mayReturn.wait()
    }
    fixture.daemon.send(.keepAlive)
    entered.wait()
    let daemon = try fixture.restartDaemon()
    defer { daemon.stop() }
    mayReturn.signal()
    try daemon.waitForAcknowledgement()
    daemon.send(.willResignActive)
    try daemon.waitForAcknowledgement()
    #expect(ran.current == 1)
  }

  @Test("Without a daemon, a keep-alive handler is taken: nothing suspends the program")
  func unmanaged() throws {
    let folder = TemporaryDirectory()
    let application = try ScheduledApplication.register(
      "org.example.test", at: SocketPath(folder.file("socket")), ifAvailable: true)
    defer { application.close() }
    try application.setKeepAliveTimeout(.seconds(600)) {}
    try application.clearKeepAliveTimeout()
  }
}
