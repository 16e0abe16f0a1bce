import EventLoop
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerSession

@Suite(
  "§13: The media player taskschedd", .serialized,
  .enabled(if: SessionBus.missing == nil, "\(SessionBus.missing ?? "")"))
struct PresentedPlayerTests {
  private static let properties = "org.freedesktop.DBus.Properties"

  private let fixture: RemoteControlFixture
  private let client: BusClient

  init() throws {
    fixture = try RemoteControlFixture()
    client = try BusClient(on: try unwrap(fixture.bus), fixture.loop)
    try fixture.wait("the bus is connected") { fixture.players != nil }
  }

  private func present(_ application: String?, isPlaying: Bool = false, of daemon: Int = 0) {
    fixture.remote?.presentPlayer(
      .init(
        application: application, applicationName: application.map { "Name of \($0)" },
        playing: isPlaying), of: daemon)
  }

  private func waitForName() throws {
    try fixture.wait("the name") { try client.hasOwner(MediaPlayer.ownName) }
  }

  private func text(_ interface: String, _ name: String) throws -> String {
    try client.ask(MediaPlayer.ownName, Self.properties, "Get", [interface, name]) {
      $0.textInVariant()
    }
  }

  private func flag(_ interface: String, _ name: String) throws -> String {
    try client.ask(MediaPlayer.ownName, Self.properties, "Get", [interface, name]) {
      $0.flagInVariant().map { "\($0)" }
    }
  }

  @Test("The player taskschedd answers reads, and reports its commands")
  func answers() throws {
    present("org.test.a", isPlaying: true)
    try waitForName()
    #expect(try text(MediaPlayer.rootInterface, "Identity") == "Name of org.test.a")
    #expect(try text(MediaPlayer.rootInterface, "DesktopEntry") == "org.test.a")
    #expect(try flag(MediaPlayer.rootInterface, "CanQuit") == "false")
    #expect(try text(MediaPlayer.playerInterface, "PlaybackStatus") == "Playing")
    #expect(try flag(MediaPlayer.playerInterface, "CanControl") == "true")
    for interface in PlayerObject.interfaces {
      let names = try client.ask(MediaPlayer.ownName, Self.properties, "GetAll", [interface]) {
        var names: [String] = []
        let isComplete = $0.properties { name in
          names.append(name)
          return false
        }
        return isComplete ? names.joined(separator: " ") : nil
      }
      let expected = PlayerObject(.init(application: "a", playing: true)).properties(of: interface)
      #expect(names == (expected ?? []).map(\.name).joined(separator: " "))
    }
    for command in SessionInterface.RemoteCommand.allCases {
      try client.ask(
        MediaPlayer.ownName, MediaPlayer.playerInterface, command.playerMethod,
        offset: command == .seek ? 7 : nil)
    }
    let expected = SessionInterface.RemoteCommand.allCases.map {
      MediaPlayerCommand($0, offset: $0 == .seek ? 7 : nil)
    }
    #expect(fixture.commands.map { $0.command } == expected)
    #expect(fixture.commands.allSatisfy { $0.daemon == 0 })
    #expect(fixture.players == [], "the player is not one of those that the agent reports")
  }

  @Test("gdbus can introspect the player taskschedd, and read its properties")
  func introspects() throws {
    present("org.test.a")
    try waitForName()
    let bus = try unwrap(fixture.bus)
    let program = try TestProcess(
      "/usr/bin/gdbus",
      [
        "gdbus", "introspect", "--session", "--dest", MediaPlayer.ownName, "--object-path",
        MediaPlayer.path,
      ]
    ) { $0.environment = bus.environment }
    try fixture.wait("gdbus ends") { try program.pidfd.hasEnded() }
    var text = ""
    while let line = try program.readLine() { text += line + "\n" }
    #expect(text.contains("PlaybackStatus = 'Paused'") && text.contains("Identity = 'Name of"))
    #expect(text.contains("PlayPause();") && text.contains("Seek(in"))
    #expect(text.contains("Metadata = {'mpris:trackid': <objectpath '/org/taskschedd/track'>}"))
  }

  @Test("The player taskschedd refuses what it cannot do with an error")
  func errors() throws {
    present("org.test.a")
    try waitForName()
    let prefix = "org.freedesktop.DBus.Error."
    let player = MediaPlayer.playerInterface
    for (interface, member, texts, error) in [
      (player, "OpenUri", ["file:///a"], "NotSupported"),
      (player, "SetPosition", [], "NotSupported"),
      (player, "Dance", [], "UnknownMethod"), (player, "Seek", ["far"], "InvalidArgs"),
      ("org.example.Other", "Play", [], "UnknownMethod"),
      (MediaPlayer.rootInterface, "Quit", [], "NotSupported"),
      (Self.properties, "Get", [player, "Shape"], "UnknownProperty"),
      (Self.properties, "Get", ["org.example.Other", "Rate"], "UnknownInterface"),
      (Self.properties, "Get", [], "InvalidArgs"),
      (Self.properties, "Set", [player, "Rate"], "PropertyReadOnly"),
    ] as [(String, String, [String], String)] {
      #expect(try client.ask(MediaPlayer.ownName, interface, member, texts) == prefix + error)
    }
    #expect(fixture.commands.isEmpty)
  }

  @Test("A change of the player is a signal with the properties that have changed")
  func changes() throws {
    try client.subscribe()
    present("org.test.a")
    try waitForName()
    present("org.test.a", isPlaying: true)
    try fixture.wait("the signal") { client.changes.count == 1 }
    #expect(client.changes == ["\(MediaPlayer.playerInterface) PlaybackStatus"])
    present("org.test.b", isPlaying: true)
    try fixture.wait("the signal") { client.changes.count == 3 }
    #expect(
      client.changes.suffix(2)
        == ["Identity", "DesktopEntry"].map { "\(MediaPlayer.rootInterface) \($0)" })
  }

  @Test("The name leaves the bus when no daemon presents an application")
  func leaves() throws {
    #expect(try !client.hasOwner(MediaPlayer.ownName))
    present("org.test.a", of: 0)
    try waitForName()
    present(nil, of: 0)
    try fixture.wait("no name") { try !client.hasOwner(MediaPlayer.ownName) }
    present("org.test.a", of: 0)
    try waitForName()
    fixture.remote?.endPlayer(of: 0)
    try fixture.wait("no name") { try !client.hasOwner(MediaPlayer.ownName) }
  }

  @Test("Commands are for the daemon whose application plays, or else was presented last")
  func daemons() throws {
    func command() throws -> Int? {
      try client.ask(MediaPlayer.ownName, MediaPlayer.playerInterface, "PlayPause")
      return fixture.commands.last?.daemon
    }
    present("org.test.a", isPlaying: true, of: 0)
    present("org.test.b", of: 1)
    try waitForName()
    #expect(try command() == 0)
    present("org.test.a", of: 0)
    present("org.test.b", of: 1)
    #expect(try command() == 1)
    present("org.test.a", isPlaying: true, of: 0)
    #expect(try command() == 0)
    fixture.remote?.endPlayer(of: 0)
    #expect(try command() == 1)
    #expect(try text(MediaPlayer.rootInterface, "DesktopEntry") == "org.test.b")
  }
}
