import Testing

@testable import TaskSchedulerCore

/// Tests of limits during a sleep of the machine. An application cannot act during the sleep. A
/// limit that passes during the sleep therefore starts again.
@Suite("Limits that pass while the machine sleeps")
struct SleepTests {
  @Test("A callback that was delivered before a sleep may be acknowledged after the sleep")
  func callback() {
    var world = World()
    let id = world.make(mail, .active)
    world.ask { .operation(.deactivate($0, mail)) }
    world.advance(by: .seconds(1))
    world.sleep(for: .seconds(3600))
    #expect(world.ends(of: mail).isEmpty)
    world.advance(by: .seconds(6) - nanosecond)
    #expect(world.ends(of: mail).isEmpty, "the limit restarts at the end of the sleep")
    world.acknowledgeAll(id)
    world.advance(by: .seconds(60))
    #expect(world.state(id) == .inactive)
  }

  @Test(
    "An application that does not acknowledge after the wake-up is killed: callbackTimeout")
  func unacknowledged() {
    var world = World()
    _ = world.make(mail, .active)
    world.ask { .operation(.deactivate($0, mail)) }
    world.sleep(for: .seconds(3600))
    world.advance(by: .seconds(6))
    #expect(world.ends(of: mail) == [.callbackTimeout])
  }

  @Test(
    """
    An application whose tasks expired before a sleep has the whole ExpirationLead after the \
    sleep
    """)
  func lead() {
    var world = World()
    let id = world.make(mail, .background)
    world.advance(by: .seconds(596))
    #expect(world.expired(id) == [TaskID(1)])
    world.sleep(for: .seconds(3600))
    #expect(world.status(id)?.timeRemaining == .seconds(5))
    world.advance(by: .seconds(5) - nanosecond)
    #expect(world.ends(of: mail).isEmpty)
    world.advance(by: nanosecond)
    #expect(world.ends(of: mail) == [.backgroundTimeExpired])
    #expect(world.expired(id) == [TaskID(1)], "the handler is called once")
  }

  @Test("A sleep past the deadline by at most WakeTolerance does not restart the limit")
  func tolerance() {
    var world = World()
    _ = world.make(mail, .active)
    world.ask { .operation(.deactivate($0, mail)) }
    world.sleep(for: .seconds(6) + world.scheduler.policy.wakeTolerance)
    #expect(world.ends(of: mail) == [.callbackTimeout])
  }
}
