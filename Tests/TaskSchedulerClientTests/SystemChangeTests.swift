import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerClient

@Suite struct SystemChangeTests {
  @Test("The delegate receives changes of the machine as typed values, in one array and in order")
  func burst() throws {
    let fixture = try Fixture()
    fixture.daemon.send([
      .init(kind: .timeZone, value: "Europe/Berlin"), .init(kind: .clock),
      .init(kind: .day, value: "2026-11-22"), .init(kind: .locale, value: "de_DE.UTF-8"),
      .init(kind: .network, value: "online"), .init(kind: .powerSource, value: "battery"),
      .init(kind: .custom, name: "dock", value: "left"), .init(kind: .network),
    ])
    let changes: [SystemChange] = [
      .timeZone("Europe/Berlin"), .clock, .day(CalendarDay(year: 2026, month: 11, day: 22)),
      .locale("de_DE.UTF-8"), .network(isOnline: true), .powerSource(.battery),
      .custom(name: "dock", value: "left"), .network(isOnline: nil),
    ]
    #expect(
      try fixture.recorder.wait(for: 1)
        == ["changed \(changes.map { "\($0)" }.joined(separator: " "))"])
  }

  @Test("The delegate receives a memory warning, which the library does not acknowledge")
  func memoryWarning() throws {
    let fixture = try Fixture()
    fixture.daemon.sendMemoryWarning()
    #expect(try fixture.recorder.wait(for: 1) == ["memory warning"])
  }

  @Test("A loop over events receives changes, sockets and callbacks, and acknowledges in order")
  func sequence() async throws {
    let directory = TemporaryDirectory()
    let daemon = try StandInDaemon(at: directory.file("socket"))
    defer { daemon.stop() }
    let application = try await ScheduledApplication.register(
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
    for try await event in application.events {
      events.append(event)
      if events.count == 3 { break }
    }
    #expect(
      events == [
        .systemDidChange([.clock]),
        .socketsDidBecomeReady([ReadySocket(socket: socket, conditions: .data)]), .willResignActive,
      ])
    try await daemon.state.waitAsync("all events are acknowledged") {
      $0.calls.suffix(2) == ["Acknowledge 1", "Acknowledge 2"]
    }
  }

  @Test("The reason of the launch comes from the daemon, and before that from the environment")
  func launchReason() throws {
    let fixture = try Fixture()
    #expect(fixture.application.launchReason == .user)
    #expect(LaunchReason.ofEnvironment == nil)
    #expect(LaunchReason.regionOfEnvironment == nil)
  }
}
