import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerSession

@Suite(
  "§13: The agent and the media players on a session bus", .serialized,
  .enabled(if: SessionBus.missing == nil, "\(SessionBus.missing ?? "")"))
struct RemoteControlTests {
  private static let properties = "org.freedesktop.DBus.Properties"
  private static let introspectable = "org.freedesktop.DBus.Introspectable"

  @Test("A call to a stopped player is reported; the player answers it when it continues")
  func stopped() throws {
    let fixture = try RemoteControlFixture()
    let player = try fixture.startPlayer("stopped")
    let client = try BusClient(on: try unwrap(fixture.bus), fixture.loop)
    try fixture.waitForMonitor(player, client)
    try player.send(signal: SIGSTOP)
    let answered = client.answers.count
    try client.call(player.name, MediaPlayer.playerInterface, "PlayPause")
    try fixture.wait("a report of the call") { !fixture.calls.isEmpty }
    #expect(fixture.calls == [MediaPlayerCall(player: player.name, kind: .command)])
    #expect(client.answers.count == answered)
    try player.send(signal: SIGCONT)
    try client.wait("the player's reply")
    #expect(client.answers.last == "")
    #expect(try player.readLine() == "org.mpris.MediaPlayer2.Player.PlayPause")
  }

  @Test("Reads and commands are told apart, also at the unique name of a player")
  func kinds() throws {
    let fixture = try RemoteControlFixture()
    let player = try fixture.startPlayer("kinds")
    let client = try BusClient(on: try unwrap(fixture.bus), fixture.loop)
    try fixture.waitForMonitor(player, client)
    let calls: [(String, String, SessionInterface.PlayerCall)] = [
      (Self.properties, "Get", .read), (Self.properties, "GetAll", .read),
      (Self.introspectable, "Introspect", .read), (Self.properties, "Set", .command),
      (MediaPlayer.playerInterface, "Next", .command),
      (MediaPlayer.rootInterface, "Raise", .command),
    ]
    for destination in [player.name, player.uniqueName] {
      for (interface, member, _) in calls { try client.ask(destination, interface, member) }
    }
    try fixture.wait("all calls") { fixture.calls.count == 2 * calls.count }
    let kinds = calls.map { $0.2 }
    #expect(fixture.calls.map(\.kind) == kinds + kinds)
    #expect(fixture.calls.allSatisfy { $0.player == player.name })
  }

  @Test("A player is reported with the process of its name, until the name has no owner")
  func appears() throws {
    let fixture = try RemoteControlFixture()
    try fixture.wait("no player") { fixture.players == [] }
    let player = try fixture.startPlayer("one")
    let process = try #require(try ProcFS().identity(player.pid))
    #expect(fixture.players == [MediaPlayer(name: player.name, process: process)])
    let other = "org.mpris.MediaPlayer2.another"
    try player.run("own", other)
    try fixture.wait("both names") { fixture.players?.map(\.name) == [other, player.name] }
    #expect(fixture.players?.first?.process == process)
    try player.run("release", other)
    try fixture.wait("one name") { fixture.players?.map(\.name) == [player.name] }
    try player.send(signal: SIGKILL)
    try fixture.wait("no player") { fixture.players == [] }
  }

  @Test("Players that were on the bus before the agent are reported together")
  func before() throws {
    let fixture = try RemoteControlFixture(players: ["a", "b"])
    try fixture.wait("a report") { !fixture.reports.isEmpty }
    #expect(fixture.players?.map(\.name) == fixture.earlyPlayers.map(\.name))
  }

  @Test("While no bus listens, no player is reported; the agent connects when one does")
  func appearsLater() throws {
    let fixture = try RemoteControlFixture(hasBus: false)
    #expect(fixture.players == [])
    try fixture.startBus()
    let player = try fixture.startPlayer("later")
    let client = try BusClient(on: try unwrap(fixture.bus), fixture.loop)
    try fixture.waitForMonitor(player, client)
  }

  @Test("When the bus ends, no player is reported; the players and calls of the next bus are")
  func busRestarts() throws {
    let fixture = try RemoteControlFixture()
    fixture.remote?.presentPlayer(.init(application: "org.test", playing: true), of: 0)
    _ = try fixture.startPlayer("first")
    fixture.bus = nil
    try fixture.wait("no player") { fixture.players == [] }
    try fixture.startBus()
    let player = try fixture.startPlayer("second")
    let client = try BusClient(on: try unwrap(fixture.bus), fixture.loop)
    try fixture.waitForMonitor(player, client)
    #expect(try client.hasOwner(MediaPlayer.ownName))
    #expect(fixture.limits.isEmpty)
  }

  @Test("An order calls the player's method, and is not reported as a call")
  func order() throws {
    let fixture = try RemoteControlFixture()
    let player = try fixture.startPlayer("ordered")
    let client = try BusClient(on: try unwrap(fixture.bus), fixture.loop)
    try fixture.waitForMonitor(player, client)
    for command in SessionInterface.RemoteCommand.allCases {
      let offset: Int? = command == .seek ? -5_000_000 : nil
      fixture.remote?.send(.init(player: player.name, command: command, offsetUSec: offset))
      #expect(try client.hasOwner(player.name), "the bus has received the call before this one")
      let argument = command == .seek ? " -5000000" : ""
      #expect(
        try player.readLine() == "org.mpris.MediaPlayer2.Player.\(command.playerMethod)\(argument)")
    }
    fixture.remote?.send(.init(player: "org.example.NoPlayer", command: .play))
    try client.ask(player.name, MediaPlayer.playerInterface, "Play")
    try fixture.wait("the client's call") { !fixture.calls.isEmpty }
    #expect(fixture.calls.count == 1)
  }

  @Test("An order to a stopped player does not delay the agent")
  func orderToStopped() throws {
    let fixture = try RemoteControlFixture()
    let player = try fixture.startPlayer("stopped")
    try player.send(signal: SIGSTOP)
    for _ in 0..<100 { fixture.remote?.send(.init(player: player.name, command: .next)) }
    _ = try fixture.startPlayer("other")
    try player.send(signal: SIGCONT)
    for _ in 0..<100 { #expect(try player.readLine()?.hasSuffix(".Next") == true) }
  }

  @Test("If the bus does not permit monitors, the agent says so once, and reports the players")
  func refused() throws {
    let policy = #"<deny send_interface="org.freedesktop.DBus.Monitoring"/>"#
    let fixture = try RemoteControlFixture(policy: policy)
    try fixture.wait("the refusal") { !fixture.limits.isEmpty }
    guard case .noMonitor? = fixture.limits.first else {
      Issue.record("\(fixture.limits)")
      return
    }
    _ = try fixture.startPlayer("visible")
    fixture.bus = nil
    try fixture.wait("no player") { fixture.players == [] }
    try fixture.startBus(policy: policy)
    _ = try fixture.startPlayer("next")
    #expect(fixture.limits.count == 1)
  }
}
