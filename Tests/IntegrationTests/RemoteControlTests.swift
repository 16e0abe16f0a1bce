import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §13, with a session agent that the test simulates (`TestAgent`).
@Suite("§13: Remote control (contract.md#remote-control)")
struct RemoteControlTests {
  private let first = "org.test.first"
  private let second = "org.test.second"

  /// A suspended media player with the name `a`, and the agent that reports it.
  private struct Player {
    let daemon: DaemonFixture
    let monitor: Monitor
    let program: TestProcess
    let agent: TestAgent
    let id: String

    init(_ id: String, policy: [(String, String)] = []) throws {
      self.id = id
      daemon = try DaemonFixture(.init(policy: policy))
      monitor = try Monitor(daemon)
      program = try daemon.shell("read line")
      try daemon.adopt(id, program)
      agent = try TestAgent(daemon)
      try agent.report(players: [agent.player("a", of: program.pid)])
      try daemon.suspend(id, monitor)
    }

    var state: ControlInterface.State { get throws { try daemon.application(id).state } }
  }

  /// Returns the next command that an application receives.
  private func nextCommand(of application: TestApplication) throws -> JSONValue {
    while true {
      if let command = try application.nextEvent()["parameters"]?["remoteCommand"] {
        return command
      }
    }
  }

  // MARK: Calls to media players

  @Test("§13: A command to a suspended media player resumes it for EventTime")
  func command() throws {
    let it = try Player(first, policy: [("EventTime", "300ms")])
    #expect(try it.agent.called("a", .command)?.errorName == nil)
    let back = try it.monitor.transition(first, to: .background)
    #expect(back.cause == "remoteControl")
    let away = try it.monitor.transition(first, to: .suspended)
    #expect(away.atUSec - back.atUSec >= 300_000)
    #expect(try it.daemon.state(of: it.program.pid) == .stopped)
  }

  @Test("§13: A read resumes a suspended media player at most once in RemoteReadInterval")
  func read() throws {
    let it = try Player(
      first, policy: [("RemoteReadTime", "50ms"), ("RemoteReadInterval", "1h")])
    try it.agent.called("a", .read)
    let back = try it.monitor.transition(first, to: .background)
    #expect(back.cause == "remoteRead")
    let away = try it.monitor.transition(first, to: .suspended)
    #expect(away.atUSec - back.atUSec >= 50_000)
    for _ in 0..<3 { try it.agent.called("a", .read) }
    #expect(try it.state == .suspended)
    try it.agent.called("a", .command)
    let again = try it.monitor.transition(first, to: .background)
    #expect(again.cause == "remoteControl")
    #expect(it.monitor.seen.count { $0.cause == "remoteRead" } == 1)
  }

  @Test("§13: After RemoteReadInterval, a read resumes a suspended media player again")
  func readAgain() throws {
    let it = try Player(
      first, policy: [("RemoteReadTime", "10ms"), ("RemoteReadInterval", "20ms")])
    for _ in 0..<2 {
      try it.agent.called("a", .read)
      try it.monitor.transition(first, to: .background)
      // A second read within RemoteReadInterval takes effect after the interval.
      try it.monitor.transition(first, to: .suspended)
    }
  }

  @Test("§13: A player that the agent reports while it is suspended runs for RemoteReadTime")
  func reportedLate() throws {
    let it = try Player(first, policy: [("RemoteReadTime", "50ms")])
    try it.agent.report(players: [])
    try it.agent.report(players: [it.agent.player("a", of: it.program.pid)])
    #expect(try it.monitor.transition(first, to: .background).cause == "remoteRead")
    try it.monitor.transition(first, to: .suspended)
  }

  @Test("§13: A call to a player of no application, and to an ended player, resumes nothing")
  func strangers() throws {
    let it = try Player(first)
    let stranger = try it.daemon.shell("read line")
    let players = [
      try it.agent.player("a", of: it.program.pid), try it.agent.player("b", of: stranger.pid),
    ]
    try it.agent.report(players: players)
    try it.agent.called("b", .command)
    try it.agent.called("c", .command)
    #expect(try it.state == .suspended)
    try it.agent.report(players: [])
    try it.agent.called("a", .command)
    #expect(try it.state == .suspended)
  }

