import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §13, with the real daemon, the real session agent and real audio servers.
@Suite("§13: Audio on real servers", .serialized)
struct AudioTests {
  private let id = "org.test.player"

  /// A daemon, a session agent, an audio server, and an application that is a client of that
  /// server.
  private final class Scene {
    let server: AudioServer
    let agents = SessionAgents()
    var daemon: DaemonFixture
    let monitor: Monitor
    let client: AudioClient
    let id: String

    init(
      _ kind: AudioServerKind, _ id: String, modes: [String], plays: Bool = true,
      properties: String = "", policy: [(String, String)] = [("AudioGraceTime", "200ms")]
    ) throws {
      self.id = id
      server = try AudioServer(kind)
      daemon = try DaemonFixture(.init(policy: policy))
      monitor = try Monitor(daemon)
      client = try Self.client(of: server, daemon, properties)
      try startAgent()
      if plays { try client.run("play") }
      try daemon.adopt(id, client.process, modes: modes)
    }

    static func client(
      of server: AudioServer, _ daemon: DaemonFixture, _ properties: String = ""
    ) throws -> AudioClient {
      try AudioClient(of: server.path, properties: properties) {
        $0.environment += [SystemString("TASKSCHEDD_SOCKET=\(daemon.socketPath)")]
      }
    }

    @discardableResult
    func startAgent() throws -> TestProcess {
      try agents.start(
        daemon, bus: "unix:path=\(server.runtime)/none", runtime: server.runtime)
    }

    func audio() throws -> [ControlInterface.AudioUse]? {
      try daemon.application(id).instance?.audio
    }

    func wait(for uses: [ControlInterface.AudioUse]) throws {
      try waitUntil("the audio is \(uses)") { try audio() == uses }
    }

    func waitUntilMuted(_ isMuted: Bool) throws {
      try waitUntil("the stream is \(isMuted ? "" : "not ")muted") {
        try server.mutedStreams().isEmpty != isMuted
      }
    }

    func state() throws -> ControlInterface.State { try daemon.application(id).state }
  }

  @Test(
    """
    §13: With mode audio, an application runs in the background while it is audible, and is \
    suspended AudioGraceTime after it was paused
    """,
    .enabled(if: !AudioServerKind.available.isEmpty, "no audio server is installed"),
    arguments: AudioServerKind.available)
  func plays(_ kind: AudioServerKind) throws {
    let scene = try Scene(kind, id, modes: ["audio"])
    try scene.wait(for: [.playing])
    try scene.daemon.sendToBackground(id)
    #expect(try scene.daemon.application(id).instance?.entitlements == [.audio])
    #expect(try scene.daemon.taskctl("list").text.contains("plays"))
    #expect(try scene.daemon.taskctl("status", id).text.contains("plays"))
    #expect(try scene.daemon.taskctl("why", id).text.contains("It plays audio."))
    try scene.client.run("pause")
    try scene.monitor.transition(id, to: .suspended)
    #expect(try scene.server.mutedStreams() == [])
    let why = try scene.daemon.taskctl("why", id).text
    #expect(why.contains("its audio stopped"), "\(why)")
  }

  @Test(
    "§13: With mode audio, an application runs in the background while it records",
    arguments: AudioServerKind.available)
  func records(_ kind: AudioServerKind) throws {
    let scene = try Scene(kind, id, modes: ["audio"], plays: false)
    try scene.client.run("record")
    try scene.wait(for: [.recording])
    try scene.daemon.sendToBackground(id)
    #expect(try scene.state() == .background)
    #expect(try scene.daemon.taskctl("list").text.contains("records"))
    try scene.client.run("end")
    try scene.monitor.transition(id, to: .suspended)
  }

  @Test(
    """
    §13: Without mode audio, what an application plays is muted before it is suspended, and the \
    mute ends when it is resumed
    """, arguments: AudioServerKind.available)
  func mutes(_ kind: AudioServerKind) throws {
    let scene = try Scene(kind, id, modes: [])
    try scene.wait(for: [.playing])
    try scene.daemon.sendToBackground(id)
    try scene.monitor.transition(id, to: .suspended)
    #expect(try scene.server.mutedStreams().count == 1)
    #expect(try scene.audio() == [.muted])
    try scene.daemon.activate(id)
    try scene.wait(for: [.playing])
    #expect(try scene.server.mutedStreams() == [])
  }

