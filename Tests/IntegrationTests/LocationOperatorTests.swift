import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §17 and §16: what operators and users see and decide about the location, with the real
/// daemon, simulated locations, and taskctl.
@Suite("§17: The location for operators and users")
struct LocationOperatorTests {
  private typealias Control = ControlInterface

  private let id = "org.test.located"
  private let home: JSONValue = [
    "region": [
      "identifier": "home", "latitude": 0, "longitude": 0.01, "radius": 200, "notifyOnExit": false,
    ]
  ]

  /// Starts an application of a user.
  private func application(
    _ daemon: DaemonFixture, uid: UInt32? = nil
  ) throws -> TestApplication {
    let application = try TestApplication(daemon, id, uid: uid)
    try application.registered()
    return application
  }

  private func location(
    _ daemon: DaemonFixture, owner: Int? = nil
  ) throws -> Control.GetLocation.Output {
    try daemon.call(Control.GetLocation.self, .init(owner: owner))
  }

  private func use(_ daemon: DaemonFixture) throws -> Control.LocationUse? {
    try location(daemon).uses.first { $0.application == id }
  }

  /// Runs a subcommand of `taskctl location` that must succeed without a message.
  private func decide(_ word: String, _ daemon: DaemonFixture) throws {
    let done = try daemon.taskctl("location", word, id)
    #expect(done.exit == .exited(code: 0))
    #expect(done.text == "")
  }

  private func decision(_ application: TestApplication) throws -> JSONValue {
    try application.nextEvent(with: "locationAuthorization")
  }

  // MARK: What is shown

  @Test("§17: GetLocation returns each use of the location, what is needed, and the location")
  func uses() throws {
    let daemon = try DaemonFixture()
    try daemon.post(latitude: 0, longitude: 0)
    let application = try application(daemon)
    #expect(try use(daemon) == nil)
    let wish: JSONValue = ["desiredAccuracy": "tenMeters", "distanceFilter": 50.5]
    for (method, parameters) in [
      ("StartUpdatingLocation", wish), ("StartMonitoringSignificantLocationChanges", [:]),
      ("StartMonitoringRegion", home),
    ] as [(String, JSONValue)] {
      #expect(try application.call(method, parameters).errorName == nil, "\(method)")
    }
    let before = try location(daemon)
    #expect(before.uses.map(\.authorization) == [.notDetermined])
    #expect(before.needed == nil)
    try decide("allow", daemon)
    try daemon.post(latitude: 0, longitude: 0.01, accuracy: 12)
    _ = try application.nextEvent(with: "location")
    let after = try location(daemon)
    #expect(after.needed == .tenMeters)
    #expect(after.location?.longitude == 0.01)
    #expect(after.location?.accuracy == 12)
    let use = try #require(after.uses.first)
    #expect(after.uses.count == 1)
    #expect((use.application, use.owner) == (id, Int(geteuid())))
    #expect(use.authorization == .authorized)
    #expect(use.updates == .init(desiredAccuracy: .tenMeters, distanceFilter: 50.5))
    #expect(use.monitorsSignificantChanges)
    #expect(use.regions.map(\.region.identifier) == ["home"])
    #expect(use.regions[0].region.notifyOnExit == false)
    #expect(use.regions[0].inside == true)
    #expect(try #require(use.regions[0].distance) < 1)
    let age = Int(BootClock.now() / 1000) - (use.lastUsedUSec ?? 0)
    #expect((0...60_000_000).contains(age))
  }

  @Test("§17: GetLocation names each source, and what is missing")
  func sources() throws {
    let daemon = try DaemonFixture()
    let sources = try location(daemon).sources
    #expect(sources.map(\.name).last == "GeoClue")
    #expect(Set(sources.map(\.name)).isSuperset(of: ["gpsd", "modem", "access point"]))
    #expect(sources.allSatisfy { $0.available == ($0.problem == nil) || $0.available })
    #expect(sources.last?.owner == nil)
    #expect(sources.last?.problem == "no session agent is attached")
    let agent = try TestAgent(daemon)
    let attached = try location(daemon).sources.last
    #expect(attached?.owner == Int(geteuid()))
    #expect(attached?.problem == "the session agent cannot use GeoClue")
    let report = "{\"method\":\"org.taskschedd.Session.ReportLocationSource\",\"parameters\":"
      + "{\"attachment\":\(agent.attachment),\"available\":true}}"
    #expect(try agent.reports.call(report)?.errorName == nil)
    let available = try location(daemon).sources.last
    #expect(available?.available == true)
    #expect(available?.problem == nil)
  }

