import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerClient

@Suite struct EventSequenceTests {
  /// An application without a delegate, and the stand-in for its daemon.
  private final class Fixture: Sendable {
    let directory = TemporaryDirectory()
    let daemon: StandInDaemon
    let application: ScheduledApplication

    init() throws {
      daemon = try StandInDaemon(at: directory.file("socket"))
      application = try ScheduledApplication.registerAndWait(
        "org.example.test", at: SocketPath(daemon.path))
      try daemon.waitForStream()
    }

    deinit {
      application.close()
      daemon.stop()
    }
  }

  @Test("Taking the next event acknowledges the last one, and nothing else does")
  func acknowledgesByNext() async throws {
    let fixture = try Fixture()
    let daemon = fixture.daemon
    daemon.send(.didFinishLaunching, reason: .boot)
    var iterator = fixture.application.events.makeAsyncIterator()
    #expect(try await iterator.next() == .didFinishLaunching(.boot))
    // If the library had already acknowledged the event, the stand-in would have received the
    // acknowledgement before this request.
    _ = try await fixture.application.backgroundTimeRemaining()
    #expect(daemon.state.current.memory.callback != nil)
    let sender = Task {
      try await daemon.state.waitAsync("acknowledged") { $0.memory.callback == nil }
      daemon.send(.didBecomeActive)
    }
    #expect(try await iterator.next() == .didBecomeActive)
    try await sender.value
  }

  @Test("The sequence holds events that come before the first loop, unacknowledged")
  func holdsBeforeFirstLoop() async throws {
    let fixture = try Fixture()
    fixture.daemon.send(.didFinishLaunching, reason: .user)
    _ = try await fixture.application.backgroundTimeRemaining()
    #expect(fixture.daemon.state.current.memory.callback != nil)
    for try await event in fixture.application.events {
      #expect(event == .didFinishLaunching(.user))
      break
    }
  }

  @Test("The end of a loop acknowledges the event that was taken last")
  func acknowledgesAtBreak() async throws {
    let fixture = try Fixture()
    fixture.daemon.send(.willResignActive)
    for try await _ in fixture.application.events { break }
    try await fixture.daemon.state.waitAsync("acknowledged") { $0.memory.callback == nil }
  }

  @Test("The library acknowledges events after the end of the loop at once")
  func acknowledgesAfterLoop() async throws {
    let fixture = try Fixture()
    fixture.daemon.send(.willResignActive)
    for try await _ in fixture.application.events { break }
    try await fixture.daemon.state.waitAsync("acknowledged") { $0.memory.callback == nil }
    fixture.daemon.send(.didBecomeActive)
    try await fixture.daemon.state.waitAsync("acknowledged") { $0.memory.callback == nil }
  }

  @Test("A second loop takes the events that come after it has begun")
  func secondLoop() async throws {
    let fixture = try Fixture()
    fixture.daemon.send(.willResignActive)
    for try await _ in fixture.application.events { break }
    try await fixture.daemon.state.waitAsync("acknowledged") { $0.memory.callback == nil }
    var iterator = fixture.application.events.makeAsyncIterator()
    fixture.daemon.send(.didBecomeActive)
    #expect(try await iterator.next() == .didBecomeActive)
    #expect(fixture.daemon.state.current.memory.callback != nil)
  }

  @Test("A cancelled loop ends, and the library acknowledges later events at once")
  func cancelled() async throws {
    let fixture = try Fixture()
    let events = fixture.application.events
    let task = Task {
      var taken: [ApplicationEvent] = []
      for try await event in events { taken.append(event) }
      return taken
    }
    task.cancel()
    #expect(try await task.value == [])
    fixture.daemon.send(.willResignActive)
    try await fixture.daemon.state.waitAsync("acknowledged") { $0.memory.callback == nil }
  }

  @Test("The sequence ends when the application is closed")
  func closed() async throws {
    let fixture = try Fixture()
    fixture.application.close()
    for try await event in fixture.application.events { Issue.record("\(event) was not sent") }
  }

  @Test("The sequence throws when the daemon refuses the process for good")
  func lost() async throws {
    let fixture = try Fixture()
    fixture.daemon.failStream(ApplicationInterface.Failure.streamReplaced)
    await #expect(throws: ApplicationError.refused(.streamReplaced)) {
      for try await event in fixture.application.events { Issue.record("\(event) was not sent") }
    }
  }

  @Test("The asynchronous registration has the same effect as the blocking one")
  func registersAsynchronously() async throws {
    let directory = TemporaryDirectory()
    let daemon = try StandInDaemon(at: directory.file("socket"))
    defer { daemon.stop() }
    let application = try await ScheduledApplication.register(
      "org.example.test", background: true, at: SocketPath(daemon.path))
    defer { application.close() }
    #expect(daemon.state.current.calls == ["Register org.example.test background"])
    daemon.state.update { $0.memory.remainingUSec = 2_500_000 }
    #expect(try await application.backgroundTimeRemaining() == .milliseconds(2_500))
  }
}
