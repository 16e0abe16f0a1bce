import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §17, with the real daemon, simulated locations, and an application that shares no code
/// with the project.
@Suite("§17: The location services of an application")
struct LocationServiceTests {
  private typealias Wire = ApplicationInterface

  private let id = "org.test.location"
  /// Longitudes on the equator. The region `home` has a radius of 200 m.
  private let inside = 0.01
  private let outside = 0.02
  private let home: JSONValue = [
    "region": ["identifier": "home", "latitude": 0, "longitude": 0.01, "radius": 200]
  ]

  /// Starts a daemon that does not use gpsd.
  ///
  /// - Parameter settings: Additional settings of the table `[location]`.
  private func fixture(
    manifest: String? = nil, policy: [(String, String)] = [], settings: String = ""
  ) throws -> DaemonFixture {
    try DaemonFixture(
      .init(
        options: [("location", "{ gpsd = \"\"\(settings) }")],
        policy: [("RegionDwell", "10ms")] + policy, manifests: manifest.map { [(id, $0)] } ?? []))
  }

  private func application(_ daemon: DaemonFixture) throws -> TestApplication {
    let application = try TestApplication(daemon, id)
    try application.registered()
    return application
  }

  private func decide(
    _ authorization: ControlInterface.LocationAuthorization, _ daemon: DaemonFixture
  ) throws {
    try daemon.call(
      ControlInterface.SetLocationAuthorization.self,
      .init(application: id, authorization: authorization))
  }

  /// Calls a method such as `StartUpdatingLocation`, and returns the authorization in the answer.
  private func start(
    _ application: TestApplication, _ method: String, _ parameters: JSONValue = [:]
  ) throws -> JSONValue {
    let answer = try application.call(method, parameters)
    return try #require(answer["parameters"]?["authorization"], "\(answer)")
  }

  private func regions(_ application: TestApplication) throws -> [Wire.MonitoredRegion] {
    let answer = try application.call("ListMonitoredRegions")
    return try #require(answer["parameters"]).decode(Wire.ListMonitoredRegions.Output.self).regions
  }

  /// Simulates a location inside the region until the daemon has determined that the machine is
  /// inside. If `isInside` is false, does the same with a location outside.
  private func stay(_ daemon: DaemonFixture, inside isInside: Bool) throws {
    try waitUntil("the machine is \(isInside ? "inside" : "outside")") {
      try daemon.post(latitude: 0, longitude: isInside ? inside : outside)
      let uses = try daemon.call(ControlInterface.GetLocation.self, .init()).uses
      return uses.first { $0.application == id }?.regions.first?.inside == isInside
    }
  }

  /// Returns the events up to the first one with the given field.
  private func events(
    _ application: TestApplication, upTo field: String
  ) throws -> [JSONValue] {
    var events: [JSONValue] = []
    repeat {
      events.append(try application.nextEvent()["parameters"] ?? .null)
    } while events.last?[field] == nil
    return events
  }

  private func location(_ event: JSONValue?) throws -> Wire.Location {
    try #require(event).decode(Wire.Location.self)
  }

  // MARK: Refusals

  @Test("Without a source of locations, a start is refused, but a request for authorization is not")
  func unavailable() throws {
    let daemon = try fixture()
    let application = try application(daemon)
    for (method, parameters) in [
      ("StartUpdatingLocation", [:]), ("StartMonitoringSignificantLocationChanges", [:]),
      ("StartMonitoringRegion", home),
    ] as [(String, JSONValue)] {
      let answer = try application.call(method, parameters)
      #expect(answer.errorName == "LocationUnavailable", "\(method): \(answer)")
    }
    #expect(try start(application, "RequestLocationAuthorization") == "notDetermined")
    #expect(try regions(application).isEmpty)
    for method in ["StopUpdatingLocation", "StopMonitoringSignificantLocationChanges"] {
      #expect(try application.call(method) == ["parameters": [:]], "\(method)")
    }
  }

