import Testing

@testable import TaskSchedulerCore

private let user = mail.owner
private let measured = AudioStreamID(server: 1, index: 1)

@Suite("§13 Silence counts as a pause (contract.md#audio-silence)")
struct AudioSilenceTests {
  /// Returns a world in which an application plays in the background.
  private func player(modes: [BackgroundMode] = [.audio]) -> (World, InstanceID) {
    var world = World()
    let id = world.adopt(mail, modes: modes)
    world.play(id)
    world.ask { .operation(.sendToBackground($0, mail)) }
    return (world, id)
  }

  private func orders(_ world: World) -> [AudioEffect] {
    world.effects.compactMap { if case .audio(let effect) = $0 { effect } else { nil } }
  }

  @Test("An application that is silent for AudioSilenceTime counts as paused")
  func silent() {
    var (world, id) = player()
    #expect(orders(world) == [.measure(user, [measured])])
    world.setSilent(id, true)
    world.advance(by: .milliseconds(34_999))
    #expect(world.state(id) == .background)
    #expect(world.scheduler.explanation(of: mail)?.limits.map(\.kind) == [.audio])
    world.advance(by: .milliseconds(1))
    #expect(world.state(id) == .suspended)
    let silent = world.now.earlier(by: .seconds(5))
    #expect(
      world.scheduler.explanation(of: mail)?.lastEntitlement
        == EndedEntitlement(kind: .silence, at: silent))
    #expect(world.streams[0].isMuted)
  }

  @Test("An application that becomes loud within AudioSilenceTime continues to run")
  func loud() {
    var (world, id) = player()
    world.setSilent(id, true)
    world.advance(by: .milliseconds(29_999))
    world.setSilent(id, false)
    world.advance(by: .seconds(3600))
    world.setSilent(id, true)
    world.advance(by: .seconds(29))
    #expect(world.state(id) == .background)
  }

  @Test("An application with one loud stream plays")
  func oneLoud() {
    var (world, id) = player()
    world.beginStream(id)
    world.streams[0].isSilent = true
    world.feed(world.audioReport)
    #expect(orders(world).count == 2)
    world.advance(by: .seconds(3600))
    #expect(world.state(id) == .background)
  }

  @Test("A stream that begins after AudioSilenceTime, within AudioGraceTime, is heard")
  func newStream() {
    var (world, id) = player()
    world.setSilent(id, true)
    world.advance(by: .seconds(32))
    world.beginStream(id)
    world.feed(world.audioReport)
    world.advance(by: .seconds(20))
    #expect(world.state(id) == .background)
  }

  @Test("Streams are measured only while audio is the only entitlement of the application")
  func notMeasured() {
    var (world, id) = player()
    world.forget()
    let task = world.begin(id)
    #expect(orders(world) == [.stopMeasuring(user, [measured])])
    world.forget()
    world.end(id, task)
    #expect(orders(world) == [.measure(user, [measured])])
    world.forget()
    world.ask { .operation(.activate($0, mail)) }
    #expect(orders(world) == [.stopMeasuring(user, [measured])])
  }

  @Test("The streams of an application that records, or has no mode audio, are not measured")
  func neverMeasured() {
    var (world, id) = player()
    world.forget()
    world.play(id, .recording)
    #expect(orders(world).first == .stopMeasuring(user, [measured]))
    let (other, _) = player(modes: [])
    #expect(!orders(other).contains { if case .measure = $0 { true } else { false } })
  }

  @Test("A new agent measures the streams again, and AudioSilenceTime begins again")
  func newAgent() {
    var (world, id) = player()
    world.setSilent(id, true)
    world.advance(by: .seconds(20))
    #expect(world.scheduler.audioOrders(for: user) == AudioOrders(measured: [measured]))
    world.setSilent(id, false)
    world.setSilent(id, true)
    world.advance(by: .seconds(29))
    #expect(world.state(id) == .background)
  }

  @Test("A silent application that is resumed plays again for AudioSilenceTime")
  func resumed() {
    var (world, id) = player(modes: [.audio, .voip])
    let socket = world.manage(id)
    world.setSilent(id, true)
    world.advance(by: .seconds(35))
    #expect(world.state(id) == .suspended)
    world.streams[0].isSilent = false
    world.feed(.socket(.ready(id, [SocketReadiness(socket, .data)])))
    world.acknowledgeNotices(id)
    #expect(world.state(id) == .background)
    world.setSilent(id, true)
    world.advance(by: .seconds(35))
    #expect(world.state(id) == .suspended)
  }
}

