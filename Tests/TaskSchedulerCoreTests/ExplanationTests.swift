import Testing

@testable import TaskSchedulerCore

@Suite("The explanation of an application's state")
struct ExplanationTests {
  private func explanation(_ world: World) -> Explanation? {
    world.scheduler.explanation(of: mail)
  }

  private func memoryEnd(_ world: World) -> (choice: MemoryChoice, warnedAt: Instant?)? {
    guard case .memory(let choice, let warnedAt)? = explanation(world)?.end else { return nil }
    return (choice, warnedAt)
  }

  @Test("An unknown application has no explanation")
  func unknown() {
    #expect(explanation(World()) == nil)
  }

  @Test("The explanation of an application in the background has the cause and the limits")
  func background() throws {
    var world = World()
    let id = world.make(mail, .active)
    world.begin(id, "upload")
    world.ask { .operation(.sendToBackground($0, mail)) }
    let since = world.now
    world.acknowledgeAll(id)
    let told = try #require(explanation(world))
    #expect(told.cause == .sendAway)
    #expect(
      told.limits == [
        Limit(kind: .expiration, at: since.advanced(by: .seconds(595))),
        Limit(kind: .backgroundTime, at: since.advanced(by: .seconds(600))),
      ])
  }

  @Test("The first limit of an explanation ends at the scheduler's next deadline", arguments: 0..<3)
  func nearest(step: Int) {
    var world = World()
    let id = world.make(mail, .active)
    if step > 0 { world.begin(id, "upload") }
    if step > 1 { world.ask { .operation(.sendToBackground($0, mail)) } }
    if step > 2 { world.acknowledgeAll(id) }
    #expect(explanation(world)?.limits.first?.at == world.scheduler.nextDeadline)
  }

  @Test(
    """
    The explanation of a suspended application has the last entitlement and the instant at which \
    the entitlement ended
    """)
  func suspended() throws {
    var world = World()
    let id = world.make(mail, .active)
    let first = world.begin(id, "upload")
    let last = world.begin(id, "index")
    world.ask { .operation(.sendToBackground($0, mail)) }
    world.acknowledgeAll(id)
    world.end(id, first)
    world.advance(by: .seconds(3))
    world.end(id, last)
    let told = try #require(explanation(world))
    #expect(world.state(id) == .suspended)
    #expect(told.cause == .noEntitlement)
    #expect(
      told.lastEntitlement == EndedEntitlement(kind: .task(last, name: "index"), at: world.now))
    #expect(told.limits.isEmpty)
  }

  @Test("The explanation names the acknowledgement that suspended an application without tasks")
  func callback() {
    var world = World()
    let id = world.make(mail, .active)
    world.ask { .operation(.sendToBackground($0, mail)) }
    world.acknowledgeAll(id)
    #expect(explanation(world)?.lastEntitlement?.kind == .callback(.didEnterBackground))
    world.ask { .operation(.activate($0, mail)) }
    #expect(
      explanation(world)?.lastEntitlement == nil, "a foreground application needs no entitlement")
  }

  @Test("The explanation of a suspension after EventTime names the event")
  func eventTime() {
    var world = World()
    let id = world.makeWokenBySocket(mail)
    #expect(explanation(world)?.cause == .event)
    #expect(explanation(world)?.limits.map(\.kind) == [.event])
    world.advance(by: .seconds(11))
    #expect(world.state(id) == .suspended)
    #expect(explanation(world)?.lastEntitlement?.kind == .eventTime)
  }

  @Test("The explanation of a kill for an unacknowledged callback names the callback")
  func callbackTimeout() {
    var world = World()
    let id = world.make(mail, .active)
    world.ask { .operation(.sendToBackground($0, mail)) }
    #expect(
      explanation(world)?.limits.first
        == Limit(kind: .callback(.willResignActive), at: world.now.advanced(by: .seconds(6))))
    world.advance(by: .seconds(7))
    #expect(world.state(id) == .notRunning)
    #expect(world.lastEnd(mail)?.detail == .callback(.willResignActive))
    #expect(explanation(world)?.limits.isEmpty == true)
  }

  @Test("The explanation of a kill after BackgroundTime names the outstanding tasks")
  func backgroundTimeExpired() {
    var world = World()
    let id = world.make(mail, .active)
    let first = world.begin(id, "upload")
    world.begin(id, "index")
    world.ask { .operation(.sendToBackground($0, mail)) }
    world.acknowledgeAll(id)
    world.advance(by: .seconds(601))
    #expect(world.lastEnd(mail)?.reason == .backgroundTimeExpired)
    #expect(world.lastEnd(mail)?.detail == .task(first, name: "upload", outstanding: 2))
  }

  @Test(
    """
    The explanation of a termination for memory has the application's state and memory, the next \
    candidates and the instant of the warning
    """)
  func memory() throws {
    var world = World()
    let ids = [mail, music].map { world.make($0, .background) }
    world.dirty[ids[0]] = 30
    world.dirty[ids[1]] = 20
    world.available = 80
    let since = world.now
    world.press()
    world.advance(by: .seconds(1))
    let (choice, warnedAt) = try #require(memoryEnd(world), "the application is terminating")
    #expect(choice.chosen.state == .background && choice.classCount == 2)
    #expect(choice.chosen.size.dirty == 30 << 20)
    #expect(choice.runnersUp.map(\.application) == [music])
    #expect(choice.memory == world.reading && choice.at == world.now)
    #expect([choice.pressedSince, warnedAt] == [since, since])
    world.feed(.process(.leaderExited(ids[0], .exited(code: 0))))
    #expect(world.lastEnd(mail)?.reason == .memoryPressure)
    #expect(explanation(world)?.end == .memory(choice, warnedAt: since))
  }

  @Test(
      """
      The explanation of a termination for memory says that a suspended application had no \
      warning, and how long the choice took
      """)
  func memoryOfSuspended() throws {
    var world = World()
    let id = world.make(mail, .suspended)
    world.measuring = .never
    world.available = 80
    world.press()
    world.advance(by: .seconds(1))
    world.advance(by: .milliseconds(40))
    world.feed(.memory(.measured([MemorySize(id, dirty: 9, total: 9)])))
    let (choice, warnedAt) = try #require(memoryEnd(world))
    #expect(warnedAt == nil && choice.choosingTime == .milliseconds(40))
    #expect(choice.runnersUp.isEmpty && choice.classCount == 1)
  }

  @Test("The explanation of a kill for a background rule names the lock, or the use of GPU or CPU")
  func rules() {
    func end(_ change: (inout World, InstanceID) -> Void) -> EndDetail? {
      var world = World {
        $0.backgroundUseWindow = .seconds(10)
        $0.backgroundProcessorShare = 50
        $0.throttledProcessorShare = 10
      }
      let id = world.make(mail, .background)
      change(&world, id)
      return explanation(world)?.end
    }
    #expect(
      end { world, id in
        world.suspending = .never
        world.end(id, TaskID(1))
        world.feed(.resources(.held(id, path: "/srv/db")))
      } == .sharedResource(path: "/srv/db"))
    #expect(
      end { world, id in
        world.rates[id] = (0, 0.5)
        world.advance(by: .seconds(10))
      } == .gpu(.seconds(5)))
    #expect(
      end { world, id in
        world.rates[id] = (0.75, 0)
        world.advance(by: .seconds(20))
      } == .processor(
        .milliseconds(7_500), within: .seconds(10), share: .throttled(percent: 10)))
    #expect(
      end { world, id in
        for rate in [0.75, 0.01, 0.75] {
          world.rates[id] = (rate, 0)
          world.advance(by: .seconds(10))
        }
      } == .processor(.milliseconds(7_500), within: .seconds(10), share: .usual(percent: 50)))
  }

  @Test("The explanation of an end for memory survives a restart of the daemon")
  func memoryAfterCrash() throws {
    var world = World()
    _ = world.make(mail, .suspended)
    world.available = 80
    world.press()
    world.advance(by: .seconds(1))
    let before = explanation(world)
    #expect(before?.end != nil)
    try world.crash()
    #expect(explanation(world) == before)
  }

  @Test("An explanation survives a restart of the daemon")
  func crash() throws {
    var world = World()
    let id = world.make(mail, .active)
    let task = world.begin(id, "upload")
    world.ask { .operation(.sendToBackground($0, mail)) }
    world.acknowledgeAll(id)
    world.end(id, task)
    let before = explanation(world)
    try world.crash()
    #expect(explanation(world) == before)
  }
}
