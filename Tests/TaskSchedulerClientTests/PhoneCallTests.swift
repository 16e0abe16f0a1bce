import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerClient

@Suite struct PhoneCallTests {
  // MARK: Events

  @Test("The delegate receives interruptions and holds, and acknowledges each by returning")
  func events() throws {
    let fixture = try Fixture()
    fixture.daemon.sendInterruption(began: true)
    fixture.daemon.sendInterruption(began: false, shouldResume: true)
    fixture.daemon.sendInterruption(began: false, shouldResume: false)
    fixture.daemon.sendCall(onHold: true)
    fixture.daemon.sendCall(onHold: false)
    try fixture.daemon.waitForHandledInterruptions()
    #expect(
      fixture.recorder.log.current == [
        "interruption began", "interruption ended(shouldResume: true)",
        "interruption ended(shouldResume: false)", "on hold true", "on hold false",
      ])
    #expect(
      fixture.daemon.state.current.calls.filter { $0.hasPrefix("Acknowledge") }
        == (1...5).map { "Acknowledge \($0)" })
  }

  @Test("The library acknowledges an interruption when the method has returned, not before")
  func acknowledgesOnReturn() throws {
    let gate = Gate()
    let recorder = Recorder(onInterruption: { _ in gate.pass() })
    let fixture = try Fixture(recorder: recorder)
    fixture.daemon.sendInterruption(began: true)
    gate.waitForHandler()
    // If the library had already acknowledged the event, the stand-in would have received the
    // acknowledgement before this request.
    _ = try fixture.application.backgroundTimeRemainingAndWait()
    #expect(fixture.daemon.state.current.memory.audioInterruptions.count == 1)
    gate.open()
    try fixture.daemon.waitForHandledInterruptions()
  }

  @Test("An interruption that the daemon repeats reaches the delegate once")
  func deliveredAgain() throws {
    let gate = Gate()
    let recorder = Recorder(onInterruption: { _ in gate.pass() })
    let fixture = try Fixture(recorder: recorder)
    fixture.daemon.sendInterruption(began: true)
    gate.waitForHandler()
    let interruptions = fixture.daemon.state.current.memory.audioInterruptions
    let daemon = try fixture.restartDaemon()
    gate.open()
    try daemon.waitForHandledInterruptions()
    // The next daemon still has the event, as if the acknowledgement had not arrived.
    var memory = daemon.stop()
    memory.audioInterruptions = interruptions
    let next = try StandInDaemon(at: daemon.path, memory: memory)
    defer { next.stop() }
    try next.waitForHandledInterruptions()
    #expect(recorder.log.current == ["interruption began"])
  }

  @Test("A loop over events receives interruptions, and acknowledges them by taking the next event")
  func sequence() async throws {
    let directory = TemporaryDirectory()
    let daemon = try StandInDaemon(at: directory.file("socket"))
    defer { daemon.stop() }
    let application = try await ScheduledApplication.register(
      "org.example.test", at: SocketPath(daemon.path))
    defer { application.close() }
    try await daemon.state.waitAsync("the event stream is open") { $0.stream != nil }
    daemon.sendInterruption(began: false, shouldResume: true)
    daemon.sendCall(onHold: true)
    var events: [ApplicationEvent] = []
    for try await event in application.events {
      events.append(event)
      if events.count == 2 { break }
    }
    #expect(
      events == [
        .didReceiveAudioInterruption(.ended(shouldResume: true)), .didSetCallOnHold(true),
      ])
    try await daemon.state.waitAsync("all events are acknowledged") {
      $0.calls.suffix(2) == ["Acknowledge 1", "Acknowledge 2"]
    }
  }

  @Test("A delegate that implements no method acknowledges interruptions and holds")
  func defaultMethods() throws {
    struct Delegate: ApplicationDelegate {}
    let directory = TemporaryDirectory()
    let daemon = try StandInDaemon(at: directory.file("socket"))
    defer { daemon.stop() }
    let application = try ScheduledApplication.registerAndWait(
      "org.example.test", delegate: Delegate(), at: SocketPath(daemon.path))
    defer { application.close() }
    try daemon.waitForStream()
    daemon.sendInterruption(began: true)
    daemon.sendCall(onHold: true)
    try daemon.waitForHandledInterruptions()
  }

  // MARK: Requests

  @Test("Both forms begin and end a call")
  func requests() async throws {
    let fixture = try Fixture()
    try await fixture.application.beginCall()
    #expect(fixture.daemon.state.current.memory.isInCall)
    try await fixture.application.endCall()
    #expect(!fixture.daemon.state.current.memory.isInCall)
    try fixture.application.beginCallAndWait()
    #expect(fixture.daemon.state.current.memory.isInCall)
    try fixture.application.endCallAndWait()
    #expect(!fixture.daemon.state.current.memory.isInCall)
  }

  @Test("A refused call throws the daemon's reason")
  func refused() throws {
    let fixture = try Fixture()
    fixture.daemon.refuseNext(
      "BeginCall",
      with: ApplicationInterface.Failure.modeNotDeclared(
        application: "org.example.test", mode: "voip"))
    #expect(throws: ApplicationError.refused(.modeNotDeclared("org.example.test", mode: "voip"))) {
      try fixture.application.beginCallAndWait()
    }
  }

  @Test("A daemon that has forgotten the process learns of its call before the acknowledgement")
  func restored() throws {
    let fixture = try Fixture()
    try fixture.launch()
    try fixture.application.beginCallAndWait()
    let daemon = try fixture.replaceDaemon(instance: 8)
    defer { daemon.stop() }
    try daemon.waitForAcknowledgement()
    let calls = daemon.state.current.calls
    let begun = try #require(calls.firstIndex(of: "BeginCall"))
    #expect(begun < (try #require(calls.firstIndex(of: "Acknowledge 1"))))
  }

  @Test("A daemon that has forgotten the process does not learn of a call that has ended")
  func notRestored() throws {
    let fixture = try Fixture()
    try fixture.launch()
    try fixture.application.beginCallAndWait()
    try fixture.application.endCallAndWait()
    let daemon = try fixture.replaceDaemon(instance: 8)
    defer { daemon.stop() }
    try daemon.waitForAcknowledgement()
    #expect(!daemon.state.current.calls.contains("BeginCall"))
  }

  @Test("Without a daemon, a call does nothing")
  func unmanaged() throws {
    let directory = TemporaryDirectory()
    let application = try ScheduledApplication.registerAndWait(
      "org.example.test", delegate: Recorder(), at: SocketPath(directory.file("socket")),
      ifAvailable: true)
    defer { application.close() }
    try application.beginCallAndWait()
    try application.endCallAndWait()
  }
}
