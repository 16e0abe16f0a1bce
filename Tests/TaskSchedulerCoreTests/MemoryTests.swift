import Testing

@testable import TaskSchedulerCore

@Suite("§11 Memory")
struct MemoryTests {
  private let chat = key("org.example.chat")

  /// Reports memory pressure while less than MemoryFloorPercent is available, and advances the time
  /// by MemoryWarningTime.
  private func outlastWarning(_ world: inout World) {
    world.available = 80
    world.press()
    world.advance(by: world.scheduler.policy.memoryWarningTime)
  }

  private func warnings(_ world: World, _ id: InstanceID) -> Int {
    world.notices(id).count { $0 == .memoryWarning }
  }

  // MARK: Pressure

  @Test("Without a trigger of the kernel, the scheduler has no deadline for memory")
  func neverPolled() {
    var world = World()
    world.available = 1
    _ = world.make(mail, .suspended)
    #expect(world.scheduler.nextDeadline == nil)
    world.feed(.memory(.read(world.reading)))
    #expect(world.chosen.isEmpty)
  }

  @Test("Pressure is over if no trigger fires for MemoryQuietTime")
  func quiet() {
    var world = World()
    let id = world.make(mail, .active)
    world.press()
    #expect(world.scheduler.memoryStatus.phase == .warned)
    world.advance(by: world.scheduler.policy.memoryQuietTime)
    #expect(world.scheduler.memoryStatus.phase == .calm)
    #expect(world.scheduler.nextDeadline == nil)
    world.press()
    #expect(warnings(world, id) == 2, "a new episode of pressure has a warning")
  }

  @Test("A trigger terminates no application while MemAvailable is above MemoryFloorPercent")
  func floor() {
    var world = World()
    _ = world.make(mail, .suspended)
    world.available = 100
    for _ in 0..<9 {
      world.press()
      world.advance(by: .seconds(1))
    }
    #expect(world.chosen.isEmpty)
    world.available = 99
    world.press()
    #expect(world.chosen == [mail])
  }

  @Test(
    """
    Lasting pressure in the daemon's slice terminates an application even above \
    MemoryFloorPercent
    """)
  func ownSlice() {
    var world = World()
    _ = world.make(mail, .suspended)
    world.press(.slice)
    world.advance(by: .milliseconds(999))
    world.press(.slice)
    #expect(world.chosen.isEmpty, "the pressure has not outlasted the warning")
    world.advance(by: .milliseconds(1))
    #expect(world.chosen.isEmpty, "the reading shows enough memory")
    world.press(.slice)
    #expect(world.chosen == [mail])
  }

  @Test("Below half of MemoryFloorPercent, the daemon does not wait for the warning time")
  func critical() {
    var world = World()
    _ = world.make(mail, .suspended)
    let active = world.make(music, .active)
    world.available = 49
    world.press()
    #expect(world.chosen == [mail])
    #expect(warnings(world, active) == 1, "the warning comes first")
  }

  @Test("After an early termination, the other applications still have the warning time")
  func criticalOnce() {
    var world = World()
    let busy = world.make(music, .background)
    let id = world.make(mail, .suspended)
    world.reclaiming = .never
    world.available = 49
    let since = world.now
    world.press()
    #expect(world.chosen == [mail])
    world.available = 60
    world.feed(.memory(.reclaimed(id, world.reading)))
    world.press()
    #expect(world.chosen == [mail] && world.state(busy) == .background)
    let warningTime = world.scheduler.policy.memoryWarningTime
    world.advance(by: warningTime - nanosecond - since.duration(to: world.now))
    #expect(world.chosen == [mail])
    world.advance(by: nanosecond)
    #expect(world.chosen == [mail, music], "the reading shows that the pressure lasts")
  }

  @Test("If the pressure ends while an application terminates, no other application is terminated")
  func quietMeanwhile() {
    var world = World { $0.memoryQuietTime = .seconds(3) }
    for app in [mail, music] { _ = world.make(app, .suspended) }
    world.reclaiming = .never
    outlastWarning(&world)
    #expect(world.chosen.count == 1)
    world.advance(by: world.scheduler.policy.terminateTimeout)
    #expect(world.scheduler.memoryStatus.phase == .calm)
    #expect(world.chosen.count == 1)
  }

