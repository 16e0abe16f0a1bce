import Testing

@testable import TaskSchedulerCore

@Suite("§2 States: rules that the table of transitions does not contain")
struct StateTests {
  @Test("At most one application is active at a seat")
  func oneActivePerSeat() {
    var world = World()
    let first = world.make(mail, .active)
    let second = world.make(music, .active)
    let third = world.register(maps, at: SeatID("seat1"))
    world.acknowledgeAll(third)
    #expect(world.state(first) == .suspended || world.state(first) == .background)
    #expect(world.state(second) == .active)
    #expect(world.scheduler.status(of: maps, at: world.now)?.state == .active)
  }

  @Test("An activation displaces the active application, and does not wait for it")
  func activationWaitsForNobody() {
    var world = World()
    let second = world.make(music, .suspended)
    let first = world.make(mail, .active)
    world.forget()
    #expect(world.ask { .operation(.activate($0, music)) } == .done)
    #expect(world.state(first) == .background)
    #expect(world.state(second) == .inactive)
    #expect(world.delivered(first) == [.willResignActive])
    #expect(world.delivered(second) == [.willEnterForeground])
    world.acknowledgeAll(second)
    #expect(world.state(second) == .active)
    #expect(world.delivered(second) == [.willEnterForeground, .didBecomeActive])
    #expect(
      world.delivered(first) == [.willResignActive], "the first application has not acknowledged")
  }

  @Test("A foreground application that is being killed releases its seat at once")
  func killedLeavesSeat() {
    var world = World()
    world.killing = .never
    let first = world.register(mail)
    world.advance(by: .seconds(6))
    #expect(world.status(first)?.ending == .callbackTimeout)
    world.forget()
    let second = world.register(music)
    world.acknowledgeAll(second)
    #expect(world.state(second) == .active)
    #expect(world.delivered(first).isEmpty, "a killed application receives no callback")
    world.feed(.process(.leaderExited(first, .signaled(9))))
    #expect(world.state(second) == .active)
    #expect(world.lastEnd(mail)?.reason == .callbackTimeout)
  }

  @Test("An application is suspended only when all its processes are stopped")
  func suspendedOnlyWhenStopped() {
    var world = World()
    world.suspending = .never
    let id = world.register(mail)
    world.acknowledgeAll(id)
    world.ask { .operation(.sendToBackground($0, mail)) }
    world.acknowledgeAll(id)
    #expect(world.effects.contains(.suspend(id)))
    #expect(world.state(id) == .background)
    #expect(world.status(id)?.isSuspending == true)
    world.feed(.process(.suspensionCompleted(id)))
    #expect(world.state(id) == .suspended)
    #expect(world.status(id)?.isSuspending == false)
  }

  @Test(
    """
    After the daemon's absence, an application is suspended again as soon as all its processes \
    are stopped
    """)
  func stillSuspended() {
    var world = World()
    let asleep = world.make(mail, .suspended)
    world.suspending = .never
    let other = world.make(music, .background)
    world.feed(.scheduler(.recovered))
    world.end(other, TaskID(1))
    #expect(world.effects.contains(.suspend(asleep)) && world.effects.contains(.suspend(other)))
    world.forget()
    world.feed(.process(.stillSuspended([other, asleep, asleep, InstanceID(99)])))
    #expect(world.state(asleep) == .suspended)
    #expect(world.state(other) == .background, "the daemon has not seen all processes stopped")
    #expect(world.changes(of: mail).isEmpty)
    world.feed(.process(.suspensionFailed(asleep, reason: "stale")))
    #expect(world.state(asleep) == .suspended, "the suspension is complete")
  }

  @Test("A new task cancels a suspension in progress")
  func suspensionTakenBack() {
    var world = World()
    world.suspending = .never
    let id = world.register(mail)
    world.acknowledgeAll(id)
    world.ask { .operation(.sendToBackground($0, mail)) }
    world.acknowledgeAll(id)
    world.begin(id)
    #expect(world.effects.contains(.resume(id)))
    world.feed(.process(.suspensionCompleted(id)))
    #expect(world.state(id) == .background, "a report of a cancelled suspension has no effect")
  }

  @Test(
      """
      A suspended application that another program resumes is in the background until its \
      new suspension is complete
      """)
  func suspensionLost() {
    var world = World()
    let id = world.make(mail, .suspended)
    world.forget()
    world.feed(.process(.suspensionLost(id, reason: "process 7 runs")))
    #expect(
      world.changes(of: mail) == [
        .transition(from: .suspended, to: .background, cause: .suspensionLost),
        .suspensionFailed(reason: "process 7 runs"),
        .transition(from: .background, to: .suspended, cause: .noEntitlement),
      ])
    #expect(world.state(id) == .suspended)
  }

  @Test(
      """
      A suspension that another program undoes twice within SuspendRetryInterval is \
      repeated after that interval
      """)
  func suspensionLostAgain() {
    var world = World()
    let id = world.make(mail, .suspended)
    world.feed(.process(.suspensionLost(id, reason: "process 7 runs")))
    world.advance(by: .seconds(10) - nanosecond)
    world.feed(.process(.suspensionLost(id, reason: "process 7 runs")))
    #expect(world.state(id) == .background)
    world.advance(by: .seconds(10) - nanosecond)
    #expect(world.state(id) == .background)
    world.advance(by: nanosecond)
    #expect(world.state(id) == .suspended)
    world.feed(.process(.suspensionLost(id, reason: "process 7 runs")))
    #expect(world.state(id) == .suspended, "the previous loss was 10 s ago")
  }

  @Test("A report of a lost suspension has no effect if the application was resumed or killed")
  func suspensionLostStale() {
    var world = World()
    let id = world.make(mail, .suspended)
    world.ask { .operation(.activate($0, mail)) }
    world.forget()
    world.feed(.process(.suspensionLost(id, reason: "process 7 runs")))
    #expect(world.effects.isEmpty)
    world.killing = .never
    let other = world.make(music, .suspended)
    world.ask { .operation(.terminate($0, music, byUser: false)) }
    world.forget()
    world.feed(.process(.suspensionLost(other, reason: "process 8 runs")))
    #expect(world.effects.isEmpty)
  }

  @Test("The daemon reports a failed suspension, and repeats it after SuspendRetryInterval")
  func suspensionRetried() {
    var world = World()
    world.suspending = .failing
    let id = world.make(mail, .background)
    world.forget()
    world.end(id, TaskID(1))
    #expect(world.state(id) == .background)
    #expect(world.changes(of: mail).last == .suspensionFailed(reason: "a thread runs"))
    world.suspending = .atOnce
    world.advance(by: .seconds(10) - nanosecond)
    #expect(world.state(id) == .background)
    world.advance(by: nanosecond)
    #expect(world.state(id) == .suspended)
  }

  @Test("An application is resumed before any message is sent to it")
  func resumedFirst() throws {
    var world = World()
    let id = world.make(mail, .suspended)
    world.forget()
    world.ask { .operation(.activate($0, mail)) }
    let resumed = try #require(world.position(of: .resume(id)))
    let told = try #require(
      world.effects.firstIndex { if case .deliver = $0 { true } else { false } })
    #expect(resumed < told)
    #expect(world.effects.filter { $0 == .resume(id) }.count == 1)
    #expect(world.status(id)?.leader == Leader(pid: 101, startTime: 707), "the process is the same")
  }

  @Test("The application switcher lists the applications in the order of their last activation")
  func switcher() {
    var world = World()
    _ = world.make(mail, .active)
    let id = world.make(music, .active)
    _ = world.make(maps, .suspended)
    world.register(key("org.example.never"), in: .background)
    #expect(world.switcher == [maps.id.name, music.id.name, mail.id.name, "org.example.never"])
    world.ask { .operation(.activate($0, mail)) }
    world.acknowledgeAll(InstanceID(1))
    #expect(world.switcher == [mail.id.name, maps.id.name, music.id.name, "org.example.never"])
    world.feed(.process(.leaderExited(id, .exited(code: 0))))
    // The ended application has no manifest, so it has left the switcher.
    #expect(world.switcher == [mail.id.name, maps.id.name, music.id.name, "org.example.never"])
    let positions = world.scheduler.statuses(at: world.now).map(\.switcherPosition)
    #expect(positions == [1, 2, nil, nil])
  }

  @Test("The activation of an application that does not run launches it")
  func activateLaunches() {
    var world = World()
    world.feed(.scheduler(.manifestsChanged([Manifest(id: mail.id, owner: mail.owner)])))
    let reply = world.ask { .operation(.activate($0, mail)) }
    #expect(reply == .started(InstanceID(1), Leader(pid: 101, startTime: 707)))
    #expect(world.state(InstanceID(1)) == .active)
  }

  @Test("A launch displaces the active application only when the launched program runs")
  func launchVacatesLate() {
    var world = World()
    world.spawning = .never
    let first = world.make(mail, .active)
    world.feed(.scheduler(.manifestsChanged([Manifest(id: music.id, owner: music.owner)])))
    let request = world.newRequest()
    world.feed(.operation(.launch(request, music, target: .foreground, reason: .user)))
    #expect(world.state(first) == .active)
    world.feed(.process(.spawned(InstanceID(2), world.newLeader())))
    #expect(world.state(first) == .background)
    #expect(world.scheduler.status(of: music, at: world.now)?.state == .active)
  }

  @Test("On a machine without multitasking, no application starts in the background")
  func noBackgroundStart() {
    var world = World { $0.multitaskingSupported = false }
    world.feed(.scheduler(.manifestsChanged([Manifest(id: mail.id, owner: mail.owner)])))
    let leader = world.newLeader()
    let refusal = Reply.refused(.multitaskingNotSupported)
    #expect(
      world.ask { .operation(.launch($0, mail, target: .background, reason: .boot)) } == refusal)
    #expect(
      world.ask { .application(.register($0, music, leader, target: .background, seat: seat0)) }
        == refusal)
    #expect(world.scheduler.status(of: mail, at: world.now)?.state == .notRunning)
  }

  @Test("The reply to an activation follows the resume and the change of priority")
  func doneWhenDone() throws {
    var world = World()
    let id = world.make(mail, .suspended)
    world.forget()
    let request = world.newRequest()
    world.feed(.operation(.activate(request, mail)))
    let answered = try #require(world.position(of: .reply(request, .done)))
    let resumed = try #require(world.position(of: .resume(id)))
    let favoured = world.position(of: .resources(.prioritize(id, .foreground)))
    #expect(try resumed < answered && #require(favoured) < answered)
  }

  @Test("SIGTERM follows the acknowledgement of willTerminate, and SIGKILL follows SIGTERM")
  func awareTermination() {
    var world = World()
    let id = world.make(mail, .background)
    world.forget()
    let request = world.newRequest()
    world.feed(.operation(.terminate(request, mail, byUser: true)))
    #expect(!world.effects.contains(.terminate(id, .terminate)))
    world.acknowledge(id)
    #expect(world.effects.contains(.terminate(id, .terminate)))
    world.advance(by: .seconds(5) - nanosecond)
    #expect(!world.effects.contains(.kill(id)))
    world.advance(by: nanosecond)
    #expect(world.effects.contains(.kill(id)))
    #expect(world.lastEnd(mail)?.reason == .terminatedByUser)
    let end = End(
      reason: .terminatedByUser, at: world.now,
      forced: ForcedEnd(signal: .terminate, limit: .seconds(5)))
    #expect(world.effects.last == .reply(request, .ended(end)))
  }
}

extension World {
  var switcher: [String] { scheduler.statuses(at: now).map(\.key.id.name) }
}
