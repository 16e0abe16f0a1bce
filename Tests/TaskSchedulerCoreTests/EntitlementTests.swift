import Testing

@testable import TaskSchedulerCore

@Suite("§5 Entitlements to run in the background")
struct EntitlementTests {
  /// Returns a world with an application that declares all modes and has one task in the
  /// background.
  private func busy() -> (World, InstanceID) {
    var world = World()
    world.feed(
      .scheduler(
        .manifestsChanged([
        Manifest(id: mail.id, owner: mail.owner, backgroundModes: BackgroundMode.allCases)
        ])))
    let id = world.make(mail, .background)
    return (world, id)
  }

  @Test("An outstanding background task with time left entitles an application to run")
  func task() {
    var (world, id) = busy()
    #expect(world.status(id)?.entitlements == [.backgroundTask])
    world.end(id, TaskID(1))
    #expect(world.state(id) == .suspended)
  }

  @Test("An unacknowledged callback entitles an application to run")
  func callback() {
    var world = World()
    let id = world.make(mail, .active)
    world.ask { .operation(.sendToBackground($0, mail)) }
    #expect(world.status(id)?.entitlements == [.callback])
    world.acknowledge(id)
    #expect(world.state(id) == .background)
    world.acknowledge(id)
    #expect(world.state(id) == .suspended)
  }

  @Test("An event that an application is handling entitles it to run")
  func event() {
    var world = World()
    let id = world.makeWokenBySocket(mail)
    #expect(world.state(id) == .background)
    #expect(world.status(id)?.entitlements == [.event])
    world.acknowledgeNotices(id)
    #expect(world.state(id) == .suspended)
  }

  @Test("The end of the last entitlement suspends the application", arguments: [true, false])
  func lastOfSeveral(taskEndsFirst: Bool) {
    var (world, id) = busy()
    world.play(id)
    if taskEndsFirst { world.end(id, TaskID(1)) } else { world.endPlaying(id) }
    #expect(world.state(id) == .background)
    if taskEndsFirst { world.endPlaying(id) } else { world.end(id, TaskID(1)) }
    #expect(world.state(id) == .suspended)
  }

  @Test("A request that needs an undeclared mode is refused with ModeNotDeclared")
  func notDeclared() {
    var world = World()
    let id = world.make(mail, .background)
    let before = world.scheduler.statuses(at: world.now)
    world.forget()
    world.ask { .application(.beginCall($0, id)) }
    #expect(world.changes(of: mail) == [.refused(.modeNotDeclared(.voip))])
    #expect(Refusal.modeNotDeclared(.voip).name == "ModeNotDeclared")
    #expect(world.scheduler.statuses(at: world.now) == before)
    world.end(id, TaskID(1))
    #expect(world.state(id) == .suspended)
  }

  @Test("The modes of an adopted instance replace those of a manifest")
  func adoptedModes() {
    var world = World()
    let id = world.adopt(mail, modes: [.audio])
    world.play(id)
    world.ask { .operation(.sendToBackground($0, mail)) }
    #expect(world.state(id) == .background)
    #expect(world.status(id)?.entitlements == [.audio])
  }

  @Test("An application without a task is suspended if its audio ends after BackgroundTime")
  func audioOutlastsWithoutTask() {
    var (world, id) = busy()
    world.play(id)
    world.end(id, TaskID(1))
    world.advance(by: .seconds(7200))
    #expect(world.state(id) == .background)
    #expect(world.scheduler.explanation(of: mail)?.limits == [], "no deadline is left")
    world.endPlaying(id)
    #expect(world.state(id) == .suspended)
    #expect(world.ends(of: mail).isEmpty)
  }

  @Test("An application with an outstanding task is killed if its audio ends after BackgroundTime")
  func audioOutlastsWithTask() {
    var (world, id) = busy()
    world.play(id)
    world.advance(by: .seconds(7200))
    #expect(world.expired(id) == [TaskID(1)])
    #expect(world.state(id) == .background)
    #expect(world.status(id)?.entitlements == [.audio], "the task has no time left")
    world.endPlaying(id)
    #expect(world.lastEnd(mail)?.reason == .backgroundTimeExpired)
  }

  @Test("A task that begins after BackgroundTime, while audio plays, expires at once")
  func taskAfterTheLimit() {
    var (world, id) = busy()
    world.play(id)
    world.end(id, TaskID(1))
    world.advance(by: .seconds(700))
    let reply = world.ask { .application(.beginBackgroundTask($0, id, name: nil)) }
    #expect(reply == .began(TaskID(2), remaining: .zero))
    #expect(world.expired(id) == [TaskID(2)])
    world.end(id, TaskID(2))
    world.endPlaying(id)
    #expect(world.state(id) == .suspended)
  }

  @Test("A task that began in the foreground entitles the application to run in the background")
  func taskFromTheForeground() {
    var world = World()
    let id = world.adopt(mail, task: "command")
    world.ask { .operation(.sendToBackground($0, mail)) }
    #expect(world.state(id) == .background)
    #expect(world.status(id)?.tasks.map(\.name) == ["command"])
  }

  @Test("When a debugger leaves after BackgroundTime has passed, a task has the whole time again")
  func debuggerHoldsTheKill() {
    var (world, id) = busy()
    world.play(id)
    world.advance(by: .seconds(700))
    world.traced = [id]
    world.endPlaying(id)
    #expect(world.state(id) == .background)
    world.advance(by: .seconds(100))
    world.traced = []
    world.advance(by: .seconds(1))
    #expect(world.status(id)?.timeRemaining == .seconds(600))
  }

  @Test("Even after BackgroundTime, a new task of a traced application cancels its suspension")
  func taskWhileTraced() {
    var (world, id) = busy()
    world.play(id)
    world.advance(by: .seconds(700))
    world.suspending = .never
    world.end(id, TaskID(1))
    world.endPlaying(id)
    #expect(world.status(id)?.isSuspending == true)
    world.traced = [id]
    // The application has sent BeginBackgroundTask before the daemon could stop the application's
    // processes.
    world.begin(id)
    #expect(world.status(id)?.isSuspending == false)
    #expect(world.effects.last == .resume(id))
    #expect(world.state(id) == .background)
  }
}
