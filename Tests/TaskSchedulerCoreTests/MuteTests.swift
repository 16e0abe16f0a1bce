import Testing

@testable import TaskSchedulerCore

private let user = mail.owner

extension World {
  fileprivate var mutedStreams: [UInt64] {
    streams.filter(\.isMuted).map(\.id.index)
  }

  /// Ends the connection to the agent. The next agent has carried out no orders yet.
  fileprivate mutating func loseAgent() {
    muting = .never
    confirmed = 0
    feed(.session(.audioLost(user)))
  }
}

private func stream(_ index: UInt64, server: UInt64 = 1) -> AudioStreamID {
  AudioStreamID(server: server, index: index)
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
    #expect(world.muteOrders.isEmpty)
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
    #expect(world.muteOrders == [.mute(user, [stream(1)]), .unmute(user, [stream(1)])])
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
    world.loseAgent()
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
    world.loseAgent()
    world.streams[0].isMuted = false
    world.feed(.process(.leaderExited(id, .exited(code: 0))))
    world.feed(world.audioReport)
    // The next agent repeats the mute. The stream ends before the order to unmute it.
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
    world.feed(world.confirmingReport)
    #expect(world.scheduler.audioOrders(for: user) == AudioOrders())
  }

  @Test("Only a report that is newer than all orders, and unmuted, confirms the end of a mute")
  func oldReport() {
    var (world, id) = player()
    world.muting = .never
    world.sendAway(mail)
    world.activate(mail)
    world.feed(world.audioReport)
    #expect(world.scheduler.audioOrders(for: user) == AudioOrders(unmuted: [stream(1)]))
    world.streams[0].isMuted = true
    world.feed(world.confirmingReport)
    #expect(world.scheduler.audioOrders(for: user) == AudioOrders(unmuted: [stream(1)]))
    world.streams[0].isMuted = false
    world.feed(world.audioReport)
    #expect(world.scheduler.audioOrders(for: user) == AudioOrders())
    #expect(world.state(id) == .active)
  }

  @Test("The confirmed end of an earlier mute does not confirm the end of a later one")
  func mutedTwice() {
    var (world, id) = player()
    world.sendAway(mail)
    // The agent carries out the orders to unmute, to mute and to unmute one after the other.
    world.muting = .never
    world.activate(mail)
    let first = world.scheduler.lastConfirm(of: user)
    world.suspending = .failing
    world.sendAway(mail)
    world.advance(by: .milliseconds(100))
    #expect(world.muteOrders.suffix(2) == [.mute(user, [stream(1)]), .unmute(user, [stream(1)])])
    world.streams[0].isMuted = false
    world.confirmed = first
    world.feed(world.audioReport)
    world.streams[0].isMuted = true
    world.feed(world.audioReport)
    // The server ends before the last order reaches it, so it remembers the mute.
    world.streams = []
    world.feed(world.audioReport)
    world.muting = .atOnce
    world.beginStream(id, isMuted: true)
    world.feed(world.audioReport)
    #expect(world.mutedStreams == [])
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
    #expect(world.muteOrders == [.unmute(user, [stream(9)])])
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
    world.feed(world.confirmingReport)
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
