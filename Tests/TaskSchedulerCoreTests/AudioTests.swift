import Testing

@testable import TaskSchedulerCore

private let user = mail.owner

extension World {
  fileprivate mutating func sendAway(_ app: ApplicationKey) {
    ask { .operation(.sendToBackground($0, app)) }
  }

  fileprivate mutating func activate(_ app: ApplicationKey) {
    ask { .operation(.activate($0, app)) }
  }

  /// The orders to mute and unmute since the last ``forget()``.
  fileprivate var orders: [AudioEffect] {
    effects.compactMap {
      guard case .audio(let effect) = $0 else { return nil }
      return switch effect {
      case .mute, .unmute: effect
      case .measure, .stopMeasuring, .showRecording, .hideRecording, .setVolume: nil
      }
    }
  }

  fileprivate var mutedStreams: [UInt64] {
    streams.filter(\.isMuted).map(\.id.index)
  }
}

private func stream(_ index: UInt64, server: UInt64 = 1) -> AudioStreamID {
  AudioStreamID(server: server, index: index)
}

@Suite("§13 Playing entitles (contract.md#audio-entitles)")
struct AudioEntitlementTests {
  /// Returns a world in which an application with mode audio plays in the background.
  private func player(_ change: (inout Policy) -> Void = { _ in }) -> (World, InstanceID) {
    var world = World(change)
    let id = world.adopt(mail, modes: [.audio])
    world.play(id)
    world.sendAway(mail)
    return (world, id)
  }

  @Test("With mode audio, an application runs in the background while it is audible")
  func audible() {
    var (world, id) = player()
    #expect(world.state(id) == .background)
    #expect(world.status(id)?.entitlements == [.audio])
    world.advance(by: .seconds(7200))
    #expect(world.state(id) == .background)
  }

  @Test("With mode audio, an application runs in the background while it records")
  func records() {
    var world = World()
    let id = world.adopt(mail, modes: [.audio])
    world.play(id, .recording)
    world.sendAway(mail)
    world.advance(by: .seconds(7200))
    #expect(world.state(id) == .background)
    #expect(world.status(id)?.audio == AudioUse(isRecording: true))
    world.endPlaying(id)
    #expect(world.state(id) == .suspended)
  }