  @Test("§17: taskctl shows the location, the regions, and which applications use them")
  func taskctl() throws {
    let daemon = try DaemonFixture()
    #expect(try daemon.taskctl("location").text.hasSuffix("\nNo application uses the location.\n"))
    #expect(try daemon.taskctl("post-location", "-0.25", "-0.5").text == "")
    let application = try application(daemon)
    _ = try application.call("StartUpdatingLocation")
    _ = try application.call("StartMonitoringRegion", home)
    try decide("allow", daemon)
    #expect(
      try daemon.taskctl("post-location", "--accuracy", "7", "0", "0.01").exit == .exited(code: 0))
    let shown = try daemon.taskctl("location").text
    #expect(shown.contains("Location:  0.000000, 0.010000 within 7 m; measured "), "\(shown)")
    #expect(shown.contains("\(id)  authorized     updates (best), 1 region  "), "\(shown)")
    let regions = try daemon.taskctl("location", "regions", id).text
    #expect(regions.contains("home    0.000000, 0.010000   200 m  entry          0 m  inside"))
    let unknown = try daemon.taskctl("location", "regions", "org.test.unknown")
    #expect(unknown.exit == .exited(code: 1))
    #expect(unknown.text.contains("there is no application 'org.test.unknown'"), "\(unknown)")
    #expect(try daemon.taskctlJSON("location")["uses"] != nil)
    let list = try daemon.taskctl("list").text
    #expect(list.contains("LOCATION"))
    #expect(list.contains("updates, regions"))
    #expect(try daemon.taskctl("status", id).text.contains("Location: updates, regions\n"))
    let why = try daemon.taskctl("why", id).text
    #expect(why.contains("It has started location updates."), "\(why)")
  }

  @Test("§17: A track is posted point by point")
  func track() throws {
    let daemon = try DaemonFixture()
    try daemon.post(latitude: 0, longitude: 0)
    let application = try application(daemon)
    _ = try application.call("StartUpdatingLocation")
    try decide("allow", daemon)
    let file = daemon.folder.write(
      "walk.gpx",
      """
      <gpx><trk><trkseg>
      <trkpt lat="-33.5" lon="151.25"><time>2026-11-21T14:00:00Z</time></trkpt>
      <trkpt lat="-33.5" lon="151.5"><time>2026-11-21T14:10:00Z</time></trkpt>
      </trkseg></trk></gpx>
      """)
    let played = try daemon.taskctl("post-location", "--gpx", file, "--speed-factor", "100000")
    #expect(played.text == "posted 2 locations\n")
    for longitude in [151.25, 151.5] {
      let location = try application.nextEvent(with: "location")
        .decode(ApplicationInterface.Location.self)
      #expect(location.latitude == -33.5)
      #expect(location.longitude == longitude)
    }
  }

  @Test("A track shows its progress on a terminal, and Ctrl-C stops it")
  func terminal() throws {
    let daemon = try DaemonFixture()
    let file = daemon.folder.write(
      "drive.gpx",
      """
      <gpx><trk><trkseg>
      <trkpt lat="-1" lon="2"><time>2026-11-21T05:00:00Z</time></trkpt>
      <trkpt lat="-1" lon="3"><time>2026-11-21T14:00:00Z</time></trkpt>
      </trkseg></trk></gpx>
      """)
    let terminal = try TestTerminal(daemon)
    let taskctl = Programs.path(of: "taskctl")
    try terminal.type("TERM=xterm \(taskctl) post-location --gpx \(file)\n")
    try terminal.wait(for: "1 of 2: -1.000000, 2.000000; 9 h left")
    try terminal.type("\u{3}")
    try terminal.wait(for: "$ ")
    try terminal.type("echo code=$?\n")
    try terminal.wait(for: "code=130")
  }

  // MARK: Decisions

  @Test("§17: A decision of an operator is told to the application, and reset asks the user again")
  func decisions() throws {
    let daemon = try DaemonFixture()
    try daemon.post(latitude: 0, longitude: 0)
    let monitor = try Monitor(daemon)
    let application = try application(daemon)
    _ = try application.call("StartUpdatingLocation")
    try monitor.next("the start") { $0.kind == .locationStarted && $0.application == id }
    for (word, authorization) in [
      ("allow", "authorized"), ("deny", "denied"), ("reset", "notDetermined"),
    ] {
      try decide(word, daemon)
      #expect(try decision(application) == .string(authorization))
      let change = try monitor.next(word) { $0.kind == .locationAuthorized }
      #expect(change.application == id)
      #expect(try use(daemon)?.authorization.rawValue == authorization)
    }
    let again = try application.call("StartUpdatingLocation")
    #expect(again["parameters"]?["authorization"] == "notDetermined")
  }

  @Test("§17: A decision survives kill -9 and a reboot, even for an application without services")
  func durable() throws {
    let daemon = try DaemonFixture()
    try daemon.adopt(id, try daemon.shell("read line"))
    try decide("deny", daemon)
    let next = try daemon.killed(rebooting: true)
    #expect(try use(next)?.authorization == .denied)
    // The store had only the decision about this application. After the reset, the daemon therefore
    // does not know the application.
    try decide("reset", next)
    #expect(try use(next) == nil)
    let gone = try next.taskctl("location", "allow", id)
    #expect(gone.exit == .exited(code: 1))
    #expect(gone.text.contains("UnknownApplication"), "\(gone.text)")
  }

  // MARK: Permissions

  @Test(
    "§16: A user sees, posts and decides only for the user's own applications",
    .enabled(if: geteuid() == 0, "only root can run other users' programs"))
  func otherUser() throws {
    let daemon = try DaemonFixture()
    let uid: UInt32 = 65534
    try daemon.post(latitude: 0, longitude: 0)
    let roots = try application(daemon)
    let own = try application(daemon, uid: uid)
    for one in [roots, own] { _ = try one.call("StartUpdatingLocation") }
    let user = try OtherUser(daemon, uid: uid)
    let calls = try user.open()
    func call(
      _ method: Control.MethodName, _ parameters: JSONValue = [:]
    ) throws -> JSONValue {
      try user.call(calls, method.rawValue, parameters)
    }
    let authorize: JSONValue = ["application": .string(id), "authorization": "authorized"]
    #expect(try call(.setLocationAuthorization, authorize).errorName == nil)
    #expect(try decision(own) == "authorized")
    let place: JSONValue = ["latitude": 1, "longitude": 2, "measuredAtUSec": 0]
    #expect(try call(.postLocation, ["location": place]).errorName == nil)
    _ = try own.nextEvent(with: "location")
    let seen = try #require(try call(.getLocation)["parameters"])
      .decode(Control.GetLocation.Output.self)
    #expect(seen.uses.map(\.owner) == [Int(uid)])
    #expect(seen.location?.latitude == 1)
    #expect(seen.needed == .best)
    #expect(seen.sources.allSatisfy { $0.owner == nil || $0.owner == Int(uid) })
    for owner in [0, 1] as [JSONValue] {
      let refused = try [
        call(.getLocation, ["owner": owner]),
        call(.postLocation, ["location": place, "owner": owner]),
        call(
          .setLocationAuthorization,
          ["application": .string(id), "owner": owner, "authorization": "denied"]),
      ]
      for answer in refused { #expect(answer.errorName == "NotPermitted", "\(answer)") }
    }
    // The user's location and decision do not affect root's application.
    #expect(try location(daemon, owner: 0).location?.latitude != 1)
    let all = try location(daemon).uses
    #expect(all.map(\.owner) == [0, Int(uid)])
    #expect(all.map(\.authorization) == [.notDetermined, .authorized])
  }

  @Test(
    "§16: A user whose applications do not use the location does not learn what others need",
    .enabled(if: geteuid() == 0, "only root can run other users' programs"))
  func stranger() throws {
    let daemon = try DaemonFixture()
    try daemon.post(latitude: 0, longitude: 0)
    let application = try application(daemon)
    _ = try application.call("StartMonitoringRegion", home)
    try decide("allow", daemon)
    #expect(try location(daemon).needed != nil)
    let user = try OtherUser(daemon, uid: 65534)
    let answer = try user.call(user.open(), Control.MethodName.getLocation.rawValue)
    let seen = try #require(answer["parameters"]).decode(Control.GetLocation.Output.self)
    #expect(seen.uses.isEmpty)
    #expect(seen.needed == nil)
    #expect(seen.nextLookUSec == nil)
    #expect(seen.location == nil)
  }
}
