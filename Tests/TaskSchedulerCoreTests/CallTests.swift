import Testing

@testable import TaskSchedulerCore

private let user = mail.owner

extension World {
  /// Creates an aware application in the foreground, with these modes.
  fileprivate mutating func makeAware(
    _ app: ApplicationKey, _ modes: [BackgroundMode], at seat: SeatID = seat0
  ) -> InstanceID {
    let known = scheduler.applications.all.compactMap(\.manifest).filter { $0.id != app.id }
    let manifest = Manifest(id: app.id, owner: app.owner, backgroundModes: modes)
    feed(.scheduler(.manifestsChanged(known + [manifest])))
    let id = register(app, at: seat)
    acknowledgeAll(id)
    return id
  }

  fileprivate mutating func modem(_ calls: ModemCall...) { feed(.session(.modemCalls(calls))) }

  fileprivate mutating func beginCall(_ id: InstanceID) -> Reply? {
    ask { .application(.beginCall($0, id)) }
  }

  fileprivate mutating func endCall(_ id: InstanceID) -> Reply? {
    ask { .application(.endCall($0, id)) }
  }

  /// Returns the call events that an application received: true if the event put a call on hold,
  /// false if it ended the hold.
  fileprivate func holds(_ id: InstanceID) -> [Bool] {
    notices(id).compactMap { if case .call(_, let isOnHold) = $0 { isOnHold } else { nil } }
  }
}

private let ringing = ModemCall("/call/1", isAnswered: false)

@Suite("§13 Phone calls interrupt audio (contract.md#call-interrupts)")
struct CallTests {
  @Test("A call of a modem interrupts an aware application, and its end tells it to resume")
  func told() {
    var world = World()
    let id = world.makeAware(mail, [.audio])
    world.play(id)
    world.modem(ringing)
    #expect(world.interruptions(id) == [.began])
    #expect(world.state(id) == .inactive)
    #expect(world.status(id)?.audio.interrupter == .phoneCall)
    world.pause(id)
    world.modem()
    #expect(world.interruptions(id) == [.began, .ended(shouldResume: true)])
    #expect(world.state(id) == .active)
    #expect(world.status(id)?.audio.interrupter == nil)
  }

  @Test("The end of an interruption wakes a suspended application for EventTime")
  func wakes() {
    var world = World()
    let id = world.makeAware(mail, [.audio])
    world.play(id)
    world.sendAway(mail)
    world.acknowledgeAll(id)
    world.modem(ringing)
    world.pause(id)
    world.advance(by: .seconds(10))
    #expect(world.state(id) == .suspended)
    world.modem()
    #expect(world.state(id) == .background)
    #expect(world.scheduler.explanation(of: mail)?.cause == .callEnded)
    world.advance(by: .seconds(10))
    #expect(world.state(id) == .suspended)
  }

  @Test("An application that was not active stays in its state when the interruption ends")
  func background() {
    var world = World()
    let id = world.makeAware(mail, [.audio])
    world.play(id)
    world.sendAway(mail)
    world.acknowledgeAll(id)
    world.modem(ringing)
    world.modem()
    #expect(world.state(id) == .background)
  }

  @Test("A media player is paused, and plays again when the call ends")
  func paused() {
    var world = World()
    let id = world.adopt(mail, modes: [.audio])
    world.feed(.session(.players(user, [id])))
    world.play(id)
    world.sendAway(mail)
    world.modem(ringing)
    #expect(world.commands == [.pause])
    world.pause(id)
    world.advance(by: .seconds(60))
    #expect(world.state(id) == .suspended)
    world.modem()
    #expect(world.commands == [.pause, .play])
    #expect(world.state(id) == .background)
  }

  @Test("If no agent is attached when the call ends, the next agent plays the media player")
  func pausedWithoutAgent() {
    var world = World()
    let id = world.adopt(mail, modes: [.audio])
    world.feed(.session(.players(user, [id])))
    world.play(id)
    world.modem(ringing)
    world.pause(id)
    world.feed(.session(.audioLost(user)))
    world.modem()
    #expect(world.commands == [.pause])
    world.feed(world.audioReport)
    world.feed(.session(.players(user, [id])))
    #expect(world.commands == [.pause, .play])
  }

  @Test("A media player that the user controls during the call does not play by itself afterwards")
  func controlled() {
    var world = World()
    let id = world.adopt(mail, modes: [.audio])
    world.feed(.session(.players(user, [id])))
    world.play(id)
    world.sendAway(mail)
    world.modem(ringing)
    world.pause(id)
    world.feed(.session(.playerCalled(user, id, .command)))
    world.modem()
    #expect(world.commands == [.pause])
  }

