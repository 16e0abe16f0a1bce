import Testing

@testable import TaskSchedulerCore

private let user = mail.owner

extension World {
  /// Creates an unaware application in the background that is a media player on the session bus.
  fileprivate mutating func makePlayer(
    _ app: ApplicationKey, modes: [BackgroundMode] = [.audio]
  ) -> InstanceID {
    let id = adopt(app, modes: modes)
    setPlayers([id])
    ask { .operation(.sendToBackground($0, app)) }
    return id
  }

  /// Creates an aware application with mode audio that is no media player.
  fileprivate mutating func makeAware(_ app: ApplicationKey) -> InstanceID {
    let known = scheduler.applications.all.compactMap(\.manifest).filter { $0.id != app.id }
    let manifest = Manifest(id: app.id, owner: app.owner, backgroundModes: [.audio])
    feed(.scheduler(.manifestsChanged(known + [manifest])))
    return make(app, .active)
  }

  fileprivate mutating func setPlayers(_ ids: [InstanceID]) {
    feed(.session(.players(user, ids)))
  }

  fileprivate mutating func call(_ id: InstanceID, _ call: PlayerCall) {
    feed(.session(.playerCalled(user, id, call)))
  }

  fileprivate mutating func remote(_ command: RemoteCommand) -> Reply? {
    ask { .operation(.remoteControl($0, user, command)) }
  }

  /// The orders to agents about media players.
  fileprivate var orders: [RemoteEffect] {
    effects.compactMap { if case .remote(let order) = $0 { order } else { nil } }
  }

  fileprivate func isRunning(_ id: InstanceID) -> Bool { state(id) != .suspended }
}

@Suite("§13 Calls to media players (contract.md#remote-control)")
struct PlayerCallTests {
  @Test("A command resumes a suspended media player for EventTime")
  func command() {
    var world = World()
    let id = world.makePlayer(mail)
    #expect(world.state(id) == .suspended)
    world.call(id, .command)
    #expect(world.state(id) == .background)
    #expect(world.status(id)?.entitlements == [.event])
    #expect(world.scheduler.explanation(of: mail)?.cause == .remoteControl)
    world.advance(by: .milliseconds(9_999))
    #expect(world.isRunning(id))
    world.advance(by: .milliseconds(1))
    #expect(world.state(id) == .suspended)
  }

  @Test("A media player that plays after a command keeps running")
  func playsAfterwards() {
    var world = World()
    let id = world.makePlayer(mail)
    world.call(id, .command)
    world.play(id)
    world.advance(by: .seconds(3600))
    #expect(world.state(id) == .background)
  }

  @Test("A read resumes a suspended media player for RemoteReadTime, once in RemoteReadInterval")
  func read() {
    var world = World()
    let id = world.makePlayer(mail)
    world.advance(by: .seconds(5))
    world.call(id, .read)
    #expect(world.isRunning(id))
    #expect(world.scheduler.explanation(of: mail)?.cause == .remoteRead)
    world.advance(by: .seconds(1))
    #expect(world.state(id) == .suspended)
    world.advance(by: .seconds(4))
    world.call(id, .read)
    #expect(world.isRunning(id))
  }

  @Test("A read that comes too early waits until RemoteReadInterval has passed")
  func earlyRead() {
    var world = World()
    let id = world.makePlayer(mail)
    world.advance(by: .seconds(5))
    world.call(id, .read)
    world.advance(by: .seconds(2))
    world.call(id, .read)
    #expect(world.state(id) == .suspended)
    #expect(!world.scheduler.isAffected(by: .read, id, of: user, at: world.now))
    world.advance(by: .milliseconds(2_999))
    #expect(world.state(id) == .suspended)
    world.advance(by: .milliseconds(1))
    #expect(world.isRunning(id))
    world.advance(by: .seconds(100))
    #expect(world.state(id) == .suspended, "no read waits any more")
  }

  @Test("A command answers a read that waits")
  func commandAfterWait() {
    var world = World()
    let id = world.makePlayer(mail)
    world.advance(by: .seconds(5))
    world.call(id, .read)
    world.advance(by: .seconds(2))
    world.call(id, .read)
    world.call(id, .command)
    world.advance(by: .seconds(10))
    #expect(world.state(id) == .suspended)
    world.forget()
    world.advance(by: .seconds(100))
    #expect(world.effects == [])
  }

  @Test("A command that follows a read gives the media player EventTime")
  func readAndCommand() {
    var world = World()
    let id = world.makePlayer(mail)
    world.advance(by: .seconds(5))
    world.call(id, .read)
    world.call(id, .command)
    world.call(id, .read)
    world.advance(by: .seconds(9))
    #expect(world.isRunning(id))
    world.advance(by: .seconds(1))
    #expect(world.state(id) == .suspended)
  }

