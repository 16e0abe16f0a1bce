import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerClient

@Suite struct RegistrationTests {
  @Test("Registration without a daemon throws an error that names the socket")
  func noDaemon() {
    let directory = TemporaryDirectory()
    let path = directory.file("socket")
    let error = #expect(throws: ApplicationError.self) {
      _ = try ScheduledApplication.registerAndWait("org.example.test", at: SocketPath(path))
    }
    #expect(error == .noDaemon(path: path))
    #expect(error?.description.contains(path) == true)
  }

  @Test("Registration at a socket file without a listener throws the same error")
  func staleSocket() throws {
    let directory = TemporaryDirectory()
    let path = directory.file("socket")
    do { _ = try UnixSocket.listen(path: path, mode: 0o600) }
    #expect(throws: ApplicationError.noDaemon(path: path)) {
      _ = try ScheduledApplication.registerAndWait("org.example.test", at: SocketPath(path))
    }
  }

  @Test("With ifAvailable and no daemon, the application becomes active with unlimited time")
  func unmanaged() throws {
    let directory = TemporaryDirectory()
    let recorder = Recorder()
    let application = try ScheduledApplication.registerAndWait(
      "org.example.test", delegate: recorder, at: SocketPath(directory.file("socket")),
      ifAvailable: true)
    defer { application.close() }
    #expect(try recorder.wait(for: 2) == ["didFinishLaunching user", "didBecomeActive"])
    #expect(!application.isManaged)
    #expect(application.applicationState == .active)
    #expect(try application.backgroundTimeRemainingAndWait() == nil)
    let task = try application.beginBackgroundTaskAndWait(named: "upload")
    try application.endBackgroundTaskAndWait(task)
    #expect(throws: ApplicationError.refused(.unknownTask(task))) {
      try application.endBackgroundTaskAndWait(task)
    }
  }

  @Test("With ifAvailable, the refusal of an existing daemon is still an error")
  func refusedIfAvailable() throws {
    let directory = TemporaryDirectory()
    let daemon = try StandInDaemon(at: directory.file("socket"))
    defer { daemon.stop() }
    let refusal = ApplicationInterface.Failure.alreadyRunning(
      application: "org.example.test", pid: 42, state: .background)
    daemon.refuseNext("Register", with: refusal)
    let error = #expect(throws: ApplicationError.self) {
      _ = try ScheduledApplication.registerAndWait(
        "org.example.test", at: SocketPath(daemon.path), ifAvailable: true)
    }
    #expect(
      error
        == .refused(.alreadyRunning("org.example.test", pid: 42, state: .background)))
    #expect(
      error?.description == "org.example.test already runs as process 42, in state background")
  }

  @Test("A registration passes the id and `background`, and receives the state")
  func registers() throws {
    let directory = TemporaryDirectory()
    var memory = StandInDaemon.Memory()
    memory.state = .background
    let daemon = try StandInDaemon(at: directory.file("socket"), memory: memory)
    defer { daemon.stop() }
    let application = try ScheduledApplication.registerAndWait(
      "org.example.test", background: true, at: SocketPath(daemon.path))
    defer { application.close() }
    #expect(application.isManaged)
    #expect(application.applicationState == .background)
    #expect(daemon.state.current.calls == ["Register org.example.test background"])
  }

  @Test("After close, requests throw closed, and the connections to the daemon are closed")
  func closes() throws {
    let fixture = try Fixture()
    let task = try fixture.application.beginBackgroundTaskAndWait()
    fixture.application.close()
    try fixture.daemon.state.wait("no connection is left") { $0.connections.isEmpty }
    #expect(throws: ApplicationError.closed) {
      _ = try fixture.application.beginBackgroundTaskAndWait()
    }
    #expect(throws: ApplicationError.closed) {
      _ = try fixture.application.backgroundTimeRemainingAndWait()
    }
    // After `close`, the library cannot report the end of the task to a daemon. This is not an
    // error.
    try fixture.application.endBackgroundTaskAndWait(task)
    #expect(fixture.recorder.log.current == [])
  }

  @Test("After close, the request for the background time throws closed even without a daemon")
  func closesUnmanaged() throws {
    let directory = TemporaryDirectory()
    let application = try ScheduledApplication.registerAndWait(
      "org.example.test", delegate: Recorder(), at: SocketPath(directory.file("socket")),
      ifAvailable: true)
    application.close()
    #expect(throws: ApplicationError.closed) {
      _ = try application.backgroundTimeRemainingAndWait()
    }
  }
}
