import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerClient

@Suite struct LocationMonitoringTests {
  private static let home = CircularRegion(
    identifier: "home", center: LocationCoordinate(latitude: 52.5, longitude: 13.25), radius: 150)

  // MARK: Requests

  @Test("Both forms start and stop significant changes")
  func significantChanges() async throws {
    let fixture = try Fixture()
    let application = fixture.application
    #expect(try await application.startMonitoringSignificantLocationChanges() == .authorized)
    try await application.stopMonitoringSignificantLocationChanges()
    #expect(try application.startMonitoringSignificantLocationChangesAndWait() == .authorized)
    try application.stopMonitoringSignificantLocationChangesAndWait()
    let calls = [
      "StartMonitoringSignificantLocationChanges", "StopMonitoringSignificantLocationChanges",
    ]
    #expect(fixture.daemon.locationCalls == calls + calls)
  }

  @Test("Both forms start, list and stop regions, with all their values")
  func regions() async throws {
    let fixture = try Fixture()
    let application = fixture.application
    let work = CircularRegion(
      identifier: "work", center: LocationCoordinate(latitude: -33.25, longitude: -70.5),
      radius: 2500.5, notifyOnEntry: false, notifyOnExit: false)
    #expect(try await application.startMonitoring(for: Self.home) == .authorized)
    #expect(try application.startMonitoringAndWait(for: work) == .authorized)
    #expect(
      fixture.daemon.state.current.memory.location.regions.map(\.region) == [
        .init(
          identifier: "home", latitude: 52.5, longitude: 13.25, radius: 150, notifyOnEntry: true,
          notifyOnExit: true),
        .init(
          identifier: "work", latitude: -33.25, longitude: -70.5, radius: 2500.5,
          notifyOnEntry: false, notifyOnExit: false),
      ])
    fixture.daemon.state.update { $0.memory.location.regions[0].inside = true }
    let monitored = try await application.monitoredRegions()
    #expect(monitored.map(\.region) == [Self.home, work])
    #expect(monitored.map(\.isInside) == [true, nil])
    try await application.stopMonitoring(for: "home")
    #expect(try application.monitoredRegionsAndWait().map(\.region) == [work])
    try application.stopMonitoringAndWait(for: "work")
    #expect(try application.monitoredRegionsAndWait().isEmpty)
  }

  @Test("A region in a reply without the optional fields reports both directions")
  func defaults() {
    let region = CircularRegion(
      .init(identifier: "home", latitude: 52.5, longitude: 13.25, radius: 150))
    #expect(region == Self.home)
    #expect(region.notifyOnEntry && region.notifyOnExit)
    #expect(region.id == "home")
  }

  @Test("A refused region throws the reason")
  func refused() throws {
    let fixture = try Fixture()
    fixture.daemon.refuseNext(
      "StartMonitoringRegion",
      with: ApplicationInterface.Failure.quotaExceeded(
        quota: "MaxRegionsPerApplication", limit: 20))
    #expect(
      throws: ApplicationError.refused(
        .quotaExceeded(quota: "MaxRegionsPerApplication", limit: 20))
    ) {
      try fixture.application.startMonitoringAndWait(for: Self.home)
    }
    let error = #expect(throws: ApplicationError.self) {
      try fixture.application.stopMonitoringAndWait(for: "home")
    }
    #expect(error == .refused(.unknownRegion("home")))
    #expect(error?.description == "there is no region 'home'")
  }

  @Test("The library refuses a number that JSON cannot express, and names its field")
  func infinite() throws {
    let fixture = try Fixture()
    var regions = [Self.home, Self.home, Self.home]
    regions[0].center.latitude = .nan
    regions[1].center.longitude = -.infinity
    regions[2].radius = .infinity
    for (region, name) in zip(regions, ["latitude", "longitude", "radius"]) {
      #expect(throws: ApplicationError.refused(.invalidParameter("region.\(name)"))) {
        try fixture.application.startMonitoringAndWait(for: region)
      }
    }
    #expect(fixture.daemon.locationCalls == [])
  }

  @Test("A stop whose answer is lost does not fail because the region is already gone")
  func answerLost() throws {
    let fixture = try Fixture()
    try fixture.application.startMonitoringAndWait(for: Self.home)
    fixture.daemon.state.update { $0.closesAfter = "StopMonitoringRegion" }
    try fixture.application.stopMonitoringAndWait(for: "home")
    #expect(
      fixture.daemon.locationCalls.suffix(2)
        == ["StopMonitoringRegion home", "StopMonitoringRegion home"])
  }

  @Test("Without a daemon, a start and a list throw, and a stop does nothing")
  func unmanaged() throws {
    let directory = TemporaryDirectory()
    let path = directory.file("socket")
    let application = try ScheduledApplication.registerAndWait(
      "org.example.test", delegate: Recorder(), at: SocketPath(path), ifAvailable: true)
    defer { application.close() }
    let error = ApplicationError.noDaemon(path: path)
    #expect(throws: error) { try application.startMonitoringAndWait(for: Self.home) }
    #expect(throws: error) { try application.startMonitoringSignificantLocationChangesAndWait() }
    #expect(throws: error) { _ = try application.monitoredRegionsAndWait() }
    try application.stopMonitoringAndWait(for: "home")
    try application.stopMonitoringSignificantLocationChangesAndWait()
  }

  // MARK: Events

  @Test("The delegate receives significant changes and crossings, and acknowledges by returning")
  func events() throws {
    let fixture = try Fixture()
    fixture.daemon.send(significantChange: StandInDaemon.location)
    fixture.daemon.send(region: "home", inside: true)
    fixture.daemon.send(region: "home", inside: false)
    try fixture.daemon.waitForHandledLocations()
    #expect(
      fixture.recorder.log.current == [
        "moved to 52.5 13.25", "entered home at 52.5 13.25", "left home at 52.5 13.25",
      ])
    #expect(
      fixture.daemon.state.current.calls.filter { $0.hasPrefix("Acknowledge") }
        == ["Acknowledge 1", "Acknowledge 2", "Acknowledge 3"])
  }

  @Test("The library acknowledges a crossing when the method has returned, not before")
  func acknowledgesOnReturn() throws {
    let gate = Gate()
    let fixture = try Fixture(recorder: Recorder(onMove: { gate.pass() }))
    fixture.daemon.send(region: "home", inside: true)
    gate.waitForHandler()
    // If the library had already acknowledged the event, the stand-in would have received the
    // acknowledgement before this request.
    _ = try fixture.application.backgroundTimeRemainingAndWait()
    #expect(fixture.daemon.state.current.memory.location.events.count == 1)
    gate.open()
    try fixture.daemon.waitForHandledLocations()
  }

  @Test("A crossing that the daemon repeats reaches the delegate once")
  func deliveredAgain() throws {
    let gate = Gate()
    let recorder = Recorder(onMove: { gate.pass() })
    let fixture = try Fixture(recorder: recorder)
    fixture.daemon.send(region: "home", inside: true)
    gate.waitForHandler()
    let events = fixture.daemon.state.current.memory.location.events
    let daemon = try fixture.restartDaemon()
    gate.open()
    try daemon.waitForHandledLocations()
    // The next daemon still has the event, as if the acknowledgement had not arrived.
    var memory = daemon.stop()
    memory.location.events = events
    let next = try StandInDaemon(at: daemon.path, memory: memory)
    defer { next.stop() }
    try next.waitForHandledLocations()
    #expect(recorder.log.current == ["entered home at 52.5 13.25"])
  }

  @Test("A loop over events receives crossings, and acknowledges them by taking the next event")
  func sequence() async throws {
    let directory = TemporaryDirectory()
    let daemon = try StandInDaemon(at: directory.file("socket"))
    defer { daemon.stop() }
    let application = try await ScheduledApplication.register(
      "org.example.test", at: SocketPath(daemon.path))
    defer { application.close() }
    try await daemon.state.waitAsync("the event stream is open") { $0.stream != nil }
    daemon.send(region: "home", inside: false)
    daemon.send(significantChange: StandInDaemon.location)
    var events: [ApplicationEvent] = []
    for try await event in application.events {
      events.append(event)
      if events.count == 2 { break }
    }
    let location = Location(StandInDaemon.location)
    let crossing = RegionCrossing(
      .init(id: 1, identifier: "home", inside: false, location: StandInDaemon.location))
    #expect(events == [.didExitRegion(crossing), .didChangeLocationSignificantly(location)])
    #expect(crossing.identifier == "home")
    #expect(crossing.location == location)
    try await daemon.state.waitAsync("all events are acknowledged") {
      $0.calls.suffix(2) == ["Acknowledge 1", "Acknowledge 2"]
    }
  }

  @Test("A delegate that implements no method acknowledges significant changes and crossings")
  func defaultMethods() throws {
    struct Delegate: ApplicationDelegate {}
    let directory = TemporaryDirectory()
    let daemon = try StandInDaemon(at: directory.file("socket"))
    defer { daemon.stop() }
    let application = try ScheduledApplication.registerAndWait(
      "org.example.test", delegate: Delegate(), at: SocketPath(daemon.path))
    defer { application.close() }
    try daemon.waitForStream()
    daemon.send(location: StandInDaemon.location)
    daemon.send(authorization: .authorized)
    daemon.send(significantChange: StandInDaemon.location)
    daemon.send(region: "home", inside: true)
    try daemon.waitForHandledLocations()
  }

  // MARK: Restarts and launches

  @Test("The library repeats neither regions nor significant changes, which the daemon stores")
  func notRestored() throws {
    let fixture = try Fixture()
    try fixture.launch()
    try fixture.application.startMonitoringAndWait(for: Self.home)
    try fixture.application.startMonitoringSignificantLocationChangesAndWait()
    let daemon = try fixture.replaceDaemon(instance: 8)
    defer { daemon.stop() }
    try daemon.waitForAcknowledgement()
    #expect(daemon.locationCalls == [])
  }

  @Test("A launch for a crossing has the reason location and the region, until the process ends")
  func launchRegion() throws {
    var memory = StandInDaemon.Memory()
    memory.location.launchRegion = "home"
    let fixture = try Fixture(memory: memory)
    #expect(fixture.application.launchReason == .location)
    #expect(fixture.application.launchRegion == "home")
    try fixture.launch()
    let daemon = try fixture.replaceDaemon(instance: 8)
    defer { daemon.stop() }
    try daemon.waitForAcknowledgement()
    #expect(fixture.application.launchRegion == "home")
  }

  @Test("Another launch has no region")
  func noLaunchRegion() throws {
    #expect(try Fixture().application.launchRegion == nil)
  }
}
