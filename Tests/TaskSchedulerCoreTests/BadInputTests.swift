import Testing

@testable import TaskSchedulerCore

@Suite("§15 The error for invalid input names the mistake, and the input changes nothing")
struct BadInputTests {
  private let stranger = InstanceID(99)

  @Test("A request of an unknown instance is refused with the state notRunning")
  func unknownInstances() {
    var world = World()
    _ = world.make(mail, .background)
    let before = world.scheduler.statuses(at: world.now)
    let refusal = Reply.refused(.invalidState(.notRunning))
    #expect(world.ask { .application(.acknowledge($0, stranger, CallbackID(1))) } == refusal)
    #expect(world.ask { .application(.beginBackgroundTask($0, stranger, name: "x")) } == refusal)
    #expect(world.ask { .application(.endBackgroundTask($0, stranger, TaskID(1))) } == refusal)
    #expect(world.ask { .application(.openStream($0, stranger, named: mail.id)) } == refusal)
    #expect(world.scheduler.statuses(at: world.now) == before)
  }

  @Test("Events of unknown instances have no effect")
  func unknownEvents() {
    var world = World()
    _ = world.make(mail, .background)
    let before = world.scheduler.statuses(at: world.now)
    world.forget()
    let leader = world.newLeader()
    let events: [Event] = [
      .application(.streamClosed(stranger)), .process(.spawned(stranger, leader)),
      .process(.spawnFailed(stranger, reason: "x")), .process(.leaderExited(stranger, .unknown)),
      .process(.suspensionCompleted(stranger)), .process(.stillSuspended([stranger, stranger])),
      .process(.stillSuspended([])),
      .process(.suspensionFailed(stranger, reason: "x")),
      .process(.suspensionLost(stranger, reason: "x")),
      .process(.signalFailed(stranger, reason: "x")),
      .process(.tracerChecked(stranger, isTraced: true)),
      .scheduler(.deadlineReached),
    ]
    for event in events { world.feed(event) }
    #expect(world.effects.isEmpty)
    #expect(world.scheduler.statuses(at: world.now) == before)
  }

  @Test("A call or report of an ended instance does not affect the application's new instance")
  func endedInstance() {
    var world = World()
    let old = world.make(mail, .background)
    world.feed(.process(.leaderExited(old, .exited(code: 0))))
    let new = world.make(mail, .background)
    #expect(old != new)
    let before = world.scheduler.statuses(at: world.now)
    #expect(world.end(old, TaskID(1)) == .refused(.invalidState(.notRunning)))
    world.feed(.process(.leaderExited(old, .signaled(9))))
    world.feed(.process(.suspensionCompleted(old)))
    #expect(world.scheduler.statuses(at: world.now) == before)
  }

  @Test(
    "The refusal of a request for an unknown application names the application",
    arguments: Request.allCases)
  func unknownApplications(_ request: Request) {
    var world = World()
    _ = world.make(mail, .active)
    let before = world.scheduler.statuses(at: world.now)
    let others = key(mail.id.name, uid: 2000)
    for app in [music, others] {
      #expect(world.ask { request.event($0, app) } == .refused(.unknownApplication(app)))
    }
    #expect(world.scheduler.statuses(at: world.now) == before)
  }

  @Test(
    "The launch of a running application is refused with alreadyRunning, even without a manifest")
  func launchOfRunning() throws {
    var world = World()
    let instance = world.make(mail, .active)
    let leader = try #require(world.scheduler.status(of: mail, at: world.now)?.instance?.leader)
    let reply = world.ask { .operation(.launch($0, mail, target: .foreground, reason: .user)) }
    #expect(reply == .refused(.alreadyRunning(pid: leader.pid, state: .active)))
    #expect(world.state(instance) == .active)
  }

