import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §13, with a session agent that the test simulates (`TestAgent`).
/// `ModemCallTests` tests the calls of modems.
@Suite("§13: Phone calls of applications (contract.md#call-interrupts)")
struct CallTests {
  private static let player = "org.test.player"
  private static let phone = "org.test.phone"
  private static let second = "org.test.second"
  private let player = Self.player
  private let phone = Self.phone
  private let second = Self.second

  /// A daemon with manifests of a player and two telephone applications at separate seats, and a
  /// simulated session agent.
  private struct Scene {
    let daemon: DaemonFixture
    let monitor: Monitor
    let agent: TestAgent

    init(playerModes: String = #"["audio"]"#) throws {
      // EventTime is so long that an event entitles its application to run until the application
      // acknowledges the event.
      let policy = [("AudioGraceTime", "10ms"), ("EventTime", "1h")]
      let manifests = [
        (CallTests.player, "background-modes = \(playerModes)\nseat = \"seat1\""),
        (CallTests.phone, "background-modes = [\"voip\"]\nseat = \"seat2\""),
        (CallTests.second, "background-modes = [\"voip\"]\nseat = \"seat3\""),
      ]
      daemon = try DaemonFixture(.init(policy: policy, manifests: manifests))
      monitor = try Monitor(daemon)
      agent = try TestAgent(daemon)
    }

    func audio(_ id: String) throws -> [ControlInterface.AudioUse]? {
      try daemon.application(id).instance?.audio
    }

    /// Starts an aware player, and reports that it plays.
    func playing() throws -> TestApplication {
      let application = try TestApplication.active(daemon, CallTests.player)
      try agent.reportAudio([agent.stream(1, of: application.pid)])
      return application
    }

    /// Starts an unaware player, and reports that it plays.
    ///
    /// - Parameter isOnBus: Whether the player is a media player on the session bus.
    func playingUnaware(isOnBus: Bool) throws -> TestProcess {
      let program = try daemon.shell("read line")
      try daemon.adopt(CallTests.player, program)
      if isOnBus { try agent.report(players: [agent.player("a", of: program.pid)]) }
      try agent.reportAudio([agent.stream(1, of: program.pid)])
      return program
    }

    /// Starts a telephone application, which begins a call.
    func calling(_ id: String = CallTests.phone) throws -> TestApplication {
      let application = try TestApplication.active(daemon, id)
      #expect(try application.call("BeginCall") == ["parameters": [:]])
      return application
    }
  }

  /// Waits for an application's next event of the given kind, such as `call`.
  private func next(_ kind: String, of application: TestApplication) throws -> JSONValue {
    try application.nextEvent(with: kind)
  }

  private func interruption(of application: TestApplication) throws -> JSONValue {
    try next("audioInterruption", of: application)
  }

  private func id(of event: JSONValue) throws -> Int {
    guard case .integer(let id)? = event["id"] else {
      throw TestApplication.Unexpected(line: "\(event)")
    }
    return Int(id)
  }

  // MARK: Aware applications

  @Test("§13: A call interrupts an aware player, and the call's end tells the player to resume")
  func aware() throws {
    let scene = try Scene()
    let application = try scene.playing()
    try scene.monitor.transition(player, to: .active)
    let caller = try scene.calling()
    let began = try interruption(of: application)
    #expect(began["began"] == true && began["shouldResume"] == nil)
    #expect(try scene.monitor.transition(player, to: .inactive).cause == "call")
    #expect(try application.nextCallback().kind == "willResignActive")
    #expect(try application.acknowledge(id(of: began)) == ["parameters": [:]])
    #expect(try scene.audio(player) == [.playing, .interrupted])
    #expect(try scene.audio(phone) == [.calling])
    let why = try scene.daemon.taskctl("why", player).text
    #expect(why.contains("A phone call interrupted it."), "\(why)")
    #expect(why.contains("A phone call interrupts its audio."), "\(why)")
    let list = try scene.daemon.taskctl("list").text
    #expect(list.contains("plays, interrupted") && list.contains("in a call"), "\(list)")

    #expect(try caller.call("EndCall") == ["parameters": [:]])
    let ended = try interruption(of: application)
    #expect(ended["began"] == false && ended["shouldResume"] == true)
    try scene.monitor.transition(player, to: .active)
    #expect(try application.nextCallback().kind == "didBecomeActive")
    #expect(try scene.audio(player) == [.playing])
  }

