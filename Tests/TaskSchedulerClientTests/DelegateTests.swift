import Dispatch
import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerClient

@Suite struct DelegateTests {
  @Test("Each callback calls its method, is acknowledged in order, and changes the state")
  func allCallbacks() throws {
    let fixture = try Fixture()
    let sent: [(ApplicationInterface.CallbackKind, ApplicationState)] = [
      (.didFinishLaunching, .inactive), (.didBecomeActive, .active),
      (.willResignActive, .inactive), (.didEnterBackground, .background),
      (.willEnterForeground, .inactive), (.didBecomeActive, .active),
      (.willTerminate, .active),
    ]
    for (kind, state) in sent {
      fixture.daemon.send(kind, reason: kind == .didFinishLaunching ? .boot : nil)
      try fixture.daemon.waitForAcknowledgement()
      #expect(fixture.application.applicationState == state, "after \(kind)")
    }
    #expect(
      fixture.recorder.log.current == [
        "didFinishLaunching boot", "didBecomeActive", "willResignActive", "didEnterBackground",
        "willEnterForeground", "didBecomeActive", "willTerminate",
      ])
    #expect(
      fixture.daemon.state.current.calls.filter { $0.hasPrefix("Acknowledge") }
        == (1...7).map { "Acknowledge \($0)" })
  }

  @Test("The library acknowledges a callback when the method has returned, not before")
  func acknowledgesOnReturn() throws {
    let gate = Gate()
    let recorder = Recorder { _ in gate.pass() }
    let fixture = try Fixture(recorder: recorder)
    fixture.daemon.send(.didEnterBackground)
    gate.waitForHandler()
    // If the library had already acknowledged the callback, the stand-in would have received the
    // acknowledgement before this request.
    _ = try fixture.application.backgroundTimeRemainingAndWait()
    #expect(fixture.daemon.state.current.memory.callback != nil)
    gate.open()
    try fixture.daemon.waitForAcknowledgement()
  }

  @Test("A task that begins in didEnterBackground begins before the acknowledgement")
  func beginsWithinCallback() throws {
    let recorder = Recorder { application in
      _ = try? application.beginBackgroundTaskAndWait(named: "upload")
    }
    let fixture = try Fixture(recorder: recorder)
    fixture.daemon.send(.didEnterBackground)
    try fixture.daemon.waitForAcknowledgement()
    let calls = fixture.daemon.state.current.calls
    #expect(calls.suffix(2) == ["BeginBackgroundTask upload", "Acknowledge 1"])
  }

  @Test("The library calls the delegate and expiration handlers on the queue of the application")
  func ownQueue() throws {
    let key = DispatchSpecificKey<String>()
    let queue = DispatchQueue(label: "org.example.queue")
    queue.setSpecific(key: key, value: "mine")
    let seen = Watched<[String]>([])
    let recorder = Recorder { _ in
      let value = DispatchQueue.getSpecific(key: key) ?? "other"
      seen.update { $0.append(value) }
    }
    let fixture = try Fixture(recorder: recorder, queue: queue)
    fixture.daemon.send(.didEnterBackground)
    try fixture.daemon.waitForAcknowledgement()
    let task = try fixture.application.beginBackgroundTaskAndWait {
      let value = DispatchQueue.getSpecific(key: key) ?? "other"
      seen.update { $0.append(value) }
    }
    fixture.daemon.expire(task.rawValue)
    #expect(try seen.wait("both") { $0.count == 2 } == ["mine", "mine"])
  }

  @Test("A delegate that implements no method acknowledges each callback")
  func defaultMethods() throws {
    struct Delegate: ApplicationDelegate {}
    let directory = TemporaryDirectory()
    let daemon = try StandInDaemon(at: directory.file("socket"))
    defer { daemon.stop() }
    let application = try ScheduledApplication.registerAndWait(
      "org.example.test", delegate: Delegate(), at: SocketPath(daemon.path))
    defer { application.close() }
    try daemon.waitForStream()
    daemon.send(.willResignActive)
    try daemon.waitForAcknowledgement()
    #expect(application.applicationState == .inactive)
  }

  @Test("If the connection breaks during an acknowledgement, the library repeats it on a new one")
  func acknowledgesAgain() throws {
    let fixture = try Fixture()
    fixture.daemon.state.update { $0.closesAfter = "Acknowledge" }
    fixture.daemon.send(.didBecomeActive)
    try fixture.daemon.waitForCall("Acknowledge 1", count: 2)
    #expect(fixture.recorder.log.current == ["didBecomeActive"])
  }
}