  @Test("The entitlement ends AudioGraceTime after the last stream was paused")
  func grace() {
    var (world, id) = player()
    world.pause(id)
    world.advance(by: .milliseconds(4_999))
    #expect(world.state(id) == .background)
    #expect(world.scheduler.explanation(of: mail)?.limits.map(\.kind) == [.audio])
    world.advance(by: .milliseconds(1))
    #expect(world.state(id) == .suspended)
    let paused = world.now.earlier(by: .seconds(5))
    #expect(
      world.scheduler.explanation(of: mail)?.lastEntitlement
        == EndedEntitlement(kind: .audio, at: paused))
  }

  @Test(
    "A stream that is paused, muted, or has ended does not play",
    arguments: ["paused", "muted", "ended"])
  func silent(_ how: String) {
    var (world, id) = player()
    switch how {
    case "paused": world.streams[0].isRunning = false
    case "muted": world.streams[0].isMuted = true
    case _: world.streams = []
    }
    world.feed(world.audioReport)
    #expect(world.status(id)?.audio.isAudible == false)
    world.advance(by: .seconds(5))
    #expect(world.state(id) == .suspended)
  }

  @Test("A stream that begins within AudioGraceTime continues the entitlement")
  func nextTrack() {
    var (world, id) = player()
    world.streams = []
    world.feed(world.audioReport)
    world.advance(by: .seconds(4))
    world.play(id)
    world.advance(by: .seconds(3600))
    #expect(world.state(id) == .background)
  }

  @Test("Without mode audio, audio does not entitle an application to run")
  func withoutMode() {
    var world = World()
    let id = world.adopt(mail)
    world.play(id)
    world.sendAway(mail)
    #expect(world.state(id) == .suspended)
    #expect(world.status(id)?.entitlements == [])
  }

  @Test("AudioGraceTime that passes in the foreground does not apply later in the background")
  func graceInTheForeground() {
    var world = World()
    let id = world.adopt(mail, modes: [.audio])
    world.play(id)
    world.pause(id)
    world.advance(by: .seconds(6))
    world.sendAway(mail)
    #expect(world.state(id) == .suspended)
  }

  @Test("Streams of another user's agent do not entitle an application")
  func otherUser() {
    var world = World()
    let id = world.adopt(mail, modes: [.audio])
    world.feed(
      .session(.audio(UserID(2000), AudioSnapshot([AudioStream(stream(1), of: id)]))))
    #expect(world.status(id)?.audio == AudioUse())
    world.sendAway(mail)
    #expect(world.state(id) == .suspended)
  }

  @Test("SessionGraceTime after the loss of the agent, audio entitles no application")
  func lostAgent() {
    var (world, id) = player()
    world.feed(.session(.audioLost(user)))
    world.advance(by: .milliseconds(9_999))
    #expect(world.state(id) == .background)
    world.advance(by: .milliseconds(1))
    #expect(world.state(id) == .suspended)
    #expect(world.scheduler.explanation(of: mail)?.lastEntitlement?.kind == .audioLost)
    #expect(world.orders.isEmpty, "the scheduler knows no stream")
    #expect(world.scheduler.nextDeadline == nil)
  }

  @Test("An agent that comes back within SessionGraceTime changes nothing")
  func agentComesBack() {
    var (world, id) = player()
    world.feed(.session(.audioLost(user)))
    world.advance(by: .seconds(9))
    world.feed(world.audioReport)
    world.advance(by: .seconds(60))
    #expect(world.state(id) == .background)
  }

  @Test("An agent that comes back later resumes an application with mode audio that still plays")
  func agentComesBackLate() {
    var (world, id) = player()
    world.feed(.session(.audioLost(user)))
    world.advance(by: .seconds(60))
    #expect(world.state(id) == .suspended)
    world.forget()
    world.feed(world.audioReport)
    #expect(world.state(id) == .background)
    #expect(world.effects.contains(.resume(id)))
    #expect(world.scheduler.explanation(of: mail)?.cause == .audio)
    #expect(world.orders.isEmpty)
  }

  @Test("A playing application survives the absence of the daemon, and its grace begins anew")
  func absence() throws {
    var (world, id) = player()
    try world.crash(awayFor: .seconds(60))
    #expect(world.state(id) == .background)
    world.pause(id)
    try world.crash(awayFor: .seconds(60))
    #expect(world.state(id) == .background)
    world.advance(by: .milliseconds(4_999))
    #expect(world.state(id) == .background)
    world.advance(by: .milliseconds(1))
    #expect(world.state(id) == .suspended)
  }

  @Test("The records tell when an application plays and records")
  func recordsOfUse() {
    var (world, id) = player()
    world.play(id, .recording)
    world.pause(id)
    let changes = world.changes(of: mail).filter {
      if case .audioChanged = $0 { true } else { false }
    }
    #expect(
      changes == [
        .audioChanged(isAudible: true, isRecording: false),
        .audioChanged(isAudible: true, isRecording: true),
        .audioChanged(isAudible: false, isRecording: false),
      ])
  }
}

@Suite("§13 Muting (contract.md#audio-mute)")
struct MuteTests {
  /// Returns a world in which an application without mode audio plays in the foreground.
  private func player(
    muting: World.Answer = .atOnce, _ change: (inout Policy) -> Void = { _ in }
  ) -> (World, InstanceID) {
    var world = World(change)
    world.muting = muting
    let id = world.adopt(mail)
    world.play(id)
    world.forget()
    return (world, id)
  }

  @Test("If an application without mode audio still plays, it is muted before its suspension")
  func before() throws {
    var (world, id) = player()
    world.sendAway(mail)
    #expect(world.state(id) == .suspended)
    let mute = try #require(world.position(of: .audio(.mute(user, [stream(1)]))))
    let suspend = try #require(world.position(of: .suspend(id)))
    #expect(mute < suspend)
    #expect(world.status(id)?.audio == AudioUse(isMuted: true))
    #expect(world.changes(of: mail).contains(.audioMuted(true)))
  }

  @Test("The mute is ended when the application is resumed")
  func resumed() {
    var (world, id) = player()
    world.sendAway(mail)
    #expect(world.mutedStreams == [1])
    world.activate(mail)
    #expect(world.mutedStreams == [])
    #expect(world.status(id)?.audio == AudioUse(isAudible: true))
    #expect(world.scheduler.audioOrders(for: user) == AudioOrders())
  }

  @Test("A silent application is suspended at once, and nothing is muted")
  func silent() {
    var (world, id) = player()
    world.pause(id)
    world.forget()
    world.sendAway(mail)
    #expect(world.state(id) == .suspended)
    #expect(world.orders.isEmpty)
  }

  @Test("The suspension waits for an agent that does not answer, but at most AudioMuteTime")
  func hangingAgent() {
    var (world, id) = player(muting: .never)
    world.sendAway(mail)
    #expect(world.state(id) == .background)
    #expect(world.scheduler.explanation(of: mail)?.limits.map(\.kind) == [.mute])
    world.advance(by: .milliseconds(99))
    #expect(world.state(id) == .background)
    #expect(world.position(of: .suspend(id)) == nil)
    world.advance(by: .milliseconds(1))
    #expect(world.state(id) == .suspended)
  }

