import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerSession

/// A session agent with stand-in daemons, and a stand-in for GeoClue on a real bus.
private final class Scene {
  let loop: EventLoop
  let directory = TemporaryDirectory()
  let bus: SessionBus
  let geoClue: StandInGeoClue
  var daemons: [StandInDaemon] = []
  private var agent: SessionAgent?
  private(set) var occurrences: [String] = []

  /// - Parameter graceTime: how long the agent waits for a daemon to return, in nanoseconds.
  init(
    daemonCount: Int = 1, graceTime: UInt64 = SessionAgent.defaultGraceTime,
    _ mode: StandInGeoClue.Mode = .normal
  ) throws {
    loop = try EventLoop()
    bus = try SessionBus(path: directory.file("bus"))
    geoClue = try StandInGeoClue(on: bus, mode)
    for number in 0..<daemonCount { daemons.append(try startDaemon(number)) }
    let address = bus.address, none = "unix:path=\(directory.file("none"))"
    agent = try SessionAgent(
      loop: loop, sockets: daemons.indices.map { directory.file("socket\($0)") },
      environment: SessionEnvironment(uid: getuid()) {
        switch $0 {
        case "DBUS_SYSTEM_BUS_ADDRESS": address
        case "DBUS_SESSION_BUS_ADDRESS": none
        case _: nil
        }
      }, graceTime: graceTime
    ) { [unowned self] in occurrences.append("\($0)") }
    try wait("GeoClue is reported") {
      self.daemons.allSatisfy { $0.locationSourceReports.last == true }
    }
  }

  func startDaemon(_ number: Int) throws -> StandInDaemon {
    try StandInDaemon(at: directory.file("socket\(number)"), on: loop)
  }

  func order(_ accuracy: SessionInterface.LocationAccuracy?, by daemon: Int = 0) {
    daemons[daemon].order(.init(location: .init(accuracy: accuracy)))
  }

  /// The latitudes of the locations that a daemon has received.
  func latitudes(_ daemon: Int = 0) -> [Double] {
    daemons[daemon].locationReports.map(\.latitude)
  }

  func waitForClients(_ count: Int, location: SourceLocation = #_sourceLocation) throws {
    try wait("client \(count)", location: location) {
      let calls = try geoClue.calls()
      return calls.last == "Start" && calls.filter { $0 == "Start" }.count == count
    }
  }

  func wait(
    _ expectation: String, location: SourceLocation = #_sourceLocation,
    until isDone: () throws -> Bool
  ) throws {
    let end = BootClock.now() + UInt64(deadline / .nanoseconds(1))
    while try !isDone() {
      guard BootClock.now() < end else {
        let reports = daemons.map { $0.reports.map(\.method) }
        Issue.record("\(expectation): \(reports), \(occurrences)", sourceLocation: location)
        throw SystemError(call: "waiting: \(expectation)", errno: ETIMEDOUT)
      }
      try loop.turn(within: .milliseconds(100))
    }
  }
}

@Suite(
  "§17: The location between daemons, the session agent and GeoClue", .serialized,
  .enabled(
    if: StandInGeoClue.missing == nil, Comment(rawValue: StandInGeoClue.missing ?? "possible")))
struct AgentLocationTests {
  @Test("§17: Only a daemon that has ordered locations receives them, the newest one at once")
  func orders() throws {
    let scene = try Scene(daemonCount: 2)
    scene.order(.best, by: 1)
    try scene.waitForClients(1)
    try scene.geoClue.locate(1, 2)
    try scene.wait("the location") { scene.latitudes(1) == [1] }
    #expect(scene.latitudes(0).isEmpty)
    scene.order(.kilometer, by: 0)
    try scene.wait("the same location") { scene.latitudes(0) == [1] }
    try scene.geoClue.locate(3, 4)
    try scene.wait("the next location") {
      scene.latitudes(0) == [1, 3] && scene.latitudes(1) == [1, 3]
    }
    #expect(try scene.geoClue.calls().filter { $0 == "Start" }.count == 1)
    // The remaining daemon needs only a lower accuracy.
    scene.order(nil, by: 1)
    try scene.waitForClients(2)
    #expect(try scene.geoClue.calls().contains("Set RequestedAccuracyLevel 4"))
    try scene.geoClue.locate(5, 6)
    try scene.wait("a location of the second client") { scene.latitudes(0) == [1, 3, 5] }
    #expect(scene.latitudes(1) == [1, 3])
    scene.order(nil, by: 0)
    try scene.wait("the end of the client") {
      try scene.geoClue.calls().suffix(2) == ["Stop", "DeleteClient"]
    }
  }

  @Test("§17: A daemon that takes over the connections and orders again keeps the client")
  func takenOver() throws {
    let scene = try Scene()
    scene.order(.best)
    try scene.waitForClients(1)
    try scene.geoClue.locate(1, 2)
    try scene.wait("the location") { scene.latitudes() == [1] }
    scene.daemons[0].order(.init(attached: 1))
    scene.order(.best)
    try scene.wait("the location again") { scene.latitudes() == [1, 1] }
    #expect(scene.daemons[0].locationSourceReports == [true, true])
    #expect(try !scene.geoClue.calls().contains("Stop"))
  }

  @Test("§17: If a daemon does not return, the agent ends the use of GeoClue")
  func doesNotReturn() throws {
    let scene = try Scene(graceTime: 50_000_000)
    scene.order(.best)
    try scene.waitForClients(1)
    scene.daemons = []
    try scene.wait("the end of the client") {
      try scene.geoClue.calls().suffix(2) == ["Stop", "DeleteClient"]
    }
    scene.daemons = [try scene.startDaemon(0)]
    try scene.wait("GeoClue is reported") { scene.daemons[0].locationSourceReports == [true] }
  }

  @Test("§17: If GeoClue refuses or ends, each daemon learns that it is not available")
  func fails() throws {
    let scene = try Scene(daemonCount: 2, .refuseStart)
    scene.order(.best)
    try scene.wait("GeoClue is not available") {
      scene.daemons.allSatisfy { $0.locationSourceReports.last == false }
    }
    #expect(
      scene.occurrences.contains {
        $0.hasPrefix("cannot report the location: GeoClue refuses to report the location")
      })
    try scene.geoClue.end()
    let next = try StandInGeoClue(on: scene.bus)
    try scene.wait("GeoClue is available") {
      scene.daemons.allSatisfy { $0.locationSourceReports.last == true }
    }
    #expect(scene.occurrences.contains("can report the location again"))
    withExtendedLifetime(next) {}
  }
}
