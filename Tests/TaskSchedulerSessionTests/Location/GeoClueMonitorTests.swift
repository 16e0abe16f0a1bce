import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerSession

/// Tests with a program that owns the name of GeoClue. `GeoClueTests` uses the real GeoClue.
@Suite(
  "§17: The agent and faults of GeoClue (contract.md#location)", .serialized,
  .enabled(
    if: StandInGeoClue.missing == nil, Comment(rawValue: StandInGeoClue.missing ?? "possible")))
struct GeoClueMonitorTests {
  private static let shortTime: UInt64 = 20_000_000

  private func start(
    _ mode: StandInGeoClue.Mode = .normal, answerTime: UInt64 = GeoClueMonitor.answerTime,
    coarseTime: UInt64 = GeoClueMonitor.coarseTime
  ) throws -> (GeoClueFixture, StandInGeoClue) {
    let fixture = try GeoClueFixture(answerTime: answerTime, coarseTime: coarseTime)
    let geoClue = try fixture.startGeoClue(mode)
    try fixture.wait(untilAvailable: true)
    return (fixture, geoClue)
  }

  // MARK: Availability

  @Test("§17: GeoClue is available while it runs, and not while there is no bus or no GeoClue")
  func appears() throws {
    let fixture = try GeoClueFixture(hasBus: false)
    #expect(fixture.availability == [false])
    try fixture.startBus()
    let geoClue = try fixture.startGeoClue()
    try fixture.wait(untilAvailable: true)
    try geoClue.end()
    try fixture.wait(untilAvailable: false)
    _ = try fixture.startGeoClue()
    try fixture.wait(untilAvailable: true)
    fixture.bus = nil
    try fixture.wait(untilAvailable: false)
    #expect(fixture.availability == [false, true, false, true, false])
    #expect(fixture.problems.isEmpty)
  }

  @Test("§17: If no daemon needs the location, the agent calls no method of GeoClue")
  func unneeded() throws {
    let (fixture, geoClue) = try start()
    fixture.monitor?.order(nil)
    try fixture.order(from: geoClue)
    #expect(try geoClue.calls().first == "GetClient")
    #expect(try geoClue.calls().filter { $0 == "GetClient" }.count == 1)
  }

  @Test("§17: If the bus cannot start GeoClue, GeoClue is not available, and the agent says why")
  func notStarted() throws {
    let fixture = try GeoClueFixture(hasBus: false)
    try fixture.startBus(starting: "/bin/false")
    try fixture.wait(untilAvailable: true)
    fixture.monitor?.order(.best)
    try fixture.wait(untilAvailable: false)
    guard case .notStarted? = fixture.problems.first else {
      Issue.record("\(fixture.problems)")
      return
    }
    // When another program has started GeoClue, the monitor tries again.
    let geoClue = try fixture.startGeoClue()
    try fixture.wait(untilAvailable: true)
    try geoClue.locate(1, 2)
    try fixture.wait("a location") { !fixture.locations.isEmpty }
    #expect(fixture.problems.count == 1 && fixture.solvedCount == 1)
  }

  // MARK: Orders

  private static let levelsOfAccuracy: [(SessionInterface.LocationAccuracy, Int)] = [
    (.best, 8), (.tenMeters, 8), (.hundredMeters, 6), (.kilometer, 4), (.threeKilometers, 4),
  ]

