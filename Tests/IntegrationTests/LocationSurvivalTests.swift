import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §17 and §15, with the real daemon.
/// `LocationStoreTests` tests that the daemon writes the store to the disk.
@Suite("§17: Regions and decisions survive the daemon and a reboot (contract.md#location-durable)")
struct LocationSurvivalTests {
  private let id = "org.test.places"

  private func application(_ daemon: DaemonFixture) throws -> TestApplication {
    let application = try TestApplication(daemon, id)
    try application.registered()
    return application
  }

  private func region(_ identifier: String) -> JSONValue {
    [
      "region": [
        "identifier": .string(identifier), "latitude": 0, "longitude": 0.01, "radius": 200,
        "notifyOnExit": false,
      ]
    ]
  }

  private func use(_ daemon: DaemonFixture) throws -> ControlInterface.LocationUse? {
    try daemon.call(ControlInterface.GetLocation.self, .init()).uses
      .first { $0.application == id }
  }

  private func authorize(_ daemon: DaemonFixture) throws {
    try daemon.call(
      ControlInterface.SetLocationAuthorization.self,
      .init(application: id, authorization: .authorized))
  }

  @Test(
    """
    Regions, their sides, significant changes and the decision survive a reboot, and a kill -9 \
    directly after the reply
    """)
  func reboot() throws {
    var daemon = try DaemonFixture(.init(policy: [("RegionDwell", "10ms")]))
    let first = try application(daemon)
    try authorize(daemon)
    try daemon.post(latitude: 0, longitude: 0.01)
    for identifier in ["home", "work", "gone"] {
      let answer = try first.call("StartMonitoringRegion", region(identifier))
      #expect(answer["parameters"]?["authorization"] == "authorized", "\(answer)")
    }
    try daemon.post(latitude: 0, longitude: 0.01)
    try waitUntil("the machine is inside") {
      try use(daemon)?.regions.allSatisfy { $0.inside == true } == true
    }
    _ = try first.call("StartMonitoringSignificantLocationChanges")
    #expect(
      try first.call("StopMonitoringRegion", ["identifier": "gone"]) == ["parameters": [:]])
    let before = try #require(try use(daemon))
    daemon = try daemon.killed(rebooting: true)
    let after = try #require(try use(daemon))
    #expect(after.authorization == .authorized)
    #expect(after.monitorsSignificantChanges)
    #expect(after.regions.map(\.region) == before.regions.map(\.region))
    #expect(after.regions.map(\.region.identifier) == ["home", "work"])
    #expect(after.regions.map(\.inside) == [true, true])
    let second = try application(daemon)
    let listed = try second.call("ListMonitoredRegions")
    guard case .array(let regions)? = listed["parameters"]?["regions"] else {
      throw TestApplication.Unexpected(line: "\(listed)")
    }
    #expect(regions.count == 2)
  }

  @Test("Each of 40 regions survives a kill of the daemon directly after its reply")
  func everyReply() throws {
    var daemon = try DaemonFixture(.init(policy: [("MaxRegionsPerApplication", "100")]))
    var expected: [String] = []
    for turn in 0..<8 {
      let application = try application(daemon)
      try daemon.post(latitude: 0, longitude: 0)
      for number in 0..<5 {
        let answer = try application.call("StartMonitoringRegion", region("\(turn).\(number)"))
        #expect(answer["parameters"]?["authorization"] == "notDetermined", "\(answer)")
        expected.append("\(turn).\(number)")
      }
      daemon = try daemon.killed(rebooting: true)
      #expect(try use(daemon)?.regions.map(\.region.identifier) == expected)
    }
  }

  @Test("A stop of the daemon stores what was requested before, in the database itself")
  func stopped() throws {
    let daemon = try DaemonFixture()
    let application = try application(daemon)
    try daemon.post(latitude: 0, longitude: 0)
    _ = try application.call("StartMonitoringRegion", region("home"))
    let next = try daemon.restarted()
    #expect(try use(next)?.regions.map(\.region.identifier) == ["home"])
  }

  @Test("§15: The log names a damaged location store, and the daemon starts without its contents")
  func damaged() throws {
    var daemon = try DaemonFixture()
    let path = daemon.folder.file("state/location.db")
    try daemon.post(latitude: 0, longitude: 0)
    _ = try application(daemon).call("StartMonitoringRegion", region("home"))
    daemon = try daemon.killed(rebooting: true) { [daemon] in
      daemon.folder.write("state/location.db", "garbage")
      unlink(path + "-wal")
    }
    #expect(
      daemon.logged.contains(
        "the location store was damaged and was renamed to \(path).damaged"))
    #expect(try use(daemon)?.regions.isEmpty != false)
    try daemon.post(latitude: 0, longitude: 0)
    let answer = try application(daemon).call("StartMonitoringRegion", region("work"))
    #expect(answer["parameters"]?["authorization"] == "notDetermined", "\(answer)")
  }

  @Test(
    """
    If the location store cannot be used, regions are refused with NotStored, and updates and \
    decisions work until a reboot
    """)
  func unusable() throws {
    let first = try DaemonFixture()
    let path = first.folder.file("state/location.db")
    let daemon = try first.killed(rebooting: true) {
      for name in ["", "-wal"] { unlink(path + name) }
      mkdir(path, 0o700)
    }
    #expect(daemon.logged.contains("location data cannot be kept in \(path)"))
    let agent = try TestAgent(daemon)
    let application = try application(daemon)
    try daemon.post(latitude: 0, longitude: 0)
    let refused = try application.call("StartMonitoringRegion", region("home"))
    #expect(refused.errorName == "NotStored", "\(refused)")
    guard case .integer(let question)? = try agent.nextNotice()?["id"] else {
      throw TestApplication.Unexpected(line: "no question")
    }
    let start = try application.call("StartUpdatingLocation")
    #expect(start["parameters"]?["authorization"] == "notDetermined")
    try agent.choose(question, action: "allow")
    #expect(try application.nextEvent(with: "locationAuthorization") == "authorized")
    try daemon.post(latitude: 0, longitude: 1.5)
    #expect(try application.nextEvent(with: "location")["longitude"] == 1.5)
  }
}
