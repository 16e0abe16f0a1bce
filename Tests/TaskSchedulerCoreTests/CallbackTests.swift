import Testing

@testable import TaskSchedulerCore

@Suite("§3 Callbacks")
struct CallbackTests {
  /// Returns a world in which the lifecycle callback `kind` is in flight.
  private func world(awaiting kind: CallbackKind) -> (World, InstanceID) {
    var world = World()
    switch kind {
    case .didFinishLaunching:
      let id = world.register(mail)
      return (world, id)
    case .didBecomeActive:
      let id = world.make(mail, .inactive)
      world.ask { .operation(.activate($0, mail)) }
      return (world, id)
    case .willResignActive:
      let id = world.make(mail, .active)
      world.ask { .operation(.deactivate($0, mail)) }
      return (world, id)
    case .didEnterBackground:
      let id = world.make(mail, .inactive)
      world.ask { .operation(.sendToBackground($0, mail)) }
      return (world, id)
    case .willEnterForeground:
      let id = world.make(mail, .suspended)
      world.ask { .operation(.activate($0, mail)) }
      return (world, id)
    case .willTerminate:
      let id = world.make(mail, .background)
      world.ask { .operation(.terminate($0, mail, byUser: false)) }
      return (world, id)
    case .keepAlive: preconditionFailure("keepAlive is not a lifecycle callback")
    }
  }

  private static let lifecycle = CallbackKind.allCases.filter { $0 != .keepAlive }

