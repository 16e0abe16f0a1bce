import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerSession

/// A session agent with stand-in daemons, on a real bus.
private final class Scene {
  let loop: EventLoop
  let directory = TemporaryDirectory()
  let bus: SessionBus
  let client: BusClient
  var daemons: [StandInDaemon] = []
  private var agent: SessionAgent?

  init(daemonCount: Int = 1) throws {
    loop = try EventLoop()
    bus = try SessionBus(path: directory.file("bus"))
    client = try BusClient(on: bus, loop)
    for number in 0..<daemonCount { daemons.append(try startDaemon(number)) }
    let address = bus.address
    agent = try SessionAgent(
      loop: loop, sockets: daemons.indices.map { directory.file("socket\($0)") },
      environment: SessionEnvironment(uid: getuid()) {
        $0 == "DBUS_SESSION_BUS_ADDRESS" ? address : nil
      }
    ) { _ in }
    try wait("the first reports") { self.daemons.allSatisfy { $0.playerReports.count == 1 } }
  }

  func startDaemon(_ number: Int) throws -> StandInDaemon {
    try StandInDaemon(at: directory.file("socket\(number)"), on: loop)
  }

  func wait(
    _ expectation: String, location: SourceLocation = #_sourceLocation,
    until isDone: () throws -> Bool
  ) throws {
    let end = BootClock.now() + UInt64(deadline / .nanoseconds(1))
    while try !isDone() {
      guard BootClock.now() < end else {
        let reports = daemons.map { $0.reports.map(\.method) }
        Issue.record("\(expectation): \(reports)", sourceLocation: location)
        throw SystemError(call: "waiting: \(expectation)", errno: ETIMEDOUT)
      }
      try loop.turn(within: .milliseconds(100))
    }
  }
}

@Suite(
  "§13: Remote control between daemons, the session agent and a session bus", .serialized,
  .enabled(if: SessionBus.missing == nil, "\(SessionBus.missing ?? "")"))
struct AgentRemoteControlTests {
  @Test("Every daemon receives all players and the calls to them, and can command a player")
  func players() throws {
    let scene = try Scene(daemonCount: 2)
    let player = try StandInPlayer("agent", on: scene.bus)
    try scene.wait("the player") {
      scene.daemons.allSatisfy { $0.playerReports.last == [player.name] }
    }
    scene.daemons[1].order(.init(command: .init(player: player.name, command: .pause)))
    try scene.wait("the order arrives") { try player.hasWritten }
    #expect(try player.readLine() == "org.mpris.MediaPlayer2.Player.Pause")
    // The monitor may miss the first calls, so the test repeats the call.
    try scene.wait("a call") {
      try scene.client.ask(player.name, MediaPlayer.playerInterface, "Next")
      return scene.daemons.allSatisfy { !$0.playerCalls.isEmpty }
    }
    let calls = Set(scene.daemons.flatMap(\.playerCalls))
    #expect(calls == [MediaPlayerCall(player: player.name, kind: .command)])
    scene.daemons = []
    scene.daemons = [try scene.startDaemon(0)]
    try scene.wait("the players are reported again") {
      scene.daemons[0].playerReports.last == [player.name]
    }
  }

  @Test("A command to the player taskschedd is reported to the daemon that presents it")
  func presented() throws {
    let scene = try Scene(daemonCount: 2)
    scene.daemons[1].order(.init(player: .init(application: "org.test", playing: true)))
    try scene.wait("the name") { try scene.client.hasOwner(MediaPlayer.ownName) }
    try scene.client.ask(
      MediaPlayer.ownName, MediaPlayer.playerInterface, "Seek", offset: -3_000_000)
    try scene.client.ask(MediaPlayer.ownName, MediaPlayer.playerInterface, "PlayPause")
    try scene.wait("the commands") { scene.daemons[1].playerCommands.count == 2 }
    #expect(
      scene.daemons[1].playerCommands
        == [MediaPlayerCommand(.seek, offset: -3_000_000), MediaPlayerCommand(.playPause)])
    #expect(scene.daemons[0].playerCommands.isEmpty)
  }

  @Test("A daemon that attaches again presents its player again, or the player leaves the bus")
  func attachesAgain() throws {
    let scene = try Scene()
    let order = SessionInterface.Attach.Output(
      player: .init(application: "org.test", playing: true))
    scene.daemons[0].order(order)
    try scene.wait("the name") { try scene.client.hasOwner(MediaPlayer.ownName) }
    scene.daemons[0].order(.init(attached: 1))
    try scene.wait("no name") { try !scene.client.hasOwner(MediaPlayer.ownName) }
    scene.daemons[0].order(order)
    try scene.wait("the name") { try scene.client.hasOwner(MediaPlayer.ownName) }
  }
}
