import EventLoop
import LinuxSystem
import TaskSchedulerCore
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

/// Tests with dbusmock, which simulates NetworkManager on a separate bus. A real NetworkManager
/// would change the machine's network.
@Suite(
  "§17: The access points of wireless networks, with a mock of NetworkManager",
  .enabled(
    if: MockNetworkManager.missing == nil,
    Comment(rawValue: MockNetworkManager.missing ?? "possible")))
struct AccessPointSourceTests {
  private let watcher: LocationWatcher
  private let directory = TemporaryDirectory()
  private let bus: SessionBus
  private let home = "AA:BB:CC:00:00:01"
  private let work = "AA:BB:CC:00:00:02"

  init() throws {
    watcher = try LocationWatcher()
    bus = try SessionBus(path: directory.file("bus"))
  }

  private func sources() -> LocationSources {
    let sources = LocationSources(
      loop: watcher.loop, log: Log(target: .stderr, level: .error),
      gpsdSocket: directory.file("no-gpsd"), systemBus: BusAddress(text: bus.address),
      post: watcher.post)
    sources.start()
    return sources
  }

  /// Starts the mock with both access points.
  private func start() throws -> MockNetworkManager {
    let manager = try MockNetworkManager(on: bus)
    for address in [home, work] { try manager.addAccessPoint(address) }
    return manager
  }

  private func waitForMoves(_ count: Int) throws {
    try watcher.wait(for: "\(count) moves") { watcher.moveCount >= count }
  }

  @Test("The source is available while a wireless device is connected (mock NetworkManager)")
  func availability() throws {
    let manager = try start()
    let sources = sources()
    try watcher.wait(for: .accessPoint, toBeAvailable: false)
    #expect(
      sources.states[2]
        == LocationSourceState(
          name: "access point", isAvailable: false,
          problem: "no wireless device is connected to an access point"))
    try manager.connect(to: home)
    try watcher.wait(for: .accessPoint, toBeAvailable: true)
    #expect(sources.states[2] == LocationSourceState(name: "access point", isAvailable: true))
    try manager.disconnect()
    try watcher.wait(for: .accessPoint, toBeAvailable: false)
    try manager.connect(to: work)
    try watcher.wait(for: .accessPoint, toBeAvailable: true)
    #expect(watcher.moveCount == 0, "moves are not watched")
    manager.end()
    try watcher.wait(for: .accessPoint, toBeAvailable: false)
    #expect(sources.states[2].problem == "NetworkManager is not running")
  }

  @Test("Another access point is a move only while moves are watched (mock NetworkManager)")
  func moves() throws {
    let manager = try start()
    try manager.connect(to: home)
    let sources = sources()
    try watcher.wait(for: .accessPoint, toBeAvailable: true)
    try manager.roam(to: work)
    try watcher.settle()
    #expect(watcher.moveCount == 0)
    sources.need(LocationNeeds(watchesRadio: true))
    // A change of the bit rate is not a move. When `sources` has handled the change, the watch has
    // begun.
    try manager.setBitRate(1)
    try watcher.settle()
    #expect(watcher.moveCount == 0, "the first access point of the watch is not a move")
    try manager.roam(to: home)
    try waitForMoves(1)
    try manager.disconnect()
    try watcher.wait(for: .accessPoint, toBeAvailable: false)
    try manager.connect(to: home)
    try watcher.wait(for: .accessPoint, toBeAvailable: true)
    #expect(watcher.moveCount == 1, "the same access point as before the interruption")
    try manager.disconnect()
    try manager.connect(to: work)
    try waitForMoves(2)
    sources.need(LocationNeeds())
    watcher.clear()
    try manager.roam(to: home)
    try manager.setBitRate(2)
    try watcher.settle()
    #expect(watcher.events.isEmpty)
  }

  @Test("A device in the mode of an access point is not connected to one (mock NetworkManager)")
  func ownAccessPoint() throws {
    let manager = try start()
    try manager.setIsAccessPoint(true)
    try manager.connect(to: home)
    let sources = sources()
    try watcher.wait(for: .accessPoint, toBeAvailable: false)
    sources.need(LocationNeeds(watchesRadio: true))
    try manager.setIsAccessPoint(false)
    try watcher.wait(for: .accessPoint, toBeAvailable: true)
  }

  @Test("A wireless device and NetworkManager may appear later (mock NetworkManager)")
  func appears() throws {
    let sources = sources()
    try watcher.wait(for: .accessPoint, toBeAvailable: false)
    #expect(sources.states[2].problem == "NetworkManager is not running")
    let manager = try MockNetworkManager(on: bus, hasWireless: false)
    try watcher.wait(for: "the devices") {
      sources.states[2].problem == "there is no wireless device"
    }
    try manager.addWireless()
    try manager.addAccessPoint(home)
    try manager.connect(to: home)
    try watcher.wait(for: .accessPoint, toBeAvailable: true)
  }

  @Test("§15: Moves are reported once a second at most (mock NetworkManager)")
  func pace() throws {
    let manager = try start()
    try manager.connect(to: home)
    let sources = sources()
    sources.need(LocationNeeds(watchesRadio: true))
    try watcher.wait(for: .accessPoint, toBeAvailable: true)
    try manager.roam(to: work)
    try waitForMoves(1)
    let start = BootClock.now()
    try manager.roam(to: home)
    try waitForMoves(2)
    // The reports are at least 1 s apart. The limit is lower, because `start` is a little later
    // than the first report.
    #expect(BootClock.now() - start >= 500_000_000)
  }
}