  @Test("An application that is neither aware nor a media player is muted until the call ends")
  func muted() {
    var world = World()
    let id = world.adopt(mail, modes: [.audio])
    world.play(id)
    world.sendAway(mail)
    world.modem(ringing)
    #expect(world.streams.map(\.isMuted) == [true])
    world.advance(by: .seconds(60))
    #expect(world.state(id) == .suspended)
    world.modem()
    #expect(world.streams.map(\.isMuted) == [false])
    world.advance(by: .seconds(60))
    #expect(world.state(id) == .background)
  }

  @Test("An application that plays again during a call is muted until the end of the call")
  func playsAgain() {
    var world = World()
    let id = world.makeAware(mail, [.audio])
    world.play(id)
    world.modem(ringing)
    world.pause(id)
    world.play(id)
    #expect(world.streams.map(\.isMuted) == [true])
    #expect(world.interruptions(id) == [.began])
    world.modem()
    #expect(world.streams.map(\.isMuted) == [false])
  }

  @Test("An application that begins to play during a call is interrupted")
  func begins() {
    var world = World()
    world.modem(ringing)
    let id = world.makeAware(mail, [.audio])
    world.play(id)
    #expect(world.interruptions(id) == [.began])
    world.modem(ModemCall("/call/1", isAnswered: true))
    world.modem(ModemCall("/call/2", isAnswered: false))
    #expect(world.interruptions(id) == [.began], "one call follows the other")
    world.modem()
    #expect(world.interruptions(id).count == 2)
  }

  @Test("The death of the daemon during a call loses no interruption")
  func recovery() throws {
    var world = World()
    let id = world.makeAware(mail, [.audio])
    world.play(id)
    world.modem(ringing)
    world.pause(id)
    try world.crash()
    world.modem()
    #expect(world.interruptions(id).last == .ended(shouldResume: true))
  }
}

@Suite("§13 Phone calls of applications (contract.md#call-interrupts)")
struct ApplicationCallTests {
  @Test("A call of an application interrupts the other applications of its user")
  func others() {
    var world = World()
    let id = world.makeAware(mail, [.audio])
    world.play(id)
    let phone = world.makeAware(music, [.voip], at: SeatID("tty2"))
    world.play(phone)
    #expect(world.beginCall(phone) == .done)
    #expect(world.beginCall(phone) == .done)
    #expect(world.interruptions(id) == [.began])
    #expect(world.interruptions(phone) == [])
    #expect(world.status(phone)?.audio.isInCall == true)
    #expect(world.endCall(phone) == .done)
    #expect(world.endCall(phone) == .done)
    #expect(world.interruptions(id) == [.began, .ended(shouldResume: true)])
  }

  @Test("A call concerns no application of another user")
  func otherUser() {
    var world = World()
    let phone = world.makeAware(key("org.example.phone", uid: 2000), [.voip], at: SeatID("tty2"))
    let id = world.makeAware(mail, [.audio])
    world.play(id)
    #expect(world.beginCall(phone) == .done)
    #expect(world.interruptions(id) == [])
  }

  @Test("A call needs mode voip and an event stream")
  func refused() {
    var world = World()
    let id = world.makeAware(mail, [.audio])
    #expect(world.beginCall(id) == .refused(.modeNotDeclared(.voip)))
    let unaware = world.adopt(music, modes: [.voip])
    #expect(world.beginCall(unaware) == .refused(.noEventStream))
  }

  @Test("While an application plays or records during its call, it is not suspended")
  func entitled() {
    var world = World()
    let phone = world.makeAware(mail, [.voip])
    #expect(world.beginCall(phone) == .done)
    world.play(phone, .recording)
    world.sendAway(mail)
    world.acknowledgeAll(phone)
    world.advance(by: .seconds(3600))
    #expect(world.state(phone) == .background)
    #expect(world.endCall(phone) == .done)
    #expect(world.state(phone) == .suspended)
  }

  @Test("The newest call puts the earlier one on hold, and its end resumes it")
  func hold() {
    var world = World()
    let first = world.makeAware(mail, [.voip])
    let second = world.makeAware(music, [.voip], at: SeatID("tty2"))
    #expect(world.beginCall(first) == .done)
    #expect(world.beginCall(second) == .done)
    #expect(world.holds(first) == [true])
    #expect(world.holds(second) == [])
    #expect(world.endCall(second) == .done)
    #expect(world.holds(first) == [true, false])
    world.modem(ringing)
    #expect(world.holds(first) == [true, false], "a call that rings puts none on hold")
    world.modem(ModemCall("/call/1", isAnswered: true))
    #expect(world.holds(first) == [true, false, true])
  }

  @Test("The end of an application ends its call")
  func end() {
    var world = World()
    let id = world.makeAware(mail, [.audio])
    world.play(id)
    let phone = world.makeAware(music, [.voip], at: SeatID("tty2"))
    #expect(world.beginCall(phone) == .done)
    world.feed(.process(.leaderExited(phone, .signaled(9))))
    #expect(world.interruptions(id) == [.began, .ended(shouldResume: true)])
    #expect(world.scheduler.calls.isEmpty)
  }
}
