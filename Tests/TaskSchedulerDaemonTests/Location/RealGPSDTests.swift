import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerCore
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

/// Tests with the real gpsd behind systemd's real proxy.
@Suite(
  "§17: Locations of a real gpsd", .serialized,
  .enabled(if: GPSDService.missing == nil, Comment(rawValue: GPSDService.missing ?? "possible")))
struct RealGPSDTests {
  private let watcher: LocationWatcher
  private let directory = TemporaryDirectory(mode: 0o755)
  private let clock = Clock()
  private var path: String { directory.file("gpsd") }

  /// The time of the receiver, which advances by a second with each position.
  private final class Clock {
    var second = 0
  }

  init() throws { watcher = try LocationWatcher() }

  /// Returns the sources of a machine without a message bus.
  private func sources() -> LocationSources {
    let sources = LocationSources(
      loop: watcher.loop, log: Log(target: .stderr, level: .error), gpsdSocket: path,
      systemBus: BusAddress(text: "unix:path=\(directory.file("no-bus"))"), post: watcher.post)
    sources.start()
    return sources
  }

  /// Sends gpsd positions of one place until the sources have posted a location with a known
  /// accuracy. Returns this location.
  private func locate(
    _ service: GPSDService, latitude: Double = 48.1173, longitude: Double = 11.5167
  ) throws -> Location {
    let before = watcher.locations.count
    var last: Location?
    try watcher.wait(for: "a location") {
      clock.second += 1
      try service.send(latitude: latitude, longitude: longitude, second: clock.second)
      // Waits as long as a fast receiver waits between two positions.
      try watcher.loop.turn(within: .milliseconds(100))
      last = watcher.locations.dropFirst(before).last { $0.accuracy != nil }
      return last != nil
    }
    return try #require(last)
  }

  @Test("Positions arrive with accuracy, altitude, speed, course and the receiver's time")
  func locations() throws {
    let service = try GPSDService(path: path)
    let sources = sources()
    #expect(watcher.events.first == .sourceChanged(.gpsd, isAvailable: true))
    sources.need(LocationNeeds(accuracy: .best))
    let location = try locate(service)
    #expect(abs(location.coordinate.latitude - 48.1173) < 0.00001)
    #expect(abs(location.coordinate.longitude - 11.5167) < 0.00001)
    #expect(try #require(location.accuracy) > 0)
    #expect(location.altitude == 520)
    // The receiver reports 10 knots.
    #expect(abs((location.speed ?? 0) - 5.144) < 0.01)
    #expect(location.course == 90)
    let noon = try #require(WallTime(rfc3339: "2026-11-26T12:00:00Z"))
    let second = (location.time.nanoseconds - noon.nanoseconds) / 1_000_000_000
    #expect((1...Int64(clock.second)).contains(second))
    #expect(Set(watcher.locations.map(\.time)).count == watcher.locations.count)
    let south = try locate(service, latitude: -33.8568, longitude: -151.2153)
    #expect(abs(south.coordinate.latitude + 33.8568) < 0.00001)
    #expect(abs(south.coordinate.longitude + 151.2153) < 0.00001)
    sources.need(LocationNeeds())
    #expect(sources.states[0] == LocationSourceState(name: "gpsd", isAvailable: true))
  }

  @Test("Without a need, gpsd has no client, and no location is posted")
  func noNeed() throws {
    let service = try GPSDService(path: path)
    let sources = sources()
    for second in 1...5 {
      try service.send(latitude: 48, longitude: 11, second: second)
      try watcher.loop.turn(within: .milliseconds(20))
    }
    #expect(watcher.locations.isEmpty)
    clock.second = 5
    sources.need(LocationNeeds(accuracy: .kilometer))
    _ = try locate(service)
    sources.need(LocationNeeds())
    watcher.clear()
    for second in clock.second + 1...clock.second + 5 {
      try service.send(latitude: 48, longitude: 11, second: second)
      try watcher.loop.turn(within: .milliseconds(20))
    }
    #expect(watcher.locations.isEmpty)
  }

  @Test("When gpsd dies, it is not available; when it runs again, locations arrive again")
  func diesAndReturns() throws {
    let service = try GPSDService(path: path)
    let sources = sources()
    sources.need(LocationNeeds(accuracy: .best))
    _ = try locate(service)
    service.end()
    try watcher.wait(for: .gpsd, toBeAvailable: false)
    #expect(sources.states[0].problem?.hasPrefix("gpsd is not running") == true)
    try service.start()
    try watcher.wait(for: .gpsd, toBeAvailable: true)
    // The new gpsd knows no position until it has received one.
    _ = try locate(service)
  }

  @Test("A gpsd that hangs and continues delays nothing and keeps its connection")
  func hangs() throws {
    let service = try GPSDService(path: path)
    let sources = sources()
    sources.need(LocationNeeds(accuracy: .best))
    _ = try locate(service)
    service.setStopped(true)
    var tickCount = 0
    let tick = try watcher.loop.timer { tickCount += 1 }
    while tickCount < 10 {
      clock.second += 1
      try service.send(latitude: 48, longitude: 11, second: clock.second)
      tick.set(BootClock.now() + 1_000_000)
      try watcher.loop.turn(within: .seconds(1))
    }
    service.setStopped(false)
    _ = try locate(service)
    #expect(watcher.events.count { $0 == .sourceChanged(.gpsd, isAvailable: true) } == 1)
  }

  @Test("The socket may appear and disappear while locations are needed")
  func socketAppears() throws {
    let sources = sources()
    sources.need(LocationNeeds(accuracy: .best))
    #expect(watcher.availability(of: .gpsd) == false)
    let service = try GPSDService(path: path)
    try watcher.wait(for: .gpsd, toBeAvailable: true)
    _ = try locate(service)
    try service.endProxy()
    try watcher.wait(for: .gpsd, toBeAvailable: false)
    #expect(sources.states[0].problem == "no socket at \(path)")
    try service.startProxy()
    try watcher.wait(for: .gpsd, toBeAvailable: true)
    _ = try locate(service)
  }
}
