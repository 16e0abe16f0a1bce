import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §13, with a session agent that the test simulates (`TestAgent`).
@Suite("§13: Audio sessions that lower the volume of others (contract.md#audio-duck)")
struct DuckingTests {
  private let player = AudioScene.player
  private let other = AudioScene.other

  /// A volume of 100 %, and a volume of 20 %.
  private static let full = 65536
  private static let low = 13107

  private static let lowering = [TestAgent.Volume(stream: 1, from: full, to: low)]
  private static let raising = [TestAgent.Volume(stream: 1, from: low, to: full)]

  /// A player, and an application that plays and ducks other applications.
  private struct Ducked {
    let scene: AudioScene
    let music: TestProcess
    let speaker: TestApplication

    init(policy: [(String, String)] = []) throws {
      scene = try AudioScene(policy: policy)
      music = try scene.unaware(AudioScene.player)
      speaker = try scene.aware(
        AudioScene.other, session: ["category": "playback", "duckOthers": true])
      try scene.agent.reportAudio([stream()])
      try scene.agent.reportAudio([stream(), speech])
    }

    /// Returns a stream of the player.
    func stream(
      _ id: Int = 1, volume: Int = DuckingTests.full
    ) throws -> SessionInterface.AudioStream {
      try scene.agent.stream(id, of: music.pid, volume: volume)
    }

    var speech: SessionInterface.AudioStream {
      get throws { try scene.agent.stream(2, of: speaker.pid) }
    }

    /// Checks that the daemon orders the agent to lower the player's volume, and reports that the
    /// agent has done so.
    func lowered() throws {
      #expect(try scene.agent.nextVolumes() == DuckingTests.lowering)
      try scene.agent.reportAudio([stream(volume: DuckingTests.low), speech])
    }
  }

  @Test("§13: While an application that ducks others plays, the volume of others is lower")
  func ducked() throws {
    let it = try Ducked()
    try it.lowered()
    #expect(try it.scene.audio(player) == [.playing, .ducked])
    #expect(try it.scene.audio(other) == [.playing])
    #expect(try it.scene.daemon.application(player).instance?.duckedBy == other)
    #expect(
      try it.scene.monitor.next(.audioDucked, of: player).message
        == "\(player): its volume is lowered")
    let why = try it.scene.daemon.taskctl("why", player).text
    #expect(why.contains("The daemon has lowered its volume"), "\(why)")
    let list = try it.scene.daemon.taskctl("list").text
    #expect(list.contains("plays, ducked"), "\(list)")