  @Test(
    """
    §13: The pid that a client claims entitles no application that is not connected to the server
    """, arguments: AudioServerKind.available)
  func liar(_ kind: AudioServerKind) throws {
    let server = try AudioServer(kind)
    let daemon = try DaemonFixture()
    let monitor = try Monitor(daemon)
    let victim = try daemon.shell("read line")
    try daemon.adopt(id, victim, modes: ["audio"])
    let liar = try AudioClient(
      of: server.path, properties: "application.process.id=\(victim.pid)")
    let honest = try AudioClient(of: server.path)
    let agents = SessionAgents()
    try agents.start(daemon, bus: "unix:path=\(server.runtime)/none", runtime: server.runtime)
    try liar.run("play")
    // `liar` began to play before `honest`. When the daemon knows that `honest` plays, it therefore
    // also knows the stream of `liar`.
    try daemon.adopt("org.test.honest", honest.process, background: true, modes: ["audio"])
    try honest.run("play")
    try waitUntil("the honest client plays") {
      try daemon.application("org.test.honest").instance?.audio == [.playing]
    }
    #expect(try daemon.application(id).instance?.audio == [])
    try daemon.sendToBackground(id)
    try monitor.transition(id, to: .suspended)
  }

  /// The programs that a test kills.
  enum Death: String, CaseIterable { case daemon, agent, both }

  @Test(
    "§13: No mute is forgotten when the daemon or the agent is killed", arguments: Death.allCases)
  func deaths(_ death: Death) throws {
    let scene = try Scene(.pulseAudio, id, modes: [])
    try scene.wait(for: [.playing])
    try scene.daemon.sendToBackground(id)
    try scene.monitor.transition(id, to: .suspended)
    if death != .daemon { try scene.agents.end(SIGKILL) }
    if death != .agent { scene.daemon = try scene.daemon.killed() }
    if death != .daemon { try scene.startAgent() }
    #expect(try scene.server.mutedStreams().count == 1)
    try scene.daemon.activate(id)
    try scene.waitUntilMuted(false)
    try scene.wait(for: [.playing])
  }

  @Test("§13: A playing application survives a restart of the daemon and of the agent")
  func survives() throws {
    let scene = try Scene(.pulseAudio, id, modes: ["audio"])
    try scene.wait(for: [.playing])
    try scene.daemon.sendToBackground(id)
    scene.daemon = try scene.daemon.killed()
    #expect(try scene.state() == .background)
    try scene.agents.end(SIGKILL)
    #expect(try scene.state() == .background)
    try scene.startAgent()
    try scene.wait(for: [.playing])
    #expect(try scene.state() == .background)
    try scene.client.run("pause")
    try waitUntil("it is suspended") { try scene.state() == .suspended }
  }

  @Test(
    "§13: A call by streams does not end when the daemon or the agent is killed",
    arguments: Death.allCases)
  func callSurvives(_ death: Death) throws {
    let scene = try Scene(.pulseAudio, id, modes: ["voip"], plays: false)
    for word in ["role phone", "play", "record"] { try scene.client.run(word) }
    try scene.wait(for: [.playing, .recording, .calling])
    let log = scene.daemon.logged
    if death != .daemon { try scene.agents.end(SIGKILL) }
    if death != .agent { scene.daemon = try scene.daemon.killed() }
    if death != .daemon { try scene.startAgent() }
    // Once the daemon knows the stream of this new client, it has handled a report that the agent
    // sent after the kill.
    let other = try Scene.client(of: scene.server, scene.daemon)
    try other.run("play")
    try scene.daemon.adopt("org.test.other", other.process, modes: ["audio"])
    try waitUntil("the other application is interrupted") {
      try scene.daemon.application("org.test.other").instance?.audio.contains(.interrupted) == true
    }
    let logged = scene.daemon.logged
    let later = logged.hasPrefix(log) ? logged.dropFirst(log.count) : logged[...]
    #expect(!later.contains("its phone call"), "\(later)")
    #expect(try scene.audio() == [.playing, .recording, .calling])
  }

  @Test("§13: A new stream that begins muted, because an application ended muted, is unmuted")
  func nextStream() throws {
    let scene = try Scene(.pulseAudio, id, modes: [])
    try scene.wait(for: [.playing])
    try scene.daemon.sendToBackground(id)
    try scene.monitor.transition(id, to: .suspended)
    try scene.daemon.terminate(id)
    let next = try Scene.client(of: scene.server, scene.daemon)
    try next.run("play")
    // The server remembers the mute, so the stream of this program begins muted. The daemon unmutes
    // it, although it does not manage the program yet.
    try scene.waitUntilMuted(false)
    try scene.daemon.adopt(id, next.process)
    try scene.wait(for: [.playing])
  }

