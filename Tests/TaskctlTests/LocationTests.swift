import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

@testable import taskctl

/// A reply with applications of two users.
private var sampleOutput: ControlInterface.GetLocation.Output {
  .init(
    sources: [
      .init(name: "gpsd", available: false, problem: "gpsd has no receiver"),
      .init(name: "GeoClue", owner: 1000, available: true),
      .init(name: "modem", available: false),
    ],
    needed: .tenMeters, nextLookUSec: 1_240_000_000,
    location: .init(
      latitude: 52.5163, longitude: 13.3777, accuracy: 12, altitude: 34.4, speed: 1.42,
      course: 93.6, measuredAtUSec: clock.wallUSec - 3_000_000),
    uses: [
      .init(
        application: "org.example.maps", owner: 1000, authorization: .authorized,
        updates: .init(desiredAccuracy: .tenMeters, distanceFilter: 50),
        monitorsSignificantChanges: true, regions: [], lastUsedUSec: 820_000_000),
      .init(
        application: "org.example.maps", owner: 5, authorization: .notDetermined,
        updates: .init(desiredAccuracy: .best, distanceFilter: 0),
        monitorsSignificantChanges: false, regions: []),
      .init(
        application: "org.example.places", owner: 1000, authorization: .denied,
        monitorsSignificantChanges: false, regions: [home, office, shop]),
      .init(
        application: "org.example.tea", owner: 1000, authorization: .denied,
        monitorsSignificantChanges: false, regions: []),
    ])
}

private let home = ControlInterface.RegionUse(
  region: .init(identifier: "home", latitude: 52.5163, longitude: 13.3777, radius: 100),
  inside: true, distance: 12.4)
private let office = ControlInterface.RegionUse(
  region: .init(
    identifier: "office", latitude: -33.8568, longitude: 151.2153, radius: 1500,
    notifyOnEntry: false, notifyOnExit: true),
  inside: false, distance: 16_089_400)
private let shop = ControlInterface.RegionUse(
  region: .init(
    identifier: "shop", latitude: 0, longitude: -0.5, radius: 250, notifyOnEntry: true,
    notifyOnExit: false))

