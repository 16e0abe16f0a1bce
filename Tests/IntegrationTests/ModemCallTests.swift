import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §13, with the real ModemManager and an emulated modem, the real session agent and a
/// real audio server.
@Suite(
  "§13: Phone calls of modems (contract.md#call-interrupts)", .serialized,
  .enabled(if: ModemService.missing == nil, Comment(rawValue: ModemService.missing ?? "possible")),
  .enabled(if: AudioServerKind.available.contains(.pulseAudio), "PulseAudio is not installed"))
struct ModemCallTests {
  /// A daemon, a session agent, a modem, and an unaware application that plays.
  private final class Scene {
    let modem: ModemService
    private let server: AudioServer
    private let agents = SessionAgents()
    private let client: AudioClient
    private(set) var daemon: DaemonFixture
    private let id = "org.test.player"

    init() throws {
      modem = try ModemService()
      server = try AudioServer(.pulseAudio)
      daemon = try DaemonFixture(
        .init(
          policy: [("AudioGraceTime", "200ms")], arguments: ["--system-bus", modem.bus.address]))
      client = try AudioClient(of: server.path) { [daemon] in
        $0.environment += [SystemString("TASKSCHEDD_SOCKET=\(daemon.socketPath)")]
      }
      try agents.start(daemon, bus: "unix:path=\(server.runtime)/none", runtime: server.runtime)
      try client.run("play")
      try daemon.adopt(id, client.process)
      try waitUntil("it plays") { try audio() == [.playing] }
    }

    private func audio() throws -> [ControlInterface.AudioUse] {
      try daemon.application(id).instance?.audio ?? []
    }

    /// Whether the daemon has interrupted the audio of the application.
    var isInterrupted: Bool {
      get throws { try audio().contains(.interrupted) }
    }

    /// If `isInterrupted` is true, waits until the application is interrupted and muted. Otherwise,
    /// waits until the application plays unmuted.
    func wait(untilInterrupted isInterrupted: Bool) throws {
      try waitUntil("it is \(isInterrupted ? "" : "not ")interrupted") {
        try self.isInterrupted == isInterrupted && server.mutedStreams().isEmpty != isInterrupted
      }
      if !isInterrupted { try waitUntil("it plays") { try audio() == [.playing] } }
    }

    /// Kills the daemon, and starts another.
    ///
    /// - Parameter body: runs while there is no daemon.
    func restartDaemon(_ body: () throws -> Void = {}) throws { daemon = try daemon.killed(body) }
  }

  @Test("A call of a modem interrupts what plays until the call ends")
  func call() throws {
    let scene = try Scene()
    try scene.modem.ring()
    try scene.wait(untilInterrupted: true)
    try scene.modem.accept()
    #expect(try scene.isInterrupted)
    try scene.modem.endByOtherPhone()
    try scene.wait(untilInterrupted: false)
    // ModemManager keeps the D-Bus object of the first call, and creates another for the second.
    try scene.modem.ring()
    try scene.wait(untilInterrupted: true)
    try scene.modem.hangUp()
    try scene.wait(untilInterrupted: false)
  }

  @Test("When ModemManager ends, its calls end")
  func ends() throws {
    let scene = try Scene()
    try scene.modem.ring()
    try scene.wait(untilInterrupted: true)
    scene.modem.end()
    try scene.wait(untilInterrupted: false)
  }

  /// What happens while there is no daemon.
  enum Meanwhile: String, CaseIterable {
    case callEnds = "the call ends"
    case modemManagerEnds = "ModemManager ends"
  }

  @Test(
    "A daemon that restarts during a call learns that the call has ended",
    arguments: Meanwhile.allCases)
  func restart(_ meanwhile: Meanwhile) throws {
    let scene = try Scene()
    try scene.modem.ring()
    try scene.wait(untilInterrupted: true)
    try scene.restartDaemon {
      switch meanwhile {
      case .callEnds: try scene.modem.hangUp()
      case .modemManagerEnds: scene.modem.end()
      }
    }
    try scene.wait(untilInterrupted: false)
  }

  @Test("A call that continues while the daemon restarts still interrupts what plays")
  func continues() throws {
    let scene = try Scene()
    try scene.modem.ring()
    try scene.wait(untilInterrupted: true)
    try scene.restartDaemon()
    #expect(try scene.isInterrupted)
    try scene.modem.accept()
    #expect(try scene.isInterrupted)
    try scene.modem.hangUp()
    try scene.wait(untilInterrupted: false)
  }

  @Test("A call that begins while there is no daemon interrupts what plays")
  func beginsWithoutDaemon() throws {
    let scene = try Scene()
    try scene.restartDaemon { try scene.modem.ring() }
    try scene.wait(untilInterrupted: true)
    try scene.modem.hangUp()
    try scene.wait(untilInterrupted: false)
  }
}
