import Testing

@testable import TaskSchedulerCore

@Suite("§8 Launch and relaunch")
struct RelaunchTests {
  private func manifests(_ world: inout World, _ modes: [BackgroundMode] = [.voip]) {
    world.feed(
      .scheduler(
        .manifestsChanged([Manifest(id: mail.id, owner: mail.owner, backgroundModes: modes)])))
  }

  /// Returns the running instance of `mail`.
  private func running(_ world: World) -> InstanceID? {
    world.scheduler.status(of: mail, at: world.now)?.instance?.id
  }

  /// Ends `mail` by a crash, and returns the delay of the relaunch, or nil if there is no relaunch.
  private func crash(
    _ world: inout World, _ status: TaskSchedulerCore.ExitStatus = .signaled(11)
  ) throws -> Duration? {
    let id = try #require(running(world))
    world.forget()
    world.feed(.process(.leaderExited(id, status)))
    let crashedAt = world.now
    guard let next = world.scheduler.nextDeadline else { return nil }
    world.advance(by: world.now.duration(to: next))
    #expect(world.spawned == [.relaunch])
    return crashedAt.duration(to: world.now)
  }

  @Test("The daemon launches an application of mode voip in the background when it starts")
  func boot() throws {
    var world = World()
    manifests(&world)
    #expect(world.spawned.isEmpty)
    world.feed(.scheduler(.started))
    #expect(world.spawned == [.boot])
    let id = try #require(running(world))
    #expect(world.state(id) == .background)
    #expect(world.status(id)?.launchReason == .boot)
  }

  @Test(
    "The daemon does not launch an application without the mode voip when it starts",
    arguments: [
      Manifest(id: mail.id, owner: mail.owner, backgroundModes: [.audio, .location]),
      Manifest(id: mail.id, owner: mail.owner, backgroundModes: [.voip], multitasking: false),
      Manifest(id: mail.id, owner: mail.owner, backgroundModes: [.voip], isLaunchable: false),
    ])
  func otherManifests(_ manifest: Manifest) {
    var world = World()
    world.feed(.scheduler(.manifestsChanged([manifest])))
    world.feed(.scheduler(.started))
    #expect(world.spawned.isEmpty)
    let id = world.register(mail)
    world.feed(.process(.leaderExited(id, .signaled(11))))
    #expect(world.scheduler.nextDeadline == nil)
  }

  @Test("A machine without multitasking launches no application when the daemon starts")
  func noMultitasking() {
    var world = World { $0.multitaskingSupported = false }
    manifests(&world)
    world.feed(.scheduler(.started))
    let id = world.register(mail)
    world.feed(.process(.leaderExited(id, .signaled(11))))
    #expect(world.spawned.isEmpty && world.scheduler.nextDeadline == nil)
  }

  @Test(
    "An application is relaunched after it exits with a nonzero code or is killed by a signal",
    arguments: [
      TaskSchedulerCore.ExitStatus.exited(code: 1), .exited(code: 255), .signaled(11), .signaled(9),
    ])
  func crashes(_ status: TaskSchedulerCore.ExitStatus) throws {
    var world = World()
    manifests(&world)
    world.feed(.scheduler(.started))
    #expect(try crash(&world, status) == .seconds(1))
    let id = try #require(running(world))
    #expect(world.state(id) == .background)
    #expect(world.status(id)?.launchReason == .relaunch)
  }

  @Test("An application that exits with 0 is not relaunched")
  func exits() throws {
    var world = World()
    manifests(&world)
    world.feed(.scheduler(.started))
    #expect(try crash(&world, .exited(code: 0)) == nil)
  }