  @Test("§13: A suspended application is woken when the interruption ends")
  func suspended() throws {
    let scene = try Scene()
    let application = try scene.playing()
    try scene.daemon.sendToBackground(player)
    try scene.monitor.transition(player, to: .background)
    let caller = try scene.calling()
    let began = try interruption(of: application)
    try scene.agent.reportAudio([])
    // The application may be suspended before it can print the answer, so the test does not wait
    // for the answer.
    try application.send("Acknowledge", ["callback": .integer(Int64(id(of: began)))])
    try scene.monitor.transition(player, to: .suspended)

    #expect(try caller.call("EndCall") == ["parameters": [:]])
    #expect(try scene.monitor.transition(player, to: .background).cause == "callEnded")
    #expect(try application.nextAnswer() == ["parameters": [:]])
    let ended = try interruption(of: application)
    #expect(ended["shouldResume"] == true)
    #expect(try scene.daemon.application(player).instance?.entitlements == [.event])
    try scene.agent.reportAudio([scene.agent.stream(1, of: application.pid)])
    #expect(try application.acknowledge(id(of: ended)) == ["parameters": [:]])
    let entitlements = try scene.daemon.application(player).instance?.entitlements
    #expect(entitlements?.contains(.audio) == true)
  }

  @Test("§13: An application that becomes audible during a call is interrupted")
  func later() throws {
    let scene = try Scene()
    let caller = try scene.calling()
    let application = try scene.playing()
    #expect(try interruption(of: application)["began"] == true)
    #expect(try caller.call("EndCall") == ["parameters": [:]])
  }

  @Test("§13: A call does not interrupt the application that has it")
  func ownAudio() throws {
    let scene = try Scene()
    let caller = try scene.calling()
    try scene.agent.reportAudio([scene.agent.stream(1, of: caller.pid)])
    #expect(try scene.audio(phone) == [.playing, .calling])
  }

  @Test("§13: An application is not suspended while it plays during its call")
  func entitled() throws {
    let scene = try Scene()
    let caller = try scene.calling()
    try scene.agent.reportAudio([scene.agent.stream(1, of: caller.pid)])
    try scene.daemon.sendToBackground(phone)
    #expect(try caller.nextCallback().kind == "willResignActive")
    #expect(try caller.nextCallback().kind == "didEnterBackground")
    try waitUntil("only audio entitles the phone") {
      try scene.daemon.application(phone).instance?.entitlements == [.audio]
    }
    // The application may be suspended before it can print the answer, so the test does not wait
    // for the answer.
    try caller.send("EndCall")
    try scene.monitor.transition(phone, to: .suspended)
  }

  // MARK: Unaware applications

  @Test("§13: A call pauses an unaware media player, and the end of the call resumes the playback")
  func paused() throws {
    let scene = try Scene()
    let program = try scene.playingUnaware(isOnBus: true)
    let caller = try scene.calling()
    let pause = try scene.agent.nextOrder("command")
    #expect(pause?["player"] == .string(TestAgent.playerName("a")))
    #expect(pause?["command"] == "pause")
    #expect(try scene.audio(player) == [.playing, .interrupted])
    try scene.agent.reportAudio([])
    _ = try caller.call("EndCall")
    #expect(try scene.agent.nextOrder("command")?["command"] == "play")
    #expect(try scene.audio(player) == [])
    withExtendedLifetime(program) {}
  }

  @Test("§13: The end of a call does not play a media player that received a command meanwhile")
  func controlled() throws {
    let scene = try Scene()
    let program = try scene.playingUnaware(isOnBus: true)
    try scene.daemon.sendToBackground(player)
    try scene.monitor.transition(player, to: .background)
    let caller = try scene.calling()
    #expect(try scene.agent.nextOrder("command")?["command"] == "pause")
    try scene.agent.called("a", .command)
    _ = try caller.call("EndCall")
    // If the daemon had ordered the agent to start the player, that order would arrive before
    // this one.
    _ = try scene.daemon.taskctl("remote", "next")
    #expect(try scene.agent.nextOrder("command")?["command"] == "next")
    withExtendedLifetime(program) {}
  }

