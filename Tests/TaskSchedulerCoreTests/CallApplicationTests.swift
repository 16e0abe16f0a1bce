import Testing

@testable import TaskSchedulerCore

@Suite("§13 CallApplication and the calls of modems (contract.md#call-application)")
struct CallApplicationTests {
  private func addManifest(
    _ world: inout World, multitasking: Bool = true, isLaunchable: Bool = true,
    owner: UserID = mail.owner
  ) {
    let manifest = Manifest(
      id: mail.id, owner: owner, multitasking: multitasking, isLaunchable: isLaunchable)
    world.feed(.scheduler(.manifestsChanged([manifest])))
  }

  /// Returns the running instance of `mail`.
  private func running(_ world: World) -> InstanceID? {
    world.scheduler.status(of: mail, at: world.now)?.instance?.id
  }

  @Test("An incoming call resumes the suspended application for EventTime")
  func wakes() {
    var world = World()
    let id = world.make(mail, .suspended)
    world.feed(.session(.incomingCall(mail)))
    #expect(world.state(id) == .background)
    #expect(world.scheduler.explanation(of: mail)?.cause == .call)
    world.advance(by: .milliseconds(9999))
    #expect(world.state(id) == .background)
    world.advance(by: .milliseconds(1))
    #expect(world.state(id) == .suspended)
  }

  @Test("An incoming call lets an application in the background run for EventTime")
  func background() {
    var world = World()
    let id = world.make(mail, .background)
    world.feed(.session(.incomingCall(mail)))
    world.end(id, TaskID(1))
    #expect(world.state(id) == .background)
    world.advance(by: .seconds(10))
    #expect(world.state(id) == .suspended)
  }

  @Test("An incoming call changes nothing for an application in the foreground")
  func foreground() {
    var world = World()
    let id = world.make(mail, .active)
    world.forget()
    world.feed(.session(.incomingCall(mail)))
    #expect(world.effects == [])
    #expect(world.state(id) == .active)
  }

  @Test("An incoming call launches the application in the background, with the reason call")
  func launches() throws {
    var world = World()
    addManifest(&world)
    world.feed(.session(.incomingCall(mail)))
    #expect(world.spawned == [.call])
    let id = try #require(running(world))
    #expect(world.state(id) == .background)
    #expect(world.status(id)?.launchReason == .call)
  }

  @Test("An incoming call does not launch an application that a user or an operator terminated")
  func terminated() {
    var world = World()
    world.obeysTerminate = true
    addManifest(&world)
    world.ask { .operation(.launch($0, mail, target: .background, reason: .operator)) }
    world.ask { .operation(.terminate($0, mail, byUser: true)) }
    world.advance(by: .seconds(10))
    world.forget()
    world.feed(.session(.incomingCall(mail)))
    #expect(world.spawned == [])
    #expect(world.changes(of: mail) == [.refused(.terminatedByOperator)])
    world.feed(.session(.callAnswered(mail)))
    #expect(world.spawned == [.notification])
  }

  @Test("An incoming call launches no application that may not run in the background")
  func noMultitasking() {
    var world = World()
    addManifest(&world, multitasking: false)
    world.feed(.session(.incomingCall(mail)))
    #expect(world.spawned == [])
  }

  /// A reason why the application cannot be launched.
  enum Obstacle: CaseIterable { case noManifest, noCommand, otherUser }

  @Test(
    "If the application neither runs nor can be launched, a call changes nothing",
    arguments: Obstacle.allCases)
  func notLaunchable(_ obstacle: Obstacle) {
    var world = World()
    switch obstacle {
    case .noManifest: break
    case .noCommand: addManifest(&world, isLaunchable: false)
    case .otherUser: addManifest(&world, owner: UserID(4711))
    }
    world.forget()
    world.feed(.session(.incomingCall(mail)))
    world.feed(.session(.callAnswered(mail)))
    #expect(world.effects == [])
  }

  @Test("The user's answer activates the application that the call has woken")
  func answered() {
    var world = World()
    let id = world.make(mail, .suspended)
    world.feed(.session(.incomingCall(mail)))
    world.feed(.session(.callAnswered(mail)))
    world.acknowledgeAll(id)
    #expect(world.state(id) == .active)
  }

  @Test("The user's answer launches an application that does not run in the foreground")
  func answeredLaunch() throws {
    var world = World()
    addManifest(&world)
    world.feed(.session(.callAnswered(mail)))
    #expect(world.spawned == [.notification])
    let id = try #require(running(world))
    #expect(world.state(id).isForeground)
  }
}