  @Test("The relaunch delay is 1 s and doubles up to 5 min")
  func backsOff() throws {
    var world = World()
    manifests(&world)
    world.feed(.scheduler(.started))
    var waits: [Duration?] = []
    for _ in 0..<11 { waits.append(try crash(&world)) }
    let seconds: [Int64] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]
    #expect(waits == seconds.map { .seconds($0) })
  }

  @Test("The relaunch delay is 1 s again after the application has run for 10 min")
  func reset() throws {
    var world = World()
    manifests(&world)
    world.feed(.scheduler(.started))
    for _ in 0..<5 { _ = try crash(&world) }
    world.advance(by: .seconds(599))
    #expect(try crash(&world) == .seconds(32))
    world.advance(by: .seconds(600))
    #expect(try crash(&world) == .seconds(1))
  }

  @Test("The daemon repeats a failed launch with the delays of a relaunch")
  func launchFails() {
    var world = World()
    manifests(&world)
    world.spawning = .failing
    world.feed(.scheduler(.started))
    world.advance(by: .seconds(7))
    #expect(world.spawned == [.boot, .relaunch, .relaunch, .relaunch])
  }

  @Test("The record of a planned relaunch has the delay")
  func told() {
    var world = World()
    manifests(&world)
    world.spawning = .failing
    world.feed(.scheduler(.started))
    #expect(
      world.changes(of: mail).last
        == .relaunchPlanned(after: .seconds(1), awaitsMemory: false))
  }

  @Test("A launch by the user cancels a pending relaunch")
  func launchedMeanwhile() {
    var world = World()
    manifests(&world)
    let first = world.register(mail)
    world.feed(.process(.leaderExited(first, .signaled(11))))
    let second = world.register(mail)
    world.acknowledgeAll(second)
    world.advance(by: .seconds(10))
    #expect(world.spawned.isEmpty && world.state(second) == .active)
  }

  @Test("A manifest that belongs to another user for a moment cancels the relaunch")
  func othersMeanwhile() {
    var world = World()
    manifests(&world)
    let id = world.register(mail)
    world.feed(.process(.leaderExited(id, .signaled(11))))
    for owner in [UserID(2000), mail.owner] {
      world.feed(
        .scheduler(
          .manifestsChanged([Manifest(id: mail.id, owner: owner, backgroundModes: [.voip])])))
    }
    world.advance(by: .seconds(1000))
    #expect(world.spawned.isEmpty)
  }

  @Test("A failed launch by the user does not cancel the relaunch")
  func launchMeanwhileFails() throws {
    var world = World()
    manifests(&world)
    world.spawning = .never
    let first = world.register(mail)
    world.feed(.process(.leaderExited(first, .signaled(11))))
    world.ask { .operation(.launch($0, mail, target: .foreground, reason: .user)) }
    world.advance(by: .seconds(1))
    let id = try #require(world.scheduler.launching.first)
    world.feed(.process(.spawnFailed(id, reason: "ENOMEM")))
    world.advance(by: .seconds(2))
    #expect(world.spawned == [.user, .relaunch])
  }

  @Test("An application whose manifest was removed is not relaunched")
  func manifestGoes() throws {
    var world = World()
    manifests(&world)
    world.feed(.scheduler(.started))
    world.feed(.process(.leaderExited(try #require(running(world)), .signaled(11))))
    world.feed(.scheduler(.manifestsChanged([])))
    #expect(world.scheduler.nextDeadline == nil)
  }

  @Test(
    """
      A significant location change, a region or a remote notification relaunches an \
      application, which learns the reason
    """,
    arguments: [LaunchReason.location, .notification])
  func location(_ reason: LaunchReason) throws {
    var world = World()
    manifests(&world, [.location])
    world.feed(.operation(.launch(nil, mail, target: .background, reason: reason)))
    #expect(world.spawned == [reason])
    #expect(world.status(try #require(running(world)))?.launchReason == reason)
  }

  @Test(
    "A terminated application is not relaunched until an operator or a user launches it",
    arguments: [true, false])
  func terminated(byUser: Bool) throws {
    var world = World()
    world.obeysTerminate = true
    manifests(&world)
    world.feed(.scheduler(.started))
    world.ask { .operation(.terminate($0, mail, byUser: byUser)) }
    world.advance(by: .seconds(1000))
    #expect(world.ends(of: mail) == [byUser ? .terminatedByUser : .terminatedByOperator])
    #expect(world.spawned == [.boot])
    for reason in [LaunchReason.location, .relaunch, .boot, .call] {
      #expect(
        world.ask { .operation(.launch($0, mail, target: .background, reason: reason)) }
          == .refused(.terminatedByOperator))
    }
    world.feed(.scheduler(.started))
    #expect(world.spawned == [.boot])
    world.ask { .operation(.launch($0, mail, target: .background, reason: .operator)) }
    #expect(try crash(&world) == .seconds(1))
  }

  @Test(
    """
    A termination by an operator or a user cancels a pending relaunch, and the reply describes \
    the last end
    """, arguments: [true, false])
  func terminatedWhileWaiting(byUser: Bool) throws {
    var world = World()
    manifests(&world)
    world.feed(.scheduler(.started))
    world.feed(.process(.leaderExited(try #require(running(world)), .signaled(11))))
    let last = try #require(world.lastEnd(mail))
    world.forget()
    #expect(world.ask { .operation(.terminate($0, mail, byUser: byUser)) } == .ended(last))
    #expect(world.scheduler.status(of: mail, at: world.now)?.nextLaunch == nil)
    world.advance(by: .seconds(1000))
    world.feed(.scheduler(.started))
    #expect(world.spawned.isEmpty)
    #expect(
      world.ask { .operation(.terminate($0, mail, byUser: byUser)) }
        == .ended(last), "the application neither runs nor waits for a relaunch")
    world.ask { .operation(.launch($0, mail, target: .background, reason: .operator)) }
    #expect(try crash(&world) == .seconds(1))
  }

  @Test(
    """
    A termination of an application that never ran cancels the relaunch after a failed \
    launch
    """)
  func terminatedBeforeItRan() {
    var world = World()
    manifests(&world)
    world.spawning = .failing
    world.feed(.scheduler(.started))
    world.forget()
    #expect(world.ask { .operation(.terminate($0, mail, byUser: false)) } == .done)
    world.advance(by: .seconds(1000))
    #expect(world.spawned.isEmpty)
  }

  @Test("A relaunch waits while multitasking is off")
  func waitsForMultitasking() throws {
    var world = World()
    manifests(&world)
    world.feed(.scheduler(.started))
    let id = try #require(running(world))
    func support(_ isSupported: Bool) {
      var policy = world.scheduler.policy.value
      policy.multitaskingSupported = isSupported
      world.feed(.scheduler(.policyChanged(policy)))
    }
    world.feed(.process(.leaderExited(id, .signaled(11))))
    support(false)
    world.forget()
    world.advance(by: .seconds(1000))
    #expect(world.spawned.isEmpty)
    try world.crash()
    support(true)
    world.advance(by: .zero)
    #expect(world.spawned == [.relaunch])
    // The relaunch also waits if the application ends while multitasking is off.
    let next = try #require(running(world))
    support(false)
    world.feed(.process(.leaderExited(next, .exited(code: 1))))
    world.forget()
    world.advance(by: .seconds(1000))
    #expect(world.spawned.isEmpty)
    support(true)
    world.advance(by: .zero)
    #expect(world.spawned == [.relaunch])
  }

  @Test("The launch reason reaches the program with its first callback, and in its registration")
  func reason() throws {
    var world = World()
    manifests(&world)
    world.feed(.scheduler(.started))
    let id = try #require(running(world))
    guard
      case .registered(let registration)? = world.ask({
        .application(.openStream($0, id, named: mail.id))
      })
    else {
      Issue.record("the application could not register")
      return
    }
    #expect(registration.launchReason == .boot)
    let callback = try #require(world.inFlight[id])
    #expect(world.effects.contains(.deliver(id, callback, .boot)))
  }

  @Test("A pending relaunch survives the daemon's death")
  func daemonDies() throws {
    var world = World()
    manifests(&world)
    world.feed(.scheduler(.started))
    for _ in 0..<3 { _ = try crash(&world) }
    world.feed(.process(.leaderExited(try #require(running(world)), .signaled(11))))
    world.advance(by: .seconds(2))
    world.forget()
    try world.crash(awayFor: .seconds(1))
    #expect(world.spawned.isEmpty)
    world.advance(by: .seconds(5))
    #expect(world.spawned == [.relaunch])
  }
}
