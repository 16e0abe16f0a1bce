import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §13, with a session agent that the test simulates (`TestAgent`).
/// `DuckingTests` tests the sessions that lower the volume of other applications.
@Suite("§13: Audio sessions that interrupt each other (contract.md#audio-takeover)")
struct AudioSessionTests {
  private let player = AudioScene.player
  private let other = AudioScene.other
  private let third = AudioScene.third

  private func interruption(of application: TestApplication) throws -> JSONValue {
    try application.nextEvent(with: "audioInterruption")
  }

  // MARK: Aware applications

  @Test("§13: An application that begins to play interrupts another, which is not told to resume")
  func told() throws {
    let scene = try AudioScene()
    let first = try scene.aware(player), second = try scene.aware(other)
    try scene.agent.reportAudio([scene.agent.stream(1, of: first.pid)])
    try scene.agent.reportAudio([
      scene.agent.stream(1, of: first.pid), scene.agent.stream(2, of: second.pid),
    ])
    let began = try interruption(of: first)
    #expect(began["began"] == true && began["shouldResume"] == nil)
    #expect(try first.acknowledge(event: began) == ["parameters": [:]])
    #expect(try scene.audio(player) == [.playing, .interrupted])
    #expect(try scene.audio(other) == [.playing])
    #expect(try scene.daemon.application(player).state == .active)
    #expect(
      try scene.monitor.next(.audioInterrupted, of: player).message
        == "\(player): \(other) interrupts its audio")
    let why = try scene.daemon.taskctl("why", player).text
    #expect(why.contains("\(other) interrupts its audio."), "\(why)")