  @Test(
    """
    Each of the six lifecycle callbacks must be acknowledged within CallbackTimeout = 6 s; after \
    that the instance is killed, reason callbackTimeout
    """, arguments: lifecycle)
  func timeout(_ kind: CallbackKind) {
    var (world, id) = world(awaiting: kind)
    #expect(world.inFlight[id]?.kind == kind)
    world.forget()
    world.advance(by: .seconds(6) - nanosecond)
    #expect(!world.effects.contains(.kill(id)), "a limit is never early")
    world.advance(by: nanosecond)
    #expect(world.effects.contains(.kill(id)))
    // After willTerminate, the operator's order is the reason of the end (§14).
    #expect(
      world.ends(of: mail) == [kind == .willTerminate ? .terminatedByOperator : .callbackTimeout])
    #expect(world.lastEnd(mail)?.detail == .callback(kind))
  }

  @Test(
    "An application that acknowledges one nanosecond before the deadline is not killed",
    arguments: lifecycle)
  func inTime(_ kind: CallbackKind) {
    var (world, id) = world(awaiting: kind)
    world.advance(by: .seconds(6) - nanosecond)
    world.acknowledgeAll(id)
    world.advance(by: nanosecond)
    #expect(world.ends(of: mail).isEmpty)
  }

  @Test("The limit of a callback counts from the delivery of that callback")
  func ownTime() {
    var world = World()
    let id = world.register(mail)
    world.advance(by: .seconds(5))
    world.acknowledge(id)
    #expect(world.inFlight[id]?.kind == .didBecomeActive)
    world.advance(by: .seconds(6) - nanosecond)
    #expect(world.state(id) == .active)
    world.advance(by: nanosecond)
    #expect(world.state(id) == .notRunning)
  }

  @Test(
    "The daemon delivers callbacks in order, each after the acknowledgement of the previous one")
  func oneAtATime() {
    var world = World()
    let id = world.register(mail)
    world.acknowledge(id)
    world.ask { .operation(.deactivate($0, mail)) }
    world.ask { .operation(.activate($0, mail)) }
    world.ask { .operation(.sendToBackground($0, mail)) }
    let order: [CallbackKind] = [
      .didFinishLaunching, .didBecomeActive, .willResignActive, .didBecomeActive,
      .willResignActive, .didEnterBackground,
    ]
    for count in 2...order.count {
      #expect(world.delivered(id) == Array(order.prefix(count)))
      let isAcknowledged = world.acknowledge(id)
      #expect(isAcknowledged)
    }
    #expect(world.delivered(id) == order)
    #expect(world.state(id) == .suspended)
  }

  @Test("Callback ids are never 0 and unique for the instance's life")
  func ids() {
    var world = World()
    let id = world.make(mail, .active)
    for _ in 0..<20 {
      world.ask { .operation(.deactivate($0, mail)) }
      world.ask { .operation(.activate($0, mail)) }
      world.acknowledgeAll(id)
    }
    let ids = world.effects.compactMap { effect -> UInt64? in
      if case .deliver(_, let callback, _) = effect { callback.id.number } else { nil }
    }
    #expect(ids.count == 42)
    #expect(Set(ids).count == ids.count)
    #expect(!ids.contains(0))
  }

  @Test("An acknowledgement of a callback that is not outstanding is an error, and changes nothing")
  func wrongAcknowledgement() throws {
    var world = World()
    let id = world.register(mail)
    let first = try #require(world.inFlight[id]).id
    let before = world.scheduler.statuses(at: world.now)
    for wrong in [CallbackID(0), CallbackID(first.number + 1), CallbackID(.max)] {
      world.forget()
      #expect(
        world.ask { .application(.acknowledge($0, id, wrong)) } == .refused(.unknownCallback(wrong))
      )
      #expect(world.changes(of: mail) == [.refused(.unknownCallback(wrong))])
    }
    #expect(world.scheduler.statuses(at: world.now) == before)
    world.acknowledge(id)
    #expect(
      world.ask { .application(.acknowledge($0, id, first)) } == .refused(.unknownCallback(first)))
  }

  @Test("The daemon sends an outstanding callback again on a new event stream, with the same id")
  func reconnection() throws {
    var world = World()
    let id = world.make(mail, .active)
    world.feed(.application(.streamClosed(id)))
    world.forget()
    world.ask { .operation(.deactivate($0, mail)) }
    #expect(world.delivered(id).isEmpty)
    world.advance(by: .seconds(3))
    world.ask { .application(.openStream($0, id, named: mail.id)) }
    #expect(world.delivered(id) == [.willResignActive])
    let callback = try #require(world.inFlight[id])
    world.feed(.application(.streamClosed(id)))
    world.ask { .application(.openStream($0, id, named: mail.id)) }
    #expect(world.inFlight[id] == callback)
    world.advance(by: .seconds(3))
    #expect(world.state(id) == .notRunning, "the limit does not start again with a new stream")
  }

  @Test("An acknowledgement after the kill has no effect")
  func lateAcknowledgement() {
    var world = World()
    world.killing = .never
    let id = world.make(mail, .background)
    let request = world.newRequest()
    world.feed(.operation(.terminate(request, mail, byUser: false)))
    world.advance(by: .seconds(6))
    #expect(world.effects.contains(.kill(id)))
    world.forget()
    world.acknowledge(id)
    #expect(!world.effects.contains(.terminate(id, .terminate)))
    world.advance(by: .seconds(60))
    #expect(!world.effects.contains(.kill(id)), "the application was killed before")
  }

  @Test("No further callback goes to a killed application")
  func nothingAfterKill() {
    var world = World()
    world.killing = .never
    let id = world.register(mail)
    world.advance(by: .seconds(6))
    world.forget()
    world.acknowledge(id)
    #expect(world.delivered(id).isEmpty)
  }
}

@Suite("§3 The debugger")
struct DebuggerTests {
  @Test(
      """
      A debugger that traces a process of the instance stops the limit of a callback, \
      which restarts when the debugger leaves
      """)
  func callback() {
    var world = World()
    let id = world.register(mail)
    world.traced = [id]
    world.advance(by: .seconds(3600))
    #expect(world.state(id) == .inactive)
    world.traced = []
    // The daemon checks every second whether a debugger is still attached.
    world.advance(by: .seconds(1))
    world.advance(by: .seconds(6) - nanosecond)
    #expect(world.state(id) == .inactive)
    world.advance(by: nanosecond)
    #expect(world.lastEnd(mail)?.reason == .callbackTimeout)
  }

  @Test("A debugger stops the background time, which restarts when the debugger leaves")
  func backgroundTime() {
    var world = World()
    let id = world.make(mail, .background)
    world.traced = [id]
    world.advance(by: .seconds(3600))
    #expect(world.state(id) == .background)
    #expect(world.expired(id).isEmpty)
    #expect(world.status(id)?.timeRemaining == nil)
    world.traced = []
    world.advance(by: .seconds(1))
    #expect(world.status(id)?.timeRemaining == .seconds(600))
    world.advance(by: .seconds(595))
    #expect(world.expired(id) == [TaskID(1)])
    world.advance(by: .seconds(5) - nanosecond)
    #expect(world.state(id) == .background)
    world.advance(by: nanosecond)
    #expect(world.lastEnd(mail)?.reason == .backgroundTimeExpired)
  }

