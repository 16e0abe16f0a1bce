import Testing

@testable import TaskSchedulerCore

private let user = mail.owner

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
    let stream = AudioStream(AudioStreamID(server: 1, index: 1), of: id)
    world.feed(.session(.audio(UserID(2000), AudioSnapshot([stream]))))
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
    #expect(world.muteOrders.isEmpty, "the scheduler knows no stream")
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
    #expect(world.muteOrders.isEmpty)
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
