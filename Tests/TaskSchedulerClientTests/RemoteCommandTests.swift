import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerClient

@Suite struct RemoteCommandTests {
  @Test("The delegate receives each command, and acknowledges it by returning")
  func commands() throws {
    let fixture = try Fixture()
    for kind in ApplicationInterface.RemoteCommandKind.allCases {
      fixture.daemon.send(command: kind, offsetUSec: kind == .seek ? -2_500_000 : nil)
    }
    try fixture.daemon.waitForHandledCommands()
    let commands: [RemoteCommand] = [
      .play, .pause, .playPause, .next, .previous, .stop, .seek(by: .milliseconds(-2500)),
    ]
    #expect(fixture.recorder.log.current == commands.map { "command \($0)" })
    #expect(
      fixture.daemon.state.current.calls.filter { $0.hasPrefix("Acknowledge") }
        == (1...commands.count).map { "Acknowledge \($0)" })
  }

  @Test("The library acknowledges a command when the method has returned, not before")
  func acknowledgesOnReturn() throws {
    let gate = Gate()
    let recorder = Recorder(onCommand: { _ in gate.pass() })
    let fixture = try Fixture(recorder: recorder)
    fixture.daemon.send(command: .play)
    gate.waitForHandler()
    // If the library had already acknowledged the command, the stand-in would have received the
    // acknowledgement before this request.
    _ = try fixture.application.backgroundTimeRemainingAndWait()
    #expect(fixture.daemon.state.current.memory.remoteCommands.count == 1)
    gate.open()
    try fixture.daemon.waitForHandledCommands()
  }

  @Test("A command that the daemon repeats reaches the delegate once")
  func deliveredAgain() throws {
    let gate = Gate()
    let recorder = Recorder(onCommand: { _ in gate.pass() })
    let fixture = try Fixture(recorder: recorder)
    fixture.daemon.send(command: .playPause)
    gate.waitForHandler()
    let commands = fixture.daemon.state.current.memory.remoteCommands
    let daemon = try fixture.restartDaemon()
    gate.open()
    try daemon.waitForHandledCommands()
    // The next daemon still has the command, as if the acknowledgement had not arrived.
    var memory = daemon.stop()
    memory.remoteCommands = commands
    let next = try StandInDaemon(at: daemon.path, memory: memory)
    defer { next.stop() }
    try next.waitForHandledCommands()
    #expect(recorder.log.current == ["command playPause"])
  }

  @Test(
    "The first command of a daemon that has forgotten the process reaches the delegate",
    arguments: [7, 8])
  func forgotten(instance: Int) throws {
    let fixture = try Fixture()
    try fixture.launch()
    fixture.daemon.send(command: .play)
    try fixture.daemon.waitForHandledCommands()
    let daemon = try fixture.replaceDaemon(instance: instance)
    defer { daemon.stop() }
    try daemon.waitForAcknowledgement()
    daemon.send(command: .stop)
    try daemon.waitForHandledCommands()
    #expect(fixture.recorder.log.current.suffix(2) == ["command play", "command stop"])
  }

  @Test("A loop over events receives commands, and acknowledges them by taking the next event")
  func sequence() async throws {
    let directory = TemporaryDirectory()
    let daemon = try StandInDaemon(at: directory.file("socket"))
    defer { daemon.stop() }
    let application = try await ScheduledApplication.register(
      "org.example.test", at: SocketPath(daemon.path))
    defer { application.close() }
    try await daemon.state.waitAsync("the event stream is open") { $0.stream != nil }
    daemon.send(command: .next)
    daemon.send(.willResignActive)
    var events: [ApplicationEvent] = []
    for try await event in application.events {
      events.append(event)
      if events.count == 2 { break }
    }
    #expect(events == [.didReceiveRemoteCommand(.next), .willResignActive])
    try await daemon.state.waitAsync("all events are acknowledged") {
      $0.calls.suffix(2) == ["Acknowledge 1", "Acknowledge 2"]
    }
  }

  @Test("A delegate that implements no method acknowledges each command")
  func defaultMethod() throws {
    struct Delegate: ApplicationDelegate {}
    let directory = TemporaryDirectory()
    let daemon = try StandInDaemon(at: directory.file("socket"))
    defer { daemon.stop() }
    let application = try ScheduledApplication.registerAndWait(
      "org.example.test", delegate: Delegate(), at: SocketPath(daemon.path))
    defer { application.close() }
    try daemon.waitForStream()
    daemon.send(command: .pause)
    try daemon.waitForHandledCommands()
  }
}