  @Test("A suspended media player that the agent finds runs once, because it may have been called")
  func found() {
    var world = World()
    let id = world.adopt(mail)
    world.ask { .operation(.sendToBackground($0, mail)) }
    #expect(world.state(id) == .suspended)
    world.setPlayers([id])
    #expect(world.isRunning(id))
    world.advance(by: .seconds(1))
    #expect(world.state(id) == .suspended)
    world.setPlayers([id])
    #expect(world.state(id) == .suspended)
  }

  @Test("Commands in quick succession are one event")
  func succession() {
    var world = World()
    let id = world.makePlayer(mail)
    for _ in 0..<1000 { world.call(id, .command) }
    #expect(world.scheduler.instances[id]?.handling.entries.count == 1)
  }

  @Test("A call does not affect a media player in the foreground")
  func foreground() {
    var world = World()
    let id = world.adopt(mail)
    world.setPlayers([id])
    world.forget()
    world.call(id, .command)
    #expect(world.effects == [])
  }

  @Test("Calls that another user's agent reports, and calls to other applications, resume nothing")
  func others() {
    var world = World()
    let id = world.makePlayer(mail)
    world.feed(.session(.playerCalled(UserID(2000), id, .command)))
    world.feed(.session(.players(UserID(2000), [id])))
    #expect(world.state(id) == .suspended)
    let other = world.adopt(maps)
    world.ask { .operation(.sendToBackground($0, maps)) }
    world.call(other, .command)
    #expect(world.state(other) == .suspended)
  }

  @Test("A new agent may not have seen the latest calls, so each suspended media player runs once")
  func newAgent() {
    var world = World()
    let id = world.makePlayer(mail)
    world.feed(world.audioReport)
    world.advance(by: .seconds(6))
    world.feed(.session(.audioLost(user)))
    world.feed(world.audioReport)
    #expect(world.state(id) == .suspended)
    world.setPlayers([id])
    #expect(world.isRunning(id))
    world.advance(by: .seconds(1))
    #expect(world.state(id) == .suspended)
  }

  @Test("SessionGraceTime after the loss of the agent, calls resume nothing")
  func lostAgent() {
    var world = World()
    let id = world.makePlayer(mail)
    world.feed(world.audioReport)
    world.feed(.session(.audioLost(user)))
    world.advance(by: .seconds(10))
    world.call(id, .command)
    #expect(world.state(id) == .suspended)
  }
}

