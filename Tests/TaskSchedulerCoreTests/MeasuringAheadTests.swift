import Testing

@testable import TaskSchedulerCore

@Suite("§11 Memory: the scheduler measures applications before it must choose one")
struct MeasuringAheadTests {
  private let lead = Policy.memoryMeasuringLead

  /// Returns a world with memory pressure and the applications in `state`. Less memory than
  /// MemoryFloorPercent is available. The test itself feeds the measured sizes.
  private func pressed(
    _ apps: [ApplicationKey], _ state: ApplicationState = .suspended
  ) -> (World, [InstanceID]) {
    var world = World()
    let ids = apps.map { world.make($0, state) }
    world.measuring = .never
    world.reclaiming = .never
    world.available = 80
    world.forget()
    world.press()
    return (world, ids)
  }

  private func sizes(_ ids: [InstanceID], _ sizes: [UInt64], isEstimate: Bool = false) -> Event {
    .memory(
      .measured(
        zip(ids, sizes).map { MemorySize($0, dirty: $1, total: $1, isEstimate: isEstimate) }))
  }

  private func measurementCount(_ world: World) -> Int {
    world.effects.count { if case .memory(.measure) = $0 { true } else { false } }
  }

  private func choice(_ world: World, _ app: ApplicationKey) -> MemoryChoice? {
    world.changes(of: app).compactMap {
      if case .memoryChosen(let choice) = $0 { choice } else { nil }
    }.last
  }

  /// Returns the time from the warning until the scheduler measures.
  private func timeUntilMeasurement(_ world: World) -> Duration {
    world.scheduler.policy.memoryWarningTime - lead
  }

  @Test(
      """
      Under lasting pressure, the scheduler measures shortly before the warning time ends, \
      and then terminates one application
      """)
  func exactly() {
    var (world, ids) = pressed([mail, music])
    world.advance(by: timeUntilMeasurement(world) - nanosecond)
    #expect(measurementCount(world) == 0, "the measurement does not begin earlier")
    world.advance(by: nanosecond)
    #expect(world.position(of: .memory(.measure(ids))) != nil)
    #expect(world.scheduler.memoryStatus.phase == .warned)
    world.advance(by: .milliseconds(20))
    world.feed(sizes(ids, [10, 30]))
    world.advance(by: lead - .milliseconds(20) - nanosecond)
    #expect(world.chosen.isEmpty, "no application is terminated earlier")
    world.advance(by: nanosecond)
    #expect(world.chosen == [music] && measurementCount(world) == 1)
    #expect(choice(world, music)?.at == world.now)
    #expect(choice(world, music)?.choosingTime == .zero)
    #expect(choice(world, music)?.runnersUp.map(\.application) == [mail])
  }

  @Test("With a short MemoryWarningTime, the scheduler measures applications at once")
  func shortTime() throws {
    var world = World { $0.memoryWarningTime = .milliseconds(10) }
    let (id, running) = (world.make(mail, .suspended), world.make(music, .active))
    world.available = 80
    world.forget()
    world.press()
    let warning = try #require(world.position(of: .notify(running, .memoryWarning)))
    #expect(try #require(world.position(of: .memory(.measure([id])))) > warning)
    world.advance(by: .milliseconds(10) - nanosecond)
    #expect(world.chosen.isEmpty)
    world.advance(by: nanosecond)
    #expect(world.chosen == [mail] && measurementCount(world) == 1)
  }

  @Test("The scheduler terminates no application if memory is available after the warning time")
  func backMeanwhile() {
    var (world, ids) = pressed([mail])
    world.advance(by: timeUntilMeasurement(world))
    world.feed(sizes(ids, [10]))
    world.available = 500
    world.advance(by: .seconds(100))
    #expect(world.chosen.isEmpty)
    #expect(world.scheduler.memoryStatus.phase == .calm)
    #expect(world.scheduler.memory.measurement == nil, "the sizes are discarded")
  }

