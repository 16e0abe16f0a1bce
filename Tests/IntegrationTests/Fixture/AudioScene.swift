import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// A daemon with manifests of three applications, and a simulated session agent. The applications
/// have mode `audio` and separate seats.
struct AudioScene {
  static let player = "org.test.player"
  static let other = "org.test.other"
  static let third = "org.test.third"

  let daemon: DaemonFixture
  let monitor: Monitor
  let agent: TestAgent

  /// Starts the daemon, and attaches the agent.
  ///
  /// - Parameter policy: Settings in addition to `AudioGraceTime` and `EventTime`.
  init(policy: [(String, String)] = []) throws {
    // EventTime is so long that an event entitles its application to run until the application
    // acknowledges the event.
    let times = [("AudioGraceTime", "10ms"), ("EventTime", "1h")]
    let manifests = [Self.player, Self.other, Self.third].enumerated().map {
      ($0.element, "background-modes = [\"audio\"]\nseat = \"seat\($0.offset + 1)\"")
    }
    daemon = try DaemonFixture(.init(policy: times + policy, manifests: manifests))
    monitor = try Monitor(daemon)
    agent = try TestAgent(daemon)
  }

  /// Returns what an application does with audio.
  func audio(_ id: String) throws -> [ControlInterface.AudioUse]? {
    try daemon.application(id).instance?.audio
  }

  /// Waits until `audio(_:)` returns the given uses for an application.
  func wait(for uses: [ControlInterface.AudioUse], of id: String) throws {
    try waitUntil("the audio of \(id) is \(uses)") { try audio(id) == uses }
  }

  /// Starts an aware application.
  ///
  /// - Parameter session: The parameters of its call `SetAudioSession`; nil for no such call.
  func aware(_ id: String, session: JSONValue? = nil) throws -> TestApplication {
    let application = try TestApplication.active(daemon, id)
    if let session {
      #expect(try application.call("SetAudioSession", session) == ["parameters": [:]])
    }
    return application
  }

  /// Starts an unaware application.
  func unaware(_ id: String) throws -> TestProcess {
    let program = try daemon.shell("read line")
    try daemon.adopt(id, program)
    return program
  }
}
