import Testing

@testable import TaskSchedulerCore

@Suite("§8 Relaunch after an end that the daemon caused")
struct RelaunchAfterKillTests {
  /// An end that the application did not choose and that no user requested, and the actions that
  /// cause this end.
  struct DaemonEnd: CustomTestStringConvertible, Sendable {
    let reason: EndReason
    let cause: @Sendable (inout World) -> Void
    var testDescription: String { reason.name }

    init(_ reason: EndReason, _ cause: @escaping @Sendable (inout World) -> Void) {
      self.reason = reason
      self.cause = cause
    }

    /// Returns an end whose reason is the use of CPU or GPU time in the background.
    static func using(_ reason: EndReason, processor: Double, gpu: Double) -> DaemonEnd {
      DaemonEnd(reason) { world in
        let id = world.makeVoIP(mail, .background)
        world.rates[id] = (processor, gpu)
        world.advance(by: .seconds(20))
      }
    }
  }

  @Test(
    "§8: The daemon relaunches a voip application that it has killed, or whose end is unknown",
    arguments: [
      DaemonEnd(.callbackTimeout) { world in
        let id = world.makeVoIP(mail, .active)
        world.ask { .operation(.sendToBackground($0, mail)) }
        world.advance(by: .seconds(6))
        #expect(world.state(id) == .notRunning)
      },
      DaemonEnd(.backgroundTimeExpired) { world in
        _ = world.makeVoIP(mail, .background)
        world.advance(by: .seconds(600))
      },
      DaemonEnd(.keepAliveTimeout) { world in
        let id = world.makeVoIP(mail, .active)
        world.ask { .application(.setKeepAlive($0, id, interval: .seconds(600))) }
        world.ask { .operation(.sendToBackground($0, mail)) }
        world.acknowledgeAll(id)
        world.advance(by: .seconds(630))
      },
      DaemonEnd.using(.gpuInBackground, processor: 0, gpu: 0.5),
      DaemonEnd.using(.excessiveUse, processor: 3, gpu: 0),
      DaemonEnd(.sharedResourceHeld) { world in
        world.suspending = .never
        let id = world.makeVoIP(mail, .background)
        world.end(id, TaskID(1))
        world.feed(.resources(.held(id, path: "/srv/db")))
        world.suspending = .atOnce
      },
      DaemonEnd(.unknown) { world in
        world.feed(.process(.leaderExited(world.makeVoIP(mail, .suspended), .unknown)))
      },
    ])
  func killed(_ end: DaemonEnd) {
    var world = World {
      $0.backgroundUseWindow = .seconds(10)
      $0.backgroundProcessorShare = 50
      $0.throttledProcessorShare = 10
    }
    end.cause(&world)
    #expect(world.ends(of: mail).first == end.reason)
    world.advance(by: .seconds(1))
    #expect(world.spawned.first == .relaunch)
  }

  @Test(
    """
    §8: When the pressure is over, the daemon relaunches a voip application that ended for \
    memory; until then, the status shows the wait
    """, arguments: [true, false])
  func endedForMemory(daemonDies: Bool) throws {
    var world = World()
    _ = world.makeVoIP(mail, .suspended)
    func nextLaunch() -> NextLaunch? {
      world.scheduler.status(of: mail, at: world.now)?.nextLaunch
    }
    func limits() -> [Limit.Kind]? {
      world.scheduler.explanation(of: mail)?.limits.map(\.kind)
    }
    world.available = 80
    world.press()
    world.advance(by: world.scheduler.policy.memoryWarningTime)
    #expect(world.ends(of: mail) == [.memoryPressure])
    #expect(
      world.changes(of: mail).last
        == .relaunchPlanned(after: .seconds(1), awaitsMemory: true))
    for _ in 0..<10 {
      world.advance(by: .seconds(2))
      world.press()
      if daemonDies { try world.crash() }
      #expect(nextLaunch()?.awaitsMemory == true && nextLaunch()?.delay == .seconds(1))
      #expect(limits() == [.relaunchAfterPressure])
    }
    let quiet = world.scheduler.policy.memoryQuietTime
    world.advance(by: quiet - .seconds(1))
    #expect(world.spawned.isEmpty)
    world.advance(by: .seconds(1))
    #expect(world.spawned == [.relaunch])
  }

  @Test(
      """
      §8: A voip application that ended for memory waits for the relaunch delay even if \
      the pressure is over
      """)
  func endedForMemoryShortly() {
    var world = World {
      $0.relaunchDelay = .seconds(100)
    }
    _ = world.makeVoIP(mail, .suspended)
    world.available = 80
    world.press()
    world.advance(by: world.scheduler.policy.memoryWarningTime)
    world.available = 500
    world.advance(by: .seconds(99))
    #expect(world.scheduler.memoryStatus.phase == .calm)
    #expect(
      world.scheduler.status(of: mail, at: world.now)?.nextLaunch?.awaitsMemory == false)
    #expect(world.scheduler.explanation(of: mail)?.limits.map(\.kind) == [.relaunch])
    #expect(world.spawned.isEmpty)
    world.advance(by: .seconds(1))
    #expect(world.spawned == [.relaunch])
  }
}