  @Test("The scheduler discards sizes that arrive after the pressure has ended")
  func lateAndCalm() {
    var (world, ids) = pressed([mail])
    world.available = 500
    world.advance(by: .seconds(100))
    #expect(world.scheduler.memory.isBeingMeasured)
    world.feed(sizes(ids, [10]))
    #expect(world.scheduler.memory.measurement == nil)
    #expect(world.scheduler.nextDeadline == nil && world.chosen.isEmpty)
  }

  @Test("If the sizes arrive after the warning time, the scheduler chooses when they arrive")
  func late() {
    var (world, ids) = pressed([mail, music])
    world.advance(by: timeUntilMeasurement(world) + lead)
    #expect(world.chosen.isEmpty && measurementCount(world) == 1)
    #expect(world.scheduler.memoryStatus.phase == .measuring)
    world.advance(by: .milliseconds(15))
    world.feed(sizes(ids, [30, 10]))
    #expect(world.chosen == [mail] && measurementCount(world) == 1)
    #expect(choice(world, mail)?.choosingTime == .milliseconds(15))
  }

  @Test(
    """
    The scheduler does not choose an application that came to the foreground after its \
    measurement
    """)
  func foregroundMeanwhile() {
    var (world, ids) = pressed([mail, music])
    world.advance(by: timeUntilMeasurement(world))
    world.feed(sizes(ids, [30, 10]))
    world.ask { .operation(.activate($0, mail)) }
    world.advance(by: lead)
    #expect(world.chosen == [music] && world.state(ids[0]).isForeground)
  }

  @Test("The scheduler does not choose an application that ended after its measurement")
  func endedMeanwhile() {
    var (world, ids) = pressed([mail, music])
    world.advance(by: timeUntilMeasurement(world))
    world.feed(sizes(ids, [30, 10]))
    world.feed(.process(.leaderExited(ids[0], .signaled(9))))
    world.advance(by: lead)
    #expect(world.chosen == [music])
  }

  @Test("The scheduler measures again if an application was suspended after the measurement")
  func suspendedMeanwhile() {
    var (world, ids) = pressed([mail])
    let late = world.make(music, .background)
    world.advance(by: timeUntilMeasurement(world))
    world.feed(sizes(ids, [10]))
    world.end(late, TaskID(1))
    #expect(world.state(late) == .suspended)
    world.advance(by: lead)
    #expect(world.chosen.isEmpty && world.position(of: .memory(.measure(ids + [late]))) != nil)
    world.feed(sizes(ids + [late], [10, 30]))
    #expect(world.chosen == [music])
  }

  @Test("The scheduler measures again if the size of the largest application is an estimate")
  func estimates() {
    var (world, ids) = pressed([mail, music])
    world.advance(by: timeUntilMeasurement(world))
    world.feed(sizes(ids, [30, 10], isEstimate: true))
    world.advance(by: lead)
    #expect(world.chosen.isEmpty && measurementCount(world) == 2)
    world.feed(sizes(ids, [30, 10], isEstimate: true))
    #expect(world.chosen == [mail], "a second estimate suffices")
  }

