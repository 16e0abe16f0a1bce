import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerCore
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

@Suite("The providers of system changes")
struct SystemChangeProvidersTests {
  private let etc = SimulatedEtc()
  private let watcher: ChangeWatcher

  init() throws { watcher = try ChangeWatcher() }

  private final class Clock {
    var offset = WallClock.offset()
    var told: [Int64] = []
  }

  private func start(etc: String, clock: Clock = Clock()) -> SystemChangeProviders {
    var locations = SystemChangeProviders.Locations()
    locations.etc = etc
    locations.systemBus = BusAddress(text: "unix:path=\(self.etc.folder.file("no-bus"))")
    locations.clockOffset = { clock.offset }
    return SystemChangeProviders(
      loop: watcher.loop, log: Log(target: .stderr, level: .error), locations: locations,
      report: watcher.report,
      clockSet: { [watcher] offset in
        #expect(watcher.changes.isEmpty, "the zone is reported first")
        clock.told.append(offset)
      })
  }

  @Test("The providers report a new time zone, and then the new day")
  func zoneAndDay() throws {
    // These two zones never have the same date.
    try etc.setZone("Pacific/Pago_Pago")
    let providers = start(etc: etc.path)
    try etc.setZone("Pacific/Kiritimati")
    #expect(try watcher.next() == SystemChange(kind: .timeZone, value: "Pacific/Kiritimati"))
    #expect(try watcher.next().kind == .day)
    withExtendedLifetime(providers) {}
  }

  #if DEBUG
    @Test("The providers report the new offset, the clock, and the new day, in this order")
    func clockAndDay() throws {
      let clock = Clock()
      let providers = start(etc: etc.path, clock: clock)
      clock.offset += 2 * 86_400 * 1_000_000_000
      // Simulates the kernel's report that the clock was set.
      let wasSet: @Sendable (String) -> Int32? = { $0 == "read timerfd" ? ECANCELED : nil }
      SyscallFaults.$errnoFor.withValue(wasSet) { providers.clock.read() }
      #expect(clock.told == [clock.offset])
      #expect(try watcher.next() == SystemChange(kind: .clock))
      #expect(try watcher.next().kind == .day)
    }
  #endif

  @Test("If one provider has no directory to watch, the other providers still report")
  func optional() throws {
    let clock = Clock()
    let providers = start(etc: etc.path + "/none", clock: clock)
    #expect(watcher.changes.isEmpty)
    #if DEBUG
      clock.offset += 5_000_000
      let wasSet: @Sendable (String) -> Int32? = { $0 == "read timerfd" ? ECANCELED : nil }
      SyscallFaults.$errnoFor.withValue(wasSet) { providers.clock.read() }
      #expect(try watcher.next() == SystemChange(kind: .clock))
    #endif
    withExtendedLifetime(providers) {}
  }
}