  @Test("A start of a service that the manifest does not name is refused, with the reason manifest")
  func notInManifest() throws {
    let daemon = try fixture(manifest: "location = [\"regions\"]")
    try daemon.post(latitude: 0, longitude: outside)
    let application = try application(daemon)
    for method in ["StartUpdatingLocation", "StartMonitoringSignificantLocationChanges"] {
      let answer = try application.call(method)
      #expect(answer.errorName == "LocationDenied", "\(method): \(answer)")
      #expect(
        answer["parameters"] == ["application": .string(id), "reason": "manifest"], "\(method)")
    }
    #expect(try start(application, "StartMonitoringRegion", home) == "notDetermined")
  }

  @Test("A start that the user has denied is refused, with the reason user")
  func deniedByUser() throws {
    let daemon = try fixture()
    try daemon.post(latitude: 0, longitude: outside)
    let application = try application(daemon)
    try decide(.denied, daemon)
    let answer = try application.call("StartUpdatingLocation")
    #expect(answer.errorName == "LocationDenied")
    #expect(answer["parameters"]?["reason"] == "user")
    #expect(try start(application, "RequestLocationAuthorization") == "denied")
  }

  @Test("A start that the settings deny is refused, with the reason settings")
  func deniedBySettings() throws {
    let daemon = try fixture(settings: ", deny = [\"\(id)\"]")
    try daemon.post(latitude: 0, longitude: outside)
    let application = try application(daemon)
    try decide(.authorized, daemon)
    let answer = try application.call("StartMonitoringRegion", home)
    #expect(answer.errorName == "LocationDenied")
    #expect(answer["parameters"]?["reason"] == "settings")
    #expect(try start(application, "RequestLocationAuthorization") == "denied")
  }

  @Test("A start that the settings allow is authorized at once")
  func allowedBySettings() throws {
    let daemon = try fixture(settings: ", allow = [\"\(id)\"]")
    try daemon.post(latitude: 0, longitude: 0)
    let application = try application(daemon)
    #expect(try start(application, "StartUpdatingLocation") == "authorized")
    try daemon.post(latitude: 0, longitude: 4)
    #expect(try location(try application.nextEvent(with: "location")).longitude == 4)
  }

  // MARK: Updates

  @Test("An application receives locations only after the decision, and by its distance filter")
  func updates() throws {
    let daemon = try fixture()
    try daemon.post(latitude: 0, longitude: 0)
    let application = try application(daemon)
    let wish: JSONValue = ["desiredAccuracy": "best", "distanceFilter": 1000]
    #expect(try start(application, "StartUpdatingLocation", wish) == "notDetermined")
    try daemon.post(latitude: 0, longitude: 0.5)
    try decide(.authorized, daemon)
    let early = try events(application, upTo: "locationAuthorization")
    #expect(early.last?["locationAuthorization"] == "authorized")
    #expect(early.allSatisfy { $0["location"] == nil }, "\(early)")
    // The second location is only 111 m from the first, so the application does not receive it.
    for longitude in [0.1, 0.101, 0.2] {
      try daemon.post(latitude: -0.25, longitude: longitude, accuracy: 12.5)
    }
    let first = try location(try application.nextEvent(with: "location"))
    #expect(first.latitude == -0.25)
    #expect(first.longitude == 0.1)
    #expect(first.accuracy == 12.5)
    #expect(first.speed == nil)
    #expect(try location(try application.nextEvent(with: "location")).longitude == 0.2)
    #expect(try start(application, "StartUpdatingLocation") == "authorized")
    #expect(try application.call("StopUpdatingLocation") == ["parameters": [:]])
    try daemon.post(latitude: 0, longitude: 0.9)
    try daemon.call(ControlInterface.PostSystemChange.self, .init(name: "done"))
    let late = try events(application, upTo: "systemChanges")
    #expect(late.allSatisfy { $0["location"] == nil }, "\(late)")
  }

  @Test("Updates and regions continue after kill -9 of the daemon")
  func survival() throws {
    let daemon = try fixture()
    try daemon.post(latitude: 0, longitude: outside)
    let application = try application(daemon)
    try decide(.authorized, daemon)
    #expect(try start(application, "StartUpdatingLocation") == "authorized")
    #expect(try start(application, "StartMonitoringRegion", home) == "authorized")
    let next = try daemon.killed()
    try application.process.writeLine("reconnect")
    _ = try application.nextEvent(with: "registered")
    try next.post(latitude: 1, longitude: 2)
    #expect(try location(try application.nextEvent(with: "location")).longitude == 2)
    #expect(try regions(application).map(\.region.identifier) == ["home"])
  }

  // MARK: Regions and significant changes

  @Test("Regions are listed, replaced and removed, and their number is limited")
  func listing() throws {
    let daemon = try fixture(policy: [("MaxRegionsPerApplication", "2")])
    try daemon.post(latitude: 0, longitude: inside)
    let application = try application(daemon)
    func region(_ identifier: String, radius: Double = 100) -> JSONValue {
      [
        "region": [
          "identifier": .string(identifier), "latitude": 45.5, "longitude": -120.25,
          "radius": .number(radius), "notifyOnExit": false,
        ]
      ]
    }
    #expect(try start(application, "StartMonitoringRegion", region("work")) == "notDetermined")
    #expect(try start(application, "StartMonitoringRegion", home) == "notDetermined")
    let full = try application.call("StartMonitoringRegion", region("other"))
    #expect(full.errorName == "QuotaExceeded")
    #expect(full["parameters"] == ["quota": "MaxRegionsPerApplication", "limit": 2])
    let replaced = region("work", radius: 250.5)
    #expect(try start(application, "StartMonitoringRegion", replaced) == "notDetermined")
    #expect(
      try regions(application) == [
        .init(
          region: .init(
            identifier: "home", latitude: 0, longitude: 0.01, radius: 200, notifyOnEntry: true,
            notifyOnExit: true)),
        .init(
          region: .init(
            identifier: "work", latitude: 45.5, longitude: -120.25, radius: 250.5,
            notifyOnEntry: true, notifyOnExit: false)),
      ])
    try decide(.authorized, daemon)
    try stay(daemon, inside: true)
    #expect(try regions(application).map(\.inside) == [true, false])
    let work: JSONValue = ["identifier": "work"]
    #expect(try application.call("StopMonitoringRegion", work) == ["parameters": [:]])
    let unknown = try application.call("StopMonitoringRegion", work)
    #expect(unknown.errorName == "UnknownRegion")
    #expect(unknown["parameters"] == work)
  }

  @Test(
    """
    A crossing resumes a suspended application, which is told the region and the location, and is \
    suspended again after its acknowledgement
    """)
  func crossing() throws {
    let daemon = try fixture()
    try daemon.post(latitude: 0, longitude: outside)
    let monitor = try Monitor(daemon)
    let application = try application(daemon)
    try decide(.authorized, daemon)
    #expect(try start(application, "StartMonitoringRegion", home) == "authorized")
    try stay(daemon, inside: false)
    try daemon.sendToBackground(id)
    try monitor.transition(id, to: .suspended)
    try stay(daemon, inside: true)
    let entry = try application.nextEvent(with: "region")
    #expect(entry["identifier"] == "home")
    #expect(entry["inside"] == true)
    #expect(try location(entry["location"]).longitude == inside)
    #expect(try daemon.application(id).state == .background)
    // The application may be suspended before it can print the answer, so the test does not wait
    // for the answer.
    try application.send("Acknowledge", ["callback": try #require(entry["id"])])
    try monitor.transition(id, to: .suspended)
    try stay(daemon, inside: false)
    let exit = try application.nextEvent(with: "region")
    #expect(exit["inside"] == false)
    #expect(try location(exit["location"]).longitude == outside)
  }

  @Test("The first location after the start of significant changes is told, and acknowledged")
  func significantChange() throws {
    let daemon = try fixture()
    try daemon.post(latitude: 0, longitude: 0)
    let application = try application(daemon)
    try decide(.authorized, daemon)
    let method = "StartMonitoringSignificantLocationChanges"
    #expect(try start(application, method) == "authorized")
    try daemon.post(latitude: 0, longitude: 3)
    let change = try application.nextEvent(with: "significantLocationChange")
    #expect(try location(change["location"]).longitude == 3)
    #expect(try application.acknowledge(event: change) == ["parameters": [:]])
    #expect(try application.acknowledge(event: change).errorName == "UnknownCallback")
  }

  // MARK: Launches

  @Test(
    """
    A crossing launches an application that does not run. The region is in its environment and in \
    its registration, and the event follows the launch
    """)
  func launch() throws {
    let folder = TemporaryDirectory()
    folder.write("application.py", try Programs.resource("application.py"))
    for name in ["said", "asked"] { mkfifo(folder.file(name), 0o600) }
    let command = """
      [ "$TASKSCHEDD_LAUNCH_REASON $TASKSCHEDD_LAUNCH_REGION" = "location home" ] || exit 1
      exec python3 -I -u \(folder.file("application.py")) "$TASKSCHEDD_SOCKET" \(id) \
      < \(folder.file("asked")) > \(folder.file("said"))
      """
    let writer = try TestProcess.shell("exec 3> \(folder.file("asked")); read line")
    let reader = try TestProcess.shell("exec cat \(folder.file("said"))")
    func nextEvent() throws -> JSONValue {
      let event = try JSONParser.parse(Array(try reader.nextLine().dropFirst("event ".count).utf8))
      return try #require(event["parameters"], "\(event)")
    }
    let daemon = try fixture(
      manifest: """
        location = ["regions"]
        command = ["/bin/sh", "-c", '''
        \(command)''']
        """)
    try daemon.post(latitude: 0, longitude: outside)
    let first = try application(daemon)
    try decide(.authorized, daemon)
    #expect(try start(first, "StartMonitoringRegion", home) == "authorized")
    try stay(daemon, inside: false)
    try first.process.writeLine("exit 0")
    try waitUntil("the application has ended") { try daemon.application(id).state == .notRunning }
    try stay(daemon, inside: true)
    let registration = try nextEvent()["registered"]
    #expect(registration?["launchReason"] == "location")
    #expect(registration?["launchRegion"] == "home")
    #expect(registration?["state"] == "background")
    #expect(try nextEvent()["callback"]?["launchReason"] == "location")
    let entry = try nextEvent()["region"]
    #expect(entry?["identifier"] == "home")
    #expect(entry?["inside"] == true)
    try writer.writeLine("end")
  }

  @Test("A program that is launched for another reason has no region in its environment")
  func otherLaunch() throws {
    let folder = TemporaryDirectory()
    mkfifo(folder.file("said"), 0o600)
    let reader = try TestProcess.shell("exec cat \(folder.file("said"))")
    let script = "echo \"$TASKSCHEDD_LAUNCH_REASON ${TASKSCHEDD_LAUNCH_REGION-none}\" > "
      + "\(folder.file("said")); exec sleep 1000"
    let daemon = try fixture(manifest: "command = [\"/bin/sh\", \"-c\", '''\(script)''']")
    try daemon.launch(id)
    #expect(try reader.nextLine() == "operator none")
  }
}