  // MARK: Warnings

  @Test(
    "At the start of pressure, every running application receives didReceiveMemoryWarning once",
    arguments: [ApplicationState.active, .inactive, .background])
  func warned(_ state: ApplicationState) {
    var world = World()
    let id = world.make(mail, state)
    world.press()
    #expect(warnings(world, id) == 1)
    #expect(world.changes(of: mail).last == .memoryWarned(isSimulated: false))
    world.press()
    #expect(warnings(world, id) == 1, "each episode of pressure has one warning")
    #expect(world.chosen.isEmpty)
  }

  @Test("A memory warning does not resume a suspended application")
  func suspendedNotWoken() {
    var world = World()
    let id = world.make(mail, .suspended)
    world.forget()
    world.press()
    #expect(world.state(id) == .suspended)
    #expect(world.effects.isEmpty)
  }

  @Test("An application that is resumed or started during the pressure receives the warning then")
  func warnedLater() {
    var world = World()
    let id = world.make(mail, .suspended)
    world.press()
    world.ask { .operation(.activate($0, mail)) }
    #expect(warnings(world, id) == 1)
    let late = world.register(music)
    #expect(warnings(world, late) == 1)
  }

  @Test("taskctl warn-memory warns one application, a user's applications, or all applications")
  func simulated() {
    var world = World()
    let other = key("org.example.mail", uid: 2000)
    let id = world.make(mail, .active)
    let others = world.make(other, .background)
    #expect(world.ask { .memory(.warn($0, mail, owner: nil)) } == .done)
    #expect([warnings(world, id), warnings(world, others)] == [1, 0])
    #expect(world.ask { .memory(.warn($0, nil, owner: other.owner)) } == .done)
    #expect([warnings(world, id), warnings(world, others)] == [1, 1])
    #expect(world.ask { .memory(.warn($0, nil, owner: nil)) } == .done)
    #expect([warnings(world, id), warnings(world, others)] == [2, 2])
    #expect(world.changes(of: mail).last == .memoryWarned(isSimulated: true))
    #expect(world.scheduler.memoryStatus.phase == .calm)
  }

  @Test("A simulated warning is refused if the application cannot receive the warning")
  func simulatedRefused() {
    var world = World()
    _ = world.make(mail, .suspended)
    _ = world.make(maps, .notRunning)
    _ = world.make(music, .active, isAware: false)
    func warn(_ app: ApplicationKey) -> Reply? {
      world.ask { .memory(.warn($0, app, owner: nil)) }
    }
    #expect(warn(mail) == .refused(.cannotBeTold(.suspended)))
    #expect(warn(music) == .refused(.cannotBeTold(.active)))
    #expect(warn(maps) == .refused(.cannotBeTold(.notRunning)))
  }

  // MARK: Terminations

  @Test("Lasting pressure terminates one application at a time")
  func oneAtATime() {
    var world = World()
    let ids = [mail, music, maps].map { world.make($0, .suspended) }
    for (id, size) in zip(ids, [30, 20, 10] as [UInt64]) { world.dirty[id] = size }
    world.reclaiming = .never
    outlastWarning(&world)
    #expect(world.chosen == [mail])
    world.press()
    #expect(world.chosen == [mail], "the scheduler chooses no second application meanwhile")
    world.feed(.memory(.reclaimed(ids[0], world.reading)))
    #expect(world.chosen == [mail, music])
    world.available = 200
    world.feed(.memory(.reclaimed(ids[1], world.reading)))
    world.advance(by: .seconds(60))
    #expect(world.chosen == [mail, music], "the pressure has ended")
    #expect(world.state(ids[2]) == .suspended)
    #expect(world.lastEnd(mail)?.reason == .memoryPressure)
  }

