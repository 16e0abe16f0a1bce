import Dispatch
import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerClient

@Suite struct ReconnectionTests {
  /// A fixture whose daemon is gone, and what that knew.
  private func restarting(
    _ fixture: Fixture, _ change: (inout StandInDaemon.Memory) -> Void = { _ in }
  ) throws -> StandInDaemon {
    var memory = fixture.daemon.stop()
    change(&memory)
    let daemon = try StandInDaemon(at: fixture.daemon.path, memory: memory)
    try daemon.waitForStream()
    return daemon
  }

  @Test("When the daemon comes back, the application registers again and is told as before")
  func registersAgain() throws {
    let fixture = try Fixture()
    let daemon = try restarting(fixture)
    defer { daemon.stop() }
    daemon.send(.willResignActive)
    try daemon.waitForAcknowledgement()
    #expect(fixture.recorder.log.current == ["willResignActive"])
    try daemon.waitForCall("Register org.example.test")
  }

  @Test("An application that was in the background registers again as in the background")
  func registersAgainInBackground() throws {
    let fixture = try Fixture()
    fixture.daemon.send(.didEnterBackground)
    try fixture.daemon.waitForAcknowledgement()
    let daemon = try restarting(fixture)
    defer { daemon.stop() }
    try daemon.waitForCall("Register org.example.test background")
  }

  @Test("A broken stream alone is opened again, and what was begun is still there")
  func brokenStream() throws {
    let fixture = try Fixture()
    let task = try fixture.application.beginBackgroundTask()
    fixture.daemon.breakStream()
    try fixture.daemon.waitForCall("Register org.example.test", count: 2)
    try fixture.daemon.waitForStream()
    try fixture.application.endBackgroundTask(task)
    #expect(fixture.recorder.log.current == [])
  }

  @Test("A callback that was acknowledged and is delivered again is not told twice")
  func deliveredAgain() throws {
    let fixture = try Fixture()
    fixture.daemon.send(.didBecomeActive)
    try fixture.daemon.waitForAcknowledgement()
    let callback = ApplicationInterface.Callback(id: 1, kind: .didBecomeActive)
    let daemon = try restarting(fixture) { $0.callback = callback }
    defer { daemon.stop() }
    try daemon.waitForAcknowledgement()
    #expect(daemon.state.current.calls.contains("Acknowledge 1"))
    #expect(fixture.recorder.log.current == ["didBecomeActive"])
  }

  @Test("A callback that is delivered again while it is handled is told once, and acknowledged")
  func deliveredAgainMeanwhile() throws {
    let entered = DispatchSemaphore(value: 0)
    let mayReturn = DispatchSemaphore(value: 0)
    let recorder = Recorder { _ in
      entered.signal()
      mayReturn.wait()
    }
    let fixture = try Fixture(recorder: recorder)
    fixture.daemon.send(.didEnterBackground)
    entered.wait()
    let daemon = try restarting(fixture)
    defer { daemon.stop() }
    // Sent after the callback that was delivered again, and heard after it.
    let heard = Watched(0)
    let task = try fixture.application.beginBackgroundTask { heard.update { $0 += 1 } }
    daemon.expire(task.rawValue)
    mayReturn.signal()
    try daemon.waitForAcknowledgement()
    try heard.wait("the expiration is heard") { $0 == 1 }
    #expect(recorder.log.current == ["didEnterBackground"])
    // Twice where the second delivery is read after the first acknowledgement has gone out.
    #expect(try (1...2).contains(daemon.waitForCall("Acknowledge 1")))
  }

  @Test("A daemon that has forgotten the process launches it anew; it is not told twice")
  func launchedAnew() throws {
    let fixture = try Fixture()
    fixture.daemon.send(.didFinishLaunching, reason: .user)
    try fixture.daemon.waitForAcknowledgement()
    let daemon = try restarting(fixture) { $0 = StandInDaemon.Memory(instance: 8) }
    defer { daemon.stop() }
    daemon.send(.didFinishLaunching, reason: .user)
    try daemon.waitForAcknowledgement()
    daemon.send(.didBecomeActive)
    try daemon.waitForAcknowledgement()
    #expect(fixture.recorder.log.current == ["didFinishLaunching user", "didBecomeActive"])
  }