  @Test(
    "§17: The agent requests the level of accuracy that the daemons need",
    arguments: levelsOfAccuracy)
  func levels(_ accuracy: SessionInterface.LocationAccuracy, _ level: Int) throws {
    let (fixture, geoClue) = try start()
    try fixture.order(accuracy, from: geoClue)
    #expect(
      try geoClue.calls() == [
        "GetClient", "Set DesktopId taskschedd-session", "Set RequestedAccuracyLevel \(level)",
        "Set DistanceThreshold 0", "Start",
      ])
  }

  @Test("§17: If daemons need another accuracy, a new client replaces the earlier one")
  func changes() throws {
    let (fixture, geoClue) = try start()
    try fixture.order(.kilometer, from: geoClue)
    fixture.monitor?.order(.best)
    try fixture.wait("a second client") {
      try geoClue.calls().filter { $0 == "Start" }.count == 2
    }
    #expect(
      try geoClue.calls().dropFirst(5) == [
        "Stop", "DeleteClient", "GetClient", "Set DesktopId taskschedd-session",
        "Set RequestedAccuracyLevel 8", "Set DistanceThreshold 0", "Start",
      ])
    try geoClue.locate(3, 4)
    try fixture.wait("its location") { fixture.locations.last?.latitude == 3 }
  }

  @Test("§17: When no daemon needs the location any more, the agent stops and deletes its client")
  func ends() throws {
    let (fixture, geoClue) = try start()
    try fixture.order(from: geoClue)
    try geoClue.locate(1, 2)
    try fixture.wait("a location") { fixture.locations.count == 1 }
    fixture.monitor?.order(nil)
    try fixture.wait("the end of the client") {
      try geoClue.calls().suffix(2) == ["Stop", "DeleteClient"]
    }
    try geoClue.locate(5, 6)
    #expect(fixture.monitor?.location == nil)
    // The next client receives only its own locations.
    try fixture.order(from: geoClue)
    try geoClue.locate(7, 8)
    try fixture.wait("a second location") { fixture.locations.count == 2 }
    #expect(fixture.locations.map(\.latitude) == [1, 7])
    #expect(fixture.availability.last == true && fixture.problems.isEmpty)
  }

  @Test("§17: A client that is needed again within a second is the same client")
  func lingers() throws {
    let (fixture, geoClue) = try start()
    try fixture.order(from: geoClue)
    try geoClue.locate(1, 2)
    try fixture.wait("a location") { fixture.locations.count == 1 }
    fixture.monitor?.order(nil)
    fixture.monitor?.order(.best)
    try geoClue.locate(3, 4)
    try fixture.wait("the next location") { fixture.locations.count == 2 }
    #expect(try geoClue.calls().filter { $0 == "Start" }.count == 1)
  }

  @Test("§17: If GeoClue has no location of a lower accuracy, the agent requests an exact one")
  func coarse() throws {
    let (fixture, geoClue) = try start(coarseTime: Self.shortTime)
    try fixture.order(.threeKilometers, from: geoClue)
    try fixture.wait("an exact client") {
      try geoClue.calls().contains("Set RequestedAccuracyLevel 8")
        && geoClue.calls().last == "Start"
    }
    try geoClue.locate(1, 2)
    try fixture.wait("a location") { fixture.locations.count == 1 }
    // The next order begins with the lower accuracy again.
    fixture.monitor?.order(.hundredMeters)
    try fixture.wait("a client for streets") {
      try geoClue.calls().contains("Set RequestedAccuracyLevel 6")
    }
  }

  // MARK: Failures

  private static let refusals: [(StandInGeoClue.Mode, String)] = [
    (.refuseClient, "no client"), (.refuseStart, "no agent"),
  ]

  @Test(
    "§17: If GeoClue refuses, it is not available, and the agent says so once",
    arguments: refusals)
  func refused(_ mode: StandInGeoClue.Mode, _ text: String) throws {
    let (fixture, geoClue) = try start(mode)
    fixture.monitor?.order(.best)
    try fixture.wait(untilAvailable: false)
    try fixture.wait("a second attempt") {
      try geoClue.calls().filter { $0 == "GetClient" }.count == 2
    }
    try geoClue.end()
    let next = try fixture.startGeoClue()
    try fixture.wait(untilAvailable: true)
    try next.locate(1, 2)
    try fixture.wait("a location") { fixture.locations.count == 1 }
    guard case .refused(let reason)? = fixture.problems.first else {
      Issue.record("\(fixture.problems)")
      return
    }
    #expect(reason.contains(text))
    #expect(fixture.problems.count == 1 && fixture.solvedCount == 1)
  }

  @Test("§17: If GeoClue refuses, and no daemon needs the location, it counts as available later")
  func refusedAndUnneeded() throws {
    let (fixture, _) = try start(.refuseStart)
    fixture.monitor?.order(.best)
    try fixture.wait(untilAvailable: false)
    fixture.monitor?.order(nil)
    try fixture.wait(untilAvailable: true)
    #expect(fixture.locations.isEmpty && fixture.solvedCount == 0)
  }

  @Test("§17: GeoClue that does not answer is not available until it answers")
  func hangs() throws {
    let (fixture, geoClue) = try start(.hang, answerTime: Self.shortTime)
    fixture.monitor?.order(.best)
    try fixture.wait(untilAvailable: false)
    #expect(fixture.problems == [.noAnswer])
    try geoClue.answerClients()
    try fixture.wait(untilAvailable: true)
    try geoClue.locate(1, 2)
    try fixture.wait("a location") { fixture.locations.count == 1 }
    #expect(try geoClue.calls().filter { $0 == "GetClient" }.count == 1)
    #expect(fixture.solvedCount == 1)
  }

  @Test("§17: A client that GeoClue creates when it is not needed any more is deleted")
  func createdTooLate() throws {
    let (fixture, geoClue) = try start(.hang, answerTime: Self.shortTime)
    fixture.monitor?.order(.best)
    try fixture.wait(untilAvailable: false)
    fixture.monitor?.order(nil)
    try fixture.wait("the end of the order") { fixture.monitor?.level == nil }
    try geoClue.answerClients()
    try fixture.wait(untilAvailable: true)
    try fixture.wait("the client is deleted") {
      try geoClue.calls() == ["GetClient", "DeleteClient"]
    }
  }

  @Test("§17: If GeoClue ends while the location is needed, the agent uses the next GeoClue")
  func dies() throws {
    let (fixture, geoClue) = try start()
    try fixture.order(from: geoClue)
    try geoClue.locate(1, 2)
    try fixture.wait("a location") { fixture.locations.count == 1 }
    try geoClue.end()
    try fixture.wait(untilAvailable: false)
    #expect(fixture.monitor?.location == nil)
    let next = try fixture.startGeoClue()
    try fixture.wait(untilAvailable: true)
    try fixture.wait("a client") { try next.calls().last == "Start" }
    try next.locate(3, 4)
    try fixture.wait("its location") { fixture.locations.last?.latitude == 3 }
    #expect(fixture.problems.isEmpty)
  }

  @Test("§17: If the bus ends while the location is needed, the agent uses GeoClue of the next bus")
  func busEnds() throws {
    let (fixture, geoClue) = try start()
    try fixture.order(from: geoClue)
    fixture.bus = nil
    try fixture.wait(untilAvailable: false)
    try fixture.startBus()
    let next = try fixture.startGeoClue()
    try fixture.wait("a client") { try next.calls().last == "Start" }
    try next.locate(3, 4)
    try fixture.wait("its location") { fixture.locations.count == 1 }
  }

  @Test("§17: While the user has switched the location off, GeoClue is not available")
  func switchedOff() throws {
    let (fixture, geoClue) = try start()
    try fixture.order(from: geoClue)
    try geoClue.locate(1, 2)
    try fixture.wait("a location") { fixture.locations.count == 1 }
    try geoClue.setActive(false)
    try fixture.wait(untilAvailable: false)
    #expect(fixture.problems == [.switchedOff])
    #expect(fixture.monitor?.location == nil)
    try geoClue.setActive(true)
    try fixture.wait(untilAvailable: true)
    #expect(fixture.solvedCount == 1)
  }

  // MARK: Locations

  @Test("§17: Of 1000 locations at once, the agent reads at most 10 a second, and the last one")
  func flood() throws {
    let (fixture, geoClue) = try start()
    try fixture.order(from: geoClue)
    let began = BootClock.now()
    try geoClue.flood(1000)
    try fixture.wait("the last location") { fixture.locations.last?.longitude == 1 }
    let intervals = (BootClock.now() - began) / 100_000_000
    #expect(fixture.locations.count <= Int(intervals) + 1)
    #expect(try geoClue.calls().filter { $0 == "GetAll" }.count <= Int(intervals) + 1)
  }

  @Test(
    "§17: A location that is no place on the earth is not reported, and the agent says so once",
    arguments: [
      "\"Latitude\": 91, \"Longitude\": 0", "\"Latitude\": NaN, \"Longitude\": 0",
      "\"Latitude\": 0, \"Longitude\": -180.5", "\"Latitude\": 0, \"Longitude\": Infinity",
      "\"Latitude\": 0", "\"Latitude\": \"1\", \"Longitude\": 0", "",
    ])
  func invalid(_ properties: String) throws {
    let (fixture, geoClue) = try start()
    try fixture.order(from: geoClue)
    try geoClue.locate(properties)
    try fixture.wait("the problem") { fixture.problems == [.invalidLocation] }
    try geoClue.locate(properties)
    try fixture.wait("the second location is read") {
      try geoClue.calls().filter { $0 == "GetAll" }.count == 2
    }
    try geoClue.locate(1, 2)
    try fixture.wait("a valid location") { fixture.locations.count == 1 }
    #expect(fixture.problems.count == 1 && fixture.availability.last == true)
  }

  @Test("§17: A location that GeoClue removes before the agent reads it is not reported")
  func removed() throws {
    let (fixture, geoClue) = try start()
    try fixture.order(from: geoClue)
    try geoClue.sendRemovedLocation()
    try fixture.wait("it is read") { try geoClue.calls().last == "GetAll" }
    try geoClue.locate(1, 2)
    try fixture.wait("the next location") { fixture.locations.count == 1 }
    #expect(fixture.problems.isEmpty)
  }

  @Test("§17: A location from a program that is not GeoClue is not reported")
  func spoofed() throws {
    let (fixture, geoClue) = try start()
    try fixture.order(from: geoClue)
    let other = try fixture.startGeoClue(ownsName: false)
    let client = try geoClue.client()
    try other.spoof(client: client.path, of: client.name)
    try geoClue.locate(2, 2)
    try fixture.wait("the location of GeoClue") { !fixture.locations.isEmpty }
    #expect(fixture.locations.map(\.latitude) == [2])
    #expect(try other.calls().isEmpty)
  }
}