  @Test(
    "§13: An agent of one user does nothing to the media players of another user",
    .enabled(if: geteuid() == 0, "other users' processes need root"))
  func otherUser() throws {
    let it = try Player(first)
    let user = try OtherUser(it.daemon, uid: 65534)
    let orders = try user.open(), reports = try user.open()
    let attached = try user.call(orders, "org.taskschedd.Session.Attach", more: true)
    let number = try #require(attached["parameters"]?["attached"])
    let startTime = try #require(it.daemon.proc.identity(it.program.pid)?.startTime)
    let name = JSONValue.string(TestAgent.playerName("a"))
    let answer = try user.call(
      reports, "org.taskschedd.Session.ReportPlayers",
      [
        "attachment": number,
        "players": [
          [
            "name": name, "pid": .integer(Int64(it.program.pid)),
            "startTime": .integer(Int64(startTime)),
          ]
        ],
      ])
    #expect(answer.errorName == nil)
    let called = try user.call(
      reports, "org.taskschedd.Session.PlayerCalled",
      ["attachment": number, "player": name, "call": "command"])
    #expect(called.errorName == nil)
    #expect(try it.state == .suspended)
    #expect(it.monitor.seen.allSatisfy { $0.cause != "remoteControl" })
  }

  @Test("§13: A report of 256 players is accepted; one of 257 players, or a long name, is not")
  func tooManyPlayers() throws {
    let it = try Player(first)
    let players = try (0..<257).map { try it.agent.player("x\($0)", of: it.program.pid) }
    let answer = try it.agent.report(players: players)
    #expect(answer?.errorName == "ReportTooLarge")
    #expect(answer?["parameters"]?["parameter"] == "players")
    #expect(answer?["parameters"]?["limit"] == 256)
    #expect(try it.agent.report(players: Array(players.prefix(256)))?.errorName == nil)
    let long = try it.agent.player(String(repeating: "x", count: 233), of: it.program.pid)
    let refused = try it.agent.report(players: [long])
    #expect(refused?.errorName == "ReportTooLarge")
    #expect(refused?["parameters"]?["parameter"] == "players[0].name")
    #expect(refused?["parameters"]?["limit"] == 255)
  }

  @Test("§13: After kill -9 of the daemon, a command resumes a media player of the earlier daemon")
  func killedDaemon() throws {
    let it = try Player(first)
    let daemon = try it.daemon.killed()
    let monitor = try Monitor(daemon)
    let agent = try TestAgent(daemon)
    try agent.report(players: [agent.player("a", of: it.program.pid)])
    try agent.called("a", .command)
    #expect(try monitor.transition(first, to: .background).cause == "remoteControl")
  }

  @Test("§13: When a new agent has attached, each suspended media player runs for RemoteReadTime")
  func newAgent() throws {
    let daemon = try DaemonFixture(.init(policy: [("RemoteReadTime", "50ms")]))
    let monitor = try Monitor(daemon)
    let program = try daemon.shell("read line")
    try daemon.adopt(first, program)
    do {
      let agent = try TestAgent(daemon)
      try agent.reportAudio([])
      try agent.report(players: [agent.player("a", of: program.pid)])
      try daemon.suspend(first, monitor)
    }
    let agent = try TestAgent(daemon)
    try agent.report(players: [agent.player("a", of: program.pid)])
    #expect(try monitor.transition(first, to: .background).cause == "remoteRead")
    try monitor.transition(first, to: .suspended)
    try agent.called("a", .command)
    #expect(try monitor.transition(first, to: .background).cause == "remoteControl")
  }

  @Test("§13: taskctl why says that a media command resumed the application")
  func why() throws {
    let it = try Player(first)
    try it.agent.called("a", .command)
    try it.monitor.transition(first, to: .background)
    let why = try it.daemon.taskctl("why", first).text
    #expect(why.contains("The daemon resumed it to handle a media command."), "\(why)")
  }

  // MARK: The application that was audible last

  @Test("§13: taskctl remote reaches the media player that was audible last, and resumes it")
  func audibleLast() throws {
    let daemon = try DaemonFixture()
    let monitor = try Monitor(daemon)
    let one = try daemon.shell("read line"), other = try daemon.shell("read line")
    try daemon.adopt(first, one)
    try daemon.adopt(second, other)
    let agent = try TestAgent(daemon)
    try agent.report(
      players: [agent.player("a", of: one.pid), agent.player("b", of: other.pid)])
    try agent.reportAudio([agent.stream(1, of: one.pid)])
    try agent.reportAudio([])
    try agent.reportAudio([agent.stream(2, of: other.pid)])
    try agent.reportAudio([])
    try daemon.suspend(second, monitor)
    let sent = try daemon.taskctl("remote", "play-pause")
    #expect(sent.text == "sent play-pause to \(second)\n")
    let order = try agent.nextOrder("command")
    #expect(order?["player"] == .string(TestAgent.playerName("b")))
    #expect(order?["command"] == "playPause" && order?["offsetUSec"] == nil)
    let change = try monitor.next(.remoteControlled, of: second)
    #expect(change.message == "\(second) was sent the command play-pause")
    #expect(try monitor.transition(second, to: .background).cause == "remoteControl")
    #expect(try daemon.taskctl("remote", "seek", "-2.5").text == "sent seek to \(second)\n")
    let seek = try agent.nextOrder("command")
    #expect(seek?["command"] == "seek" && seek?["offsetUSec"] == -2_500_000)
  }

