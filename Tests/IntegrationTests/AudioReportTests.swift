import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §13, with a session agent that the test simulates (`TestAgent`).
@Suite("§13: The daemon and reports of audio")
struct AudioReportTests {
  private let first = "org.test.first"

  private func audio(_ daemon: DaemonFixture) throws -> [ControlInterface.AudioUse]? {
    try daemon.application(first).instance?.audio
  }

  @Test("§13: A stream of a child of the application's leader belongs to the application")
  func child() throws {
    let daemon = try DaemonFixture()
    let program = try daemon.shell("sh -c 'echo $$; read line'; true")
    let child = try #require(Int32(program.nextLine()))
    try daemon.adopt(first, program, modes: ["audio"])
    let agent = try TestAgent(daemon)
    try agent.reportAudio([agent.stream(1, of: child)])
    #expect(try audio(daemon) == [.playing])
    try daemon.sendToBackground(first)
    #expect(try daemon.application(first).state == .background)
  }

  @Test("§13: A stream belongs to an application that begins after the report")
  func laterInstance() throws {
    let daemon = try DaemonFixture()
    let program = try daemon.shell("read line")
    let agent = try TestAgent(daemon)
    try agent.reportAudio([agent.stream(1, of: program.pid)])
    try daemon.adopt(first, program, modes: ["audio"])
    try waitUntil("it plays") { try audio(daemon) == [.playing] }
  }

  @Test("§13: A stream with another start time than its process belongs to no application")
  func reusedPID() throws {
    let daemon = try DaemonFixture()
    let program = try daemon.shell("read line")
    try daemon.adopt(first, program)
    let agent = try TestAgent(daemon)
    var stream = try agent.stream(1, of: program.pid)
    stream.startTime += 1
    try agent.reportAudio([stream])
    #expect(try audio(daemon) == [])
  }

  @Test(
    "§13: An agent of one user does nothing to the audio of another user's applications",
    .enabled(if: geteuid() == 0, "other users' processes need root"))
  func otherUser() throws {
    let daemon = try DaemonFixture()
    let program = try daemon.shell("read line")
    try daemon.adopt(first, program, modes: ["audio"])
    let own = try TestAgent(daemon)
    let user = try OtherUser(daemon, uid: 65534)
    let orders = try user.open(), reports = try user.open()
    let attached = try user.call(orders, "org.taskschedd.Session.Attach", more: true)
    let number = try #require(attached["parameters"]?["attached"])
    let startTime = try #require(daemon.proc.identity(program.pid)?.startTime)
    let answer = try user.call(
      reports, "org.taskschedd.Session.ReportAudio",
      [
        "attachment": number,
        "server": ["path": "/a", "generation": 1, "managesRoles": false],
        "streams": [
          [
            "id": 1, "direction": "playback", "role": "other", "volume": 65536,
            "pid": .integer(Int64(program.pid)), "startTime": .integer(Int64(startTime)),
            "claimed": false, "running": true, "muted": false, "silent": false, "memory": 0,
          ]
        ], "confirmed": 0,
      ])
    #expect(answer.errorName == nil)
    #expect(try audio(daemon) == [])
    try own.reportAudio([own.stream(1, of: program.pid)])
    #expect(try audio(daemon) == [.playing])
  }

  @Test("§13: Servers number the streams of each direction separately")
  func numbers() throws {
    let daemon = try DaemonFixture()
    let program = try daemon.shell("read line")
    try daemon.adopt(first, program)
    let agent = try TestAgent(daemon)
    let playing = try agent.stream(0, of: program.pid)
    var recording = playing
    recording.direction = .recording
    let answer = try agent.reportAudio([playing, recording, recording])
    #expect(answer?.errorName == "InvalidParameter")
    #expect(answer?["parameters"]?["parameter"] == "streams[2].id")
    try agent.reportAudio([playing, recording])
    #expect(try audio(daemon) == [.playing, .recording])
  }

  @Test("§13: A report of 1024 streams is accepted, and one of 1025 streams names the field")
  func tooManyStreams() throws {
    let daemon = try DaemonFixture()
    let program = try daemon.shell("read line")
    try daemon.adopt(first, program)
    let agent = try TestAgent(daemon)
    let streams = try (0..<1025).map { try agent.stream($0, of: program.pid) }
    let answer = try agent.reportAudio(streams)
    #expect(answer?.errorName == "ReportTooLarge")
    #expect(answer?["parameters"]?["parameter"] == "streams")
    #expect(try audio(daemon) == [])
    try agent.reportAudio(Array(streams.prefix(1024)))
    #expect(try audio(daemon) == [.playing])
  }