  @Test("An entitlement that begins while the suspension waits for the mute ends the mute")
  func entitledMeanwhile() {
    var (world, id) = player(muting: .never)
    world.sendAway(mail)
    world.begin(id)
    #expect(world.orders == [.mute(user, [stream(1)]), .unmute(user, [stream(1)])])
    world.advance(by: .seconds(1))
    #expect(world.state(id) == .background)
    #expect(world.position(of: .suspend(id)) == nil)
  }

  @Test("A stream that a suspended application begins is muted too")
  func lateStream() {
    var (world, id) = player()
    world.sendAway(mail)
    world.beginStream(id)
    world.feed(world.audioReport)
    #expect(world.mutedStreams == [1, 2])
    world.activate(mail)
    #expect(world.mutedStreams == [])
  }

  @Test("A stream that the user muted stays muted when the application is resumed")
  func mutedByTheUser() {
    var (world, id) = player()
    world.beginStream(id, isMuted: true)
    world.feed(world.audioReport)
    world.sendAway(mail)
    #expect(world.mutedStreams == [1, 2])
    world.activate(mail)
    #expect(world.mutedStreams == [2])
  }

  @Test("The mute of an ended application is ended")
  func ended() {
    var (world, id) = player()
    world.sendAway(mail)
    world.feed(.process(.leaderExited(id, .exited(code: 0))))
    #expect(world.mutedStreams == [])
    #expect(world.scheduler.audioOrders(for: user) == AudioOrders())
  }

  @Test("The mutes are ended when the scheduler stops")
  func stopped() {
    var (world, _) = player()
    world.sendAway(mail)
    world.feed(.scheduler(.stop))
    #expect(world.mutedStreams == [])
  }

  @Test("The next stream of an application that ended muted is unmuted")
  func nextStream() {
    var (world, id) = player()
    world.sendAway(mail)
    world.streams = []
    world.feed(.process(.leaderExited(id, .signaled(9))))
    world.feed(world.audioReport)
    let next = world.adopt(mail)
    world.beginStream(next, isMuted: true)
    world.feed(world.audioReport)
    #expect(world.mutedStreams == [])
    world.pause(next)
    world.beginStream(next, isMuted: true)
    world.feed(world.audioReport)
    #expect(world.mutedStreams == [2], "the user muted the stream after that")
  }

  @Test("The mute that a restarted audio server remembers is ended")
  func serverRestarts() {
    var (world, id) = player()
    world.sendAway(mail)
    world.streams = []
    world.feed(world.audioReport)
    world.activate(mail)
    world.streams = [
      AudioStream(stream(1, server: 2), of: id, isMuted: true, memory: world.memory(of: id))
    ]
    world.feed(world.audioReport)
    #expect(world.mutedStreams == [])
  }

  @Test("Every stream that began muted while it was paused is unmuted when it runs")
  func pausedStreams() {
    var (world, id) = player()
    world.sendAway(mail)
    world.streams = []
    world.feed(world.audioReport)
    world.activate(mail)
    // Until a new stream runs, PipeWire does not report whether the stream is muted.
    for _ in 0..<2 { world.beginStream(id, isMuted: true) }
    world.pause(id)
    for running in 0..<2 {
      world.streams[running].isRunning = true
      world.feed(world.audioReport)
    }
    #expect(world.mutedStreams == [])
  }

  @Test("A stream that began unmuted and that the user mutes later stays muted")
  func pausedAndMutedByTheUser() {
    var (world, id) = player()
    world.beginStream(id)
    world.streams[1].isRunning = false
    world.feed(world.audioReport)
    world.sendAway(mail)
    world.streams.removeFirst()
    world.feed(world.audioReport)
    world.activate(mail)
    world.streams[0].isRunning = true
    world.streams[0].isMuted = true
    world.feed(world.audioReport)
    #expect(world.mutedStreams == [2])
  }

  @Test("A mute is ended even if a new agent repeats it after the order to end it")
  func repeatedMute() {
    var (world, id) = player()
    world.sendAway(mail)
    world.muting = .never
    // When the agent stops, it ends all mutes.
    world.feed(.session(.audioLost(user)))
    world.streams[0].isMuted = false
    world.feed(world.audioReport)
    world.activate(mail)
    world.feed(world.audioReport)
    world.streams[0].isMuted = true
    world.feed(world.audioReport)
    #expect(world.scheduler.audioOrders(for: user) == AudioOrders(unmuted: [stream(1)]))
    world.streams = []
    world.feed(world.audioReport)
    world.muting = .atOnce
    world.beginStream(id, isMuted: true)
    world.feed(world.audioReport)
    #expect(world.mutedStreams == [])
  }