  @Test("§13: An unaware application that is no media player is muted until the call ends")
  func muted() throws {
    let scene = try Scene()
    let program = try scene.playingUnaware(isOnBus: false)
    let caller = try scene.calling()
    let mute = try scene.agent.nextMute()
    #expect(mute?["streams"] == [1] && mute?["muted"] == true)
    try scene.agent.reportAudio([scene.agent.stream(1, of: program.pid, muted: true)])
    #expect(try scene.audio(player) == [.muted, .interrupted])
    let why = try scene.daemon.taskctl("why", player).text
    #expect(
      why.contains("The daemon has muted its audio until the phone call ends."), "\(why)")
    _ = try caller.call("EndCall")
    let unmute = try scene.agent.nextMute()
    #expect(unmute?["streams"] == [1] && unmute?["muted"] == false)
  }

  // MARK: Calls

  @Test("§13: A second call puts the first on hold, and the end of the second resumes the first")
  func hold() throws {
    let scene = try Scene()
    let first = try scene.calling(phone)
    let other = try scene.calling(second)
    let held = try next("call", of: first)
    #expect(held["onHold"] == true)
    #expect(try scene.audio(phone) == [.calling, .onHold])
    #expect(try first.acknowledge(id(of: held)) == ["parameters": [:]])
    _ = try other.call("EndCall")
    #expect(try next("call", of: first)["onHold"] == false)
    #expect(try scene.audio(phone) == [.calling])
    let messages = try (0..<3).map { _ in
      try scene.monitor.next(.callChanged, of: phone).message
    }
    #expect(
      messages == [
        "\(phone): its phone call began",
        "\(phone): its phone call is on hold because of a newer call",
        "\(phone): its phone call is no longer on hold",
      ])
  }

  @Test("§13: The interruption lasts until the last call has ended")
  func lastCall() throws {
    let scene = try Scene()
    let application = try scene.playing()
    let first = try scene.calling(phone)
    #expect(try interruption(of: application)["began"] == true)
    let other = try scene.calling(second)
    _ = try first.call("EndCall")
    #expect(try scene.audio(player) == [.playing, .interrupted])
    _ = try other.call("EndCall")
    #expect(try interruption(of: application)["began"] == false)
    #expect(try scene.audio(player) == [.playing])
  }

  @Test("§13: The end of an application ends its call", arguments: ["exit", "kill", "terminate"])
  func callerEnds(_ way: String) throws {
    let scene = try Scene()
    let application = try scene.playing()
    let caller = try scene.calling()
    #expect(try interruption(of: application)["began"] == true)
    switch way {
    case "exit": try caller.process.writeLine("exit 0")
    case "kill": #expect(kill(caller.pid, SIGKILL) == 0)
    case _: try scene.daemon.terminate(phone)
    }
    #expect(try interruption(of: application)["shouldResume"] == true)
  }

  @Test("§13: BeginCall needs mode voip and an event stream")
  func refused() throws {
    let scene = try Scene()
    let application = try TestApplication.active(scene.daemon, player)
    let answer = try application.call("BeginCall")
    #expect(answer.errorName == "ModeNotDeclared")
    #expect(answer["parameters"]?["mode"] == "voip")
    #expect(answer["parameters"]?["application"] == .string(player))
    let silent = try TestApplication(scene.daemon, phone, "silent")
    for method in ["BeginCall", "EndCall"] {
      #expect(try silent.call(method).errorName == "NotRegistered")
    }
    try scene.daemon.adopt(phone, silent.process)
    #expect(try silent.call("BeginCall").errorName == "NoEventStream")
    #expect(try scene.audio(phone) == [])
  }

  @Test("§13: A second BeginCall, and an EndCall without a call, change nothing")
  func repeated() throws {
    let scene = try Scene()
    let caller = try TestApplication.active(scene.daemon, phone)
    for method in ["EndCall", "BeginCall", "BeginCall", "EndCall", "EndCall"] {
      #expect(try caller.call(method) == ["parameters": [:]])
    }
    try scene.daemon.terminate(phone)
    try scene.monitor.end(phone)
    #expect(scene.monitor.count(.callChanged, of: phone) == 2)
  }

  @Test("§13: After kill -9 of the daemon, a call still interrupts the player until the call ends")
  func killedDaemon() throws {
    let scene = try Scene()
    let program = try scene.playingUnaware(isOnBus: false)
    let caller = try scene.calling()
    #expect(try scene.agent.nextMute()?["muted"] == true)
    try scene.agent.reportAudio([scene.agent.stream(1, of: program.pid, muted: true)])
    let daemon = try scene.daemon.killed()
    let agent = try TestAgent(daemon)
    let mute = try agent.nextMute()
    #expect(mute?["streams"] == [1] && mute?["muted"] == true)
    try agent.reportAudio([agent.stream(1, of: program.pid, muted: true)])
    try caller.process.writeLine("reconnect")
    #expect(try caller.call("EndCall") == ["parameters": [:]])
    #expect(try agent.nextMute()?["muted"] == false)
  }
}
