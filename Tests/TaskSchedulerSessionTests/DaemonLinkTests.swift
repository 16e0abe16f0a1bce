import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerSession

@Suite("§20: The session agent's attachment to a daemon")
struct DaemonLinkTests {
  /// A link to a stand-in daemon, and the reports of the link.
  private final class Scene {
    let loop: EventLoop
    let directory = TemporaryDirectory()
    let path: String
    var daemon: StandInDaemon?
    private(set) var link: DaemonLink?
    private(set) var reported: [String] = []

    /// - Parameter path: the path of the socket below a directory of the test.
    init(_ path: String = "socket", hasDaemon: Bool = true) throws {
      loop = try EventLoop()
      self.path = directory.file(path)
      if hasDaemon { try startDaemon() }
      link = try DaemonLink(path: self.path, loop: loop) { [unowned self] in hear($0) }
      link?.start()
    }

    func startDaemon() throws { daemon = try StandInDaemon(at: path, on: loop) }

    private func hear(_ occurrence: DaemonLink.Occurrence) {
      switch occurrence {
      case .attached: reported.append("attached")
      case .order(.show(let notification)): reported.append("show \(notification.id)")
      case .order(.close(let withdrawn)): reported.append("close \(withdrawn.id)")
      case .order(.synchronized): reported.append("synchronized")
      case .order(.badge(let badge)): reported.append("badge \(badge.count)")
      case .order(.mute(let mute)):
        reported.append("\(mute.muted ? "mute" : "unmute") \(mute.streams)")
      case .order(.volume(let order)):
        reported.append("volumes \(order.changes.map { [$0.stream, $0.from, $0.to] })")
      case .order(.measure(let order)):
        reported.append("\(order.measured ? "measure" : "do not measure") \(order.streams)")
      case .order(.confirm): reported.append("confirm")
      case .order(.command(let order)): reported.append("\(order.player) \(order.command)")
      case .order(.player(let player)): reported.append("player \(player.application ?? "none")")
      case .order(.location(let order)):
        reported.append("location \(order.accuracy?.rawValue ?? "none")")
      case .unreachable(let reason): reported.append("unreachable: \(reason)")
      case .refused(let error): reported.append("refused: \(error)")
      case .replaced: reported.append("replaced")
      }
    }

    func focus(_ pid: Int32) {
      link?.update(
        SessionWindows([
          SessionWindow(
            process: ProcessIdentity(pid: pid, startTime: 7), visibility: .focused,
            applicationID: "org.test.window"),
          SessionWindow(process: nil, visibility: .visible),
        ]))
    }

    func wait(
      _ expectation: String, location: SourceLocation = #_sourceLocation,
      until isSatisfied: () -> Bool
    ) throws {
      let end = BootClock.now() + UInt64(deadline / .nanoseconds(1))
      while !isSatisfied() {
        guard BootClock.now() < end else {
          Issue.record("\(expectation): \(reported)", sourceLocation: location)
          throw SystemError(call: "waiting: \(expectation)", errno: ETIMEDOUT)
        }
        try loop.turn(within: .seconds(1))
      }
    }

    /// Waits until the daemon has received a report in which the window of this process has the
    /// focus.
    func waitForReport(of pid: Int, location: SourceLocation = #_sourceLocation) throws {
      try wait("a report of \(pid)", location: location) {
        daemon?.windowReports.last??.windows.first?.pid == pid
      }
    }

    func waitForAttachment(_ number: Int, location: SourceLocation = #_sourceLocation) throws {
      try wait("attachment \(number)", location: location) {
        daemon?.attachments == number && reported.last == "attached"
      }
    }
  }

