import Testing

@testable import TaskSchedulerCore

@Suite("§1, §2 Seats: one application is in the foreground of each seat")
struct SeatTests {
  private static let desk = SeatID("user-1000/pts/1:100")

  @Test("An application that registers is inactive until it has acknowledged didFinishLaunching")
  func registers() {
    var world = World()
    let leader = world.newLeader()
    let reply = world.ask {
      .application(.register($0, mail, leader, target: .foreground, seat: seat0))
    }
    let id = InstanceID(1)
    guard case .registered(let registration)? = reply else {
      Issue.record("the application could not register")
      return
    }
    #expect(registration.state == .inactive)
    #expect(world.state(id) == .inactive)
    #expect(world.delivered(id) == [.didFinishLaunching])
    #expect(world.scheduler.status(of: mail, at: world.now)?.switcherPosition == nil)
    world.acknowledge(id)
    #expect(world.state(id) == .active)
    #expect(world.delivered(id) == [.didFinishLaunching, .didBecomeActive])
    #expect(world.scheduler.status(of: mail, at: world.now)?.switcherPosition == 1)
    #expect(world.scheduler.explanation(of: mail)?.cause == .register)
  }

  @Test(
    """
    A launched application is active until it opens its event stream, then inactive until it has \
    acknowledged didFinishLaunching
    """)
  func becomesAware() {
    var world = World()
    world.feed(.scheduler(.manifestsChanged([Manifest(id: mail.id, owner: mail.owner)])))
    world.ask { .operation(.launch($0, mail, target: .foreground, reason: .operator)) }
    let id = InstanceID(1)
    #expect(world.state(id) == .active)
    guard
      case .registered(let registration)? = world.ask({
        .application(.openStream($0, id, named: mail.id))
      })
    else {
      Issue.record("the stream was refused")
      return
    }
    #expect(registration.state == .inactive)
    #expect(world.state(id) == .inactive)
    world.acknowledge(id)
    #expect(world.state(id) == .active)
    #expect(world.delivered(id) == [.didFinishLaunching, .didBecomeActive])
    #expect(
      world.scheduler.explanation(of: mail)?.cause == .launch,
      "the launch is the cause of the state")
  }

  @Test(
    """
    An application that does not acknowledge didFinishLaunching is killed and was never \
    active
    """)
  func neverActive() {
    var world = World()
    let id = world.register(mail)
    world.advance(by: .seconds(6))
    #expect(world.lastEnd(mail)?.reason == .callbackTimeout)
    #expect(!world.delivered(id).contains(.didBecomeActive))
    #expect(world.scheduler.status(of: mail, at: world.now)?.switcherPosition == nil)
  }

  @Test(
      """
      The activation of another application at the seat displaces an application that is \
      coming to the foreground
      """, arguments: [true, false])
  func displacedOnTheWay(isLaunch: Bool) {
    var world = World()
    let id = isLaunch ? world.register(mail) : world.make(mail, .suspended)
    if !isLaunch { world.ask { .operation(.activate($0, mail)) } }
    #expect(world.state(id) == .inactive)
    world.forget()
    let other = world.register(music)
    #expect(world.state(id) == .background)
    world.acknowledgeAll(other)
    #expect(world.state(other) == .active)
    world.acknowledgeAll(id)
    #expect(world.delivered(id) == [.didEnterBackground])
    #expect(world.state(id) == .suspended)
  }

  @Test("The activation of another application displaces an interrupted application")
  func interrupted() {
    var world = World()
    let id = world.make(mail, .inactive)
    world.forget()
    let other = world.make(music, .active)
    #expect(world.state(id) == .background)
    world.acknowledgeAll(id)
    #expect(world.delivered(id) == [.didEnterBackground])
    #expect(world.state(other) == .active)
  }

  @Test("An application that is interrupted while it comes to the foreground stays inactive")
  func interruptedOnTheWay() {
    var world = World()
    let id = world.make(mail, .suspended)
    world.ask { .operation(.activate($0, mail)) }
    world.forget()
    #expect(world.ask { .operation(.deactivate($0, mail)) } == .done)
    world.acknowledgeAll(id)
    #expect(world.state(id) == .inactive)
    #expect(world.delivered(id).isEmpty)
    #expect(world.scheduler.explanation(of: mail)?.cause == .interruption)
    #expect(world.ask { .operation(.activate($0, mail)) } == .done)
    #expect(world.state(id) == .active)
    #expect(world.delivered(id) == [.didBecomeActive])
  }

  @Test(
    """
    An application that is activated twice, with a return to the background between, becomes \
    active after the second willEnterForeground
    """)
  func activatedTwice() {
    var world = World()
    let id = world.make(mail, .suspended)
    world.ask { .operation(.activate($0, mail)) }
    world.ask { .operation(.sendToBackground($0, mail)) }
    world.ask { .operation(.activate($0, mail)) }
    world.forget()
    world.acknowledge(id)
    #expect(world.state(id) == .inactive, "the first willEnterForeground is acknowledged")
    world.acknowledge(id)
    #expect(world.state(id) == .inactive, "didEnterBackground is acknowledged")
    world.acknowledge(id)
    #expect(world.state(id) == .active)
    #expect(
      world.delivered(id) == [.didEnterBackground, .willEnterForeground, .didBecomeActive])
  }

  @Test("An application that is terminated while it comes to the foreground does not become active")
  func terminatedOnTheWay() {
    var world = World()
    world.obeysTerminate = true
    let id = world.register(mail)
    world.ask { .operation(.terminate($0, mail, byUser: false)) }
    world.acknowledgeAll(id)
    #expect(world.delivered(id) == [.didFinishLaunching, .willTerminate])
    #expect(world.lastEnd(mail)?.reason == .terminatedByOperator)
  }

  @Test("An activation in progress continues after the daemon's death")
  func recovers() throws {
    var world = World()
    let id = world.register(mail)
    try world.crash()
    #expect(world.state(id) == .inactive)
    let other = world.register(music, at: SeatID("seat1"))
    world.acknowledgeAll(other)
    world.acknowledge(id)
    #expect(world.state(id) == .active)
    let third = world.register(maps)
    #expect(world.state(id) == .background, "the application is at its seat again")
    #expect(world.state(third) == .inactive)
  }

  @Test("The explanation of a background application names the application that displaced it")
  func displacedBy() {
    var world = World()
    let id = world.make(mail, .active)
    world.begin(id)
    world.forget()
    let other = world.register(music)
    let cause = TransitionCause.otherActivated(by: music)
    #expect(
      world.changes(of: mail) == [.transition(from: .active, to: .background, cause: cause)])
    #expect(world.status(id)?.displacedBy == music)
    world.end(id, TaskID(1))
    world.acknowledgeAll(id)
    #expect(world.state(id) == .suspended)
    #expect(world.status(id)?.displacedBy == music, "the other application is still the cause")
    world.ask { .operation(.activate($0, mail)) }
    #expect(world.status(id)?.displacedBy == nil)
    #expect(world.status(other)?.displacedBy == mail)
    world.ask { .operation(.sendToBackground($0, mail)) }
    #expect(
      world.status(id)?.displacedBy == nil, "an operator sent the application to the background")
  }

  @Test("A program displaces only programs at its own terminal")
  func terminals() {
    var world = World()
    let first = world.adopt(mail, at: Self.desk)
    let second = world.adopt(music, at: SeatID("user-1000/pts/2:200"))
    #expect(world.state(first) == .active && world.state(second) == .active)
    let third = world.adopt(maps, at: Self.desk)
    #expect(world.state(third) == .active && world.state(second) == .active)
    #expect(world.state(first) == .suspended)
  }

  @Test("The seat of a manifest has precedence over the program's terminal")
  func manifestSeat() {
    var world = World()
    let named = Manifest(
      id: music.id, owner: music.owner, seat: SeatID("seat1"), namesSeat: true)
    world.feed(.scheduler(.manifestsChanged([Manifest(id: mail.id, owner: mail.owner), named])))
    for app in [mail, music] { world.adopt(app, at: Self.desk) }
    #expect(world.scheduler.status(of: mail, at: world.now)?.seat == Self.desk)
    #expect(world.scheduler.status(of: music, at: world.now)?.seat == SeatID("seat1"))
  }
}
