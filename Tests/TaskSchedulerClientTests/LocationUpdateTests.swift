import FoundationEssentials
import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerClient

@Suite struct LocationUpdateTests {
  // MARK: Requests

  @Test("Both forms start and stop updates, with the accuracy and the distance")
  func requests() async throws {
    let fixture = try Fixture()
    let application = fixture.application
    #expect(try await application.startUpdatingLocation() == .authorized)
    #expect(
      try await application.startUpdatingLocation(
        desiredAccuracy: .tenMeters, distanceFilter: 25) == .authorized)
    try await application.stopUpdatingLocation()
    #expect(
      try application.startUpdatingLocationAndWait(
        desiredAccuracy: .kilometer, distanceFilter: 0.5) == .authorized)
    try application.stopUpdatingLocationAndWait()
    #expect(
      fixture.daemon.locationCalls == [
        "StartUpdatingLocation best -", "StartUpdatingLocation tenMeters 25.0",
        "StopUpdatingLocation", "StartUpdatingLocation kilometer 0.5", "StopUpdatingLocation",
      ])
  }

  @Test("Each accuracy has the name of the interface", arguments: LocationAccuracy.allCases)
  func accuracies(_ accuracy: LocationAccuracy) throws {
    let fixture = try Fixture()
    try fixture.application.startUpdatingLocationAndWait(desiredAccuracy: accuracy)
    #expect(fixture.daemon.locationCalls == ["StartUpdatingLocation \(accuracy.rawValue) -"])
    #expect(ApplicationInterface.LocationAccuracy.allCases.count == LocationAccuracy.allCases.count)
  }

  @Test(
    "A start and the request for the authorization return the decision of the daemon",
    arguments: LocationAuthorization.allCases)
  func authorizations(_ authorization: LocationAuthorization) async throws {
    let fixture = try Fixture()
    let decision = try #require(
      ApplicationInterface.LocationAuthorization(rawValue: authorization.rawValue))
    fixture.daemon.state.update { $0.memory.location.authorization = decision }
    #expect(try await fixture.application.startUpdatingLocation() == authorization)
    #expect(try await fixture.application.requestLocationAuthorization() == authorization)
    #expect(try fixture.application.requestLocationAuthorizationAndWait() == authorization)
  }

  private static let refusals: [(ApplicationInterface.Failure, ApplicationRefusal, String)] = [
    (
      .locationUnavailable, .locationUnavailable,
      "there is no source of locations; 'taskctl location' says what is missing"
    ),
    (
      .locationDenied(application: "org.example.test", reason: .manifest),
      .locationDenied("org.example.test", .manifest),
      "the manifest of org.example.test does not name the location service"
    ),
    (
      .locationDenied(application: "org.example.test", reason: .settings),
      .locationDenied("org.example.test", .settings),
      "the settings of taskschedd do not allow org.example.test to learn the location"
    ),
    (
      .locationDenied(application: "org.example.test", reason: .user),
      .locationDenied("org.example.test", .user),
      "the user or an operator does not allow org.example.test to learn the location"
    ),
  ]

  @Test("A refused start throws the reason in a sentence", arguments: refusals)
  func refused(
    _ failure: ApplicationInterface.Failure, _ refusal: ApplicationRefusal, _ text: String
  ) throws {
    let fixture = try Fixture()
    fixture.daemon.refuseNext("StartUpdatingLocation", with: failure)
    let error = #expect(throws: ApplicationError.self) {
      try fixture.application.startUpdatingLocationAndWait()
    }
    #expect(error == .refused(refusal))
    #expect(error?.description == text)
  }

  @Test("The library refuses a distance that is not a finite number")
  func infinite() throws {
    let fixture = try Fixture()
    for distance in [Double.nan, .infinity] {
      #expect(throws: ApplicationError.refused(.invalidParameter("distanceFilter"))) {
        try fixture.application.startUpdatingLocationAndWait(distanceFilter: distance)
      }
    }
    #expect(fixture.daemon.locationCalls == [])
  }

  @Test("Without a daemon, a start throws, and a stop does nothing")
  func unmanaged() throws {
    let directory = TemporaryDirectory()
    let path = directory.file("socket")
    let application = try ScheduledApplication.registerAndWait(
      "org.example.test", delegate: Recorder(), at: SocketPath(path), ifAvailable: true)
    defer { application.close() }
    #expect(throws: ApplicationError.noDaemon(path: path)) {
      try application.startUpdatingLocationAndWait()
    }
    #expect(throws: ApplicationError.noDaemon(path: path)) {
      _ = try application.requestLocationAuthorizationAndWait()
    }
    try application.stopUpdatingLocationAndWait()
  }

  @Test("After close, a start and a stop throw closed")
  func closed() throws {
    let fixture = try Fixture()
    fixture.application.close()
    #expect(throws: ApplicationError.closed) {
      try fixture.application.startUpdatingLocationAndWait()
    }
    #expect(throws: ApplicationError.closed) {
      try fixture.application.stopUpdatingLocationAndWait()
    }
  }

  // MARK: Events

  @Test("The delegate receives each location, which the library does not acknowledge")
  func events() throws {
    let fixture = try Fixture()
    var second = StandInDaemon.location
    second.latitude = -1.5
    fixture.daemon.send(location: StandInDaemon.location)
    fixture.daemon.send(location: second)
    fixture.daemon.send(authorization: .denied)
    fixture.daemon.send(authorization: .authorized)
    let lines = ["at 52.5 13.25", "at -1.5 13.25", "location denied", "location authorized"]
    #expect(try fixture.recorder.wait(for: 4) == lines)
    fixture.daemon.send(.willResignActive)
    try fixture.daemon.waitForAcknowledgement()
    #expect(
      fixture.daemon.state.current.calls.filter { $0.hasPrefix("Acknowledge") }
        == ["Acknowledge 1"])
  }

  @Test("A location has all values of the source, and nil for those that the source does not know")
  func values() {
    let full = Location(StandInDaemon.location)
    #expect(full.coordinate == LocationCoordinate(latitude: 52.5, longitude: 13.25))
    #expect(full.horizontalAccuracy == 8)
    #expect(full.altitude == 34.5)
    #expect(full.speed == 1.5)
    #expect(full.course == 270)
    #expect(full.timestamp == Date(timeIntervalSince1970: 1_795_536_000.5))
    let bare = Location(.init(latitude: 0, longitude: 0, measuredAtUSec: 0))
    let values = [bare.horizontalAccuracy, bare.altitude, bare.speed, bare.course]
    #expect(values == [nil, nil, nil, nil])
    #expect(bare.timestamp == Date(timeIntervalSince1970: 0))
  }

  @Test("A loop over events receives locations and changes of the authorization")
  func sequence() async throws {
    let directory = TemporaryDirectory()
    let daemon = try StandInDaemon(at: directory.file("socket"))
    defer { daemon.stop() }
    let application = try await ScheduledApplication.register(
      "org.example.test", at: SocketPath(daemon.path))
    defer { application.close() }
    try await daemon.state.waitAsync("the event stream is open") { $0.stream != nil }
    daemon.send(authorization: .authorized)
    daemon.send(location: StandInDaemon.location)
    var events: [ApplicationEvent] = []
    for try await event in application.events {
      events.append(event)
      if events.count == 2 { break }
    }
    #expect(
      events == [
        .didChangeLocationAuthorization(.authorized),
        .didUpdateLocation(Location(StandInDaemon.location)),
      ])
  }

  // MARK: Restarts of the daemon

  @Test(
    "A daemon that has forgotten the process learns of the updates before the acknowledgement",
    arguments: [7, 8])
  func restored(instance: Int) throws {
    let fixture = try Fixture()
    try fixture.launch()
    try fixture.application.startUpdatingLocationAndWait()
    try fixture.application.startUpdatingLocationAndWait(
      desiredAccuracy: .hundredMeters, distanceFilter: 100)
    let daemon = try fixture.replaceDaemon(instance: instance)
    defer { daemon.stop() }
    try daemon.waitForAcknowledgement()
    #expect(
      daemon.state.current.calls == [
        "Register org.example.test", "StartUpdatingLocation hundredMeters 100.0", "Acknowledge 1",
      ])
  }

  @Test("A daemon that has forgotten the process does not learn of updates that were stopped")
  func notRestored() throws {
    let fixture = try Fixture()
    try fixture.launch()
    try fixture.application.startUpdatingLocationAndWait()
    try fixture.application.stopUpdatingLocationAndWait()
    let daemon = try fixture.replaceDaemon(instance: 8)
    defer { daemon.stop() }
    try daemon.waitForAcknowledgement()
    #expect(daemon.locationCalls == [])
  }

  @Test("The library does not repeat the updates to a daemon that knows them")
  func remembered() throws {
    let fixture = try Fixture()
    try fixture.launch()
    try fixture.application.startUpdatingLocationAndWait()
    let daemon = try fixture.restartDaemon()
    defer { daemon.stop() }
    daemon.send(.willResignActive)
    try daemon.waitForAcknowledgement()
    #expect(daemon.locationCalls == [])
  }

  @Test("The delegate learns that a daemon refuses the updates after a restart, once")
  func lost() throws {
    let fixture = try Fixture()
    try fixture.launch()
    try fixture.application.startUpdatingLocationAndWait()
    let second = try fixture.restartDaemon { $0 = StandInDaemon.Memory(instance: 8) }
    second.refuseNext(
      "StartUpdatingLocation",
      with: ApplicationInterface.Failure.locationDenied(
        application: "org.example.test", reason: .user))
    second.send(.didFinishLaunching, reason: .user)
    try second.waitForAcknowledgement()
    let log = try fixture.recorder.wait(for: 2)
    #expect(log[1].hasPrefix("lost location updates: the user or an operator does not allow"))
    second.stop()
    let third = try StandInDaemon(at: second.path, memory: .ofThird)
    defer { third.stop() }
    try third.waitForStream()
    third.send(.didFinishLaunching, reason: .user)
    try third.waitForAcknowledgement()
    #expect(third.locationCalls == [])
  }

  /// Replaces the daemon by one that knows no source of locations yet. It refuses the request for
  /// updates `refusals` times.
  private func withoutSource(_ fixture: Fixture, refusals: Int) throws -> StandInDaemon {
    try fixture.launch()
    try fixture.application.startUpdatingLocationAndWait()
    let daemon = try fixture.restartDaemon { $0 = StandInDaemon.Memory(instance: 8) }
    for _ in 0..<refusals {
      daemon.refuseNext(
        "StartUpdatingLocation", with: ApplicationInterface.Failure.locationUnavailable)
    }
    daemon.send(.didFinishLaunching, reason: .user)
    try daemon.waitForAcknowledgement()
    return daemon
  }

  @Test("A restarted daemon that does not know its sources yet receives the updates again later")
  func sourceLater() throws {
    let fixture = try Fixture()
    let daemon = try withoutSource(fixture, refusals: 3)
    defer { daemon.stop() }
    try daemon.waitForCall("StartUpdatingLocation best -", count: 4)
    // The library sends this request only after the last attempt has been answered.
    try fixture.application.stopUpdatingLocationAndWait()
    #expect(
      daemon.locationCalls
        == Array(repeating: "StartUpdatingLocation best -", count: 4) + ["StopUpdatingLocation"])
    #expect(fixture.recorder.log.current == ["didFinishLaunching user"])
  }

  @Test("The delegate learns that a restarted daemon knows no source for 2.3 s")
  func noSource() throws {
    let fixture = try Fixture()
    let daemon = try withoutSource(fixture, refusals: RetryDelays.requestMax + 1)
    defer { daemon.stop() }
    let log = try fixture.recorder.wait(for: 2)
    #expect(log[1].hasPrefix("lost location updates: there is no source of locations"))
    #expect(daemon.locationCalls.count == RetryDelays.requestMax + 1)
  }

  @Test("Updates that the application has stopped are not started later")
  func stoppedMeanwhile() throws {
    let fixture = try Fixture()
    let daemon = try withoutSource(fixture, refusals: RetryDelays.requestMax)
    defer { daemon.stop() }
    try fixture.application.stopUpdatingLocationAndWait()
    // Makes the next attempt at once. The library itself would pause before it.
    #expect(fixture.application.restoreLocationUpdates())
    #expect(daemon.locationCalls.last == "StopUpdatingLocation")
  }
}
