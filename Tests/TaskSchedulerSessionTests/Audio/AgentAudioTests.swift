import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerSession

@Suite("§13 Audio between a daemon, the session agent and real audio servers")
struct AgentAudioTests {
  private static let full = TaskSchedulerSession.AudioStream.fullVolume

  /// A session agent with a stand-in daemon, and an audio server with a client that plays.
  private final class Scene {
    let loop: EventLoop
    let directory = TemporaryDirectory()
    let server: TestSupport.AudioServer
    let client: AudioClient
    var daemon: StandInDaemon?
    private var agent: SessionAgent?

    /// - Parameter graceTime: How long the agent waits for the daemon to return, in nanoseconds.
    init(_ kind: AudioServerKind, graceTime: UInt64) throws {
      loop = try EventLoop()
      server = try TestSupport.AudioServer(kind)
      client = try AudioClient(of: server.path)
      try client.run("play")
      try startDaemon()
      let runtime = server.runtime
      agent = try SessionAgent(
        loop: loop, sockets: [directory.file("socket")],
        environment: SessionEnvironment(uid: getuid()) {
          switch $0 {
          case "XDG_RUNTIME_DIR": runtime
          case "DBUS_SESSION_BUS_ADDRESS": "unix:path=\(runtime)/none"
          case _: nil
          }
        }, graceTime: graceTime
      ) { _ in }
    }

    func startDaemon() throws {
      daemon = try StandInDaemon(at: directory.file("socket"), on: loop)
    }

    func wait(
      _ expectation: String, location: SourceLocation = #_sourceLocation,
      until isDone: () throws -> Bool
    ) throws {
      let end = BootClock.now() + UInt64(deadline / .nanoseconds(1))
      while try !isDone() {
        guard BootClock.now() < end else {
          Issue.record(
            "\(expectation): \(String(describing: daemon?.audioReports.last))",
            sourceLocation: location)
          throw SystemError(call: "waiting: \(expectation)", errno: ETIMEDOUT)
        }
        try loop.turn(within: .milliseconds(100))
      }
    }

    /// Stops the agent, as SIGTERM does, and waits until it has ended.
    func stopAgent() throws {
      var isStopped = false
      agent?.stop { isStopped = true }
      try wait("the agent has stopped") { isStopped }
      agent = nil
    }

    /// Waits until the agent reports the stream as running. Returns the stream, and the generation
    /// of the server.
    func waitForStream() throws -> (stream: SessionInterface.AudioStream, generation: Int) {
      try wait("the stream is reported") {
        daemon?.audioReports.last?.streams.contains { $0.pid == Int(client.pid) && $0.running }
          == true
      }
      let report = try #require(daemon?.audioReports.last)
      let stream = try #require(report.streams.first { $0.pid == Int(client.pid) })
      #expect(report.server?.managesRoles == false && stream.role == .other)
      return (stream, try #require(report.server?.generation))
    }

    /// Waits until the agent reports the stream as running, and lowers the volume of the stream.
    /// Returns the stream's number.
    func lower() throws -> UInt32 {
      let (stream, generation) = try waitForStream()
      daemon?.order(
        .init(
          volume: .init(
            generation: generation,
            changes: [.init(stream: stream.id, from: stream.volume, to: stream.volume / 5)])))
      try wait("the report has the lower volume") {
        daemon?.audioReports.last?.streams.contains {
          $0.id == stream.id && AudioVolumeChange.isSame($0.volume, AgentAudioTests.full / 5)
        } == true
      }
      return try #require(UInt32(exactly: stream.id))
    }

    func hasVolume(_ stream: UInt32, _ volume: Int) throws -> Bool {
      try server.channelVolumes(of: stream).allSatisfy { AudioVolumeChange.isSame($0, volume) }
    }
  }

  @Test(
    "When the agent stops, it undoes what the daemon has changed",
    .enabled(if: !AudioServerKind.available.isEmpty, "no audio server is installed"),
    arguments: AudioServerKind.available)
  func stops(_ kind: AudioServerKind) throws {
    let scene = try Scene(kind, graceTime: 60_000_000_000)
    let stream = try scene.lower()
    try scene.stopAgent()
    #expect(try scene.hasVolume(stream, Self.full))
  }

  @Test(
    "The agent confirms all orders, even those that change nothing",
    .enabled(if: !AudioServerKind.available.isEmpty, "no audio server is installed"),
    arguments: AudioServerKind.available)
  func confirms(_ kind: AudioServerKind) throws {
    let scene = try Scene(kind, graceTime: 60_000_000_000)
    let (stream, generation) = try scene.waitForStream()
    // The orders of the second turn change nothing.
    let turns = [[true, false, true], [true], [false, true, false], [true]]
    for (number, mutes) in zip(1..., turns) {
      for isMuted in mutes {
        scene.daemon?.order(
          .init(mute: .init(generation: generation, streams: [stream.id], muted: isMuted)))
      }
      scene.daemon?.order(.init(confirm: number))
      try scene.wait("the agent confirms the orders \(number)") {
        scene.daemon?.audioReports.last?.confirmed == number
      }
      // PipeWire lists a change some milliseconds after it has received the order.
      if kind == .pulseAudio {
        let report = scene.daemon?.audioReports.first { $0.confirmed == number }
        #expect(report?.streams.first { $0.id == stream.id }?.muted == mutes.last)
      }
      try scene.wait("the stream is as ordered") {
        scene.daemon?.audioReports.last?.streams.first { $0.id == stream.id }?.muted == mutes.last
      }
    }
  }

  @Test(
    "If a daemon does not return, the agent gives back the volumes that the daemon lowered",
    .enabled(if: !AudioServerKind.available.isEmpty, "no audio server is installed"),
    arguments: AudioServerKind.available)
  func doesNotReturn(_ kind: AudioServerKind) throws {
    let scene = try Scene(kind, graceTime: 50_000_000)
    let stream = try scene.lower()
    scene.daemon = nil
    try scene.wait("the volume is given back") { try scene.hasVolume(stream, Self.full) }
  }

  @Test("If a daemon returns, the agent leaves the volumes that the daemon lowered to the daemon")
  func returns() throws {
    let scene = try Scene(.pulseAudio, graceTime: 1_000_000_000)
    let stream = try scene.lower()
    scene.daemon = nil
    try scene.startDaemon()
    try scene.wait("the agent attaches again") { scene.daemon?.audioReports.isEmpty == false }
    let end = BootClock.now() + 1_200_000_000
    while BootClock.now() < end { try scene.loop.turn(within: .milliseconds(100)) }
    #expect(try scene.hasVolume(stream, Self.full / 5))
  }

  @Test("If a daemon does not return, the agent leaves a volume alone that the user has changed")
  func changedByUser() throws {
    let scene = try Scene(.pulseAudio, graceTime: 50_000_000)
    let stream = try scene.lower()
    try scene.server.setVolume(stream, percent: 50)
    let generation = try #require(scene.daemon?.audioReports.last?.server?.generation)
    scene.daemon?.order(
      .init(mute: .init(generation: generation, streams: [Int(stream)], muted: true)))
    try scene.wait("the stream is muted") { try scene.server.mutedStreams() == [stream] }
    scene.daemon = nil
    try scene.wait("the mute ends") { try scene.server.mutedStreams().isEmpty }
    #expect(try scene.hasVolume(stream, Self.full / 2))
  }
}