@Suite("§13 Recording applications are shown (contract.md#audio-recording-notice)")
struct RecordingNoticeTests {
  private func notices(_ world: World) -> [AudioEffect] {
    world.effects.compactMap {
      guard case .audio(let effect) = $0 else { return nil }
      return switch effect {
      case .showRecording, .hideRecording: effect
      case .mute, .unmute, .measure, .stopMeasuring, .setVolume, .confirm: nil
      }
    }
  }

  @Test("The user is shown an application only while it records in the background")
  func shown() {
    var world = World()
    let id = world.adopt(mail, modes: [.audio])
    world.play(id, .recording)
    #expect(notices(world) == [])
    world.ask { .operation(.sendToBackground($0, mail)) }
    let notice = RecordingNotice(id, mail, since: world.now)
    #expect(notices(world) == [.showRecording(notice)])
    #expect(world.scheduler.recordingNotices(for: user) == [notice])
    world.advance(by: .seconds(60))
    world.feed(.session(.recordingChosen(mail)))
    #expect(world.state(id) == .active)
    #expect(notices(world) == [.showRecording(notice), .hideRecording(id, mail)])
    #expect(world.scheduler.recordingNotices(for: user) == [])
  }

  @Test("The notice ends with the recording, and with the application")
  func ends() {
    var world = World()
    let id = world.adopt(mail, modes: [.audio])
    world.play(id, .recording)
    world.ask { .operation(.sendToBackground($0, mail)) }
    world.pause(id)
    #expect(notices(world).last == .hideRecording(id, mail))
    world.play(id, .recording)
    #expect(notices(world).count == 3)
    world.feed(.process(.leaderExited(id, .exited(code: 0))))
    #expect(notices(world).last == .hideRecording(id, mail))
  }

  @Test("With AudioRecordingNotice off, the user is shown nothing")
  func off() {
    var world = World { $0.audioRecordingNotice = false }
    let id = world.adopt(mail, modes: [.audio])
    world.play(id, .recording)
    world.ask { .operation(.sendToBackground($0, mail)) }
    #expect(notices(world) == [])
  }
}

@Suite("§12 The priority of players (contract.md#resource-playing)")
struct AudioPriorityTests {
  private func priorities(_ world: World) -> [ProcessPriority] {
    world.effects.compactMap {
      if case .resources(.prioritize(_, let priority)) = $0 { priority } else { nil }
    }
  }

  @Test("While an application with mode audio plays or records, it keeps its priorities")
  func keeps() {
    var world = World()
    let id = world.adopt(mail, modes: [.audio])
    world.play(id)
    world.ask { .operation(.sendToBackground($0, mail)) }
    #expect(priorities(world) == [] && world.status(id)?.priority == .foreground)
    let task = world.begin(id)
    world.endPlaying(id)
    #expect(priorities(world) == [.background] && world.status(id)?.priority == .background)
    world.play(id, .recording)
    #expect(priorities(world) == [.background, .foreground])
    world.endPlaying(id)
    world.end(id, task)
    #expect(priorities(world) == [.background, .foreground, .background, .suspended])
  }

  @Test("An application without mode audio keeps no priorities while it plays")
  func withoutMode() {
    var world = World()
    let id = world.adopt(mail)
    world.play(id)
    world.begin(id)
    world.ask { .operation(.sendToBackground($0, mail)) }
    #expect(priorities(world) == [.background])
  }

  @Test("A suspended player that plays again has its priorities before its processes run")
  func resumed() throws {
    var world = World()
    let id = world.adopt(mail, modes: [.audio])
    world.ask { .operation(.sendToBackground($0, mail)) }
    #expect(world.state(id) == .suspended)
    world.forget()
    world.play(id)
    #expect(world.state(id) == .background)
    let raised = try #require(
      world.effects.firstIndex(of: .resources(.prioritize(id, .foreground))))
    let resumed = try #require(world.effects.firstIndex(of: .resume(id)))
    #expect(raised < resumed)
    #expect(priorities(world) == [.foreground])
  }

  @Test("SessionGraceTime after the loss of the agent, a player loses its priorities")
  func lost() {
    var world = World()
    let id = world.adopt(mail, modes: [.audio])
    world.play(id)
    world.ask { .operation(.sendToBackground($0, mail)) }
    world.begin(id)
    world.feed(.session(.audioLost(user)))
    world.advance(by: .seconds(10))
    #expect(priorities(world) == [.background])
  }
}