  @Test(
    "A debugger stops the limits of audio, which restart when the debugger leaves",
    arguments: [false, true])
  func audio(isSilent: Bool) {
    var world = World()
    let id = world.adopt(mail, modes: [.audio])
    world.play(id)
    world.ask { .operation(.sendToBackground($0, mail)) }
    if isSilent { world.setSilent(id, true) } else { world.pause(id) }
    world.traced = [id]
    world.advance(by: .seconds(3600))
    #expect(world.state(id) == .background)
    world.traced = []
    world.advance(by: .seconds(1))
    // A silent stream counts as paused after AudioSilenceTime (30 s). AudioGraceTime (5 s) follows.
    world.advance(by: .seconds(isSilent ? 35 : 5) - nanosecond)
    #expect(world.state(id) == .background)
    world.advance(by: nanosecond)
    #expect(world.state(id) == .suspended)
  }

  @Test("A debugger stops the limits of windows, which restart when the debugger leaves")
  func windows() {
    var world = World()
    world.feed(.session(.agentAttached(mail.owner)))
    let id = world.make(mail, .active)
    world.traced = [id]
    let hidden = WindowSnapshot([WindowReport(id, .hidden)], hasFocus: false)
    world.feed(.session(.windows(mail.owner, hidden)))
    world.advance(by: .milliseconds(3_600_500))
    #expect(world.state(id) == .active)
    world.traced = []
    world.advance(by: .seconds(1))
    world.advance(by: .milliseconds(500) - nanosecond)
    #expect(world.state(id) == .active)
    world.advance(by: nanosecond)
    #expect(world.state(id) == .inactive)
    world.acknowledgeAll(id)
    world.advance(by: .seconds(30) - nanosecond)
    #expect(world.state(id) == .inactive)
    world.advance(by: nanosecond)
    #expect(world.state(id) == .background)
  }

  @Test(
      """
      A debugger does not delay SIGKILL after SIGTERM if an operator or a user terminates \
      the application
      """, arguments: [false, true])
  func orderedTermination(byUser: Bool) {
    var world = World()
    let id = world.make(mail, .active, isAware: false)
    world.traced = [id]
    world.ask { .operation(.terminate($0, mail, byUser: byUser)) }
    world.advance(by: .seconds(5) - nanosecond)
    #expect(!world.effects.contains(.kill(id)))
    world.advance(by: nanosecond)
    #expect(world.effects.contains(.kill(id)))
    let reason: EndReason = byUser ? .terminatedByUser : .terminatedByOperator
    #expect(world.lastEnd(mail)?.reason == reason)
  }

  @Test("A debugger does not delay the kill of an aware application that an operator terminates")
  func orderedTerminationOfAware() {
    var world = World()
    let id = world.make(mail, .background)
    world.traced = [id]
    world.ask { .operation(.terminate($0, mail, byUser: false)) }
    world.advance(by: .seconds(6) - nanosecond)
    #expect(!world.effects.contains(.kill(id)))
    world.advance(by: nanosecond)
    #expect(world.effects.contains(.kill(id)))
  }

  @Test("A termination by an operator restarts the limits that a debugger has stopped")
  func orderedWhileHeld() {
    var world = World()
    let id = world.register(mail)
    world.traced = [id]
    world.advance(by: .seconds(3600))
    world.ask { .operation(.terminate($0, mail, byUser: false)) }
    world.advance(by: .seconds(6) - nanosecond)
    #expect(!world.effects.contains(.kill(id)))
    world.advance(by: nanosecond)
    #expect(world.effects.contains(.kill(id)))
  }

  @Test("A debugger does not delay a termination that an operator orders during another end")
  func orderedLater() {
    var world = World()
    world.feed(
      .scheduler(
        .manifestsChanged([
      Manifest(id: mail.id, owner: mail.owner, multitasking: false)
        ])))
    let id = world.make(mail, .active)
    world.traced = [id]
    world.ask { .operation(.sendToBackground($0, mail)) }
    world.advance(by: .seconds(60))
    #expect(!world.effects.contains(.kill(id)))
    world.ask { .operation(.terminate($0, mail, byUser: false)) }
    world.advance(by: .seconds(6))
    #expect(world.effects.contains(.kill(id)))
  }

