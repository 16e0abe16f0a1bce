import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerClient

@Suite struct SystemChangeTests {
  @Test("Changes of the machine are told typed, in one burst and in order")
  func burst() throws {
    let fixture = try Fixture()
    fixture.daemon.send([
      .init(kind: .timeZone, value: "Europe/Berlin"), .init(kind: .clock),
      .init(kind: .day, value: "2026-11-22"), .init(kind: .locale, value: "de_DE.UTF-8"),
      .init(kind: .network, value: "online"), .init(kind: .powerSource, value: "battery"),
      .init(kind: .custom, name: "dock", value: "left"), .init(kind: .network),
    ])
    let changes: [SystemChange] = [
      .timeZone("Europe/Berlin"), .clock, .day("2026-11-22"), .locale("de_DE.UTF-8"),
      .network(isOnline: true), .powerSource(.battery), .custom(name: "dock", value: "left"),
      .network(isOnline: nil),
    ]
    #expect(
      try fixture.recorder.wait(for: 1)
        == ["changed \(changes.map { "\($0)" }.joined(separator: " "))"])
  }

  @Test("didReceiveMemoryWarning is told, and nothing is acknowledged for it")
  func memoryWarning() throws {
    let fixture = try Fixture()
    fixture.daemon.sendMemoryWarning()
    #expect(try fixture.recorder.wait(for: 1) == ["memory warning"])
  }

  @Test("Sequences hear of changes and sockets between the callbacks, and acknowledge in order")
  func sequence() async throws {
    let folder = TemporaryDirectory()
    let daemon = try StandInDaemon(at: folder.file("socket"))
    defer { daemon.stop() }
    let (application, callbacks) = try ScheduledApplication.registerForCallbacks(
      "org.example.test", at: SocketPath(daemon.path))
    defer { application.close() }
    try await daemon.state.waitAsync("the event stream is open") { $0.stream != nil }
    let pair = try UnixSocket.pair()
    let (mine, theirs) = pair.ends()
    defer {
      close(mine)
      close(theirs)
    }
    let socket = try await application.manage(socket: mine)
    daemon.send([.init(kind: .clock)])
    daemon.send(ready: [1])
    daemon.send(.willResignActive)
    var events: [ApplicationEvent] = []
    for try await callback in callbacks {
      events.append(callback.event)
      if events.count == 3 { break }
    }
    #expect(
      events == [
        .systemDidChange([.clock]),
        .socketsReady([ReadySocket(socket: socket, conditions: .data)]), .willResignActive,
      ])
    try await daemon.state.waitAsync("all is acknowledged") {
      $0.calls.suffix(2) == ["Acknowledge 1", "Acknowledge 2"]
    }
  }

  @Test("The reason of the launch is what the daemon said at first, and what the environment says")
  func launchReason() throws {
    let fixture = try Fixture()
    #expect(fixture.application.launchReason == .user)
    #expect(LaunchReason.ofEnvironment == nil)
  }
}