  @Test("The launch of an application is refused if its owner has no launchable manifest for it")
  func notLaunchable() {
    var world = World()
    let command = Manifest(id: music.id, owner: music.owner, isLaunchable: false)
    world.feed(
      .scheduler(.manifestsChanged([command, Manifest(id: maps.id, owner: maps.owner)])))
    _ = world.make(mail, .notRunning)
    let others = key(maps.id.name, uid: 2000)
    _ = world.make(others, .notRunning)
    for app in [mail, music, others] {
      let reply = world.ask { .operation(.launch($0, app, target: .foreground, reason: .user)) }
      #expect(reply == .refused(.notLaunchable))
    }
    #expect(
      world.ask {
        .operation(.launch($0, key("org.example.x"), target: .foreground, reason: .user))
      }
        == .refused(.unknownApplication(key("org.example.x"))))
  }

  @Test("The reply to a failed launch has the reason, and the application can be launched again")
  func launchFails() {
    var world = World()
    world.feed(.scheduler(.manifestsChanged([Manifest(id: mail.id, owner: mail.owner)])))
    var before = world.scheduler.statuses(at: world.now)
    world.spawning = .failing
    let refusal = Reply.refused(.launchFailed(reason: "no such file"))
    for _ in 1...2 {
      #expect(
        world.ask { .operation(.launch($0, mail, target: .foreground, reason: .user)) } == refusal)
    }
    before[0].launchFailure = LaunchFailure(reason: "no such file", at: world.now)
    #expect(world.scheduler.statuses(at: world.now) == before)
  }

  @Test("Register, adopt, launch and terminate are refused while the application is being launched")
  func whileLaunching() {
    var world = World()
    world.spawning = .never
    world.feed(.scheduler(.manifestsChanged([Manifest(id: mail.id, owner: mail.owner)])))
    let request = world.newRequest()
    world.feed(.operation(.launch(request, mail, target: .foreground, reason: .user)))
    let leader = world.newLeader()
    let adoption = Adoption(application: mail, leader: leader, target: .foreground, seat: seat0)
    let refusal = Reply.refused(.invalidTransition(from: .notRunning, cause: .launch))
    #expect(
      world.ask { .application(.register($0, mail, leader, target: .foreground, seat: seat0)) }
        == refusal)
    #expect(world.ask { .operation(.adopt($0, adoption)) } == refusal)
    #expect(world.ask { .operation(.activate($0, mail)) } == refusal)
    #expect(
      world.ask { .operation(.terminate($0, mail, byUser: false)) }
        == .refused(.invalidTransition(from: .notRunning, cause: .terminate)))
    let started = world.feed(.process(.spawned(InstanceID(1), leader)))
    #expect(started.contains(.reply(request, .started(InstanceID(1), leader))))
  }

  @Test("A second report that a launched program was executed starts no second instance")
  func spawnedTwice() {
    var world = World()
    world.feed(.scheduler(.manifestsChanged([Manifest(id: mail.id, owner: mail.owner)])))
    world.ask { .operation(.launch($0, mail, target: .foreground, reason: .user)) }
    #expect(world.feed(.process(.spawned(InstanceID(1), world.newLeader()))).isEmpty)
  }

  @Test("Register with the name of another application is refused, and opens no stream")
  func wrongApplication() {
    var world = World()
    let id = world.make(mail, .active, isAware: false)
    let reply = world.ask { .application(.openStream($0, id, named: music.id)) }
    #expect(reply == .refused(.wrongApplication(registeredAs: mail.id)))
    #expect(world.status(id)?.isAware == false)
  }

  @Test(
    "With MaxQueuedCallbacks queued callbacks, a change of state is refused, a termination is not")
  func queuedCallbacks() {
    var world = World { $0.queuedCallbacksMax = 5 }
    let id = world.register(mail)
    world.acknowledge(id)
    world.forget()
    var replies: [Reply?] = []
    for _ in 1...5 {
      replies.append(world.ask { .operation(.deactivate($0, mail)) })
      replies.append(world.ask { .operation(.activate($0, mail)) })
    }
    let refusal = Refusal.quotaExceeded(name: "MaxQueuedCallbacks", limit: 5)
    let moves = world.changes(of: mail).count {
      if case .transition(.active, _, _) = $0 { return true }
      if case .transition(.inactive, _, _) = $0 { return true }
      return false
    }
    #expect(moves == 4)
    #expect(replies.contains(.refused(refusal)))
    #expect(world.status(id)?.callbacksPending == 5)
    #expect(
      world.ask { .operation(.terminate($0, mail, byUser: false)) } == nil,
      "a termination is always possible"
    )
    #expect(world.status(id)?.ending == .terminatedByOperator)
  }

  @Test("§16 MaxApplicationsPerUser does not count the applications of other users")
  func applicationsPerUser() {
    var world = World { $0.applicationsPerUserMax = 2 }
    let first = world.register(mail)
    world.adopt(music)
    let leader = world.newLeader()
    let refusal = Reply.refused(.quotaExceeded(name: "MaxApplicationsPerUser", limit: 2))
    #expect(
      world.ask { .application(.register($0, maps, leader, target: .foreground, seat: seat0)) }
        == refusal)
    #expect(world.scheduler.status(of: maps, at: world.now) == nil)
    world.register(key("org.example.maps", uid: 2000))
    world.feed(.process(.leaderExited(first, .exited(code: 0))))
    world.register(maps)
  }

  @Test("MaxApplicationsPerUser counts launches in progress")
  func launchesCount() {
    var world = World { $0.applicationsPerUserMax = 1 }
    world.spawning = .never
    let manifests = [mail, music].map { Manifest(id: $0.id, owner: $0.owner) }
    world.feed(.scheduler(.manifestsChanged(manifests)))
    #expect(world.ask { .operation(.launch($0, mail, target: .foreground, reason: .user)) } == nil)
    let refusal = Reply.refused(.quotaExceeded(name: "MaxApplicationsPerUser", limit: 1))
    #expect(
      world.ask { .operation(.launch($0, music, target: .foreground, reason: .user)) } == refusal)
    world.feed(.process(.spawnFailed(InstanceID(1), reason: "no such file")))
    #expect(world.ask { .operation(.launch($0, music, target: .foreground, reason: .user)) } == nil)
  }

  @Test("The same id of two users names two applications")
  func twoOwners() {
    var world = World()
    let others = key(mail.id.name, uid: 2000)
    let first = world.make(mail, .background)
    let second = world.make(others, .background)
    #expect(world.scheduler.owners(of: mail.id) == [UserID(1000), UserID(2000)])
    world.end(second, TaskID(1))
    #expect(world.state(second) == .suspended)
    #expect(world.state(first) == .background)
  }

  @Test("Names that are not reverse-DNS ids are refused", arguments: [
    "", ".", "mail", "org.", ".org", "org..mail", "org.ex ample", "org.exämple", "org/mail.x",
    "org.example\u{0}", "a." + String(repeating: "b", count: 249),
  ])
  func ids(_ name: String) {
    #expect(ApplicationID(name) == nil)
  }

  @Test("The longest id has 250 bytes")
  func longestID() {
    #expect(ApplicationID("a." + String(repeating: "b", count: 248)) != nil)
  }
}

