import Testing

@testable import TaskSchedulerCore

@Suite("§4 Background tasks")
struct BackgroundTaskTests {
  @Test(
    "An application may call BeginBackgroundTask in any state in which it runs",
    arguments: [ApplicationState.active, .inactive, .background], [true, false])
  func anyState(_ state: ApplicationState, isAware: Bool) {
    var world = World()
    let id = world.make(mail, state, isAware: isAware)
    let reply = world.ask { .application(.beginBackgroundTask($0, id, name: "upload")) }
    guard case .began(let task, let remaining)? = reply else {
      Issue.record("refused: \(String(describing: reply))")
      return
    }
    #expect(task.number != 0)
    #expect(remaining == (state == .background ? .seconds(600) : nil))
    #expect(world.status(id)?.tasks.last?.name == "upload")
  }

  @Test(
    "BeginBackgroundTask is refused when the application is suspended or does not run",
    arguments: [ApplicationState.suspended, .notRunning])
  func otherState(_ state: ApplicationState) {
    var world = World()
    let id = world.make(mail, state)
    let before = world.scheduler.statuses(at: world.now)
    #expect(
      world.ask { .application(.beginBackgroundTask($0, id, name: nil)) }
        == .refused(.invalidState(state)))
    #expect(world.scheduler.statuses(at: world.now) == before)
  }

  @Test("BeginBackgroundTask returns an id that is never 0 and unique for the instance's life")
  func ids() {
    var world = World()
    let id = world.register(mail)
    var seen: Set<TaskID> = [TaskID(0)]
    for _ in 0..<100 {
      let task = world.begin(id)
      #expect(seen.insert(task).inserted)
      world.end(id, task)
    }
  }

  @Test("An application may have MaxTasksPerApplication = 1024 outstanding tasks")
  func quota() {
    var world = World()
    let id = world.register(mail)
    for _ in 0..<1024 { world.begin(id) }
    let before = world.scheduler.statuses(at: world.now)
    let refusal = Reply.refused(.quotaExceeded(name: "MaxTasksPerApplication", limit: 1024))
    #expect(world.ask { .application(.beginBackgroundTask($0, id, name: nil)) } == refusal)
    #expect(world.scheduler.statuses(at: world.now) == before)
    world.end(id, TaskID(1))
    #expect(world.begin(id) == TaskID(1025))
  }

  @Test("§16 MaxTasksPerUser does not count the tasks of other users")
  func quotaOfUser() {
    var world = World { $0.tasksPerUserMax = 3 }
    let other = world.register(key(maps.id.name, uid: 2000))
    world.begin(other)
    let first = world.register(mail)
    world.begin(first)
    world.begin(first)
    let second = world.register(music)
    let ending = world.begin(second)
    let refusal = Reply.refused(.quotaExceeded(name: "MaxTasksPerUser", limit: 3))
    #expect(world.ask { .application(.beginBackgroundTask($0, second, name: nil)) } == refusal)
    world.begin(other)
    world.end(second, ending)
    world.begin(second)
    #expect(world.ask { .application(.beginBackgroundTask($0, second, name: nil)) } == refusal)
    world.feed(.process(.leaderExited(first, .exited(code: 0))))
    world.begin(second)
    world.begin(second)
    #expect(world.ask { .application(.beginBackgroundTask($0, second, name: nil)) } == refusal)
  }

  @Test(
    "A task ends once; EndBackgroundTask of an unknown or ended task is an error without effect")
  func ends() {
    var world = World()
    let id = world.make(mail, .background)
    let second = world.begin(id)
    let before = world.scheduler.statuses(at: world.now)
    for unknown in [TaskID(0), TaskID(99), TaskID(.max)] {
      #expect(world.end(id, unknown) == .refused(.unknownTask(unknown)))
    }
    #expect(world.scheduler.statuses(at: world.now) == before)
    #expect(world.end(id, second) == .done)
    let after = world.scheduler.statuses(at: world.now)
    #expect(world.end(id, second) == .refused(.unknownTask(second)))
    #expect(world.scheduler.statuses(at: world.now) == after)
    #expect(world.state(id) == .background)
  }

  @Test("An application cannot end a task of another application")
  func anothersTask() {
    var world = World()
    let first = world.make(mail, .background)
    let second = world.make(music, .active)
    #expect(world.end(second, TaskID(1)) == .refused(.unknownTask(TaskID(1))))
    #expect(world.status(first)?.tasks.map(\.id) == [TaskID(1)])
  }

  @Test(
    """
    backgroundTimeRemaining is unlimited in the foreground; in the background it counts down \
    from BackgroundTime = 600 s
    """)
  func remaining() {
    var world = World()
    let id = world.make(mail, .active)
    world.begin(id)
    #expect(world.status(id)?.timeRemaining == nil)
    world.advance(by: .seconds(100))
    world.ask { .operation(.deactivate($0, mail)) }
    world.acknowledgeAll(id)
    #expect(world.status(id)?.timeRemaining == nil)
    world.ask { .operation(.sendToBackground($0, mail)) }
    world.acknowledgeAll(id)
    #expect(world.status(id)?.timeRemaining == .seconds(600))
    world.advance(by: .seconds(100))
    #expect(world.status(id)?.timeRemaining == .seconds(500))
    world.ask { .operation(.activate($0, mail)) }
    world.acknowledgeAll(id)
    #expect(world.status(id)?.timeRemaining == nil)
    world.ask { .operation(.sendToBackground($0, mail)) }
    #expect(world.status(id)?.timeRemaining == .seconds(600), "a new stint")
  }

  @Test("§4: The expiration handler of a task is called once in each stint in the background")
  func laterStint() {
    var world = World()
    let id = world.make(mail, .background)
    let carried = TaskID(1)
    for _ in 1...3 {
      world.forget()
      world.advance(by: .seconds(596))
      #expect(world.expired(id) == [carried], "the handler is called once in each stint")
      #expect(world.status(id)?.tasks.first?.isExpired == true)
      world.ask { .operation(.activate($0, mail)) }
      world.acknowledgeAll(id)
      #expect(world.status(id)?.tasks.first?.isExpired == false)
      world.ask { .operation(.sendToBackground($0, mail)) }
      world.acknowledgeAll(id)
    }
    world.forget()
    world.advance(by: .seconds(600))
    #expect(world.expired(id) == [carried])
    #expect(world.ends(of: mail) == [.backgroundTimeExpired])
  }

  @Test("The remaining background time of a suspended application is 0, and not unlimited")
  func suspendedHasNone() {
    var world = World()
    let id = world.make(mail, .suspended)
    #expect(world.status(id)?.timeRemaining == .zero)
  }

  @Test("A task that begins late does not restart the background time")
  func lateBegin() {
    var world = World()
    let id = world.make(mail, .background)
    world.advance(by: .seconds(500))
    let reply = world.ask { .application(.beginBackgroundTask($0, id, name: nil)) }
    #expect(reply == .began(TaskID(2), remaining: .seconds(100)))
    world.advance(by: .seconds(100))
    #expect(world.lastEnd(mail)?.reason == .backgroundTimeExpired)
  }

  @Test(
    """
    The expiration handlers of all tasks are called once, in the order of the tasks, \
    ExpirationLead = 5 s before the background time ends
    """)
  func expiration() {
    var world = World()
    let id = world.make(mail, .background)
    for _ in 2...20 { world.begin(id) }
    world.end(id, TaskID(7))
    world.advance(by: .seconds(595) - nanosecond)
    #expect(world.expired(id).isEmpty)
    world.advance(by: nanosecond)
    let expected = (1...20).filter { $0 != 7 }.map { TaskID($0) }
    #expect(world.expired(id) == expected)
    #expect(world.effects.contains(.expire(id, TaskID(1), remaining: .seconds(5))))
    world.advance(by: .seconds(5) - nanosecond)
    #expect(world.expired(id) == expected, "once")
    #expect(world.status(id)?.tasks.allSatisfy(\.isExpired) == true)
  }

  @Test("A task that begins within the last ExpirationLead expires directly after the reply")
  func lateBeginIsWarned() {
    var world = World()
    let id = world.make(mail, .background)
    world.advance(by: .seconds(597))
    world.forget()
    let request = world.newRequest()
    world.feed(.application(.beginBackgroundTask(request, id, name: nil)))
    let replied = world.position(of: .reply(request, .began(TaskID(2), remaining: .seconds(3))))
    let warned = world.position(of: .expire(id, TaskID(2), remaining: .seconds(3)))
    #expect(replied != nil && warned != nil && replied! < warned!)
    #expect(world.expired(id) == [TaskID(2)], "the handler of the first task was called before")
  }

  @Test(
    "An application whose last task ends within the last ExpirationLead is suspended, not killed")
  func limitWithoutTask() {
    var world = World()
    let id = world.make(mail, .background)
    world.advance(by: .seconds(596))
    world.end(id, TaskID(1))
    #expect(world.state(id) == .suspended)
    world.advance(by: .seconds(60))
    #expect(world.state(id) == .suspended)
    #expect(world.ends(of: mail).isEmpty)
  }

  @Test(
    "An application with an outstanding task is killed after BackgroundTime: backgroundTimeExpired",
    arguments: [true, false])
  func limitWithTask(isAware: Bool) {
    var world = World()
    let id = world.make(mail, .background, isAware: isAware)
    world.advance(by: .seconds(600) - nanosecond)
    #expect(world.state(id) == .background)
    world.advance(by: nanosecond)
    #expect(world.effects.contains(.kill(id)))
    #expect(!world.effects.contains(.suspend(id)))
    #expect(world.ends(of: mail) == [.backgroundTimeExpired])
  }

  @Test("An application without another entitlement is suspended at the end of its last task")
  func endingTheLast() {
    var world = World()
    let id = world.make(mail, .background)
    let second = world.begin(id)
    world.forget()
    world.end(id, TaskID(1))
    #expect(!world.effects.contains(.suspend(id)))
    world.end(id, second)
    #expect(world.effects.contains(.suspend(id)))
    #expect(world.state(id) == .suspended)
  }

  @Test("In the foreground, the end of the last task changes no state")
  func endingInTheForeground() {
    var world = World()
    let id = world.make(mail, .active)
    world.end(id, world.begin(id))
    #expect(world.state(id) == .active)
    #expect(!world.effects.contains(.suspend(id)))
  }

  @Test(
    "An application whose background time passes during a sleep still has the whole ExpirationLead")
  func sleptPastTheLead() {
    var world = World()
    let id = world.make(mail, .background)
    world.sleep(for: .seconds(10_000))
    #expect(world.expired(id) == [TaskID(1)])
    #expect(world.state(id) == .background)
    #expect(world.status(id)?.timeRemaining == .seconds(5))
    world.advance(by: .seconds(5) - nanosecond)
    #expect(world.state(id) == .background)
    world.advance(by: nanosecond)
    #expect(world.lastEnd(mail)?.reason == .backgroundTimeExpired)
  }

  @Test(
    "An application that enters the background again after an expiration has the whole time again")
  func newStintAfterWarning() {
    var world = World()
    let id = world.make(mail, .background)
    world.advance(by: .seconds(597))
    world.ask { .operation(.activate($0, mail)) }
    world.acknowledgeAll(id)
    world.advance(by: .seconds(60))
    #expect(world.state(id) == .active)
    world.ask { .operation(.sendToBackground($0, mail)) }
    world.acknowledgeAll(id)
    world.advance(by: .seconds(600) - nanosecond)
    #expect(world.state(id) == .background)
    #expect(
      world.expired(id) == [TaskID(1), TaskID(1)], "a task's handler is called once in each stint")
  }

  @Test("An application without an event stream learns of an expiration when it opens one")
  func expirationWithoutStream() {
    var world = World()
    let id = world.make(mail, .background)
    world.feed(.application(.streamClosed(id)))
    world.advance(by: .seconds(596))
    #expect(world.expired(id).isEmpty)
    let reply = world.ask { .application(.openStream($0, id, named: mail.id)) }
    guard case .registered(let registration)? = reply else {
      Issue.record("the stream was refused")
      return
    }
    #expect(registration.tasks.map(\.isExpired) == [true])
    #expect(registration.remaining == .seconds(4))
  }

  @Test("A changed BackgroundTime counts from the start of the present stint")
  func changedPolicy() {
    var world = World()
    let id = world.make(mail, .background)
    world.advance(by: .seconds(100))
    var policy = Policy()
    policy.backgroundTime = .seconds(200)
    world.feed(.scheduler(.policyChanged(policy)))
    #expect(world.status(id)?.timeRemaining == .seconds(100))
    policy.backgroundTime = .seconds(60)
    world.feed(.scheduler(.policyChanged(policy)))
    world.advance(by: .zero)
    #expect(world.expired(id) == [TaskID(1)])
    world.advance(by: .seconds(5) - nanosecond)
    #expect(world.state(id) == .background, "a late expiration does not shorten the lead")
    world.advance(by: nanosecond)
    #expect(world.lastEnd(mail)?.reason == .backgroundTimeExpired)
  }
}
