import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerSession

@Suite(
  "§17: The agent and the real GeoClue (contract.md#location)", .serialized,
  .enabled(
    if: GeoClueService.missing == nil, Comment(rawValue: GeoClueService.missing ?? "possible")))
struct GeoClueTests {
  private static let shortTime: UInt64 = 20_000_000

  private func wait(
    for latitude: Double, in fixture: GeoClueFixture, location: SourceLocation = #_sourceLocation
  ) throws {
    try fixture.wait("the latitude \(latitude)", location: location) {
      fixture.locations.last.map { abs($0.latitude - latitude) < 1e-5 } == true
    }
  }

  @Test("§17: GeoClue is available before it runs, and starts when a daemon needs the location")
  func starts() throws {
    let geoClue = try GeoClueService()
    let fixture = try GeoClueFixture(geoClue)
    try fixture.wait(untilAvailable: true)
    #expect(try !geoClue.isRunning())
    let began = WallClock.now()
    try geoClue.setPosition(-33.5, 151.25, dilution: 4, altitude: 34.5)
    fixture.monitor?.order(.best)
    try wait(for: -33.5, in: fixture)
    let location = try #require(fixture.locations.last)
    #expect(abs(location.longitude - 151.25) < 1e-5)
    #expect(location.accuracy == 3 && location.altitude == 34.5)
    #expect(location.speed == nil && location.course == nil)
    // The location's time is not exactly `began`: NMEA has whole seconds, and the receiver did not
    // measure the position at that instant.
    #expect(abs(location.measuredAtUSec - Int(began)) < 60_000_000)
    try geoClue.setPosition(-33.4, 151.25, dilution: 0.9)
    try wait(for: -33.4, in: fixture)
    #expect(fixture.locations.last?.accuracy == nil, "GeoClue reports 0 m")
    #expect(fixture.problems.isEmpty && fixture.availability.last == true)
  }

  @Test("§17: The receiver is on only while a daemon needs the location")
  func stops() throws {
    let geoClue = try GeoClueService()
    let fixture = try GeoClueFixture(geoClue)
    try fixture.wait(untilAvailable: true)
    for latitude in [10.0, 20] {
      try geoClue.setPosition(latitude, 0)
      #expect(try !geoClue.isReceiving())
      fixture.monitor?.order(.best)
      try wait(for: latitude, in: fixture)
      #expect(try geoClue.isReceiving())
      fixture.monitor?.order(nil)
      try fixture.wait("the receiver is off") { try !geoClue.isReceiving() }
    }
  }

  @Test("§17: If only the receiver knows the location, a lower accuracy turns it on after a while")
  func coarse() throws {
    let geoClue = try GeoClueService()
    let fixture = try GeoClueFixture(geoClue, coarseTime: Self.shortTime)
    try geoClue.setPosition(10, 20)
    fixture.monitor?.order(.threeKilometers)
    try wait(for: 10, in: fixture)
  }

  @Test("§17: If the user has no GeoClue agent, GeoClue is not available until there is one")
  func withoutAgent() throws {
    let geoClue = try GeoClueService(levelMax: nil)
    let fixture = try GeoClueFixture(geoClue, answerTime: Self.shortTime)
    try fixture.wait(untilAvailable: true)
    try geoClue.setPosition(10, 20)
    fixture.monitor?.order(.best)
    try fixture.wait(untilAvailable: false)
    #expect(fixture.problems == [.noAnswer])
    try fixture.wait("GeoClue runs") { try geoClue.isRunning() }
    try geoClue.setLevel(8)
    try wait(for: 10, in: fixture)
    #expect(fixture.availability.last == true && fixture.solvedCount == 1)
  }

  @Test("§17: While the user's GeoClue agent forbids the location, GeoClue is not available")
  func switchedOff() throws {
    let geoClue = try GeoClueService()
    let fixture = try GeoClueFixture(geoClue)
    try geoClue.setPosition(10, 20)
    fixture.monitor?.order(.best)
    try wait(for: 10, in: fixture)
    try geoClue.setLevel(0)
    try fixture.wait(untilAvailable: false)
    #expect(fixture.problems == [.switchedOff])
    try fixture.wait("the receiver is off") { try !geoClue.isReceiving() }
    try geoClue.setLevel(8)
    try fixture.wait(untilAvailable: true)
    try geoClue.setPosition(11, 20)
    try wait(for: 11, in: fixture)
  }

  @Test("§17: If GeoClue refuses because the location is off, the agent tries again")
  func refused() throws {
    let geoClue = try GeoClueService(levelMax: 0)
    let fixture = try GeoClueFixture(geoClue)
    try geoClue.setPosition(10, 20)
    fixture.monitor?.order(.best)
    try fixture.wait("the refusal") {
      if case .refused? = fixture.problems.first { true } else { false }
    }
    #expect(fixture.availability.last == false)
    try geoClue.setLevel(8)
    try wait(for: 10, in: fixture)
    #expect(fixture.availability.last == true && fixture.problems.count == 1)
  }

  @Test("§17: If GeoClue is killed while the location is needed, the agent has it started again")
  func killed() throws {
    let geoClue = try GeoClueService()
    let fixture = try GeoClueFixture(geoClue)
    try geoClue.setPosition(10, 20)
    fixture.monitor?.order(.best)
    try wait(for: 10, in: fixture)
    try geoClue.kill()
    try fixture.wait("the receiver is off") { try !geoClue.isReceiving() }
    try geoClue.setPosition(11, 20)
    try wait(for: 11, in: fixture)
    #expect(fixture.problems.isEmpty && !fixture.availability.dropFirst().contains(false))
  }
}