@Suite("The bounds of settings and of instants")
struct PolicyTests {
  @Test("The settings have the defaults of the contract")
  func defaults() {
    let policy = Policy()
    #expect(policy.problems.isEmpty)
    #expect(policy.callbackTimeout == .seconds(6))
    #expect(policy.terminateTimeout == .seconds(5))
    #expect(policy.backgroundTime == .seconds(600))
    #expect(policy.expirationLead == .seconds(5))
    #expect(policy.tasksPerApplicationMax == 1024)
  }

  @Test("The error for a setting outside its bounds names the setting")
  func bounds() {
    var policy = Policy()
    policy.expirationLead = policy.backgroundTime
    #expect(policy.problems == ["ExpirationLead must be shorter than BackgroundTime"])
    policy = Policy()
    policy.callbackTimeout = .zero
    policy.tracerCheckInterval = .seconds(-1)
    policy.tasksPerApplicationMax = 0
    policy.expirationLead = .seconds(-1)
    #expect(
      policy.problems == [
        "CallbackTimeout must be longer than 0", "TracerCheckInterval must be longer than 0",
        "MaxTasksPerApplication must be at least 1", "ExpirationLead must be at least 0",
      ])
  }

  @Test(
    "An instant never exceeds the last possible instant",
    arguments: [
      Duration.seconds(Int64.max), .seconds(18_446_744_073) + .nanoseconds(999_999_999),
      .nanoseconds(Int64.max) + .nanoseconds(Int64.max),
    ])
  func endOfTime(_ duration: Duration) {
    #expect(Instant(nanoseconds: 2).advanced(by: duration) == Instant(nanoseconds: .max))
  }

  @Test("The duration between two instants is exact to the nanosecond")
  func arithmetic() {
    let start = Instant(nanoseconds: 5)
    let later = start.advanced(by: .seconds(3) + .nanoseconds(7))
    #expect(later.nanoseconds == 3_000_000_012)
    #expect(start.duration(to: later) == .nanoseconds(3_000_000_007))
    #expect(later.duration(to: start) == .zero)
    #expect(start.duration(to: Instant(nanoseconds: .max)) == .nanoseconds(Int64.max))
  }

  @Test("A deadline at the last possible instant is never due, and does not trap")
  func unlimited() {
    var world = World {
      $0.callbackTimeout = .seconds(Int64.max)
      $0.backgroundTime = .seconds(Int64.max)
    }
    let id = world.make(mail, .background)
    world.advance(by: .seconds(1_000_000))
    #expect(world.state(id) == .background)
  }
}
