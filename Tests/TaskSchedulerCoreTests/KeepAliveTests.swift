import Testing

@testable import TaskSchedulerCore

/// The time from the planned call to the deadline.
private let lead = Duration.milliseconds(100)

@Suite("§6 Keep-alive")
struct KeepAliveTests {
  private func set(
    _ world: inout World, _ id: InstanceID, every interval: Duration?
  ) -> Reply? {
    world.ask { .application(.setKeepAlive($0, id, interval: interval)) }
  }

  @Test("A keep-alive handler of an application without the mode voip is refused: ModeNotDeclared")
  func mode() {
    var world = World()
    let id = world.register(mail)
    #expect(set(&world, id, every: .seconds(600)) == .refused(.modeNotDeclared(.voip)))
    let chat = world.makeVoIP(music, .active)
    #expect(set(&world, chat, every: .seconds(600)) == .done)
  }

  @Test("An interval below KeepAliveMinimum = 600 s is refused without effect")
  func minimum() {
    var world = World()
    let id = world.makeVoIP(mail, .active)
    #expect(set(&world, id, every: .seconds(900)) == .done)
    for interval in [Duration.seconds(600) - nanosecond, .zero, .seconds(-1)] {
      #expect(
        set(&world, id, every: interval) == .refused(.keepAliveTooShort(minimum: .seconds(600))))
    }
    #expect(world.scheduler.keepAlives[id]?.interval == .seconds(900))
  }

  @Test("The scheduler accepts an interval of any length")
  func endless() {
    var world = World()
    let id = world.makeVoIP(mail, .suspended)
    world.ask { .operation(.activate($0, mail)) }
    world.acknowledgeAll(id)
    #expect(set(&world, id, every: .seconds(Int64.max)) == .done)
    #expect(world.scheduler.nextWakeUp != nil)
  }

  @Test(
      """
      An application that does not run, is suspended or terminating, or has no event \
      stream cannot set a handler
      """)
  func state() {
    var world = World()
    #expect(
      set(&world, InstanceID(9), every: .seconds(600)) == .refused(.invalidState(.notRunning)))
    let id = world.makeVoIP(mail, .suspended)
    #expect(set(&world, id, every: .seconds(600)) == .refused(.invalidState(.suspended)))
    let player = world.adopt(music, modes: [.voip])
    #expect(set(&world, player, every: .seconds(600)) == .refused(.noEventStream))
    world.ask { .operation(.activate($0, mail)) }
    world.ask { .operation(.terminate($0, mail, byUser: true)) }
    #expect(set(&world, id, every: .seconds(600)) == .refused(.terminating))
  }

  @Test("The scheduler calls the handler before each interval ends, counted from the last call")
  func everyInterval() {
    var world = World()
    let id = world.makeVoIP(mail, .active)
    _ = set(&world, id, every: .seconds(600))
    world.ask { .operation(.sendToBackground($0, mail)) }
    world.acknowledgeAll(id)
    for _ in 0..<5 {
      world.forget()
      world.advance(by: .seconds(600) - .seconds(1))
      #expect(world.delivered(id).isEmpty)
      world.advance(by: .seconds(1))
      #expect(world.delivered(id) == [.keepAlive])
      world.acknowledgeAll(id)
      #expect(world.state(id) == .suspended)
    }
  }

  @Test(
    "The scheduler also calls the handler of an application that is not suspended",
    arguments: [ApplicationState.active, .inactive, .background])
  func running(_ state: ApplicationState) {
    var world = World { $0.backgroundTime = .seconds(6000) }
    let id = world.makeVoIP(mail, state)
    _ = set(&world, id, every: .seconds(600))
    world.forget()
    world.advance(by: .seconds(600))
    #expect(world.delivered(id) == [.keepAlive])
    #expect(world.state(id) == state)
  }

  @Test("A call that is due while the machine sleeps comes at the wake-up")
  func sleep() {
    var world = World()
    let id = suspendedWithKeepAlive(&world)
    world.forget()
    world.sleep(for: .seconds(5000))
    #expect(world.delivered(id) == [.keepAlive])
    world.acknowledgeAll(id)
    world.forget()
    world.advance(by: .seconds(600) - nanosecond)
    #expect(world.delivered(id).isEmpty, "the interval counts from that call")
    world.advance(by: nanosecond)
    #expect(world.delivered(id) == [.keepAlive])
  }

  @Test("A call resumes a suspended application until the acknowledgement")
  func woken() throws {
    var world = World()
    let id = suspendedWithKeepAlive(&world)
    world.forget()
    world.advance(by: .seconds(600))
    let resumed = try #require(world.position(of: .resume(id)))
    let callback = try #require(world.inFlight[id])
    let delivered = try #require(world.position(of: .deliver(id, callback, nil)))
    #expect(resumed < delivered)
    #expect(world.state(id) == .background)
    #expect(
      world.changes(of: mail).contains(
        .transition(from: .suspended, to: .background, cause: .event)))
    world.acknowledgeAll(id)
    #expect(world.state(id) == .suspended)
  }

  @Test(
      """
      An application that does not acknowledge within KeepAliveHandlerTime = 30 s is \
      killed: keepAliveTimeout
      """
  )
  func handlerTime() {
    var world = World()
    let id = suspendedWithKeepAlive(&world)
    world.advance(by: .seconds(600))
    world.advance(by: .seconds(30) - nanosecond)
    #expect(world.state(id) == .background)
    world.advance(by: nanosecond)
    #expect(world.ends(of: mail) == [.keepAliveTimeout])
    #expect(world.scheduler.nextWakeUp == nil)
  }

  @Test("The limit of a lifecycle callback after keepAlive is CallbackTimeout")
  func limits() {
    var world = World()
    let id = suspendedWithKeepAlive(&world)
    world.advance(by: .seconds(600))
    world.ask { .operation(.activate($0, mail)) }
    world.advance(by: .seconds(29))
    world.acknowledge(id)
    #expect(world.inFlight[id]?.kind == .willEnterForeground)
    world.advance(by: .seconds(6))
    #expect(world.ends(of: mail) == [.callbackTimeout])
  }

  @Test(
      """
      §14: A termination by the user during an unacknowledged keepAlive is the reason of \
      the end; the detail names keepAlive
      """)
  func endsMeanwhile() {
    var world = World()
    _ = suspendedWithKeepAlive(&world)
    world.advance(by: .seconds(600))
    world.ask { .operation(.terminate($0, mail, byUser: true)) }
    world.advance(by: .seconds(30))
    #expect(
      world.lastEnd(mail)
        == End(reason: .terminatedByUser, at: world.now, detail: .callback(.keepAlive)))
  }

  @Test("At most one further call waits while a call is unacknowledged")
  func oneCallWaits() {
    var world = World()
    let id = suspendedWithKeepAlive(&world)
    world.advance(by: .seconds(600))
    world.traced = [id]
    world.advance(by: .seconds(1000))
    world.advance(by: .seconds(1000))
    // More than one interval has passed since the last call, but only one call waits.
    world.forget()
    world.acknowledge(id)
    #expect(world.delivered(id) == [.keepAlive])
    #expect(world.status(id)?.callbacksPending == 1)
    world.acknowledge(id)
    #expect(world.state(id) == .suspended)
  }

  @Test("A call of a common burst waits until the application acknowledges its previous call")
  func burstMeanwhile() {
    var world = World { $0.keepAliveHandlerTime = .seconds(500) }
    let id = suspendedWithKeepAlive(&world)
    let other = world.make(music, .suspended)
    world.advance(by: .seconds(600))
    world.advance(by: .seconds(460))
    // A wake-up for another reason in the last quarter of the interval causes a burst.
    world.ask { .operation(.activate($0, music)) }
    world.acknowledgeAll(other)
    let used = world.now
    world.forget()
    world.advance(by: .seconds(30))
    world.acknowledge(id)
    #expect(world.delivered(id) == [.keepAlive])
    world.acknowledge(id)
    world.forget()
    world.advance(by: world.now.duration(to: used.advanced(by: .seconds(600))))
    #expect(world.delivered(id) == [.keepAlive], "at most one interval after the last call")
    #expect(world.state(other) == .active)
  }

  @Test("At most one call waits while a lifecycle callback is unacknowledged")
  func waitsBehindAnother() {
    var world = World { $0.callbackTimeout = .seconds(3000) }
    let id = world.makeVoIP(mail, .active)
    _ = set(&world, id, every: .seconds(600) + lead)
    world.ask { .operation(.sendToBackground($0, mail)) }
    world.advance(by: .seconds(1500))
    world.forget()
    world.acknowledge(id)
    world.acknowledge(id)
    #expect(world.delivered(id) == [.didEnterBackground, .keepAlive])
    world.acknowledge(id)
    #expect(world.state(id) == .suspended)
  }

  @Test(
    "§3 The scheduler does not call the handler again while a debugger stops the limit of a call")
  func debugger() {
    var world = World()
    let id = suspendedWithKeepAlive(&world)
    world.advance(by: .seconds(600))
    world.traced = [id]
    world.forget()
    world.advance(by: .seconds(3000))
    #expect(world.delivered(id).isEmpty && world.ends(of: mail).isEmpty)
    world.traced = []
    world.advance(by: .seconds(30))
    #expect(world.ends(of: mail).isEmpty, "the limit restarts")
    world.advance(by: .seconds(2))
    #expect(world.ends(of: mail) == [.keepAliveTimeout])
  }

  @Test(
    "A burst calls the handlers of all applications, except those that can wait for the next burst")
  func coalescing() {
    var world = World()
    let often = suspendedWithKeepAlive(&world, mail, every: .seconds(600))
    world.advance(by: .seconds(100))
    let seldom = suspendedWithKeepAlive(&world, music, every: .seconds(1900))
    world.advance(by: .seconds(50))
    let third = suspendedWithKeepAlive(&world, maps, every: .seconds(700))
    world.forget()
    var wakeUps = 0
    for _ in 0..<40 {
      guard let next = world.scheduler.nextWakeUp else { break }
      world.advance(by: world.now.duration(to: next))
      wakeUps += 1
      for id in [often, seldom, third] { world.acknowledgeAll(id) }
    }
    // Every burst calls the handler with the shortest interval, 600 s.
    #expect(wakeUps == 40)
    #expect(world.delivered(often).count == 40)
    #expect((12...14).contains(world.delivered(seldom).count))
    #expect(world.ends(of: mail).isEmpty && world.ends(of: music).isEmpty)
  }

  @Test(
    "The scheduler runs a burst at a wake-up for another reason if that saves a later wake-up",
    arguments: ["notification", "socket", "foreground"])
  func usedWakeUp(_ wakeUp: String) {
    var world = World()
    world.setClock(1_800_000_000)
    let id = suspendedWithKeepAlive(&world)
    let caller = world.makeVoIP(music, .active)
    let socket = world.manage(caller)
    world.schedule(maps, in: wakeUp == "notification" ? .seconds(500) : .seconds(100_000))
    world.ask { .operation(.sendToBackground($0, music)) }
    world.acknowledgeAll(caller)
    world.forget()
    world.advance(by: .seconds(500))
    if wakeUp == "socket" {
      world.feed(.socket(.ready(caller, [SocketReadiness(socket, .data)])))
    }
    if wakeUp == "foreground" { world.ask { .operation(.activate($0, music)) } }
    #expect(world.delivered(id) == [.keepAlive])
    world.acknowledgeAll(id)
    world.forget()
    world.advance(by: .seconds(599))
    #expect(!world.delivered(id).contains(.keepAlive), "the wake-up replaces the burst at 600 s")
  }

  @Test("The scheduler runs no burst at a wake-up for another reason if that saves no wake-up")
  func unusedWakeUp() {
    var world = World()
    let id = suspendedWithKeepAlive(&world)
    let caller = world.make(music, .suspended)
    world.advance(by: .seconds(100))
    world.forget()
    world.ask { .operation(.activate($0, music)) }
    #expect(world.delivered(id).isEmpty)
    #expect(world.state(caller).isForeground)
  }

  @Test("A request of the application, its termination and its end each remove the handler")
  func cleared() {
    var world = World()
    let id = world.makeVoIP(mail, .active)
    _ = set(&world, id, every: .seconds(600))
    #expect(world.scheduler.nextWakeUp != nil)
    #expect(set(&world, id, every: nil) == .done)
    #expect(world.scheduler.nextWakeUp == nil)
    _ = set(&world, id, every: .seconds(600))
    world.ask { .operation(.terminate($0, mail, byUser: true)) }
    #expect(world.scheduler.nextWakeUp == nil)
    let other = world.makeVoIP(music, .active)
    _ = set(&world, other, every: .seconds(600))
    world.feed(.process(.leaderExited(other, .exited(code: 0))))
    #expect(world.scheduler.nextWakeUp == nil)
  }

  @Test("§15 An acknowledged keep-alive handler survives the daemon's death")
  func daemonDies() throws {
    var world = World()
    let id = suspendedWithKeepAlive(&world)
    world.advance(by: .seconds(300))
    try world.crash()
    #expect(world.state(id) == .suspended)
    world.forget()
    world.advance(by: .seconds(300))
    #expect(world.delivered(id) == [.keepAlive])
    try world.crash(awayFor: .seconds(40))
    #expect(world.delivered(id) == [.keepAlive, .keepAlive], "the daemon sends the callback again")
    #expect(world.ends(of: mail).isEmpty, "the limit restarts")
  }

  @Test("A restarted daemon runs a burst that was due during its absence at once")
  func away() throws {
    var world = World()
    let id = suspendedWithKeepAlive(&world)
    world.forget()
    try world.crash(awayFor: .seconds(700))
    #expect(world.delivered(id) == [.keepAlive])
  }
}

/// Creates a suspended application with a keep-alive handler. By default, the handler is due in 600
/// s.
private func suspendedWithKeepAlive(
  _ world: inout World, _ app: ApplicationKey = mail,
  every interval: Duration = .seconds(600) + lead
) -> InstanceID {
  let id = world.makeVoIP(app, .active)
  #expect(world.ask { .application(.setKeepAlive($0, id, interval: interval)) } == .done)
  world.ask { .operation(.sendToBackground($0, app)) }
  world.acknowledgeAll(id)
  #expect(world.state(id) == .suspended)
  return id
}