  @Test("§13: Without an application that has played, taskctl remote says so")
  func nothingPlayed() throws {
    let it = try Player(first)
    let answer = try it.daemon.taskctl("remote", "play")
    #expect(answer.exit == .exited(code: 1))
    #expect(
      answer.text.hasPrefix("taskctl: NothingPlayed: no running application of "), "\(answer.text)")
    #expect(try it.state == .suspended)
  }

  @Test(
    "§13: A user commands only applications of that user",
    .enabled(if: geteuid() == 0, "other users' processes need root"))
  func permissions() throws {
    let it = try Player(first)
    try it.agent.reportAudio([it.agent.stream(1, of: it.program.pid)])
    try it.agent.reportAudio([])
    let user = try OtherUser(it.daemon, uid: 65534)
    let calls = try user.open()
    let name = "org.taskschedd.Control.RemoteControl"
    let other = try user.call(calls, name, ["command": "play", "owner": 0])
    #expect(other.errorName == "NotPermitted")
    #expect(try user.call(calls, name, ["command": "play"]).errorName == "NothingPlayed")
    #expect(
      throws: ControlInterface.Failure.nothingPlayed,
      "an operator names another user, whose applications have not played"
    ) {
      try it.daemon.call(
        ControlInterface.RemoteControl.self, .init(command: .play, owner: 65534))
    }
    let output = try it.daemon.call(ControlInterface.RemoteControl.self, .init(command: .play))
    #expect(output.application == first)
  }

  @Test("§13: Only the command seek has a number of seconds, and it must have one")
  func seconds() throws {
    let daemon = try DaemonFixture()
    let client = try RawClient(daemon)
    for parameters in [#"{"command":"seek"}"#, #"{"command":"play","seconds":1}"#] {
      let answer = try client.call(
        "{\"method\":\"org.taskschedd.Control.RemoteControl\",\"parameters\":\(parameters)}")
      #expect(answer?.errorName == "InvalidParameter")
      #expect(answer?["parameters"]?["parameter"] == "seconds")
    }
    let agent = try TestAgent(daemon)
    #expect(try agent.commanded(.seek)?["parameters"]?["parameter"] == "offsetUSec")
    #expect(try agent.commanded(.seek, offsetUSec: .max)?.errorName == nil)
  }

  // MARK: Applications that are no media players

  @Test("§13: An aware application that is no media player gets the command as an event")
  func event() throws {
    let daemon = try DaemonFixture(
      .init(
        policy: [("AudioGraceTime", "10ms"), ("EventTime", "1h")],
        manifests: [(first, "name = \"First\"\nbackground-modes = [\"audio\"]")]))
    let monitor = try Monitor(daemon)
    let application = try TestApplication.active(daemon, first)
    let agent = try TestAgent(daemon)
    try agent.reportAudio([agent.stream(1, of: application.pid)])
    let shown = try agent.nextOrder("player")
    #expect(shown?["application"] == .string(first) && shown?["applicationName"] == "First")
    #expect(shown?["playing"] == true)
    try agent.reportAudio([])
    #expect(try agent.nextOrder("player")?["playing"] == false)
    try daemon.suspend(first, monitor)

    #expect(try daemon.taskctl("remote", "seek", "-10").text == "sent seek to \(first)\n")
    #expect(try monitor.transition(first, to: .background).cause == "remoteControl")
    let seek = try nextCommand(of: application)
    #expect(seek["kind"] == "seek" && seek["offsetUSec"] == -10_000_000)
    #expect(try daemon.application(first).instance?.entitlements == [.event])
    // The application may be suspended before it can print the answer, so the test does not wait
    // for the answer.
    try application.send("Acknowledge", ["callback": try #require(seek["id"])])
    try monitor.transition(first, to: .suspended)

    try agent.commanded(.playPause)
    try monitor.transition(first, to: .background)
    #expect(try nextCommand(of: application)["kind"] == "playPause")
    let later = try TestAgent(daemon)
    #expect(try later.nextOrder("player")?["application"] == .string(first))
    try daemon.terminate(first)
    let removed = try #require(try later.nextOrder("player"))
    #expect(removed["application"] == nil && removed["playing"] == false)
  }
}