@Suite("The output of the command location")
struct LocationRenderingTests {
  @Test("§17: The location command shows the sources, the location, and which applications use it")
  func text() {
    let measured = clock.moment(ofWall: clock.wallUSec - 3_000_000)
    #expect(
      LocationText.text(sampleOutput, context) == """
        Sources:   gpsd: gpsd has no receiver
                   GeoClue of ada: available
                   modem: not available
        Needed:    an accuracy of 10 m
        Location:  52.516300, 13.377700 within 12 m; altitude 34 m; speed 1.4 m/s; \
        course 94°; measured \(measured)
        Next look: in 4 min

        APPLICATION         OWNER  AUTHORIZATION   SERVICES\
                                                 LAST USED
        org.example.maps    ada    authorized      updates (10 m, every 50 m), significant changes\
          3 min ago
        org.example.maps    5      not determined  updates (best)\
                                           never
        org.example.places  ada    denied          3 regions\
                                                never
        org.example.tea     ada    denied          -\
                                                        never

        """)
  }

  @Test("Without a location and without an application that uses it, the command says so")
  func empty() {
    let text = LocationText.text(
      .init(
        sources: [.init(name: "GeoClue", available: false, problem: "no \u{1b} agent")], uses: []),
      context)
    #expect(
      text == """
        Sources:   GeoClue: no \\x1b agent
        Needed:    nothing; no application needs the location now
        Location:  unknown

        No application uses the location.

        """)
    #expect(
      LocationText.text(.init(sources: [], needed: .best, uses: []), context)
        .contains("Needed:    the best accuracy\n"))
  }

  @Test("§17: The list of regions shows the distance, and whether the machine is inside")
  func regions() {
    #expect(
      LocationText.regions(sampleOutput.uses, context) == """
        APPLICATION         REGION  CENTER                  RADIUS  NOTIFIES     DISTANCE  MACHINE
        org.example.places  home    52.516300, 13.377700     100 m  entry, exit      12 m  inside
        org.example.places  office  -33.856800, 151.215300  1.5 km  exit         16089 km  outside
        org.example.places  shop    0.000000, -0.500000      250 m  entry               -  unknown

        """)
    let others = Array(sampleOutput.uses.prefix(2))
    #expect(LocationText.regions(others, context) == "No application monitors a region.\n")
    #expect(
      LocationText.regions(others, of: "org.example.maps", context)
        == "org.example.maps monitors no region.\n")
  }

  @Test("A name that an application chose is escaped for the terminal")
  func hostile() {
    var output = sampleOutput
    output.uses[2].application = "org.\u{1b}c"
    output.uses[2].regions[0].region.identifier = "\u{9b}2J\n"
    output.sources[0].name = "\u{202e}"
    output.sources[0].problem = "\u{7}"
    output.location?.latitude = 1e300
    output.uses[2].regions[0].region.radius = -.greatestFiniteMagnitude
    let text =
      LocationText.text(output, context) + LocationText.regions(output.uses, context)
      + LocationText.regions([], of: "\u{1b}", context)
    #expect(!text.unicodeScalars.contains { !PrintableText.isPrintable($0) && $0 != "\n" })
    #expect(text.contains(#"org.\x1bc"#))
  }

  @Test(
    "A number is rounded to its decimals",
    arguments: [
      (0, 0, "0"), (-0.4, 0, "0"), (1.25, 1, "1.3"), (-1.05, 1, "-1.1"), (-0.05, 2, "-0.05"),
      (179.9999999, 6, "180.000000"), (1e300, 1, "1e+300"), (12.3456, 3, "12.346"),
    ] as [(Double, Int, String)])
  func decimals(_ number: Double, _ digits: Int, _ text: String) {
    #expect(DecimalText.of(number, digits: digits) == text)
  }

  @Test(
    "A distance is shown in meters or kilometers",
    arguments: [
      (0, "0 m"), (999.4, "999 m"), (999.5, "1.0 km"), (99_940, "99.9 km"), (99_960, "100 km"),
      (20_015_000, "20015 km"),
    ] as [(Double, String)])
  func distances(_ meters: Double, _ text: String) {
    #expect(DistanceText.of(meters) == text)
  }
}

@Suite("The commands location and post-location, with a daemon that the test simulates")
struct LocationCommandTests {
  private typealias Control = ControlInterface

  private func json(_ text: String) throws -> JSONValue {
    try JSONParser.parse(Array(text.utf8.dropLast()))
  }

  @Test("The location command asks for one user's applications with --owner, or for all")
  func show() throws {
    let cases: [([String], Int?)] = [([], nil), (["show"], nil), (["--owner", "0"], 0)]
    for (arguments, owner) in cases {
      let daemon = try FakeDaemon()
      let taskctl = try TaskctlProcess(["location"] + arguments, socket: daemon.socket)
      let (connection, input) = try daemon.accept(Control.GetLocation.self)
      #expect(input == .init(owner: owner))
      try connection.reply(sampleOutput)
      let outcome = try taskctl.outcome()
      #expect(outcome.code == 0)
      #expect(outcome.errors == "")
      #expect(outcome.output.hasPrefix("Sources:   gpsd: gpsd has no receiver\n"))
    }
  }

  @Test("The location command with --json prints the reply, with wall-clock times")
  func showJSON() throws {
    let daemon = try FakeDaemon()
    let taskctl = try TaskctlProcess(["location", "--json"], socket: daemon.socket)
    let (connection, _) = try daemon.accept(Control.GetLocation.self)
    try connection.reply(sampleOutput)
    let value = try json(try taskctl.outcome().output)
    #expect(try value.decode(Control.GetLocation.Output.self) == sampleOutput)
    #expect(value["nextLookRealtimeUSec"] != nil)
    #expect(value["location"]?["measuredAtRealtimeUSec"] == nil)
  }

