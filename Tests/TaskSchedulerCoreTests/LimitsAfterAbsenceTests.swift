import Testing

@testable import TaskSchedulerCore

/// A limit that is in progress when the daemon dies.
private struct PendingLimit: CustomTestStringConvertible, Sendable {
  var testDescription: String
  var duration: Duration
  /// Starts the limit.
  var begin: @Sendable (inout World) -> InstanceID
  /// Whether the limit has ended.
  var hasEnded: @Sendable (World, InstanceID) -> Bool

  static let all = [
    PendingLimit(testDescription: "CallbackTimeout", duration: .seconds(6)) { world in
      let id = world.make(mail, .active)
      world.ask { .operation(.deactivate($0, mail)) }
      return id
    } hasEnded: { world, _ in
      world.ends(of: mail) == [.callbackTimeout]
    },
    PendingLimit(testDescription: "ExpirationLead", duration: .seconds(5)) { world in
      let id = world.make(mail, .background)
      world.advance(by: .seconds(595))
      return id
    } hasEnded: { world, _ in
      world.ends(of: mail) == [.backgroundTimeExpired]
    },
    PendingLimit(testDescription: "EventTime", duration: .seconds(10)) { world in
      world.makeWokenBySocket(mail)
    } hasEnded: { world, id in
      world.state(id) == .suspended
    },
    PendingLimit(testDescription: "LaunchTime", duration: .seconds(20)) { world in
      world.adopt(mail, in: .background)
    } hasEnded: { world, id in
      world.state(id) == .suspended
    },
    PendingLimit(testDescription: "TerminateTimeout", duration: .seconds(5)) { world in
      let id = world.make(mail, .active, isAware: false)
      world.ask { .operation(.terminate($0, mail, byUser: false)) }
      return id
    } hasEnded: { world, id in
      world.effects.contains(.kill(id))
    },
    PendingLimit(testDescription: "AudioGraceTime", duration: .seconds(5)) { world in
      let id = world.adopt(mail, modes: [.audio])
      world.play(id)
      world.ask { .operation(.sendToBackground($0, mail)) }
      world.pause(id)
      return id
    } hasEnded: { world, id in
      world.state(id) == .suspended
    },
    PendingLimit(
      testDescription: "AudioGraceTime of an audio session", duration: .seconds(5)
    ) { world in
      let id = world.makeAwareAtOwnSeat(music)
      let other = world.makeAwareAtOwnSeat(maps)
      world.start(id)
      world.start(other)
      world.pause(id)
      world.pause(other)
      return id
    } hasEnded: { world, id in
      world.interruptions(id) == [.began, .ended(shouldResume: false)]
    },
    PendingLimit(
      testDescription: "FocusSettleTime and HiddenGraceTime", duration: .milliseconds(30_500)
    ) { world in
      world.feed(.session(.agentAttached(mail.owner)))
      let id = world.make(mail, .active, isAware: false)
      for visibility in [WindowVisibility.focused, .hidden] {
        let snapshot = WindowSnapshot([WindowReport(id, visibility)], hasFocus: true)
        world.feed(.session(.windows(mail.owner, snapshot)))
      }
      return id
    } hasEnded: { world, id in
      !world.state(id).isForeground
    },
  ]
}

/// Tests of limits during an absence of the daemon. During the absence, no daemon can receive an
/// answer or a report, and the last effects of the previous daemon may be carried out only
/// afterwards. Each limit therefore begins again.
@Suite("Limits in progress during the daemon's absence")
struct LimitsAfterAbsenceTests {
  @Test(
    "A limit begins again after the daemon's absence", arguments: PendingLimit.all,
    [Duration.milliseconds(200), .seconds(600)])
  private func restarts(_ limit: PendingLimit, absence: Duration) throws {
    var world = World()
    let id = limit.begin(&world)
    world.advance(by: limit.duration - .milliseconds(100))
    #expect(!limit.hasEnded(world, id))
    try world.crash(awayFor: absence)
    world.advance(by: limit.duration - .milliseconds(1))
    #expect(!limit.hasEnded(world, id), "the limit ends early")
    world.advance(by: .milliseconds(1))
    #expect(limit.hasEnded(world, id), "the limit does not end")
  }

  @Test("Absences in series do not shorten a limit")
  func series() throws {
    var world = World()
    let id = world.make(mail, .active, isAware: false)
    world.ask { .operation(.terminate($0, mail, byUser: false)) }
    for _ in 0..<5 { try world.crash(awayFor: .milliseconds(990)) }
    world.advance(by: .seconds(5) - nanosecond)
    #expect(!world.effects.contains(.kill(id)))
    world.advance(by: nanosecond)
    #expect(world.effects.contains(.kill(id)))
  }