@Suite("§13 Remote control (contract.md#remote-control)")
struct RemoteControlTests {
  @Test("A command reaches the application that was audible last")
  func audibleLast() {
    var world = World()
    let first = world.makePlayer(mail)
    let second = world.makePlayer(music)
    world.setPlayers([first, second])
    // Streams of the role event do not interrupt each other.
    world.play(first, role: .event)
    world.advance(by: .seconds(1))
    world.play(second, role: .event)
    world.advance(by: .seconds(1))
    world.pause(second)
    #expect(world.remote(.pause) == .controlled(mail), "an audible application comes first")
    world.advance(by: .seconds(1))
    world.pause(first)
    #expect(world.remote(.play) == .controlled(mail), "it ceased to be audible last")
    world.feed(.process(.leaderExited(first, .exited(code: 0))))
    #expect(world.remote(.next) == .controlled(music))
    #expect(
      world.orders == [
        .command(user, first, .pause), .command(user, first, .play),
        .command(user, second, .next),
      ])
  }

  @Test("A command resumes a suspended media player")
  func suspendedPlayer() {
    var world = World()
    let id = world.makePlayer(mail)
    world.play(id)
    world.endPlaying(id)
    #expect(world.state(id) == .suspended)
    #expect(world.remote(.seek(.seconds(-10))) == .controlled(mail))
    #expect(world.state(id) == .background)
    #expect(world.changes(of: mail).contains(.remoteControlled(.seek(.seconds(-10)))))
    world.advance(by: .seconds(10))
    #expect(world.state(id) == .suspended)
  }

  @Test("If no application has been audible, a command is refused")
  func nothingPlayed() {
    var world = World()
    #expect(world.remote(.play) == .refused(.nothingPlayed(user)))
    _ = world.makePlayer(mail)
    #expect(world.remote(.play) == .refused(.nothingPlayed(user)))
    // Without a media player or an event stream, an application cannot receive commands.
    let id = world.adopt(maps)
    world.play(id)
    #expect(world.remote(.play) == .refused(.nothingPlayed(user)))
  }

  @Test("An aware application that is no media player receives the command as an event")
  func aware() throws {
    var world = World()
    let id = world.makeAware(mail)
    world.play(id)
    world.ask { .operation(.sendToBackground($0, mail)) }
    world.acknowledgeAll(id)
    world.endPlaying(id)
    #expect(world.state(id) == .suspended)
    #expect(world.remote(.playPause) == .controlled(mail))
    #expect(world.state(id) == .background)
    guard case .remoteControl(let event, .playPause)? = world.notices(id).last else {
      Issue.record("the application received no command")
      return
    }
    #expect(world.ask { .application(.acknowledge($0, id, event)) } == .done)
    world.advance(by: .milliseconds(4_999))
    #expect(world.state(id) == .background, "it may have begun to play")
    world.advance(by: .milliseconds(1))
    #expect(world.state(id) == .suspended)
  }

  @Test("An application that does not acknowledge commands is refused further ones")
  func quota() {
    var world = World { $0.queuedCallbacksMax = 4 }
    let id = world.makeAware(mail)
    world.play(id)
    for _ in 0..<4 { #expect(world.remote(.next) == .controlled(mail)) }
    #expect(
      world.remote(.next) == .refused(.quotaExceeded(name: "MaxQueuedCallbacks", limit: 4)))
    world.feed(.session(.remoteCommand(user, .next)))
    #expect(world.notices(id).count == 4)
  }

  @Test("A command to a media player is refused while no agent can carry it out")
  func withoutAgent() {
    var world = World()
    let id = world.makePlayer(mail)
    world.play(id)
    world.feed(.session(.audioLost(user)))
    #expect(world.remote(.pause) == .refused(.nothingPlayed(user)))
  }

  @Test("A command survives the death of the daemon")
  func recovery() throws {
    var world = World()
    let id = world.makeAware(mail)
    world.play(id)
    try world.crash()
    #expect(world.remote(.pause) == .controlled(mail))
    #expect(
      world.scheduler.remotePlayer(for: user) == RemotePlayer(mail, isPlaying: true))
  }
}

@Suite("§13 The media player taskschedd (contract.md#remote-player)")
struct RemotePlayerTests {
  @Test("The player appears when an aware application becomes audible, and says if it plays")
  func appears() {
    var world = World()
    let id = world.makeAware(mail)
    #expect(world.orders == [])
    world.play(id)
    world.pause(id)
    world.feed(.process(.leaderExited(id, .exited(code: 0))))
    #expect(
      world.orders == [
        .present(user, RemotePlayer(mail, isPlaying: true)),
        .present(user, RemotePlayer(mail, isPlaying: false)), .present(user, nil),
      ])
    #expect(world.scheduler.remotePlayer(for: user) == nil)
  }

  @Test("The player appears when an application that is audible opens its event stream")
  func appearsLater() {
    var world = World()
    let known = Manifest(id: mail.id, owner: mail.owner, backgroundModes: [.audio])
    world.feed(.scheduler(.manifestsChanged([known])))
    let id = world.adopt(mail)
    world.play(id)
    #expect(world.orders == [])
    world.ask { .application(.openStream($0, id, named: mail.id)) }
    #expect(world.orders == [.present(user, RemotePlayer(mail, isPlaying: true))])
  }

  @Test("The player does not stand for an application that is a media player itself")
  func ownPlayer() {
    var world = World()
    let id = world.makeAware(mail)
    world.setPlayers([id])
    world.play(id)
    #expect(world.orders == [])
    world.setPlayers([])
    #expect(world.orders == [.present(user, RemotePlayer(mail, isPlaying: true))])
  }

  @Test("A command to the player reaches the application that it stands for")
  func command() {
    var world = World()
    let id = world.makeAware(mail)
    world.play(id)
    let other = world.adopt(music, modes: [.audio])
    world.setPlayers([other])
    world.advance(by: .seconds(1))
    world.play(other)
    world.feed(.session(.remoteCommand(user, .pause)))
    guard case .remoteControl(_, .pause)? = world.notices(id).last else {
      Issue.record("the application received no command")
      return
    }
    #expect(world.remote(.next) == .controlled(music))
  }

  @Test("SessionGraceTime after the loss of the agent, the player does not play")
  func lostAgent() {
    var world = World()
    let id = world.makeAware(mail)
    world.play(id)
    world.feed(.session(.audioLost(user)))
    world.advance(by: .seconds(10))
    #expect(world.remote(.play) == .controlled(mail))
    #expect(world.scheduler.remotePlayer(for: user) == RemotePlayer(mail, isPlaying: false))
  }
}