  @Test("A new agent's report from before its order to mute does not confirm the end of the mute")
  func repeatedMuteOfAnEndedApplication() {
    var (world, id) = player()
    let memory = world.memory(of: id)
    world.sendAway(mail)
    world.muting = .never
    // When the agent stops, it ends all mutes. The next agent receives the order to mute.
    world.feed(.session(.audioLost(user)))
    world.streams[0].isMuted = false
    world.feed(.process(.leaderExited(id, .exited(code: 0))))
    world.feed(world.audioReport)
    // The agent mutes the stream, which ends before the order to unmute it.
    world.streams = []
    world.feed(world.audioReport)
    world.muting = .atOnce
    world.beginStream(world.adopt(mail), isMuted: true, memory: memory)
    world.feed(world.audioReport)
    #expect(world.mutedStreams == [])
  }

  @Test("The daemon forgets the mute of a stream that the user has unmuted")
  func unmutedByTheUser() {
    var (world, _) = player()
    world.sendAway(mail)
    world.streams[0].isMuted = false
    world.feed(world.audioReport)
    world.muting = .never
    world.activate(mail)
    world.feed(world.audioReport)
    #expect(world.scheduler.audioOrders(for: user) == AudioOrders())
  }

  @Test("A report that is older than the order to mute does not confirm the end of the mute")
  func oldReport() {
    var (world, id) = player()
    world.muting = .never
    world.sendAway(mail)
    world.activate(mail)
    world.feed(world.audioReport)
    #expect(world.scheduler.audioOrders(for: user) == AudioOrders(unmuted: [stream(1)]))
    world.streams[0].isMuted = true
    world.feed(world.audioReport)
    world.streams[0].isMuted = false
    world.feed(world.audioReport)
    #expect(world.scheduler.audioOrders(for: user) == AudioOrders())
    #expect(world.state(id) == .active)
  }

  @Test("If the server also mutes a new stream of another program, the daemon unmutes that stream")
  func otherProgram() {
    var (world, id) = player()
    world.sendAway(mail)
    let other = AudioStream(stream(9), of: nil, isMuted: true, memory: world.memory(of: id))
    world.streams.append(other)
    world.forget()
    world.feed(world.audioReport)
    #expect(world.mutedStreams == [1])
    #expect(world.orders == [.unmute(user, [stream(9)])])
  }

  @Test(
    "A stream that the server begins muted for another reason than the daemon's mute stays muted")
  func ownMute() {
    var (world, id) = player()
    world.sendAway(mail)
    let other = AudioStream(stream(9), of: nil, isMuted: true, memory: world.memory(of: id) + 1)
    world.streams.append(other)
    world.feed(world.audioReport)
    #expect(world.mutedStreams == [1, 9])
  }

  @Test("An order stays outstanding until a report confirms it, even after a crash of the daemon")
  func outstanding() throws {
    var (world, id) = player()
    world.sendAway(mail)
    world.muting = .never
    world.activate(mail)
    #expect(world.scheduler.audioOrders(for: user) == AudioOrders(unmuted: [stream(1)]))
    try world.crash()
    #expect(world.scheduler.audioOrders(for: user) == AudioOrders(unmuted: [stream(1)]))
    world.streams[0].isMuted = false
    world.feed(world.audioReport)
    #expect(world.scheduler.audioOrders(for: user) == AudioOrders())
    #expect(world.status(id)?.audio == AudioUse(isAudible: true))
  }

  @Test("A suspended application is still muted after a crash of the daemon")
  func stillMuted() throws {
    var (world, id) = player()
    world.sendAway(mail)
    try world.crash()
    #expect(world.state(id) == .suspended)
    #expect(world.scheduler.audioOrders(for: user) == AudioOrders(muted: [stream(1)]))
    world.activate(mail)
    #expect(world.mutedStreams == [])
  }

  @Test("A failed suspension ends the mute")
  func failedSuspension() {
    var (world, id) = player()
    world.suspending = .failing
    world.sendAway(mail)
    #expect(world.state(id) == .background)
    #expect(world.mutedStreams == [])
  }

  @Test("A suspended application without mode audio that another program unmutes is not resumed")
  func unmutedFromOutside() {
    var (world, id) = player()
    world.sendAway(mail)
    world.streams[0].isMuted = false
    world.feed(world.audioReport)
    #expect(world.state(id) == .suspended)
  }
}
