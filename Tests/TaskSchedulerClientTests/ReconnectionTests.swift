import Dispatch
import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerClient

@Suite struct ReconnectionTests {
  /// Replaces the daemon by another one. The new daemon has the state of the old one, changed by
  /// `change`.
  private func restarting(
    _ fixture: Fixture, _ change: (inout StandInDaemon.Memory) -> Void = { _ in }
  ) throws -> StandInDaemon {
    var memory = fixture.daemon.stop()
    change(&memory)
    let daemon = try StandInDaemon(at: fixture.daemon.path, memory: memory)
    try daemon.waitForStream()
    return daemon
  }

  @Test("After a restart of the daemon, the application registers again and receives events")
  func registersAgain() throws {
    let fixture = try Fixture()
    let daemon = try restarting(fixture)
    defer { daemon.stop() }
    daemon.send(.willResignActive)
    try daemon.waitForAcknowledgement()
    #expect(fixture.recorder.log.current == ["willResignActive"])
    try daemon.waitForCall("Register org.example.test")
  }

  @Test("An application in the background registers again in the background")
  func registersAgainInBackground() throws {
    let fixture = try Fixture()
    fixture.daemon.send(.didEnterBackground)
    try fixture.daemon.waitForAcknowledgement()
    let daemon = try restarting(fixture)
    defer { daemon.stop() }
    try daemon.waitForCall("Register org.example.test background")
  }

  @Test("The library opens a broken stream again, and tasks stay")
  func brokenStream() throws {
    let fixture = try Fixture()
    let task = try fixture.application.beginBackgroundTaskAndWait()
    fixture.daemon.breakStream()
    try fixture.daemon.waitForCall("Register org.example.test", count: 2)
    try fixture.daemon.waitForStream()
    try fixture.application.endBackgroundTaskAndWait(task)
    #expect(fixture.recorder.log.current == [])
  }

  @Test("A repeated callback that was acknowledged does not reach the delegate again")
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

  @Test("A callback that the daemon repeats while it is handled reaches the delegate once")
  func deliveredAgainMeanwhile() throws {
    let gate = Gate()
    let recorder = Recorder { _ in gate.pass() }
    let fixture = try Fixture(recorder: recorder)
    fixture.daemon.send(.didEnterBackground)
    gate.waitForHandler()
    let daemon = try restarting(fixture)
    defer { daemon.stop() }
    // The library reads the expiration only after the repeated callback, so the expiration proves
    // that the callback has arrived.
    let heard = Watched(0)
    let task = try fixture.application.beginBackgroundTaskAndWait { heard.update { $0 += 1 } }
    daemon.expire(task.rawValue)
    gate.open()
    try daemon.waitForAcknowledgement()
    try heard.wait("the task has expired") { $0 == 1 }
    #expect(recorder.log.current == ["didEnterBackground"])
    // The library acknowledges twice if it reads the repeated callback after its first
    // acknowledgement.
    #expect(try (1...2).contains(daemon.waitForCall("Acknowledge 1")))
  }

  @Test("A second launch by a daemon that has forgotten the process does not reach the delegate")
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

  @Test("The library calls the handler of a task that expired while the stream was broken, once")
  func expiredMeanwhile() throws {
    let fixture = try Fixture()
    let expired = Watched(0)
    _ = try fixture.application.beginBackgroundTaskAndWait { expired.update { $0 += 1 } }
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

  @Test("The delegate learns which tasks the daemon no longer knows")
  func lostTasks() throws {
    let fixture = try Fixture()
    let tasks = try (0..<3).map { _ in try fixture.application.beginBackgroundTaskAndWait() }
    let daemon = try restarting(fixture) { $0.tasks.remove(at: 1) }
    defer { daemon.stop() }
    #expect(try fixture.recorder.wait(for: 1) == ["lost 2"])
    #expect(throws: ApplicationError.refused(.unknownTask(tasks[1]))) {
      try fixture.application.endBackgroundTaskAndWait(tasks[1])
    }
    try fixture.application.endBackgroundTaskAndWait(tasks[0])
    #expect(daemon.state.current.memory.tasks.map(\.id) == [3])
  }

  @Test("The library reports the end of a task when the daemon is back")
  func endedMeanwhile() throws {
    let fixture = try Fixture()
    let task = try fixture.application.beginBackgroundTaskAndWait()
    let memory = fixture.daemon.stop()
    try fixture.application.endBackgroundTaskAndWait(task)
    let daemon = try StandInDaemon(at: fixture.daemon.path, memory: memory)
    defer { daemon.stop() }
    try daemon.state.wait("no task is left") { $0.memory.tasks.isEmpty }
    #expect(fixture.recorder.log.current == [])
  }

  @Test("A begin waits for a daemon that is away, and throws if it stays away")
  func beginMeanwhile() throws {
    let fixture = try Fixture()
    let memory = fixture.daemon.stop()
    #expect(throws: ApplicationError.noDaemon(path: fixture.daemon.path)) {
      _ = try fixture.application.beginBackgroundTaskAndWait()
    }
    let begun = Watched<BackgroundTaskID?>(nil)
    let application = fixture.application
    startThread {
      let task = try? application.beginBackgroundTaskAndWait()
      begun.update { $0 = task }
    }
    let daemon = try StandInDaemon(at: fixture.daemon.path, memory: memory)
    defer { daemon.stop() }
    try begun.wait("the task is begun") { $0 != nil }
  }

  @Test("A begin waits until the registration is renewed")
  func notRegisteredYet() throws {
    let fixture = try Fixture()
    fixture.daemon.refuseNext(
      "BeginBackgroundTask", with: ApplicationInterface.Failure.notRegistered)
    _ = try fixture.application.beginBackgroundTaskAndWait()
    #expect(fixture.daemon.state.current.memory.tasks.count == 1)
  }

  @Test("A replaced stream ends the registration, and requests throw the refusal")
  func replaced() throws {
    let fixture = try Fixture()
    fixture.daemon.failStream(ApplicationInterface.Failure.streamReplaced)
    let log = try fixture.recorder.wait(for: 1)
    #expect(log[0].hasPrefix("lost registration: another connection"))
    #expect(throws: ApplicationError.refused(.streamReplaced)) {
      _ = try fixture.application.beginBackgroundTaskAndWait()
    }
    #expect(try fixture.daemon.waitForCall("Register org.example.test") == 1)
  }

  @Test("A refusal to register again ends the registration")
  func refusedAgain() throws {
    let fixture = try Fixture()
    fixture.daemon.refuseNext(
      "Register", with: ApplicationInterface.Failure.terminating(application: "org.example.test"))
    fixture.daemon.breakStream()
    #expect(
      try fixture.recorder.wait(for: 1)
        == ["lost registration: the daemon is ending org.example.test"])
  }

  @Test("The library opens another stream after a message that is not Varlink")
  func garbage() throws {
    let fixture = try Fixture()
    fixture.daemon.sendRaw(Array("garbage\0".utf8))
    try fixture.daemon.waitForCall("Register org.example.test", count: 2)
  }

  @Test("An application that is closed while the daemon is away does not register again")
  func closedMeanwhile() throws {
    let fixture = try Fixture()
    fixture.daemon.stop()
    fixture.application.close()
    let daemon = try StandInDaemon(at: fixture.daemon.path)
    defer { daemon.stop() }
    // If the closed application registered again, it would do so before the other application
    // registers.
    let other = try ScheduledApplication.registerAndWait(
      "org.example.other", at: SocketPath(daemon.path))
    defer { other.close() }
    #expect(daemon.state.current.calls == ["Register org.example.other"])
  }
}