  @Test("After attaching, the agent reports all windows; later it reports each change")
  func reports() throws {
    let scene = try Scene()
    scene.focus(10)
    try scene.waitForReport(of: 10)
    let report = try #require(scene.daemon?.windowReports.first ?? nil)
    #expect(report.attachment == 1 && report.hasFocus)
    #expect(
      report.windows == [
        .init(pid: 10, startTime: 7, visibility: .focused, applicationId: "org.test.window")
      ])
    scene.focus(11)
    try scene.waitForReport(of: 11)
    scene.link?.update(nil)
    try scene.wait("the windows are forgotten") {
      if case .some(nil) = scene.daemon?.windowReports.last { true } else { false }
    }
    #expect(scene.reported == ["attached"])
  }

  @Test("After each attachment, the agent reports all audio streams; it receives orders")
  func audio() throws {
    let scene = try Scene()
    let stream = AudioStream(
      id: 4, isRecording: false, role: .phone, volume: 30_000,
      process: ProcessIdentity(pid: 10, startTime: 7), isClaimed: true, isRunning: true,
      isMuted: false)
    let server = AudioServer(path: "/run/user/1/pulse/native", generation: 9, managesRoles: true)
    scene.link?.update(AudioStreams(server: server, streams: [stream]), followsOrders: true)
    try scene.wait("a report of the stream") { scene.daemon?.audioReports.count == 1 }
    let report = try #require(scene.daemon?.audioReports.first)
    #expect(report.attachment == 1 && report.confirmed == 0)
    #expect(report.server == .init(path: server.path, generation: 9, managesRoles: true))
    #expect(
      report.streams == [
        .init(
          id: 4, direction: .playback, role: .phone, volume: 30_000, pid: 10, startTime: 7,
          claimed: true, running: true, muted: false, silent: false, memory: 0)
      ])
    scene.daemon?.order(.init(mute: .init(generation: 9, streams: [4], muted: true)))
    try scene.wait("the order arrives") { scene.reported.last == "mute [4]" }
    scene.daemon?.order(.init(measure: .init(generation: 9, streams: [4], measured: true)))
    try scene.wait("the second order arrives") { scene.reported.last == "measure [4]" }
    scene.daemon?.order(
      .init(volume: .init(generation: 9, changes: [.init(stream: 4, from: 30_000, to: 6000)])))
    try scene.wait("the third order arrives") {
      scene.reported.last == "volumes [[4, 30000, 6000]]"
    }
    scene.daemon = nil
    try scene.wait("the attachment ends") {
      scene.reported.last?.hasPrefix("unreachable") == true
    }
    try scene.startDaemon()
    try scene.wait("the stream is reported again") { scene.daemon?.audioReports.count == 1 }
  }

  @Test("A report confirms the orders only if it is newer than they are")
  func confirm() throws {
    let scene = try Scene()
    let audio = AudioStreams(
      server: AudioServer(path: "/run/user/1/pulse/native", generation: 9), streams: [])
    scene.link?.update(audio, followsOrders: true)
    try scene.wait("the first report") { scene.daemon?.audioReports.count == 1 }
    scene.daemon?.order(.init(confirm: 5))
    try scene.wait("the order arrives") { scene.reported.last == "confirm" }
    scene.link?.update(AudioStreams(), followsOrders: false)
    try scene.wait("a report that confirms nothing") {
      scene.daemon?.audioReports.map(\.confirmed) == [0, 0]
    }
    scene.link?.update(AudioStreams(), followsOrders: true)
    try scene.wait("the same streams, with the confirmation") {
      scene.daemon?.audioReports.map(\.confirmed) == [0, 0, 5]
    }
    scene.link?.update(audio, followsOrders: false)
    try scene.wait("the orders stay confirmed") {
      scene.daemon?.audioReports.map(\.confirmed) == [0, 0, 5, 5]
    }
    scene.daemon = nil
    try scene.wait("the attachment ends") {
      scene.reported.last?.hasPrefix("unreachable") == true
    }
    try scene.startDaemon()
    try scene.wait("the next daemon knows of no confirmation") {
      scene.daemon?.audioReports.map(\.confirmed) == [0]
    }
  }

  @Test("After each attachment, the agent reports all media players, and calls only after them")
  func players() throws {
    let scene = try Scene()
    let name = "org.mpris.MediaPlayer2.test"
    scene.link?.update([
      MediaPlayer(name: name, process: ProcessIdentity(pid: 10, startTime: 7))
    ])
    scene.link?.add(MediaPlayerCall(player: name, kind: .command))
    scene.link?.add(MediaPlayerCommand(.seek, offset: -5))
    try scene.wait("all reports") { scene.daemon?.reports.count == 3 }
    #expect(scene.daemon?.reports.first?.method == SessionInterface.ReportPlayers.name)
    #expect(scene.daemon?.playerReports == [[name]])
    #expect(scene.daemon?.playerCalls == [MediaPlayerCall(player: name, kind: .command)])
    #expect(scene.daemon?.playerCommands == [MediaPlayerCommand(.seek, offset: -5)])
    scene.daemon?.order(.init(command: .init(player: name, command: .playPause)))
    try scene.wait("the order arrives") { scene.reported.last == "\(name) playPause" }
    scene.daemon?.order(.init(player: .init(application: "org.test", playing: true)))
    try scene.wait("the second order arrives") { scene.reported.last == "player org.test" }
    scene.daemon?.order(.init(attached: 1))
    try scene.wait("the players are reported again") { scene.daemon?.playerReports.count == 2 }
    #expect(scene.daemon?.playerCalls.count == 1)
  }

  @Test(
    """
    §17: After each attachment, the agent reports whether GeoClue is available; it receives \
    orders for locations
    """)
  func locations() throws {
    let scene = try Scene()
    scene.link?.update(isGeoClueAvailable: true)
    try scene.wait("a report of the source") { scene.daemon?.locationSourceReports == [true] }
    scene.daemon?.order(.init(location: .init(accuracy: .kilometer)))
    try scene.wait("the order arrives") { scene.reported.last == "location kilometer" }
    let location = SessionInterface.Location(
      latitude: 52.5, longitude: 13.4, accuracy: 3, measuredAtUSec: 1_795_728_858_000_000)
    scene.link?.add(location)
    try scene.wait("a report of the location") { scene.daemon?.locationReports == [location] }
    scene.daemon?.order(.init(location: .init()))
    try scene.wait("the order ends") { scene.reported.last == "location none" }
    scene.daemon?.order(.init(attached: 1))
    try scene.wait("the source is reported again") {
      scene.daemon?.locationSourceReports == [true, true]
    }
    #expect(scene.daemon?.locationReports.count == 1)
  }

  @Test(
    """
    §17: A daemon that is slow to reply receives only the newest location, and none after it has \
    ended its order
    """)
  func slowForLocations() throws {
    let scene = try Scene()
    try scene.waitForAttachment(1)
    scene.daemon?.answers = { _ in false }
    scene.link?.update(isGeoClueAvailable: true)
    try scene.wait("a report of the source") { scene.daemon?.locationSourceReports == [true] }
    func location(_ latitude: Double) -> SessionInterface.Location {
      .init(latitude: latitude, longitude: 0, measuredAtUSec: 0)
    }
    for latitude in [1.0, 2] { scene.link?.add(location(latitude)) }
    scene.daemon?.answers = { _ in true }
    scene.daemon?.peers.last?.reply(NoFields())
    try scene.wait("the newest location") { scene.daemon?.locationReports == [location(2)] }
    scene.daemon?.answers = { _ in false }
    scene.link?.update(isGeoClueAvailable: false)
    try scene.wait("the source disappears") { scene.daemon?.locationSourceReports.count == 2 }
    scene.link?.add(location(3))
    scene.daemon?.order(.init(location: .init()))
    try scene.wait("the order ends") { scene.reported.last == "location none" }
    scene.daemon?.answers = { _ in true }
    scene.daemon?.peers.last?.reply(NoFields())
    scene.focus(10)
    try scene.waitForReport(of: 10)
    #expect(scene.daemon?.locationReports == [location(2)])
  }

  @Test("A call to a player that a daemon did not acknowledge is reported to the next daemon")
  func callToEndedDaemon() throws {
    let scene = try Scene()
    let name = "org.mpris.MediaPlayer2.test"
    scene.link?.update([
      MediaPlayer(name: name, process: ProcessIdentity(pid: 10, startTime: 7))
    ])
    try scene.wait("a report of the player") { scene.daemon?.playerReports == [[name]] }
    scene.daemon?.answers = { _ in false }
    scene.link?.add(MediaPlayerCall(player: name, kind: .command))
    try scene.wait("a report of the call") { scene.daemon?.playerCalls.count == 1 }
    scene.daemon = nil
    try scene.wait("the attachment ends") {
      scene.reported.last?.hasPrefix("unreachable") == true
    }
    try scene.startDaemon()
    try scene.wait("the call is reported again") { scene.daemon?.playerCalls.count == 1 }
    #expect(scene.daemon?.playerReports == [[name]])
  }

  @Test("An agent that is replaced reports this once, and does not attach again")
  func replaced() throws {
    let scene = try Scene()
    scene.focus(10)
    try scene.waitForReport(of: 10)
    scene.daemon?.agent?.fail(SessionInterface.Failure.agentReplaced)
    try scene.wait("the agent is replaced") { scene.reported.last == "replaced" }
    scene.focus(11)
    try scene.wait("both connections are closed") { scene.daemon?.peers.isEmpty == true }
    #expect(scene.daemon?.attachments == 1 && scene.daemon?.windowReports.count == 1)
    #expect(scene.reported == ["attached", "replaced"])
  }

  @Test("The agent waits for a daemon whose socket and directories do not exist yet")
  func appearsLater() throws {
    let scene = try Scene("a/b/socket", hasDaemon: false)
    scene.focus(10)
    #expect(scene.reported.count == 1 && scene.reported[0].hasPrefix("unreachable: connect"))
    for directory in ["a", "a/b"] {
      mkdir(scene.directory.file(directory), 0o700)
      try scene.loop.turn(within: .milliseconds(20))
    }
    try scene.startDaemon()
    try scene.waitForReport(of: 10)
  }

  @Test("After a daemon has ended, the agent attaches to the next one, and reports all windows")
  func restarted() throws {
    let scene = try Scene()
    scene.focus(10)
    for _ in 1...3 {
      try scene.waitForReport(of: 10)
      scene.daemon = nil
      try scene.wait("the daemon is gone") { scene.reported.last?.hasPrefix("unreachable") == true }
      try scene.startDaemon()
    }
    try scene.waitForReport(of: 10)
  }

  @Test("An agent whose second connection finds no socket attaches to the next daemon")
  func goneBetweenConnections() throws {
    let scene = try Scene()
    scene.daemon?.answerToAttach = []
    try scene.wait("the call of Attach") { scene.daemon?.attachments == 1 }
    try UnixSocket.unlink(path: scene.path)
    scene.daemon?.order(.init(attached: 1))
    try scene.wait("the second connection fails") {
      scene.reported.last?.hasPrefix("unreachable: connect") == true
    }
    scene.daemon = nil
    scene.focus(10)
    try scene.startDaemon()
    try scene.waitForReport(of: 10)
  }

  @Test("A daemon that takes over the connections says so, and receives all windows again")
  func takenOver() throws {
    let scene = try Scene()
    scene.focus(10)
    try scene.waitForReport(of: 10)
    scene.daemon?.order(.init(attached: 1))
    try scene.wait("the second report") { scene.daemon?.windowReports.count == 2 }
    #expect(scene.daemon?.windowReports.last??.windows.first?.pid == 10)
    #expect(scene.daemon?.attachments == 1)
  }

  @Test("A stopped daemon receives one report, and the newest windows when it continues")
  func stopped() throws {
    let scene = try Scene()
    scene.focus(1)
    try scene.waitForReport(of: 1)
    scene.daemon?.stop()
    for pid in 2...1000 as ClosedRange<Int32> {
      scene.focus(pid)
      try scene.loop.turn(within: .zero)
    }
    try scene.daemon?.resume()
    try scene.waitForReport(of: 1000)
    #expect(scene.daemon?.windowReports.count == 3)
    #expect(scene.daemon?.windowReports[1]?.windows.first?.pid == 2)
  }

  @Test("A socket on which no process listens is tried again when a daemon replaces it")
  func stale() throws {
    let scene = try Scene(hasDaemon: false)
    let stale = try UnixSocket.listen(path: scene.path, mode: 0o600)
    stale.close()
    try scene.wait("the connection is refused") {
      scene.reported.last?.contains(SystemError.describe(ECONNREFUSED)) == true
    }
    scene.focus(10)
    try scene.startDaemon()
    try scene.waitForReport(of: 10)
  }

  @Test(
    "A malformed answer to Attach ends the connection, and the agent attaches again",
    arguments: [
      "nonsense\0", "{}\0", "{\"parameters\":{\"attached\":\"one\"},\"continues\":true}\0",
      "{\"parameters\":{},\"continues\":true}\0", "{\"parameters\":{\"attached\":1}}\0",
      "{\"error\":\"org.varlink.service.MethodNotFound\",\"parameters\":{\"method\":\"a\"}}\0",
      "{\"error\":\"org.taskschedd.Session.NotAttached\"}\0", "[]\0", "\0",
    ])
  func malformed(_ text: String) throws {
    let scene = try Scene()
    scene.daemon?.answerToAttach = Array(text.utf8)
    try scene.wait("the agent attaches again") { scene.daemon?.attachments == 3 }
    #expect(scene.reported.first?.hasPrefix("unreachable") == true)
    scene.daemon?.answerToAttach = nil
    scene.focus(10)
    try scene.waitForReport(of: 10)
  }

  @Test(
    "A malformed order ends the attachment, and the agent attaches again",
    arguments: [
      "{\"parameters\":{\"close\":\"x\"},\"continues\":true}\0", "}\0",
      "{\"parameters\":{\"show\":{\"id\":1}},\"continues\":true}\0",
      "{\"parameters\":{\"badge\":[]},\"continues\":true}\0",
    ])
  func malformedOrder(_ text: String) throws {
    let scene = try Scene()
    try scene.waitForAttachment(1)
    scene.daemon?.agent?.write(Array(text.utf8))
    try scene.waitForAttachment(2)
  }

  @Test("An order of a newer daemon, which the agent does not know, is ignored")
  func unknownOrder() throws {
    let scene = try Scene()
    try scene.waitForAttachment(1)
    scene.daemon?.agent?.write(
      Array("{\"parameters\":{\"dance\":{}},\"continues\":true}\0".utf8))
    scene.daemon?.order(.init(badge: .init(application: "org.test.mail", count: 3)))
    try scene.wait("the next order") { scene.reported.last == "badge 3" }
    #expect(scene.reported == ["attached", "badge 3"])
  }

  @Test("If the daemon does not know the attachment, the agent attaches again")
  func notAttached() throws {
    let scene = try Scene()
    try scene.waitForAttachment(1)
    scene.daemon?.refusal = .notAttached
    scene.focus(10)
    try scene.waitForAttachment(2)
    try scene.wait("the second report") { scene.daemon?.windowReports.count == 2 }
    #expect(scene.daemon?.windowReports.last??.attachment == 2)
  }

  @Test("A refused report is not sent again")
  func refused() throws {
    let scene = try Scene()
    try scene.waitForAttachment(1)
    scene.daemon?.refusal = .reportTooLarge(parameter: "windows", limit: 1)
    scene.focus(10)
    try scene.wait("the report is refused") { scene.reported.last?.hasPrefix("refused") == true }
    scene.focus(11)
    try scene.waitForReport(of: 11)
    #expect(scene.daemon?.windowReports.count == 2 && scene.daemon?.attachments == 1)
  }
}
