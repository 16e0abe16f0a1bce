import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerClient

@Suite struct CallbackSequenceTests {
  private final class Sequence: Sendable {
    let folder: TemporaryDirectory
    let daemon: StandInDaemon
    let application: ScheduledApplication

    /// Hands out the callbacks, of which it keeps nothing.
    static func register() throws -> (Sequence, ApplicationCallbacks) {
      let folder = TemporaryDirectory()
      let daemon = try StandInDaemon(at: folder.file("socket"))
      let (application, callbacks) = try ScheduledApplication.registerForCallbacks(
        "org.example.test", at: SocketPath(daemon.path))
      try daemon.waitForStream()
      return (Sequence(folder, daemon, application), callbacks)
    }

    private init(
      _ folder: consuming TemporaryDirectory, _ daemon: StandInDaemon,
      _ application: ScheduledApplication
    ) {
      self.folder = folder
      self.daemon = daemon
      self.application = application
    }

    deinit {
      application.close()
      daemon.stop()
    }
  }

  @Test("A callback is acknowledged when the next is taken, and not before")
  func acknowledgesByNext() async throws {
    let (sequence, callbacks) = try Sequence.register()
    let daemon = sequence.daemon
    daemon.send(.didFinishLaunching, reason: .boot)
    var iterator = callbacks.makeAsyncIterator()
    #expect(try await iterator.next()?.event == .didFinishLaunching(.boot))
    // A later request has been answered: an acknowledgement would have come before it.
    _ = try sequence.application.backgroundTimeRemaining
    #expect(daemon.state.current.memory.callback != nil)
    let sender = Task {
      try await daemon.state.waitAsync("acknowledged") { $0.memory.callback == nil }
      daemon.send(.didBecomeActive)
    }
    #expect(try await iterator.next()?.event == .didBecomeActive)
    try await sender.value
  }

  @Test("A callback may be acknowledged before the next is taken, and that counts once")
  func acknowledgesExplicitly() async throws {
    let (sequence, callbacks) = try Sequence.register()
    let daemon = sequence.daemon
    daemon.send(.willResignActive)
    var iterator = callbacks.makeAsyncIterator()
    let callback = try await iterator.next()
    callback?.acknowledge()
    callback?.acknowledge()
    #expect(daemon.state.current.memory.callback == nil)
    daemon.send(.didEnterBackground)
    #expect(try await iterator.next()?.event == .didEnterBackground)
    #expect(daemon.state.current.calls.count { $0 == "Acknowledge 1" } == 1)
  }

  @Test("When the iteration ends, the callback that was taken last is acknowledged")
  func acknowledgesAtBreak() async throws {
    let (sequence, callbacks) = try Sequence.register()
    sequence.daemon.send(.willResignActive)
    for try await _ in callbacks { break }
    try await sequence.daemon.state.waitAsync("acknowledged") { $0.memory.callback == nil }
  }

  @Test("Callbacks without a reader are acknowledged at once")
  func abandoned() async throws {
    let sequence = try Sequence.register().0
    sequence.daemon.send(.willResignActive)
    try await sequence.daemon.state.waitAsync("acknowledged") { $0.memory.callback == nil }
  }

  @Test("A cancelled iteration ends, and what comes after is acknowledged at once")
  func cancelled() async throws {
    let (sequence, callbacks) = try Sequence.register()
    let task = Task {
      var events: [ApplicationEvent] = []
      for try await callback in callbacks { events.append(callback.event) }
      return events
    }
    task.cancel()
    #expect(try await task.value == [])
    sequence.daemon.send(.willResignActive)
    try await sequence.daemon.state.waitAsync("acknowledged") { $0.memory.callback == nil }
    _ = callbacks
  }

  @Test("The sequence ends when the application is closed")
  func closed() async throws {
    let (sequence, callbacks) = try Sequence.register()
    sequence.application.close()
    for try await _ in callbacks { Issue.record("nothing was sent") }
  }

  @Test("The sequence throws when the registration is lost for good")
  func lost() async throws {
    let (sequence, callbacks) = try Sequence.register()
    sequence.daemon.failStream(ApplicationInterface.Failure.streamReplaced)
    await #expect(throws: ApplicationError.refused(.streamReplaced)) {
      for try await _ in callbacks { Issue.record("nothing was sent") }
    }
  }
}
