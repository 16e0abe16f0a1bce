import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerClient

@Suite struct RegistrationTests {
  @Test("Without a daemon, registering throws an error that names the socket")
  func noDaemon() {
    let folder = TemporaryDirectory()
    let path = folder.file("socket")
    let error = #expect(throws: ApplicationError.self) {
      _ = try ScheduledApplication.register("org.example.test", at: SocketPath(path))
    }
    #expect(error == .connection(.noDaemon(path: path)))
    #expect(error?.description.contains(path) == true)
  }

  @Test("A socket file without a listening process counts as no daemon")
  func staleSocket() throws {
    let folder = TemporaryDirectory()
    let path = folder.file("socket")
    do { _ = try UnixSocket.listen(path: path, mode: 0o600) }
    #expect(throws: ApplicationError.connection(.noDaemon(path: path))) {
      _ = try ScheduledApplication.register("org.example.test", at: SocketPath(path))
    }
  }

  @Test("With ifAvailable and no daemon, the program launches, becomes active and has all time")
  func unmanaged() throws {
    let folder = TemporaryDirectory()
    let recorder = Recorder()
    let application = try ScheduledApplication.register(
      "org.example.test", delegate: recorder, at: SocketPath(folder.file("socket")),
      ifAvailable: true)
    defer { application.close() }
    #expect(try recorder.wait(for: 2) == ["didFinishLaunching user", "didBecomeActive"])
    #expect(!application.isManaged)
    #expect(application.state == .active)
    #expect(try application.backgroundTimeRemaining == nil)
    let task = try application.beginBackgroundTask(named: "upload")
    try application.endBackgroundTask(task)
    #expect(throws: ApplicationError.refused(.unknownTask(task: task.rawValue))) {
      try application.endBackgroundTask(task)
    }
  }

  @Test("With ifAvailable, a daemon that refuses is still an error")
  func refusedIfAvailable() throws {
    let folder = TemporaryDirectory()
    let daemon = try StandInDaemon(at: folder.file("socket"))
    defer { daemon.stop() }
    let refusal = ApplicationInterface.Failure.alreadyRunning(
      application: "org.example.test", pid: 42, state: .background)
    daemon.refuseNext("Register", with: refusal)
    let error = #expect(throws: ApplicationError.self) {
      _ = try ScheduledApplication.register(
        "org.example.test", at: SocketPath(daemon.path), ifAvailable: true)
    }
    #expect(error == .refused(refusal))
    #expect(
      error?.description == "org.example.test is running already: it is background, as process 42")
  }

  @Test("The registration says the id, background only where asked, and takes over the state")
  func registers() throws {
    let folder = TemporaryDirectory()
    var memory = StandInDaemon.Memory()
    memory.state = .background
    let daemon = try StandInDaemon(at: folder.file("socket"), memory: memory)
    defer { daemon.stop() }
    let application = try ScheduledApplication.register(
      "org.example.test", background: true, at: SocketPath(daemon.path))
    defer { application.close() }
    #expect(application.isManaged)
    #expect(application.state == .background)
    #expect(daemon.state.current.calls == ["Register org.example.test background"])
  }

  @Test("After close, requests throw closed, and the daemon sees the connections go")
  func closes() throws {
    let fixture = try Fixture()
    let task = try fixture.application.beginBackgroundTask()
    fixture.application.close()
    try fixture.daemon.state.wait("no connection is left") { $0.connections.isEmpty }
    #expect(throws: ApplicationError.closed) {
      _ = try fixture.application.beginBackgroundTask()
    }
    #expect(throws: ApplicationError.closed) {
      _ = try fixture.application.backgroundTimeRemaining
    }
    // It is not delivered, and that is not an error.
    try fixture.application.endBackgroundTask(task)
    #expect(fixture.recorder.log.current == [])
  }
}
