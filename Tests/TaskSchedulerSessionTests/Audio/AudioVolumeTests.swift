import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerSession

@Suite("§13 The agent, and the roles and volumes of streams on real audio servers")
struct AudioVolumeTests {
  private static let full = TaskSchedulerSession.AudioStream.fullVolume
  private static let lowered = full / 5

  /// A server, a client that plays, and a monitor that knows the client's stream.
  private final class Scene {
    let server: TestSupport.AudioServer
    let client: AudioClient
    let fixture: AudioFixture
    private(set) var stream: UInt32 = 0
    private(set) var generation: UInt64 = 0

    init(_ kind: AudioServerKind, properties: String = "") throws {
      server = try TestSupport.AudioServer(kind)
      client = try AudioClient(of: server.path, properties: properties)
      fixture = try AudioFixture(server.path)
      try client.run("play")
      stream = try fixture.waitForStream(of: client.pid, "it plays") { $0.isRunning }.id
      generation = try #require(fixture.newest?.server?.generation)
    }

    func setVolume(from: Int, to: Int) {
      fixture.monitor?.setVolumes(
        [AudioVolumeChange(stream, from: from, to: to)], of: generation)
    }

    func waitForVolume(_ volume: Int, location: SourceLocation = #_sourceLocation) throws {
      _ = try fixture.waitForStream(of: client.pid, "volume \(volume)", location: location) {
        AudioVolumeChange.isSame($0.volume, volume)
      }
    }

    /// Waits until the server has handled all earlier orders.
    func waitForOrders() throws {
      fixture.monitor?.setMuted([stream], true, of: generation)
      _ = try fixture.waitForStream(of: client.pid, "it is muted") { $0.isMuted }
    }