    try it.scene.agent.reportAudio([it.stream(volume: Self.low)])
    #expect(try it.scene.agent.nextVolumes() == Self.raising)
    try it.scene.agent.reportAudio([it.stream()])
    #expect(try it.scene.audio(player) == [.playing])
  }

  @Test(
    "§13: An application that plays sounds of notifications or of a screen reader ducks others",
    arguments: [SessionInterface.AudioRole.notification, .accessibility])
  func derived(_ role: SessionInterface.AudioRole) throws {
    let scene = try AudioScene()
    let music = try scene.unaware(player), speaker = try scene.unaware(other)
    try scene.agent.reportAudio([
      scene.agent.stream(1, of: music.pid), scene.agent.stream(2, of: speaker.pid, role: role),
    ])
    #expect(try scene.agent.nextVolumes() == Self.lowering)
    #expect(try scene.audio(other) == [.playing])
  }

  @Test("§13: DuckLevel is the percentage of the lowered volume")
  func level() throws {
    let it = try Ducked(policy: [("DuckLevel", "50")])
    #expect(
      try it.scene.agent.nextVolumes() == [.init(stream: 1, from: Self.full, to: Self.full / 2)])
  }

  @Test("§13: With DuckLevel 100, no volume is lowered")
  func noLevel() throws {
    let it = try Ducked(policy: [("DuckLevel", "100")])
    #expect(try it.scene.audio(player) == [.playing])
  }

  @Test("§13: If the audio server manages roles, no volume is lowered")
  func managedRoles() throws {
    let it = try Ducked()
    try it.lowered()
    let streams = try [it.stream(volume: Self.low), it.speech]
    try it.scene.agent.reportAudio(streams, managesRoles: true)
    #expect(try it.scene.agent.nextVolumes() == Self.raising)
    #expect(try it.scene.audio(player) == [.playing])
  }

  // MARK: The end

  @Test("§13: The volume is restored when the application that ducks others is killed")
  func duckerEnds() throws {
    let it = try Ducked()
    try it.lowered()
    #expect(kill(it.speaker.pid, SIGKILL) == 0)
    #expect(try it.scene.agent.nextVolumes() == Self.raising)
  }

  @Test("§13: The volume of an application is restored when the application ends")
  func duckedEnds() throws {
    let it = try Ducked()
    try it.lowered()
    #expect(kill(it.music.pid, SIGKILL) == 0)
    #expect(try it.scene.agent.nextVolumes() == Self.raising)
  }

  @Test("§13: The volume is restored when the daemon stops")
  func daemonStops() throws {
    let it = try Ducked()
    try it.lowered()
    try it.scene.daemon.stop()
    #expect(try it.scene.agent.nextVolumes() == Self.raising)
  }

  @Test("§13: If a stream ended with a lowered volume, the volume of the next one is restored")
  func nextStream() throws {
    let it = try Ducked()
    try it.lowered()
    try it.scene.agent.reportAudio([])
    // The server remembers the lowered volume, so the player's next stream begins with that volume.
    try it.scene.agent.reportAudio([it.stream(3, volume: Self.low)])
    #expect(
      try it.scene.agent.nextVolumes() == [.init(stream: 3, from: Self.low, to: Self.full)])
    try it.scene.agent.reportAudio([it.stream(3)])
    #expect(try it.scene.audio(player) == [.playing])
  }

  @Test("§13: A volume that the user changed meanwhile stays as it is")
  func userChanges() throws {
    let it = try Ducked()
    try it.lowered()
    let chosen = 30_000
    try it.scene.agent.reportAudio([it.stream(volume: chosen), it.speech])
    #expect(try it.scene.audio(player) == [.playing])
    try it.scene.agent.reportAudio([it.stream(volume: chosen)])
    #expect(try it.scene.audio(player) == [.playing])
    // If the daemon had ordered the agent to restore the full volume, that order would arrive
    // before this one.
    try it.scene.agent.reportAudio([it.stream(volume: chosen), it.speech])
    #expect(
      try it.scene.agent.nextVolumes() == [.init(stream: 1, from: chosen, to: chosen / 5)])
  }

  // MARK: Survival

  @Test("§13: After kill -9 of the daemon, the volume stays low, and is restored at the end")
  func killedDaemon() throws {
    let it = try Ducked()
    try it.lowered()
    let daemon = try it.scene.daemon.killed()
    let agent = try TestAgent(daemon)
    #expect(try agent.nextVolumes() == Self.lowering)
    let music = try it.stream(volume: Self.low)
    try agent.reportAudio([music, it.speech])
    #expect(try daemon.application(player).instance?.audio == [.playing, .ducked])
    try agent.reportAudio([music])
    #expect(try agent.nextVolumes() == Self.raising)
  }

  @Test("§13: A new agent receives the changes of volumes that no report has confirmed")
  func newAgent() throws {
    let it = try Ducked()
    try it.lowered()
    try it.scene.agent.reportAudio([it.stream(volume: Self.low)])
    let agent = try TestAgent(it.scene.daemon)
    #expect(try agent.nextVolumes() == Self.raising)
  }

  @Test("§13: A volume of more than 256 times 100 %, or below zero, is refused by its field")
  func invalidVolume() throws {
    let it = try Ducked()
    for volume in [-1, (1 << 24) + 1, .max] {
      let answer = try it.scene.agent.reportAudio([it.stream(volume: volume)])
      #expect(answer?.errorName == "InvalidParameter")
      #expect(answer?["parameters"]?["parameter"] == "streams[0].volume")
    }
    #expect(try it.scene.agent.reportAudio([it.stream(volume: 1 << 24)])?.errorName == nil)
  }
}