  @Test("§13: A stopped agent delays a suspension by AudioMuteTime only")
  func stoppedAgent() throws {
    let scene = try Scene(.pulseAudio, id, modes: [])
    try scene.wait(for: [.playing])
    try scene.agents.send(SIGSTOP)
    try scene.daemon.sendToBackground(id)
    try scene.monitor.transition(id, to: .suspended)
    #expect(try scene.server.mutedStreams() == [])
    try scene.agents.send(SIGCONT)
    try scene.waitUntilMuted(true)
    try scene.daemon.activate(id)
    try scene.waitUntilMuted(false)
  }

  @Test(
    "§13: An application with mode audio that plays silence for AudioSilenceTime is suspended",
    arguments: AudioServerKind.available)
  func silence(_ kind: AudioServerKind) throws {
    let scene = try Scene(
      kind, id, modes: ["audio"],
      policy: [("AudioGraceTime", "200ms"), ("AudioSilenceTime", "1s")])
    try scene.wait(for: [.playing])
    try scene.client.run("loud")
    try scene.daemon.sendToBackground(id)
    // A stream with the role `event` does not interrupt other applications.
    let loud = try Scene.client(of: scene.server, scene.daemon, "media.role=event")
    try loud.run("loud")
    try loud.run("play")
    try scene.daemon.adopt("org.test.loud", loud.process, modes: ["audio"])
    try scene.daemon.sendToBackground("org.test.loud")
    try scene.client.run("silent")
    try scene.monitor.transition(id, to: .suspended)
    #expect(try scene.daemon.application("org.test.loud").state == .background)
    try scene.daemon.activate(id)
    try scene.waitUntilMuted(false)
  }

  @Test(
    "§12: While an application with mode audio plays in the background, it keeps its priorities")
  func priorities() throws {
    let scene = try Scene(.pulseAudio, id, modes: ["audio"])
    try scene.wait(for: [.playing])
    func resources() throws -> ControlInterface.Resources? {
      try scene.daemon.application(id).instance?.resources
    }
    try scene.daemon.sendToBackground(id)
    #expect(try resources() == nil)
    try scene.client.run("pause")
    try scene.monitor.transition(id, to: .suspended)
    try waitUntil("its priority is lowered") { try resources() != nil }
  }

  @Test("§13: An application that begins a stream for each track runs on between the tracks")
  func manyTracks() throws {
    let scene = try Scene(.pulseAudio, id, modes: ["audio"], policy: [("AudioGraceTime", "1h")])
    try scene.wait(for: [.playing])
    try scene.daemon.sendToBackground(id)
    for _ in 0..<200 {
      try scene.client.run("end")
      try scene.client.run("play")
    }
    #expect(try scene.state() == .background)
    #expect(try scene.server.mutedStreams() == [])
    try scene.wait(for: [.playing])
  }

  @Test("§13: A stopped audio server delays a suspension by AudioMuteTime only")
  func stoppedServer() throws {
    let scene = try Scene(.pulseAudio, id, modes: [])
    try scene.wait(for: [.playing])
    scene.server.send(signal: SIGSTOP)
    try scene.daemon.sendToBackground(id)
    try scene.monitor.transition(id, to: .suspended)
    scene.server.send(signal: SIGCONT)
    try scene.waitUntilMuted(true)
    try scene.daemon.activate(id)
    try scene.waitUntilMuted(false)
  }

  @Test("§13: After the audio server was killed while it muted an application, nothing is muted")
  func serverDiesMuted() throws {
    let scene = try Scene(.pulseAudio, id, modes: [])
    try scene.wait(for: [.playing])
    try scene.daemon.sendToBackground(id)
    try scene.monitor.transition(id, to: .suspended)
    #expect(try scene.server.mutedStreams().count == 1)
    scene.server.kill()
    try scene.wait(for: [])
    try scene.server.start()
    try scene.daemon.terminate(id)
    let next = try Scene.client(of: scene.server, scene.daemon)
    try next.run("play")
    try scene.daemon.adopt(id, next.process)
    try scene.wait(for: [.playing])
    try scene.waitUntilMuted(false)
  }

  @Test("§13: An audio server that is killed and restarted entitles and mutes as before")
  func serverRestarts() throws {
    let scene = try Scene(.pulseAudio, id, modes: ["audio"])
    try scene.wait(for: [.playing])
    scene.server.kill()
    try scene.wait(for: [])
    try scene.server.start()
    let next = try Scene.client(of: scene.server, scene.daemon)
    try next.run("play")
    try scene.daemon.adopt("org.test.next", next.process, modes: [])
    try waitUntil("the next player plays") {
      try scene.daemon.application("org.test.next").instance?.audio == [.playing]
    }
    try scene.daemon.sendToBackground("org.test.next")
    try scene.monitor.transition("org.test.next", to: .suspended)
    #expect(try scene.server.mutedStreams().count == 1)
  }
}
