import Testing

@testable import TaskSchedulerCore

@Suite("Recovery after the daemon's absence")
struct RecoveryTests {
  @Test("The daemon sends an unacknowledged callback again with the same id")
  func callback() throws {
    var world = World()
    let id = world.make(mail, .active)
    world.ask { .operation(.deactivate($0, mail)) }
    let sent = try #require(world.inFlight[id])
    world.forget()
    try world.crash()
    #expect(world.effects.contains(.deliver(id, sent, nil)))
    let isTaken = world.acknowledge(id)
    #expect(isTaken)
    #expect(world.state(id) == .inactive)
  }

  @Test("The daemon stops suspended processes again, and resumes running processes")
  func stopped() throws {
    var world = World()
    let sleeper = world.make(mail, .suspended)
    let worker = world.make(music, .background)
    world.forget()
    try world.crash()
    #expect(world.effects.contains(.suspend(sleeper)))
    #expect(world.effects.contains(.resume(worker)))
    #expect(
      !world.effects.contains(.resume(sleeper)), "a suspended process executes no instruction")
    #expect(world.state(sleeper) == .suspended)
  }

  @Test("The daemon completes a suspension in progress")
  func suspending() throws {
    var world = World()
    world.suspending = .never
    let id = world.make(mail, .active)
    world.ask { .operation(.sendToBackground($0, mail)) }
    world.acknowledgeAll(id)
    #expect(world.state(id) == .background)
    world.suspending = .atOnce
    try world.crash()
    #expect(world.state(id) == .suspended)
  }

  @Test("The daemon repeats the suspension of a background application that it could not stop")
  func notStopped() throws {
    var world = World()
    let id = world.make(mail, .suspended)
    world.suspending = .failing
    try world.crash()
    #expect(world.state(id) == .background)
    world.suspending = .atOnce
    world.advance(by: world.scheduler.policy.suspendRetryInterval)
    #expect(world.state(id) == .suspended)
  }

  @Test("The daemon repeats a kill or a launch in progress")
  func underWay() throws {
    var world = World()
    world.killing = .never
    world.spawning = .never
    let id = world.make(mail, .suspended)
    world.feed(
      .scheduler(.manifestsChanged([Manifest(id: music.id, owner: music.owner, namesUser: true)])))
    world.ask { .operation(.terminate($0, mail, byUser: true)) }
    world.ask { .operation(.launch($0, music, target: .foreground, reason: .operator)) }
    world.forget()
    world.killing = .atOnce
    world.spawning = .atOnce
    try world.crash()
    #expect(world.effects.contains(.kill(id)))
    #expect(world.ends(of: mail) == [.terminatedByUser])
    #expect(world.scheduler.status(of: music, at: world.now)?.state == .active)
  }

  @Test(
    "An application whose background time ended during the absence has the whole ExpirationLead")
  func lead() throws {
    var world = World()
    let id = world.make(mail, .background)
    world.advance(by: .seconds(599))
    try world.crash(awayFor: .seconds(2))
    #expect(world.status(id)?.timeRemaining == .seconds(5))
    world.advance(by: .seconds(5) - nanosecond)
    #expect(world.ends(of: mail).isEmpty)
    world.advance(by: nanosecond)
    #expect(world.ends(of: mail) == [.backgroundTimeExpired])
  }

  @Test("A task whose expiration was due during the absence has the whole ExpirationLead")
  func warning() throws {
    var world = World()
    let id = world.make(mail, .background)
    world.advance(by: .seconds(594))
    try world.crash(awayFor: .seconds(60))
    #expect(world.expired(id) == [TaskID(1)])
    #expect(world.status(id)?.timeRemaining == .seconds(5))
    world.advance(by: .seconds(5))
    #expect(world.ends(of: mail) == [.backgroundTimeExpired])
  }

  @Test("An absence during which no deadline passed changes no deadline")
  func noLimit() throws {
    var world = World()
    let id = world.make(mail, .background)
    world.advance(by: .seconds(500))
    try world.crash(awayFor: .seconds(2))
    #expect(world.status(id)?.timeRemaining == .seconds(98))
  }

  @Test("A limit whose check for a debugger the daemon did not complete begins again")
  func debugger() throws {
    var world = World()
    world.tracerChecking = .never
    _ = world.make(mail, .active)
    world.ask { .operation(.deactivate($0, mail)) }
    world.advance(by: .seconds(6))
    world.tracerChecking = .atOnce
    try world.crash()
    #expect(world.ends(of: mail).isEmpty)
    world.advance(by: .seconds(6))
    #expect(world.ends(of: mail) == [.callbackTimeout])
  }
}