  @Test("The scheduler does not measure a suspended application again at the next trigger")
  func nextTrigger() {
    var (world, ids) = pressed([mail, music])
    world.available = 150
    world.advance(by: timeUntilMeasurement(world))
    world.feed(sizes(ids, [30, 10]))
    world.advance(by: .seconds(5))
    world.press()
    #expect(
      world.chosen.isEmpty && measurementCount(world) == 1, "the sizes are known near the floor")
    world.available = 99
    world.press()
    #expect(world.chosen == [mail] && measurementCount(world) == 1)
  }

  @Test("At a trigger near MemoryFloorPercent, the scheduler measures running applications again")
  func nextTriggerOfRunning() {
    var (world, ids) = pressed([mail, music], .background)
    world.available = 150
    world.advance(by: timeUntilMeasurement(world))
    world.feed(sizes(ids, [30, 10]))
    world.advance(by: .seconds(5))
    world.press()
    #expect(measurementCount(world) == 2)
    world.feed(sizes(ids, [10, 30]))
    world.advance(by: .milliseconds(100))
    world.available = 99
    world.press()
    #expect(world.chosen == [music] && measurementCount(world) == 2)
  }

  @Test("The scheduler measures a running application again if its size is old")
  func old() {
    var (world, ids) = pressed([mail, music], .background)
    world.available = 500
    world.advance(by: timeUntilMeasurement(world))
    world.feed(sizes(ids, [30, 10]))
    world.advance(by: .seconds(5))
    world.available = 99
    world.press()
    #expect(world.chosen.isEmpty && measurementCount(world) == 2)
    world.feed(sizes(ids, [10, 30]))
    #expect(world.chosen == [music])
  }

  @Test("The scheduler measures a suspended application again if it has run since its measurement")
  func ranMeanwhile() {
    var (world, ids) = pressed([mail])
    world.available = 150
    world.advance(by: timeUntilMeasurement(world))
    world.feed(sizes(ids, [30]))
    world.advance(by: .seconds(1))
    world.ask { .operation(.activate($0, mail)) }
    world.acknowledgeAll(ids[0])
    world.ask { .operation(.sendToBackground($0, mail)) }
    world.acknowledgeAll(ids[0])
    #expect(world.state(ids[0]) == .suspended)
    world.available = 99
    world.press()
    #expect(world.chosen.isEmpty && measurementCount(world) == 2)
  }

  @Test("With memory far above MemoryFloorPercent, further triggers cause no further measurement")
  func farAbove() {
    var (world, ids) = pressed([mail], .background)
    world.available = 500
    world.advance(by: .seconds(1))
    world.feed(sizes(ids, [30]))
    for _ in 0..<9 {
      world.press()
      world.advance(by: .milliseconds(100))
    }
    #expect(measurementCount(world) == 1)
  }

  @Test(
    """
    Below half of MemoryFloorPercent, the choice waits for pending sizes, but not for the \
    warning time
    """)
  func critical() {
    var (world, ids) = pressed([mail])
    world.advance(by: timeUntilMeasurement(world))
    world.available = 49
    world.press()
    #expect(world.chosen.isEmpty && measurementCount(world) == 1)
    world.feed(sizes(ids, [30]))
    #expect(world.chosen == [mail])
  }

  @Test(
    "A restarted daemon measures again, even if the sizes had arrived",
    arguments: [false, true])
  func restarted(_ hadCome: Bool) throws {
    var (world, ids) = pressed([mail, music])
    world.advance(by: timeUntilMeasurement(world))
    if hadCome { world.feed(sizes(ids, [30, 10])) }
    world.forget()
    try world.crash(awayFor: .milliseconds(10))
    world.advance(by: timeUntilMeasurement(world))
    #expect(world.chosen.isEmpty && world.position(of: .memory(.measure(ids))) != nil)
    world.feed(sizes(ids, [10, 30]))
    world.advance(by: lead - nanosecond)
    #expect(world.chosen.isEmpty, "the warning time begins again")
    world.advance(by: nanosecond)
    #expect(world.chosen == [music])
  }

  @Test("An instant that would precede the first possible instant is the first possible instant")
  func earlier() {
    let start = Instant(nanoseconds: 100)
    #expect(start.earlier(by: .nanoseconds(30)) == Instant(nanoseconds: 70))
    #expect(start.earlier(by: .seconds(1)) == Instant(nanoseconds: 0))
  }

  @Test("The scheduler measures the first application that starts during the pressure")
  func nobody() {
    var (world, _) = pressed([])
    world.advance(by: timeUntilMeasurement(world))
    #expect(measurementCount(world) == 0)
    let id = world.make(mail, .suspended)
    world.advance(by: lead)
    #expect(world.position(of: .memory(.measure([id]))) != nil && world.chosen.isEmpty)
    world.feed(sizes([id], [1]))
    #expect(world.chosen == [mail])
  }
}
