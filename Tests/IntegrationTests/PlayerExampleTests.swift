import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §13: the example player, which uses the client library, with the real daemon, the real
/// session agent and a real audio server.
@Suite(
  "The example player plays in the background, pauses for interruptions and obeys commands",
  .serialized,
  .enabled(if: AudioServerKind.available.contains(.pulseAudio), "PulseAudio is not installed"))
struct PlayerExampleTests {
  private static let id = "org.example.player"
  private static let phone = "org.test.phone"
  private let id = Self.id

  /// A daemon, a session agent, the example player while it plays, and another client of the
  /// player's audio server.
  private final class Scene {
    private let server: AudioServer
    private let agents = SessionAgents()
    let daemon: DaemonFixture
    let monitor: Monitor
    /// The other client, which does not play yet.
    let other: AudioClient
    private var player: TestProcess

    init() throws {
      server = try AudioServer(.pulseAudio)
      let daemon = try DaemonFixture(
        .init(
          policy: [("AudioGraceTime", "1s")],
          manifests: [
            (PlayerExampleTests.id, "background-modes = [\"audio\"]"),
            (PlayerExampleTests.phone, "background-modes = [\"voip\"]\nseat = \"seat2\""),
          ]))
      self.daemon = daemon
      monitor = try Monitor(daemon)
      // Waits until the server accepts clients.
      other = try AudioClient(of: server.path) {
        $0.environment += [SystemString("TASKSCHEDD_SOCKET=\(daemon.socketPath)")]
      }
      try agents.start(daemon, bus: "unix:path=\(server.runtime)/none", runtime: server.runtime)
      player = try Self.startPlayer(daemon, server)
      try waitUntilPlaying()
    }

    private static func startPlayer(
      _ daemon: DaemonFixture, _ server: AudioServer
    ) throws -> TestProcess {
      try TestProcess(
        Programs.path(of: "player-example"), ["player-example", "\(server.runtime)/position"]
      ) {
        $0.environment = daemon.environment().map { SystemString($0) }
        $0.environment += [
          SystemString("HOME=\(server.runtime)"),
          SystemString("PULSE_SERVER=unix:\(server.path)"),
        ]
      }
    }

    /// Starts the player again after its end.
    func relaunch() throws { player = try Self.startPlayer(daemon, server) }

    /// Waits until the player has printed a line with the text. Returns the line.
    @discardableResult
    func wait(for text: String) throws -> String {
      while true {
        let line = try player.nextLine()
        if line.contains(text) { return line }
      }
    }

    func nextLine() throws -> String { try player.nextLine() }

    /// Returns what the player does with audio, as the daemon knows it.
    func audio() throws -> [ControlInterface.AudioUse] {
      try daemon.application(PlayerExampleTests.id).instance?.audio ?? []
    }

    /// Waits until the daemon knows that the player plays.
    func waitUntilPlaying() throws {
      try wait(for: "playing from")
      try waitUntil("the player plays") { try audio() == [.playing] }
    }

    /// Waits until the daemon knows that the player has paused.
    func waitUntilPaused() throws {
      try wait(for: "paused at")
      try waitUntil("the player is paused") { try !audio().contains(.playing) }
    }

    /// Sends a command with `taskctl remote`, and waits until the player has received it.
    func remote(_ command: String, _ argument: String...) throws {
      let taskctl = try daemon.startTaskctl(["remote", command] + argument)
      #expect(try taskctl.remainingText() == "sent \(command) to \(PlayerExampleTests.id)\n")
      try wait(for: "command: ")
    }
  }

  @Test("A phone call pauses the example player, and the end of the call makes it play on")
  func call() throws {
    let scene = try Scene()
    let phone = try TestApplication.active(scene.daemon, Self.phone)
    #expect(try phone.call("BeginCall") == ["parameters": [:]])
    try scene.wait(for: "interrupted")
    try scene.waitUntilPaused()
    #expect(try scene.audio() == [.interrupted])
    #expect(try phone.call("EndCall") == ["parameters": [:]])
    try scene.wait(for: "the interruption has ended")
    try scene.waitUntilPlaying()
  }

  @Test("A command to pause, which comes during a phone call, keeps the example player paused")
  func pausedDuringCall() throws {
    let scene = try Scene()
    let phone = try TestApplication.active(scene.daemon, Self.phone)
    #expect(try phone.call("BeginCall") == ["parameters": [:]])
    try scene.waitUntilPaused()
    try scene.remote("pause")
    #expect(try phone.call("EndCall") == ["parameters": [:]])
    try scene.wait(for: "the interruption has ended")
    // If the player had resumed playback, it would have printed a line about it before `active`.
    #expect(try scene.nextLine() == "active")
    #expect(try scene.audio() == [])
  }

  @Test("The example player pauses for another application that plays, and stays paused after it")
  func otherApplication() throws {
    let scene = try Scene()
    try scene.other.run("play")
    try scene.daemon.adopt("org.test.other", scene.other.process)
    try scene.wait(for: "interrupted")
    try scene.waitUntilPaused()
    try scene.daemon.sendToBackground(id)
    try scene.monitor.transition(id, to: .suspended)
    try scene.other.run("end")
    try scene.wait(for: "the interruption has ended: stay paused")
    #expect(try scene.audio() == [])
    try scene.remote("play")
    try scene.waitUntilPlaying()
  }

  @Test("The example player obeys commands even while it is suspended, and then plays on")
  func commands() throws {
    let scene = try Scene()
    try scene.remote("pause")
    try scene.waitUntilPaused()
    try scene.daemon.sendToBackground(id)
    try scene.monitor.transition(id, to: .suspended)
    try scene.remote("play")
    try scene.waitUntilPlaying()
    #expect(try scene.daemon.application(id).state == .background)
    try scene.remote("next")
    #expect(try scene.wait(for: "at ") == "at 0.0 s of 550 Hz")
    try scene.remote("previous")
    #expect(try scene.wait(for: "at ") == "at 0.0 s of 440 Hz")
    try scene.remote("play-pause")
    try scene.waitUntilPaused()
    try scene.remote("seek", "20")
    #expect(try scene.wait(for: "at ").hasPrefix("at 2"))
    try scene.remote("play-pause")
    try scene.waitUntilPlaying()
    try scene.remote("stop")
    try scene.waitUntilPaused()
    #expect(try scene.wait(for: "at ") == "at 0.0 s of 440 Hz")
    try scene.monitor.transition(id, to: .suspended)
  }

  @Test("The example player keeps its position when it enters the background")
  func position() throws {
    let scene = try Scene()
    try scene.remote("pause")
    try scene.waitUntilPaused()
    try scene.remote("next")
    try scene.remote("seek", "20")
    try scene.daemon.sendToBackground(id)
    try scene.wait(for: "in the background, at 20.0 s of 550 Hz")
    try scene.monitor.transition(id, to: .suspended)
    // The daemon kills a suspended application without notice, so the player cannot save its
    // position now.
    try scene.daemon.terminate(id)
    try scene.relaunch()
    try scene.wait(for: "playing from 20.0 s of 550 Hz")
  }
}