    try scene.agent.reportAudio([scene.agent.stream(2, of: second.pid)])
    try scene.agent.reportAudio([])
    let ended = try interruption(of: first)
    #expect(ended["began"] == false && ended["shouldResume"] == false)
    #expect(try scene.audio(player) == [])
    #expect(try scene.daemon.application(player).state == .active)
  }

  @Test("§13: An interrupted application that the user starts again interrupts its interrupter")
  func takeover() throws {
    let scene = try AudioScene()
    let first = try scene.aware(player), second = try scene.aware(other)
    let streams = try [
      scene.agent.stream(1, of: first.pid), scene.agent.stream(2, of: second.pid),
    ]
    try scene.agent.reportAudio([streams[0]])
    try scene.agent.reportAudio(streams)
    #expect(try interruption(of: first)["began"] == true)
    try scene.agent.reportAudio([streams[1]])
    try scene.agent.reportAudio(streams)
    let ended = try interruption(of: first)
    #expect(ended["began"] == false && ended["shouldResume"] == false)
    #expect(try interruption(of: second)["began"] == true)
    #expect(try scene.audio(player) == [.playing])
    #expect(try scene.audio(other) == [.playing, .interrupted])
  }

  @Test(
    "§13: An application that mixes with others interrupts none",
    arguments: [
      ["category": "ambient"], ["category": "playback", "mixWithOthers": true],
    ] as [JSONValue])
  func mixes(_ session: JSONValue) throws {
    let scene = try AudioScene()
    let first = try scene.aware(player), second = try scene.aware(other, session: session)
    try scene.agent.reportAudio([scene.agent.stream(1, of: first.pid)])
    try scene.agent.reportAudio([
      scene.agent.stream(1, of: first.pid), scene.agent.stream(2, of: second.pid),
    ])
    #expect(try scene.audio(player) == [.playing])
    #expect(try scene.audio(other) == [.playing])
  }

  @Test("§13: A new session of an application that plays takes effect at once")
  func changed() throws {
    let scene = try AudioScene()
    let first = try scene.aware(player)
    let second = try scene.aware(other, session: ["category": "ambient"])
    try scene.agent.reportAudio([scene.agent.stream(1, of: first.pid)])
    try scene.agent.reportAudio([
      scene.agent.stream(1, of: first.pid), scene.agent.stream(2, of: second.pid),
    ])
    #expect(try scene.audio(player) == [.playing])
    #expect(
      try second.call("SetAudioSession", ["category": "soloAmbient"]) == ["parameters": [:]])
    #expect(try interruption(of: first)["began"] == true)
  }

  // MARK: Derived sessions

  @Test("§13: Sounds of the user interface and recordings interrupt no application")
  func derived() throws {
    let scene = try AudioScene()
    let first = try scene.unaware(player), second = try scene.unaware(other)
    let recorder = try scene.unaware(third)
    var recording = try scene.agent.stream(3, of: recorder.pid)
    recording.direction = .recording
    let streams = try [
      scene.agent.stream(1, of: first.pid),
      scene.agent.stream(2, of: second.pid, role: .event), recording,
    ]
    for count in 1...3 { try scene.agent.reportAudio(Array(streams.prefix(count))) }
    #expect(try scene.audio(player) == [.playing])
    #expect(try scene.audio(other) == [.playing])
    #expect(try scene.audio(third) == [.recording])
  }

  // MARK: Unaware applications

  @Test("§13: An interrupted media player is paused, and stays paused after the interruption")
  func paused() throws {
    let scene = try AudioScene()
    let first = try scene.unaware(player), second = try scene.unaware(other)
    try scene.agent.report(
      players: [scene.agent.player("a", of: first.pid), scene.agent.player("b", of: second.pid)])
    try scene.agent.reportAudio([scene.agent.stream(1, of: first.pid)])
    try scene.agent.reportAudio([
      scene.agent.stream(1, of: first.pid), scene.agent.stream(2, of: second.pid),
    ])
    let pause = try scene.agent.nextOrder("command")
    #expect(pause?["player"] == .string(TestAgent.playerName("a")))
    #expect(pause?["command"] == "pause")
    try scene.agent.reportAudio([scene.agent.stream(2, of: second.pid)])
    #expect(try scene.audio(player) == [.interrupted])
    try scene.agent.reportAudio([])
    try scene.wait(for: [], of: player)
    // If the daemon had ordered the agent to start the player, that order would arrive before
    // this one.
    _ = try scene.daemon.taskctl("remote", "next")
    #expect(try scene.agent.nextOrder("command")?["command"] == "next")
  }

  @Test("§13: An unaware application that is no media player is muted while it is interrupted")
  func muted() throws {
    let scene = try AudioScene()
    let first = try scene.unaware(player), second = try scene.unaware(other)
    try scene.agent.reportAudio([scene.agent.stream(1, of: first.pid)])
    try scene.agent.reportAudio([
      scene.agent.stream(1, of: first.pid), scene.agent.stream(2, of: second.pid),
    ])
    let mute = try scene.agent.nextMute()
    #expect(mute?["streams"] == [1] && mute?["muted"] == true)
    try scene.agent.reportAudio([
      scene.agent.stream(1, of: first.pid, muted: true), scene.agent.stream(2, of: second.pid),
    ])
    #expect(try scene.audio(player) == [.muted, .interrupted])
    #expect(kill(second.pid, SIGKILL) == 0)
    let unmute = try scene.agent.nextMute()
    #expect(unmute?["streams"] == [1] && unmute?["muted"] == false)
  }

  @Test("§13: If the audio server manages roles, no application interrupts another")
  func managedRoles() throws {
    let scene = try AudioScene()
    let first = try scene.aware(player), second = try scene.aware(other)
    let streams = try [
      scene.agent.stream(1, of: first.pid), scene.agent.stream(2, of: second.pid),
    ]
    try scene.agent.reportAudio([streams[0]], managesRoles: true)
    try scene.agent.reportAudio(streams, managesRoles: true)
    #expect(try scene.audio(player) == [.playing])
    #expect(try scene.audio(other) == [.playing])
  }

  // MARK: Calls

  /// Returns the streams of a phone call.
  private func call(
    of pid: Int32, _ scene: AudioScene
  ) throws -> [SessionInterface.AudioStream] {
    var recording = try scene.agent.stream(11, of: pid, role: .phone)
    recording.direction = .recording
    return [try scene.agent.stream(10, of: pid, role: .phone), recording]
  }

  @Test("§13: An application that plays with the role phone and records has a phone call")
  func callByStreams() throws {
    let scene = try AudioScene()
    let first = try scene.aware(player)
    let phone = try scene.unaware(other)
    let music = try scene.agent.stream(1, of: first.pid)
    let call = try call(of: phone.pid, scene)
    try scene.agent.reportAudio([music])
    try scene.agent.reportAudio([music] + call)
    #expect(try interruption(of: first)["began"] == true)
    #expect(try scene.audio(other) == [.playing, .recording, .calling])
    #expect(
      try scene.monitor.next(.audioInterrupted, of: player).message
        == "\(player): a phone call interrupts its audio")
    try scene.agent.reportAudio([music])
    let ended = try interruption(of: first)
    #expect(ended["began"] == false && ended["shouldResume"] == true)
  }

  @Test("§13: If the audio server manages roles, the streams of a call interrupt no application")
  func callOfManagedRoles() throws {
    let scene = try AudioScene()
    let first = try scene.aware(player)
    let phone = try scene.unaware(other)
    let music = try scene.agent.stream(1, of: first.pid)
    try scene.agent.reportAudio([music] + call(of: phone.pid, scene), managesRoles: true)
    #expect(try scene.audio(player) == [.playing])
    #expect(try scene.audio(other) == [.playing, .recording, .calling])
  }

  // MARK: The call SetAudioSession

  @Test("§13: SetAudioSession needs an application, but neither a mode nor an event stream")
  func refused() throws {
    let daemon = try DaemonFixture()
    let silent = try TestApplication(daemon, player, "silent")
    let session: JSONValue = ["category": "playback"]
    #expect(try silent.call("SetAudioSession", session).errorName == "NotRegistered")
    try daemon.adopt(player, silent.process)
    #expect(try silent.call("SetAudioSession", session) == ["parameters": [:]])
  }

  @Test("§13: After kill -9 of the daemon, an application has the session that it set")
  func killedDaemon() throws {
    let scene = try AudioScene()
    let first = try scene.unaware(player)
    let second = try scene.aware(other, session: ["category": "ambient"])
    let daemon = try scene.daemon.killed()
    let agent = try TestAgent(daemon)
    try agent.reportAudio([agent.stream(1, of: first.pid)])
    try agent.reportAudio([agent.stream(1, of: first.pid), agent.stream(2, of: second.pid)])
    #expect(try daemon.application(player).instance?.audio == [.playing])
  }
}