  @Test("No limit is enforced before the daemon knows whether a debugger traces the application")
  func answerPending() {
    var world = World()
    world.tracerChecking = .never
    let id = world.register(mail)
    world.advance(by: .seconds(7))
    #expect(world.effects.filter { $0 == .checkTracer(id) }.count == 1, "the daemon is asked once")
    #expect(world.state(id) == .inactive)
    world.feed(.process(.tracerChecked(id, isTraced: false)))
    #expect(world.lastEnd(mail)?.reason == .callbackTimeout)
  }

  @Test("Without a running limit, the daemon does not check repeatedly for a debugger")
  func noPolling() {
    var world = World()
    let id = world.register(mail)
    world.traced = [id]
    world.advance(by: .seconds(10))
    world.acknowledgeAll(id)
    world.forget()
    world.advance(by: .seconds(60))
    #expect(world.effects.isEmpty)
    #expect(world.scheduler.nextDeadline == nil)
  }
}

@Suite("§3 Unaware applications")
struct UnawareTests {
  @Test("An unaware application receives no callbacks, and its transitions take effect at once")
  func noCallbacks() {
    var world = World()
    let id = world.adopt(mail)
    world.ask { .operation(.deactivate($0, mail)) }
    #expect(world.state(id) == .inactive)
    world.ask { .operation(.activate($0, mail)) }
    #expect(world.state(id) == .active)
    world.ask { .operation(.sendToBackground($0, mail)) }
    #expect(world.state(id) == .suspended)
    world.ask { .operation(.activate($0, mail)) }
    #expect(world.state(id) == .active)
    #expect(world.delivered(id).isEmpty)
    #expect(world.scheduler.nextDeadline == nil, "no limit runs")
  }

  @Test("SIGKILL follows SIGTERM after TerminateTimeout = 5 s")
  func termination() {
    var world = World()
    let id = world.adopt(mail)
    world.ask { .operation(.terminate($0, mail, byUser: false)) }
    #expect(world.effects.contains(.terminate(id, .terminate)))
    world.advance(by: .seconds(5) - nanosecond)
    #expect(!world.effects.contains(.kill(id)))
    world.advance(by: nanosecond)
    #expect(world.effects.contains(.kill(id)))
    #expect(world.lastEnd(mail)?.reason == .terminatedByOperator)
  }

  @Test("The daemon repeats a SIGKILL that it could not send")
  func killRetried() {
    var world = World()
    world.killing = .failing
    let id = world.adopt(mail)
    world.ask { .operation(.terminate($0, mail, byUser: false)) }
    world.advance(by: .seconds(5))
    #expect(world.changes(of: mail).last == .signalFailed(reason: "EPERM"))
    world.killing = .atOnce
    world.advance(by: .seconds(5))
    #expect(world.effects.filter { $0 == .kill(id) }.count == 2)
    #expect(world.state(id) == .notRunning)
  }

  @Test(
    """
    An unaware application that opens an event stream becomes aware, and receives the callbacks \
    of its state
    """)
  func becomesAware() {
    var world = World()
    let id = world.make(mail, .active, isAware: false)
    world.ask { .application(.openStream($0, id, named: mail.id)) }
    world.acknowledgeAll(id)
    #expect(world.delivered(id) == [.didFinishLaunching, .didBecomeActive])
    world.ask { .operation(.sendToBackground($0, mail)) }
    #expect(world.inFlight[id]?.kind == .willResignActive)
  }

  @Test(
      """
      An application that is launched in the background and never registers is suspended after \
      LaunchTime = 20 s
      """)
  func launchTime() {
    var world = World()
    let id = world.adopt(mail, in: .background)
    world.advance(by: .seconds(20) - nanosecond)
    #expect(world.state(id) == .background)
    world.advance(by: nanosecond)
    #expect(world.state(id) == .suspended)
    world.ask { .application(.openStream($0, id, named: mail.id)) }
    #expect(world.state(id) == .background, "the application sent the call before the stop")
    world.acknowledgeAll(id)
    #expect(world.delivered(id) == [.didFinishLaunching])
    #expect(world.state(id) == .suspended)
  }
}
