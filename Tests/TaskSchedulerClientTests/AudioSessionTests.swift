import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerClient

@Suite struct AudioSessionTests {
  /// Returns the audio sessions that a daemon has received, such as `playback duck`.
  private func sessions(of daemon: StandInDaemon) -> [String] {
    let method = "SetAudioSession "
    return daemon.state.current.calls.filter { $0.hasPrefix(method) }
      .map { String($0.dropFirst(method.count)) }
  }

  @Test("Both forms set the session, with its options")
  func requests() async throws {
    let fixture = try Fixture()
    let application = fixture.application
    #expect(application.audioSession == nil)
    try await application.setAudioSession(.soloAmbient)
    #expect(application.audioSession == AudioSession(.soloAmbient))
    try application.setAudioSessionAndWait(.playback, options: .mixWithOthers)
    try await application.setAudioSession(.playback, options: .duckOthers)
    try application.setAudioSessionAndWait(
      .playAndRecord, options: [.mixWithOthers, .duckOthers])
    #expect(
      sessions(of: fixture.daemon) == [
        "soloAmbient", "playback mix", "playback duck", "playAndRecord mix duck",
      ])
    #expect(
      application.audioSession
        == AudioSession(.playAndRecord, options: [.mixWithOthers, .duckOthers]))
  }

  @Test("Each category has the name of the interface", arguments: AudioCategory.allCases)
  func categories(_ category: AudioCategory) throws {
    let fixture = try Fixture()
    try fixture.application.setAudioSessionAndWait(category)
    #expect(sessions(of: fixture.daemon) == [category.rawValue])
    #expect(ApplicationInterface.AudioCategory.allCases.count == AudioCategory.allCases.count)
  }

  @Test("A refused session throws the daemon's reason, and leaves the previous session in effect")
  func refused() throws {
    let fixture = try Fixture()
    try fixture.application.setAudioSessionAndWait(.ambient)
    fixture.daemon.refuseNext(
      "SetAudioSession",
      with: ApplicationInterface.Failure.terminating(application: "org.example.test"))
    #expect(throws: ApplicationError.refused(.terminating("org.example.test"))) {
      try fixture.application.setAudioSessionAndWait(.playback)
    }
    #expect(fixture.application.audioSession == AudioSession(.ambient))
  }

  @Test(
    "A daemon that has forgotten the process learns of the session before the acknowledgement",
    arguments: [7, 8])
  func restored(instance: Int) throws {
    let fixture = try Fixture()
    try fixture.launch()
    try fixture.application.setAudioSessionAndWait(.playback)
    try fixture.application.setAudioSessionAndWait(.ambient, options: .duckOthers)
    let daemon = try fixture.replaceDaemon(instance: instance)
    defer { daemon.stop() }
    try daemon.waitForAcknowledgement()
    #expect(
      daemon.state.current.calls == [
        "Register org.example.test", "SetAudioSession ambient duck", "Acknowledge 1",
      ])
  }

  @Test("The library does not repeat the session to a daemon that knows it")
  func remembered() throws {
    let fixture = try Fixture()
    try fixture.launch()
    try fixture.application.setAudioSessionAndWait(.playback)
    let daemon = try fixture.restartDaemon()
    defer { daemon.stop() }
    daemon.send(.willResignActive)
    try daemon.waitForAcknowledgement()
    #expect(sessions(of: daemon) == [])
  }

  @Test("A session that a restarted daemon refuses is passed to the next daemon")
  func restoredLater() throws {
    let fixture = try Fixture()
    try fixture.launch()
    try fixture.application.setAudioSessionAndWait(.playback)
    let second = try fixture.restartDaemon { $0 = StandInDaemon.Memory(instance: 8) }
    second.refuseNext(
      "SetAudioSession",
      with: ApplicationInterface.Failure.stateNotSaved)
    second.send(.didFinishLaunching, reason: .user)
    try second.waitForAcknowledgement()
    second.stop()
    let third = try StandInDaemon(at: second.path, memory: .ofThird)
    defer { third.stop() }
    try third.waitForStream()
    third.send(.didFinishLaunching, reason: .user)
    try third.waitForAcknowledgement()
    #expect(sessions(of: third) == ["playback"])
  }

  @Test("Without a daemon, the library accepts a session")
  func unmanaged() throws {
    let directory = TemporaryDirectory()
    let application = try ScheduledApplication.registerAndWait(
      "org.example.test", delegate: Recorder(), at: SocketPath(directory.file("socket")),
      ifAvailable: true)
    defer { application.close() }
    try application.setAudioSessionAndWait(.playback, options: .mixWithOthers)
  }
}