  @Test("A task that expired while the stream was broken has its handler called, once")
  func expiredMeanwhile() throws {
    let fixture = try Fixture()
    let expired = Watched(0)
    _ = try fixture.application.beginBackgroundTask { expired.update { $0 += 1 } }
    let daemon = try restarting(fixture) { $0.tasks[0].expired = true }
    defer { daemon.stop() }
    try expired.wait("the handler is called") { $0 == 1 }
    daemon.breakStream()
    try daemon.waitForCall("Register org.example.test", count: 2)
    try daemon.waitForStream()
    daemon.send(.willResignActive)
    try daemon.waitForAcknowledgement()
    #expect(expired.current == 1)
  }

  @Test("Tasks that the daemon no longer knows are dropped and reported")
  func lostTasks() throws {
    let fixture = try Fixture()
    let tasks = try (0..<3).map { _ in try fixture.application.beginBackgroundTask() }
    let daemon = try restarting(fixture) { $0.tasks.remove(at: 1) }
    defer { daemon.stop() }
    #expect(try fixture.recorder.wait(for: 1) == ["lost 2"])
    #expect(throws: ApplicationError.refused(.unknownTask(task: 2))) {
      try fixture.application.endBackgroundTask(tasks[1])
    }
    try fixture.application.endBackgroundTask(tasks[0])
    #expect(daemon.state.current.memory.tasks.map(\.id) == [3])
  }

  @Test("A task that is ended while the daemon is away is ended when it is back")
  func endedMeanwhile() throws {
    let fixture = try Fixture()
    let task = try fixture.application.beginBackgroundTask()
    let memory = fixture.daemon.stop()
    try fixture.application.endBackgroundTask(task)
    let daemon = try StandInDaemon(at: fixture.daemon.path, memory: memory)
    defer { daemon.stop() }
    try daemon.state.wait("no task is left") { $0.memory.tasks.isEmpty }
    #expect(fixture.recorder.log.current == [])
  }

  @Test("A begin while the daemon is away waits for it; one that stays away is an error")
  func beginMeanwhile() throws {
    let fixture = try Fixture()
    let memory = fixture.daemon.stop()
    #expect(throws: ApplicationError.connection(.noDaemon(path: fixture.daemon.path))) {
      _ = try fixture.application.beginBackgroundTask()
    }
    let begun = Watched<BackgroundTaskID?>(nil)
    let application = fixture.application
    startThread {
      let task = try? application.beginBackgroundTask()
      begun.update { $0 = task }
    }
    let daemon = try StandInDaemon(at: fixture.daemon.path, memory: memory)
    defer { daemon.stop() }
    try begun.wait("the task is begun") { $0 != nil }
  }

  @Test("A begin before the registration is renewed waits for it")
  func notRegisteredYet() throws {
    let fixture = try Fixture()
    fixture.daemon.refuseNext(
      "BeginBackgroundTask", with: ApplicationInterface.Failure.notRegistered)
    _ = try fixture.application.beginBackgroundTask()
    #expect(fixture.daemon.state.current.memory.tasks.count == 1)
  }

  @Test("A stream that is replaced is not opened again: the loss is reported, requests throw it")
  func replaced() throws {
    let fixture = try Fixture()
    fixture.daemon.failStream(ApplicationInterface.Failure.streamReplaced)
    let log = try fixture.recorder.wait(for: 1)
    #expect(log[0].hasPrefix("lost registration: another connection"))
    #expect(throws: ApplicationError.refused(.streamReplaced)) {
      _ = try fixture.application.beginBackgroundTask()
    }
    #expect(try fixture.daemon.waitForCall("Register org.example.test") == 1)
  }

  @Test("A refusal to register again is final and reported")
  func refusedAgain() throws {
    let fixture = try Fixture()
    fixture.daemon.refuseNext(
      "Register", with: ApplicationInterface.Failure.terminating(application: "org.example.test"))
    fixture.daemon.breakStream()
    #expect(
      try fixture.recorder.wait(for: 1) == ["lost registration: org.example.test is being ended"])
  }

  @Test("A stream that is no Varlink any more is left and opened again")
  func garbage() throws {
    let fixture = try Fixture()
    fixture.daemon.sendRaw(Array("garbage\0".utf8))
    try fixture.daemon.waitForCall("Register org.example.test", count: 2)
  }

  @Test("Closed while the daemon is away, the application does not come back")
  func closedMeanwhile() throws {
    let fixture = try Fixture()
    fixture.daemon.stop()
    fixture.application.close()
    let daemon = try StandInDaemon(at: fixture.daemon.path)
    defer { daemon.stop() }
    // Another that connects now would be behind it.
    let other = try ScheduledApplication.register(
      "org.example.other", at: SocketPath(daemon.path))
    defer { other.close() }
    #expect(daemon.state.current.calls == ["Register org.example.other"])
  }
}