  @Test("Suspended applications are terminated first, without notice")
  func suspendedFirst() {
    var world = World()
    let busy = world.make(music, .background)
    let id = world.make(mail, .suspended)
    world.dirty[busy] = 500
    world.reclaiming = .never
    world.forget()
    outlastWarning(&world)
    #expect(world.chosen == [mail])
    #expect(world.position(of: .kill(id)) != nil)
    #expect(world.delivered(id).isEmpty)
    #expect(world.state(busy) == .background)
  }

  @Test("An application that registers while the daemon kills it receives no notice")
  func registersWhileKilled() throws {
    var world = World()
    world.feed(.scheduler(.manifestsChanged([Manifest(id: mail.id, owner: mail.owner)])))
    world.feed(.notification(.chosen(NotificationID(1), mail)))
    let id = try #require(world.scheduler.status(of: mail, at: world.now)?.instance?.id)
    world.ask { .operation(.sendToBackground($0, mail)) }
    #expect(world.state(id) == .suspended)
    world.killing = .never
    outlastWarning(&world)
    #expect(world.position(of: .kill(id)) != nil)
    world.ask { .application(.openStream($0, id, named: mail.id)) }
    #expect(world.notices(id).isEmpty)
  }

  @Test("Background applications are terminated next, with willTerminate")
  func backgroundThen() {
    var world = World()
    let id = world.make(mail, .background)
    outlastWarning(&world)
    #expect(world.chosen == [mail])
    #expect(world.delivered(id).last == .willTerminate)
    #expect(world.position(of: .kill(id)) == nil)
    world.obeysTerminate = true
    world.acknowledgeAll(id)
    #expect(world.ends(of: mail) == [.memoryPressure])
  }

  @Test(
    "The foreground application is never terminated",
    arguments: [ApplicationState.active, .inactive])
  func neverForeground(_ state: ApplicationState) {
    var world = World()
    let id = world.make(mail, state)
    world.available = 1
    for _ in 0..<20 {
      world.press()
      world.press(.slice)
      world.advance(by: .seconds(2))
    }
    #expect(world.state(id) == state)
    #expect(world.chosen.isEmpty)
  }

  @Test("Of several suspended applications, the one with the most dirty memory is terminated first")
  func largestFirst() {
    var world = World()
    let ids = [mail, music, maps].map { world.make($0, .suspended) }
    for (id, size) in zip(ids, [10, 30, 20] as [UInt64]) { world.dirty[id] = size }
    outlastWarning(&world)
    #expect(world.chosen == [music, maps, mail])
    guard case .memoryChosen(let choice)? = world.changes(of: music).first(where: {
      if case .memoryChosen = $0 { true } else { false }
      })
    else { return #expect(Bool(false), "no record has the choice") }
    #expect(choice.runnersUp.map(\.application) == [maps, mail])
    #expect(choice.chosen.size.dirty == 30 << 20 && choice.classCount == 3)
  }

  @Test("Of two applications with equal memory, the least recently active one is terminated first")
  func tie() {
    var world = World()
    for app in [mail, music, maps] { _ = world.make(app, .suspended) }
    world.ask { .operation(.activate($0, mail)) }
    world.acknowledgeAll(InstanceID(1))
    _ = world.make(chat, .active)
    world.acknowledgeAll(InstanceID(1))
    #expect(world.state(InstanceID(1)) == .suspended)
    outlastWarning(&world)
    #expect(world.chosen == [music, maps, mail])
  }

  @Test("The scheduler chooses again only when the memory of the killed application is free")
  func reclaimed() {
    var world = World()
    let ids = [mail, music].map { world.make($0, .suspended) }
    world.reclaiming = .never
    world.forget()
    outlastWarning(&world)
    let first = world.chosen.count
    #expect(first == 1)
    #expect(
      world.position(of: .memory(.reclaim(ids[0])))! > world.position(of: .kill(ids[0]))!)
    world.advance(by: .seconds(4))
    #expect(world.chosen.count == 1)
    world.feed(.memory(.reclaimed(ids[0], world.reading)))
    #expect(world.chosen.count == 2)
  }

