import Glibc
import LinuxSystem
import TaskSchedulerCore
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

@Suite("The providers of system changes")
struct SystemChangeProvidersTests {
  private let etc = MadeUpEtc()
  private let watcher: ChangeWatcher

  init() throws { watcher = try ChangeWatcher() }

  private func start(etc: String) -> SystemChangeProviders {
    var places = SystemChangeProviders.Places()
    places.etc = etc
    places.systemBus = BusAddress(text: "unix:path=\(self.etc.folder.file("no-bus"))", owner: nil)
    return SystemChangeProviders(
      loop: watcher.loop, log: Log(target: .stderr, level: .error), places: places,
      report: watcher.report, clockSet: { _ in Issue.record("nobody has set the clock") })
  }

  @Test("tell of the zone, and then of the day that it brings")
  func zoneAndDay() throws {
    // These two never have the same date.
    try etc.setZone("Pacific/Pago_Pago")
    let providers = start(etc: etc.path)
    try etc.setZone("Pacific/Kiritimati")
    #expect(try watcher.next() == SystemChange(kind: .timeZone, value: "Pacific/Kiritimati"))
    #expect(try watcher.next().kind == .day)
    withExtendedLifetime(providers) {}
  }

  @Test("are there each on its own: without a folder to watch, the others still tell")
  func optional() throws {
    let providers = start(etc: etc.path + "/none")
    #expect(watcher.changes.isEmpty)
    withExtendedLifetime(providers) {}
  }
}