  @Test("§13: The suspension waits until a report shows the mute")
  func waitsForMute() throws {
    let daemon = try DaemonFixture(.init(policy: [("AudioMuteTime", "10s")]))
    let monitor = try Monitor(daemon)
    let program = try daemon.shell("read line")
    try daemon.adopt(first, program)
    let agent = try TestAgent(daemon)
    try agent.reportAudio([agent.stream(7, of: program.pid)])
    try daemon.sendToBackground(first)
    let mute = try agent.nextMute()
    #expect(mute?["streams"] == [7] && mute?["muted"] == true && mute?["generation"] == 1)
    #expect(try daemon.application(first).state == .background)
    #expect(try daemon.state(of: program.pid) != .stopped)
    try agent.reportAudio([agent.stream(7, of: program.pid, muted: true)])
    try monitor.transition(first, to: .suspended)
    try daemon.activate(first)
    let unmute = try agent.nextMute()
    #expect(unmute?["streams"] == [7] && unmute?["muted"] == false)
  }

  @Test(
    "§13: The user is shown which application records in the background; the choice activates it")
  func recordingNotice() throws {
    let daemon = try DaemonFixture()
    let monitor = try Monitor(daemon)
    let program = try daemon.shell("read line")
    try daemon.adopt(first, program, modes: ["audio"])
    let agent = try TestAgent(daemon)
    var stream = try agent.stream(1, of: program.pid)
    stream.direction = .recording
    try agent.reportAudio([stream])
    try daemon.sendToBackground(first)
    let notice = try #require(try agent.nextOrder("show"))
    #expect(notice["title"] == .string("\(first) records audio"))
    guard case .integer(let id)? = notice["id"] else {
      Issue.record("no id: \(notice)")
      return
    }
    let second = try TestAgent(daemon, expecting: "show")
    try second.choose(id)
    try monitor.transition(first, to: .active)
    #expect(try second.nextOrder("close")?["id"] == .integer(id))
  }

  @Test("§13: With AudioRecordingNotice off, the user is not shown which application records")
  func noRecordingNotice() throws {
    let daemon = try DaemonFixture(.init(policy: [("AudioRecordingNotice", "false")]))
    let program = try daemon.shell("read line")
    try daemon.adopt(first, program, modes: ["audio"])
    let agent = try TestAgent(daemon)
    var stream = try agent.stream(1, of: program.pid)
    stream.direction = .recording
    try agent.reportAudio([stream])
    try daemon.sendToBackground(first)
    // If the daemon had ordered a notification, `TestAgent` would receive that order before
    // `synchronized`, and fail.
    _ = try TestAgent(daemon)
    #expect(try audio(daemon) == [.recording])
  }

  @Test("§13: A new agent receives all mutes again, and the ends that no report has confirmed")
  func newAgent() throws {
    let daemon = try DaemonFixture()
    let monitor = try Monitor(daemon)
    let program = try daemon.shell("read line")
    try daemon.adopt(first, program)
    let agent = try TestAgent(daemon)
    try agent.reportAudio([agent.stream(7, of: program.pid)])
    try daemon.sendToBackground(first)
    try agent.reportAudio([agent.stream(7, of: program.pid, muted: true)])
    try monitor.transition(first, to: .suspended)
    let second = try TestAgent(daemon)
    #expect(try second.nextMute()?["muted"] == true)
    try daemon.activate(first)
    #expect(try second.nextMute()?["muted"] == false)
    let third = try TestAgent(daemon)
    #expect(try third.nextMute()?["muted"] == false)
    guard case .integer(let number)? = try third.nextOrder("confirm") else {
      Issue.record("the order to confirm has no number")
      return
    }
    try third.reportAudio([third.stream(7, of: program.pid)], confirmed: Int(number))
    // The fourth agent has nothing to unmute, so the order to mute it again comes first.
    let fourth = try TestAgent(daemon)
    try fourth.reportAudio([fourth.stream(7, of: program.pid)])
    try daemon.sendToBackground(first)
    #expect(try fourth.nextMute()?["muted"] == true)
  }
}