  @Test("The scheduler waits at most TerminateTimeout for the memory of a killed application")
  func stuck() {
    var world = World()
    for app in [mail, music] { _ = world.make(app, .suspended) }
    world.reclaiming = .never
    world.killing = .never
    outlastWarning(&world)
    world.advance(by: world.scheduler.policy.terminateTimeout)
    #expect(world.chosen.count == 2)
  }

  @Test("After the kill of an application that ignores willTerminate, the scheduler chooses again")
  func ignoresWillTerminate() {
    var world = World()
    let ids = [mail, music].map { world.make($0, .background) }
    world.dirty[ids[0]] = 9
    outlastWarning(&world)
    for _ in 0..<5 {
      world.advance(by: .seconds(1))
      world.press()
    }
    #expect(world.chosen == [mail])
    world.advance(by: .seconds(1))
    #expect(world.ends(of: mail) == [.callbackTimeout])
    #expect(world.chosen == [mail, music])
  }

  @Test("An application that a debugger traces delays the next choice only for a limited time")
  func traced() {
    var world = World()
    let ids = [mail, music].map { world.make($0, .background) }
    world.dirty[ids[0]] = 9
    world.traced = [ids[0]]
    outlastWarning(&world)
    for _ in 0..<20 {
      world.advance(by: .seconds(1))
      world.press()
    }
    #expect(world.chosen == [mail, music])
    #expect(world.ends(of: mail).isEmpty)
  }

  @Test("The scheduler also measures an application that is suspended during the measurement")
  func suspendedMeanwhile() {
    var world = World()
    let ids = [mail, music].map { world.make($0, .background) }
    world.dirty[ids[0]] = 9
    world.measuring = .never
    outlastWarning(&world)
    let task = TaskID(1)
    world.end(ids[1], task)
    #expect(world.state(ids[1]) == .suspended)
    world.measuring = .atOnce
    world.feed(.memory(.measured([MemorySize(ids[0], dirty: 9, total: 9)])))
    #expect(world.chosen.first == music)
  }

  // MARK: Recovery, paging out, many applications

  @Test("A restarted daemon continues the procedure for memory pressure")
  func recovery() throws {
    var world = World()
    let ids = [mail, music].map { world.make($0, .suspended) }
    world.measuring = .never
    outlastWarning(&world)
    #expect(world.scheduler.memoryStatus.phase == .measuring)
    world.forget()
    try world.crash()
    world.advance(by: world.scheduler.policy.memoryWarningTime)
    #expect(world.position(of: .memory(.measure(ids))) != nil)
    world.measuring = .atOnce
    world.reclaiming = .never
    try world.crash()
    world.advance(by: world.scheduler.policy.memoryWarningTime)
    #expect(world.chosen == [mail])
    world.reclaiming = .atOnce
    world.available = 500
    try world.crash()
    #expect(world.scheduler.memoryStatus.phase == .warned)
    #expect(world.chosen == [mail])
  }

  @Test("With the setting MemoryPageOut, the daemon pages out suspended applications")
  func pageOut() {
    var world = World()
    let id = world.make(mail, .suspended)
    #expect(world.position(of: .memory(.pageOut(id))) == nil)
    var asked = World { $0.memoryPageOut = true }
    let paged = asked.make(mail, .suspended)
    #expect(asked.position(of: .memory(.pageOut(paged))) != nil)
  }

  @Test("Of 500 suspended applications, the largest is terminated first")
  func many() {
    var world = World { $0.applicationsPerUserMax = 600 }
    for number in 0..<500 {
      let id = world.make(key("org.example.a\(number)"), .suspended)
      world.dirty[id] = UInt64((number * 7919) % 500)
    }
    world.reclaiming = .never
    world.forget()
    outlastWarning(&world)
    let largest = (0..<500).max { ($0 * 7919) % 500 < ($1 * 7919) % 500 }!
    #expect(world.chosen == [key("org.example.a\(largest)")])
  }
}