  @Test("A debugger that was attached before the daemon's absence still stops the limits")
  func debugger() throws {
    var world = World()
    let id = world.make(mail, .active)
    world.ask { .operation(.deactivate($0, mail)) }
    world.traced = [id]
    world.advance(by: .seconds(6))
    world.tracerChecking = .never
    world.advance(by: .seconds(60))
    world.tracerChecking = .atOnce
    try world.crash(awayFor: .seconds(60))
    world.advance(by: .seconds(60))
    #expect(world.ends(of: mail).isEmpty)
    world.traced = []
    world.advance(by: .seconds(10))
    #expect(world.ends(of: mail) == [.callbackTimeout])
  }

  @Test("A daemon that returns after the end of memory pressure terminates no application")
  func memory() throws {
    var world = World()
    _ = world.make(mail, .suspended)
    world.measuring = .never
    world.available = 80
    world.press()
    world.advance(by: .seconds(1))
    #expect(world.scheduler.memoryStatus.phase == .measuring)
    world.measuring = .atOnce
    world.available = 500
    try world.crash(awayFor: .seconds(3600))
    world.advance(by: .seconds(60))
    #expect(world.chosen.isEmpty)
    #expect(world.scheduler.memoryStatus.phase == .calm)
  }

  @Test("After the daemon's absence, critical memory leads to a choice without MemoryWarningTime")
  func criticalMemory() throws {
    var world = World()
    _ = world.make(mail, .suspended)
    world.measuring = .never
    world.available = 30
    world.press()
    #expect(world.scheduler.memoryStatus.phase == .measuring)
    world.measuring = .atOnce
    try world.crash()
    #expect(world.chosen == [mail])
  }

  @Test("After the end of memory pressure, a daemon that returns chooses no further application")
  func reclaimed() throws {
    var world = World()
    _ = world.make(mail, .suspended)
    _ = world.make(music, .suspended)
    world.reclaiming = .never
    world.available = 80
    world.press()
    world.advance(by: .seconds(1))
    #expect(world.chosen.count == 1)
    world.reclaiming = .atOnce
    try world.crash(awayFor: .seconds(3600))
    world.advance(by: .seconds(60))
    #expect(world.chosen.count == 1)
  }

  @Test("The whole MemoryWarningTime begins again after the daemon's absence")
  func memoryWarning() throws {
    var world = World()
    _ = world.make(mail, .suspended)
    world.available = 80
    world.press()
    world.advance(by: .milliseconds(900))
    try world.crash(awayFor: .milliseconds(200))
    world.advance(by: .seconds(1) - nanosecond)
    #expect(world.chosen.isEmpty)
    world.advance(by: nanosecond)
    #expect(world.chosen == [mail])
  }
}

/// Tests of the check for a debugger, which a user with many applications can delay.
@Suite("Limits that pass while the daemon is slow")
struct SlowCheckTests {
  @Test("A slow check for a debugger does not restart the limit")
  func slow() {
    var world = World()
    let id = world.make(mail, .active)
    world.ask { .operation(.deactivate($0, mail)) }
    world.tracerChecking = .never
    world.advance(by: .seconds(9))
    world.feed(.process(.tracerChecked(id, isTraced: false)))
    #expect(world.ends(of: mail) == [.callbackTimeout])
  }

  @Test("A limit that passes in a sleep during the check for another limit restarts")
  func sleepDuringCheck() {
    var world = World()
    let id = world.makeWokenBySocket(mail)
    world.advance(by: .seconds(7))
    world.ask { .operation(.activate($0, mail)) }
    #expect(world.inFlight[id]?.kind == .willEnterForeground)
    world.tracerChecking = .never
    world.advance(by: .seconds(3))
    #expect(world.effects.contains(.checkTracer(id)), "EventTime has passed")
    world.sleep(for: .seconds(3600))
    world.tracerChecking = .atOnce
    world.feed(.process(.tracerChecked(id, isTraced: false)))
    #expect(world.ends(of: mail).isEmpty)
    world.advance(by: .seconds(6) - nanosecond)
    #expect(world.ends(of: mail).isEmpty)
    world.advance(by: nanosecond)
    #expect(world.ends(of: mail) == [.callbackTimeout])
  }
}
