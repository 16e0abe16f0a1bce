import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §17. Some tests simulate the session agent (`TestAgent`). The others use the real
/// session agent and the real GeoClue.
@Suite("§17: GeoClue, through the session agent of a user")
struct GeoClueTests {
  private let id = "org.test.location"

  /// Starts an application that may learn the location.
  private func application(_ daemon: DaemonFixture) throws -> TestApplication {
    let application = try TestApplication(daemon, id)
    try application.registered()
    try daemon.call(
      ControlInterface.SetLocationAuthorization.self,
      .init(application: id, authorization: .authorized))
    return application
  }

  private func start(_ application: TestApplication) throws -> JSONValue {
    try application.call("StartUpdatingLocation")
  }

  /// Returns a location that was measured now.
  private func location(_ latitude: Double) -> SessionInterface.Location {
    .init(
      latitude: latitude, longitude: -0.5, accuracy: 4, altitude: 35.5, speed: 1, course: 90,
      measuredAtUSec: Int(WallClock.now()))
  }

  /// Returns whether the daemon knows that GeoClue is available to the user of the test.
  private func isAvailable(_ daemon: DaemonFixture) throws -> Bool {
    try daemon.call(ControlInterface.GetLocation.self, .init()).sources
      .contains { $0.name == "GeoClue" && $0.owner == Int(getuid()) && $0.available }
  }

  // MARK: Reports of a simulated agent

  @Test("§17: The agent's locations reach an application that has started updates, and no others")
  func updates() throws {
    let daemon = try DaemonFixture()
    let application = try application(daemon)
    let agent = try TestAgent(daemon)
    #expect(try start(application).errorName == "LocationUnavailable")
    #expect(try agent.report(isGeoClueAvailable: true)?.errorName == nil)
    #expect(try agent.report(location(1))?.errorName == nil, "not ordered")
    #expect(try start(application)["parameters"]?["authorization"] == "authorized")
    #expect(try agent.nextOrder("location")?["accuracy"] == "best")
    let reported = location(2)
    #expect(try agent.report(reported)?.errorName == nil)
    let received = try application.nextEvent(with: "location")
    #expect(try received.decode(ApplicationInterface.Location.self) == reported)
    _ = try application.call("StopUpdatingLocation")
    let end = try #require(try agent.nextOrder("location"))
    #expect(end["accuracy"] == nil, "\(end)")
  }

  @Test("§17: When the session agent has ended, GeoClue is no longer a source")
  func lost() throws {
    let daemon = try DaemonFixture()
    let application = try application(daemon)
    do {
      let agent = try TestAgent(daemon)
      try agent.report(isGeoClueAvailable: true)
      #expect(try start(application).errorName == nil)
    }
    try waitUntil("GeoClue is not available") {
      try start(application).errorName == "LocationUnavailable"
    }
    let next = try TestAgent(daemon)
    try next.report(isGeoClueAvailable: true)
    #expect(try next.nextOrder("location")?["accuracy"] == "best")
  }

  @Test("§17: An agent that replaces another one receives the order when it reports GeoClue")
  func replaced() throws {
    let daemon = try DaemonFixture()
    let application = try application(daemon)
    let earlier = try TestAgent(daemon)
    try earlier.report(isGeoClueAvailable: true)
    #expect(try start(application).errorName == nil)
    let later = try TestAgent(daemon)
    #expect(try earlier.report(location(1))?.errorName == "NotAttached")
    #expect(try earlier.report(isGeoClueAvailable: true)?.errorName == "NotAttached")
    #expect(try !isAvailable(daemon))
    try later.report(isGeoClueAvailable: true)
    #expect(try later.nextOrder("location")?["accuracy"] == "best")
    let reported = location(2)
    try later.report(reported)
    let received = try application.nextEvent(with: "location")
    #expect(try received.decode(ApplicationInterface.Location.self) == reported)
  }

  @Test(
    "§17: The agent of one user is no source for the applications of another user",
    .enabled(if: geteuid() == 0, "other users' processes need root"))
  func otherUser() throws {
    let daemon = try DaemonFixture()
    let application = try application(daemon)
    let user = try OtherUser(daemon, uid: 65534)
    let orders = try user.open(), reports = try user.open()
    let attached = try user.call(orders, "org.taskschedd.Session.Attach", more: true)
    let number = try #require(attached["parameters"]?["attached"])
    let answer = try user.call(
      reports, "org.taskschedd.Session.ReportLocationSource",
      ["attachment": number, "available": true])
    #expect(answer.errorName == nil)
    #expect(try start(application).errorName == "LocationUnavailable")
    let own = try TestAgent(daemon)
    try own.report(isGeoClueAvailable: true)
    #expect(try start(application).errorName == nil)
    let foreign = try user.call(
      reports, "org.taskschedd.Session.ReportLocation",
      [
        "attachment": .integer(Int64(own.attachment)),
        "location": ["latitude": 1, "longitude": 1, "measuredAtUSec": 1],
      ])
    #expect(foreign.errorName == "NotAttached")
  }

  @Test("§17: After kill -9 of the daemon, GeoClue is a source when the next agent reports it")
  func killedDaemon() throws {
    let earlier = try DaemonFixture()
    let lost = try TestAgent(earlier)
    try lost.report(isGeoClueAvailable: true)
    #expect(try isAvailable(earlier))
    let daemon = try earlier.killed()
    #expect(try !isAvailable(daemon))
    let agent = try TestAgent(daemon)
    #expect(try !isAvailable(daemon))
    try agent.report(isGeoClueAvailable: true)
    #expect(try isAvailable(daemon))
    withExtendedLifetime(lost) {}
  }

  // MARK: The real GeoClue

  @Test(
    "§17: An application receives the location of GeoClue, whose receiver is on only for updates",
    .enabled(
      if: GeoClueService.missing == nil, Comment(rawValue: GeoClueService.missing ?? "possible")))
  func real() throws {
    let geoClue = try GeoClueService()
    let daemon = try DaemonFixture()
    let agents = SessionAgents()
    try agents.start(
      daemon, bus: "unix:path=\(daemon.folder.file("none"))", systemBus: geoClue.bus.address)
    let application = try application(daemon)
    try waitUntil("GeoClue is available") { try isAvailable(daemon) }
    #expect(try !geoClue.isRunning())
    try geoClue.setPosition(48.5, 11.25)
    #expect(try start(application)["parameters"]?["authorization"] == "authorized")
    let location = try application.nextEvent(with: "location")
      .decode(ApplicationInterface.Location.self)
    #expect(abs(location.latitude - 48.5) < 1e-5 && abs(location.longitude - 11.25) < 1e-5)
    #expect(location.accuracy == 3 && location.altitude == 34.5)
    #expect(try geoClue.isReceiving())
    _ = try application.call("StopUpdatingLocation")
    try waitUntil("the receiver is off") { try !geoClue.isReceiving() }
    withExtendedLifetime(agents) {}
  }
}