    /// Expects these volumes of the channels, with a tolerance for the rounding of servers.
    func expect(_ volumes: [Int], location: SourceLocation = #_sourceLocation) throws {
      let now = try server.channelVolumes(of: stream)
      #expect(
        now.count == volumes.count && zip(now, volumes).allSatisfy { abs($0 - $1) <= 8 },
        "\(now)", sourceLocation: location)
    }
  }

  @Test(
    "The role of a stream is reported",
    .enabled(if: !AudioServerKind.available.isEmpty, "no audio server is installed"),
    arguments: AudioServerKind.available)
  func role(_ kind: AudioServerKind) throws {
    let server = try TestSupport.AudioServer(kind)
    let client = try AudioClient(of: server.path)
    let fixture = try AudioFixture(server.path)
    let roles: [(String, SessionInterface.AudioRole)] = [
      ("phone", .phone), ("event", .event), ("notification", .notification),
      ("a11y", .accessibility), ("music", .other), ("Communication", .phone),
      ("Accessibility", .accessibility), ("PHONE", .phone),
    ]
    for (name, role) in roles {
      try client.run("role \(name)")
      try client.run("play")
      let stream = try fixture.waitForStream(of: client.pid, "it has role \(name)") {
        $0.isRunning
      }
      #expect(stream.role == role, "\(name)")
      try client.run("end")
      try fixture.wait("the stream has ended") {
        !$0.streams.contains { $0.process.pid == client.pid }
      }
    }
  }

  @Test(
    "A stream without a role has the role of its client", arguments: AudioServerKind.available)
  func roleOfClient(_ kind: AudioServerKind) throws {
    let scene = try Scene(kind, properties: "media.role=a11y")
    let stream = try #require(scene.fixture.newest?.streams.first { $0.id == scene.stream })
    #expect(stream.role == .accessibility)
  }

  @Test("A recording stream is reported with its role", arguments: AudioServerKind.available)
  func roleOfRecording(_ kind: AudioServerKind) throws {
    let server = try TestSupport.AudioServer(kind)
    let client = try AudioClient(of: server.path)
    let fixture = try AudioFixture(server.path)
    try client.run("role phone")
    try client.run("record")
    let stream = try fixture.waitForStream(of: client.pid, "it records") { $0.isRunning }
    #expect(stream.isRecording && stream.role == .phone && stream.volume == 0)
  }

  @Test(
    "The volume of the loudest channel is reported, and each change of it",
    arguments: AudioServerKind.available)
  func volume(_ kind: AudioServerKind) throws {
    let scene = try Scene(kind)
    try scene.waitForVolume(Self.full)
    try scene.server.setVolume(scene.stream, percent: 50)
    try scene.waitForVolume(Self.full / 2)
    try scene.server.setVolumes(scene.stream, percents: [25, 75])
    try scene.waitForVolume(Self.full * 3 / 4)
  }

  @Test(
    "A volume that the agent lowers keeps its balance, and is given back exactly",
    arguments: AudioServerKind.available)
  func balance(_ kind: AudioServerKind) throws {
    let scene = try Scene(kind)
    try scene.server.setVolumes(scene.stream, percents: [50, 25])
    try scene.waitForVolume(Self.full / 2)
    // Each change rounds the volumes. The balance must not drift.
    for _ in 0..<5 {
      scene.setVolume(from: Self.full / 2, to: Self.full / 10)
      try scene.waitForVolume(Self.full / 10)
      try scene.expect([Self.full / 10, Self.full / 20])
      scene.setVolume(from: Self.full / 10, to: Self.full / 2)
      try scene.waitForVolume(Self.full / 2)
      try scene.expect([Self.full / 2, Self.full / 4])
    }
  }

  @Test(
    "A volume that the user has changed since the agent lowered it is left alone",
    arguments: AudioServerKind.available)
  func changedByUser(_ kind: AudioServerKind) throws {
    let scene = try Scene(kind)
    scene.setVolume(from: Self.full, to: Self.lowered)
    try scene.waitForVolume(Self.lowered)
    try scene.server.setVolume(scene.stream, percent: 50)
    // Simulates that the agent does not know the user's change yet: `from` is outdated.
    scene.setVolume(from: Self.lowered, to: Self.full)
    try scene.waitForVolume(Self.full / 2)
    scene.setVolume(from: Self.lowered, to: Self.full)
    try scene.waitForOrders()
    try scene.expect([Self.full / 2, Self.full / 2])
  }

  @Test(
    "A volume that the agent lowers and raises at once is the original volume",
    arguments: AudioServerKind.available)
  func loweredAndRaised(_ kind: AudioServerKind) throws {
    let scene = try Scene(kind)
    for _ in 0..<20 {
      scene.setVolume(from: Self.full, to: Self.lowered)
      try scene.fixture.loop.turn(within: .milliseconds(2))
      scene.setVolume(from: Self.lowered, to: Self.full)
      try scene.fixture.loop.turn(within: .milliseconds(2))
    }
    try scene.waitForOrders()
    try scene.waitForVolume(Self.full)
    try scene.expect([Self.full, Self.full])
  }

  @Test("A change for another start of the server has no effect")
  func otherServer() throws {
    let scene = try Scene(.pulseAudio)
    scene.fixture.monitor?.setVolumes(
      [AudioVolumeChange(scene.stream, from: Self.full, to: Self.lowered)],
      of: scene.generation &+ 1)
    try scene.waitForOrders()
    try scene.expect([Self.full, Self.full])
  }

  @Test(
    "A server that lowers or pauses streams by their roles is reported as managing roles",
    arguments: AudioServerKind.available)
  func managesRoles(_ kind: AudioServerKind) throws {
    let server = try TestSupport.AudioServer(kind)
    // The connection of the client waits until the server has the sink `null`.
    let client = try AudioClient(of: server.path)
    let early = try AudioFixture(server.path)
    let first = try early.wait("the server is known") { $0.server != nil }
    #expect(first.server?.managesRoles == false)
    let module = try server.beginRolePolicy()
    try early.wait("the policy begins") { $0.server?.managesRoles == true }
    let late = try AudioFixture(server.path)
    let report = try late.wait("the server is known") { $0.server != nil }
    #expect(report.server?.managesRoles == true, "the first report has it")
    try server.endRolePolicy(module)
    try early.wait("the policy ends") { $0.server?.managesRoles == false }
    try late.wait("the policy ends") { $0.server?.managesRoles == false }
    withExtendedLifetime(client) {}
  }
}
