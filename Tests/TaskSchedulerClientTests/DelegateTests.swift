import Dispatch
import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerClient

@Suite struct DelegateTests {
  @Test("Each callback calls its method and is acknowledged, in order; the state follows")
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
      #expect(fixture.application.state == state, "after \(kind)")
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

  @Test("A callback is acknowledged when the method has returned, not before")
  func acknowledgesOnReturn() throws {
    let entered = DispatchSemaphore(value: 0)
    let mayReturn = DispatchSemaphore(value: 0)
    let recorder = Recorder { _ in
      entered.signal()
      mayReturn.wait()
    }
    let fixture = try Fixture(recorder: recorder)
    fixture.daemon.send(.didEnterBackground)
    entered.wait()
    // The daemon has answered a later request: an acknowledgement would have come before it.
    _ = try fixture.application.backgroundTimeRemaining
    #expect(fixture.daemon.state.current.memory.callback != nil)
    mayReturn.signal()
    try fixture.daemon.waitForAcknowledgement()
  }

  @Test("A task that is begun in didEnterBackground is begun before the acknowledgement")
  func beginsWithinCallback() throws {
    let recorder = Recorder { application in
      _ = try? application.beginBackgroundTask(named: "upload")
    }
    let fixture = try Fixture(recorder: recorder)
    fixture.daemon.send(.didEnterBackground)
    try fixture.daemon.waitForAcknowledgement()
    let calls = fixture.daemon.state.current.calls
    #expect(calls.suffix(2) == ["BeginBackgroundTask upload", "Acknowledge 1"])
  }

  @Test("Delegate and expiration handlers are called on the queue that the author gives")
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
    let task = try fixture.application.beginBackgroundTask {
      let value = DispatchQueue.getSpecific(key: key) ?? "other"
      seen.update { $0.append(value) }
    }
    fixture.daemon.expire(task.rawValue)
    #expect(try seen.wait("both") { $0.count == 2 } == ["mine", "mine"])
  }

  @Test("An application without a delegate acknowledges by itself")
  func noDelegate() throws {
    let folder = TemporaryDirectory()
    let daemon = try StandInDaemon(at: folder.file("socket"))
    defer { daemon.stop() }
    let application = try ScheduledApplication.register(
      "org.example.test", at: SocketPath(daemon.path))
    defer { application.close() }
    try daemon.waitForStream()
    daemon.send(.willResignActive)
    try daemon.waitForAcknowledgement()
    #expect(application.state == .inactive)
  }

  @Test("An acknowledgement that breaks with its connection is sent again on a new one")
  func acknowledgesAgain() throws {
    let fixture = try Fixture()
    fixture.daemon.state.update { $0.closesAfter = "Acknowledge" }
    fixture.daemon.send(.didBecomeActive)
    try fixture.daemon.waitForCall("Acknowledge 1", count: 2)
    #expect(fixture.recorder.log.current == ["didBecomeActive"])
  }
}
