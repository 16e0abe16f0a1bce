import Logging
import ServiceLifecycle
import TaskSchedulerServiceLifecycle
import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerClient

@Suite struct ServiceGroupTests {
  /// A service whose graceful shutdown lasts until the test calls `end`.
  private struct SlowService: ServiceLifecycle.Service {
    let progress = Watched("")
    private let mayEnd = AsyncStream.makeStream(of: Void.self)

    func run() async throws {
      progress.update { $0 = "runs" }
      try await gracefulShutdown()
      progress.update { $0 = "shuts down" }
      for await _ in mayEnd.stream {}
      progress.update { $0 = "has ended" }
    }

    func end() { mayEnd.continuation.finish() }
  }

  private final class Fixture: Sendable {
    let directory = TemporaryDirectory()
    let daemon: StandInDaemon
    let application: ScheduledApplication
    let service = SlowService()
    let group: ServiceGroup

    init() throws {
      daemon = try StandInDaemon(at: directory.file("socket"))
      application = try ScheduledApplication.registerAndWait(
        "org.example.test", at: SocketPath(daemon.path))
      try daemon.waitForStream()
      group = ServiceGroup(
        services: [service],
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    deinit {
      application.close()
      daemon.stop()
    }
  }

  @Test("The daemon's willTerminate shuts the group down, and is acknowledged afterwards")
  func willTerminate() async throws {
    let fixture = try Fixture()
    let (group, application) = (fixture.group, fixture.application)
    let run = Task { try await group.run(as: application) }
    try await fixture.service.progress.waitAsync("the service runs") { $0 == "runs" }
    fixture.daemon.send(.willTerminate)
    try await fixture.service.progress.waitAsync("it shuts down") { $0 == "shuts down" }
    _ = try await application.backgroundTimeRemaining()
    #expect(fixture.daemon.state.current.memory.callback != nil)
    fixture.service.end()
    try await run.value
    #expect(fixture.service.progress.current == "has ended")
    try await fixture.daemon.state.waitAsync("acknowledged") { $0.memory.callback == nil }
  }

  @Test("The handler receives the events, and its return acknowledges them")
  func handler() async throws {
    let fixture = try Fixture()
    let (group, application) = (fixture.group, fixture.application)
    let taken = Watched<[ApplicationEvent]>([])
    let run = Task {
      try await group.run(as: application) { event in taken.update { $0.append(event) } }
    }
    fixture.daemon.send(.didEnterBackground)
    try await fixture.daemon.state.waitAsync("acknowledged") { $0.memory.callback == nil }
    #expect(taken.current == [.didEnterBackground])
    fixture.service.end()
    await group.triggerGracefulShutdown()
    try await run.value
  }

  @Test("A refusal of the process shuts the group down, and run throws it")
  func refused() async throws {
    let fixture = try Fixture()
    let (group, application) = (fixture.group, fixture.application)
    let run = Task { try await group.run(as: application) }
    try await fixture.service.progress.waitAsync("the service runs") { $0 == "runs" }
    fixture.service.end()
    fixture.daemon.failStream(ApplicationInterface.Failure.streamReplaced)
    await #expect(throws: ApplicationError.refused(.streamReplaced)) { try await run.value }
    #expect(fixture.service.progress.current == "has ended")
  }

  @Test("A graceful shutdown from elsewhere ends the run without an event")
  func shutdownFromElsewhere() async throws {
    let fixture = try Fixture()
    let (group, application) = (fixture.group, fixture.application)
    let run = Task { try await group.run(as: application) }
    try await fixture.service.progress.waitAsync("the service runs") { $0 == "runs" }
    fixture.service.end()
    await group.triggerGracefulShutdown()
    try await run.value
    #expect(fixture.service.progress.current == "has ended")
  }
}