  @Test("The regions of one application or of all are listed", arguments: [false, true])
  func regions(isJSON: Bool) throws {
    let cases: [([String], Int)] = [
      ([], 3), (["org.example.places"], 3), (["org.example.maps"], 0),
    ]
    for (arguments, count) in cases {
      let daemon = try FakeDaemon()
      let taskctl = try TaskctlProcess(
        ["location", "regions"] + arguments + (isJSON ? ["--json"] : []), socket: daemon.socket)
      let (connection, _) = try daemon.accept(Control.GetLocation.self)
      try connection.reply(sampleOutput)
      let output = try taskctl.outcome().output
      guard isJSON else {
        #expect(output.split(separator: "\n").count == count + 1)
        continue
      }
      let regions = try #require(json(output)["regions"]).decode([JSONValue].self)
      #expect(regions.count == count)
      guard count > 0 else { continue }
      #expect(regions[0]["application"] == "org.example.places")
      #expect(regions[0]["region"]?["identifier"] == "home")
      #expect(regions[0]["inside"] == true)
      #expect(regions[2]["distance"] == nil)
    }
  }

  @Test(
    "The subcommands allow, deny and reset decide for an application",
    arguments: [
      ("allow", .authorized), ("deny", .denied), ("reset", .notDetermined),
    ] as [(String, ControlInterface.LocationAuthorization)])
  func decisions(_ word: String, _ authorization: ControlInterface.LocationAuthorization) throws {
    let daemon = try FakeDaemon()
    let taskctl = try TaskctlProcess(
      ["location", word, "org.example.tea", "--owner", "0"], socket: daemon.socket)
    let (connection, input) = try daemon.accept(Control.SetLocationAuthorization.self)
    #expect(
      input == .init(application: "org.example.tea", owner: 0, authorization: authorization))
    try connection.reply(Control.SetLocationAuthorization.Output())
    let query = try connection.receive()
    #expect(query.method == Control.GetLocation.name)
    #expect(try query.decode(Control.GetLocation.Input.self) == .init(owner: 0))
    var output = sampleOutput
    output.uses[3].authorization = authorization
    try connection.reply(output)
    let outcome = try taskctl.outcome()
    #expect(outcome.code == 0)
    #expect(outcome.output + outcome.errors == "")
  }

  @Test("The subcommand forget makes the daemon forget an application", arguments: [false, true])
  func forget(isJSON: Bool) throws {
    let daemon = try FakeDaemon()
    let taskctl = try TaskctlProcess(
      ["location", "forget", "org.example.tea", "--owner", "0"] + (isJSON ? ["--json"] : []),
      socket: daemon.socket)
    let (connection, input) = try daemon.accept(Control.ForgetLocation.self)
    #expect(input == .init(application: "org.example.tea", owner: 0))
    try connection.reply(Control.ForgetLocation.Output())
    let outcome = try taskctl.outcome()
    #expect(outcome.code == 0)
    #expect(outcome.output + outcome.errors == (isJSON ? "{}\n" : ""))
  }

  @Test("§17: A decision that the settings overrule is stored, and the command warns")
  func overruled() throws {
    let daemon = try FakeDaemon()
    let taskctl = try TaskctlProcess(
      ["location", "allow", "org.example.tea", "--json"], socket: daemon.socket)
    let (connection, _) = try daemon.accept(Control.SetLocationAuthorization.self)
    try connection.reply(Control.SetLocationAuthorization.Output())
    _ = try connection.receive()
    try connection.reply(sampleOutput)
    let outcome = try taskctl.outcome()
    #expect(outcome.code == 0)
    #expect(outcome.output == "{}\n")
    #expect(
      outcome.errors == "taskctl: warning: the decision is stored, but 'org.example.tea' is "
        + "denied: the settings of the daemon override the decision; see [location] in "
        + "taskschedd.toml(5)\n")
  }

  @Test("The error about an unknown application suggests the nearest id")
  func unknown() throws {
    let daemon = try FakeDaemon()
    let taskctl = try TaskctlProcess(["location", "deny", "org.example.map"], socket: daemon.socket)
    let (connection, _) = try daemon.accept(Control.SetLocationAuthorization.self)
    try connection.fail(
      Control.Failure.unknownApplication(
        application: "org.example.map", nearest: "org.example.maps"))
    let outcome = try taskctl.outcome()
    #expect(outcome.code == 1)
    #expect(outcome.errors.contains("did you mean 'org.example.maps'?"))
  }

  // MARK: Posting

  @Test("§17: The post-location command sends a location with the present time")
  func post() throws {
    let daemon = try FakeDaemon()
    let taskctl = try TaskctlProcess(
      [
        "post-location", "--altitude", "-12.5", "-33.8568", "151.2153", "--accuracy", "10",
        "--speed", "1.5", "--course", "359.9", "--owner", "0",
      ], socket: daemon.socket)
    let (connection, input) = try daemon.accept(Control.PostLocation.self)
    let age = Int(WallClock.now()) - input.location.measuredAtUSec
    #expect((0...60_000_000).contains(age))
    #expect(
      input
        == .init(
          location: .init(
            latitude: -33.8568, longitude: 151.2153, accuracy: 10, altitude: -12.5, speed: 1.5,
            course: 359.9, measuredAtUSec: input.location.measuredAtUSec), owner: 0))
    try connection.reply(Control.PostLocation.Output())
    let outcome = try taskctl.outcome()
    #expect(outcome.code == 0)
    #expect(outcome.output + outcome.errors == "")
  }

  @Test("A posted location has no properties that the command line does not give")
  func bare() throws {
    let daemon = try FakeDaemon()
    let taskctl = try TaskctlProcess(
      ["post-location", "52.5", "-0.5", "--json"], socket: daemon.socket)
    let (connection, input) = try daemon.accept(Control.PostLocation.self)
    #expect(
      input.location
        == .init(
          latitude: 52.5, longitude: -0.5, measuredAtUSec: input.location.measuredAtUSec))
    #expect(input.owner == nil)
    try connection.reply(Control.PostLocation.Output())
    #expect(try taskctl.outcome().output == "{}\n")
  }

  @Test(
    "A command line with a mistake is refused before the daemon is called",
    arguments: [
      (["post-location"], "give a latitude and a longitude"),
      (["post-location", "52.5"], "give a latitude and a longitude"),
      (["post-location", "91", "0"], "the latitude is 91.0; the range is -90 to 90"),
      (["post-location", "-90.1", "0"], "the latitude is -90.1; the range is -90 to 90"),
      (["post-location", "nan", "0"], "the latitude is nan"),
      (["post-location", "0", "-180.5"], "the longitude is -180.5; the range is -180 to 180"),
      (["post-location", "0", "inf"], "the longitude is inf"),
      (["post-location", "north", "0"], "north"),
      (["post-location", "1", "2", "3"], "3"),
      (["post-location", "0", "0", "--accuracy", "0"], "it must be finite and more than 0"),
      (["post-location", "0", "0", "--accuracy", "-1"], "--accuracy is -1.0; it must be finite"),
      (["post-location", "0", "0", "--altitude", "inf"], "--altitude is inf; it must be finite"),
      (["post-location", "0", "0", "--speed", "-1"], "it must be finite and not negative"),
      (["post-location", "0", "0", "--course", "360"], "the range is 0 to less than 360"),
      (["post-location", "0", "0", "--course", "-1"], "the range is 0 to less than 360"),
      (["post-location", "0", "0", "--speed-factor", "2"], "--speed-factor needs --gpx"),
      (["post-location", "0", "0", "--gpx", "a.gpx"], "or --gpx, not both"),
      (["post-location", "--gpx", "a", "--speed-factor", "0"], "the range is 0.001 to 1000000"),
      (["post-location", "--gpx", "a", "--speed-factor", "-1"], "the range is 0.001 to 1000000"),
      (["post-location", "--gpx", "a", "--speed", "0"], "with --gpx, the range is 0.1 to 10000"),
      (["post-location", "--gpx", "a", "--course", "1"], "need a latitude and longitude"),
      (["location", "alow", "x.y"], "x.y"), (["location", "allow"], "app"),
      (["location", "--owner", "no-such-user"], "there is no user 'no-such-user'"),
      (["locate"], "'taskctl location' shows the location"),
      (["gps"], "post-location' simulates one"),
    ])
  func mistakes(_ arguments: [String], _ expected: String) throws {
    let outcome = try TaskctlProcess(arguments, socket: "/nowhere").outcome()
    #expect(outcome.code == 2)
    #expect(outcome.errors.contains(expected), "\(outcome.errors)")
    #expect(outcome.output == "")
  }
}
