import ArgumentParser
import LinuxSystem
import TaskSchedulerClient
import TaskSchedulerSimulation
import TaskSchedulerWire

/// `taskctl post-location LATITUDE LONGITUDE`, and `taskctl post-location --gpx FILE`.
struct PostLocationCommand: DaemonCommand {
  static let configuration = CommandConfiguration(
    commandName: "post-location",
    abstract: "Simulate a location, or a journey from a GPX file.",
    discussion: """
      Applications receive the location as if a source had measured it. For LocationFixTime \
      (60 s) it replaces the locations of the sources; then the daemon uses the sources again. \
      If you are an operator, the applications of all users receive it; otherwise only yours.

      With --gpx, the command plays the points of the file at their times. It plays the points of \
      tracks (trkpt). If the file has no tracks, it plays the points of routes (rtept); if it has \
      no routes either, the waypoints (wpt). If the points have no times, it posts a point each \
      second. With --speed, it moves along the line through the points, and posts a location each \
      second. Each location has the present time. If no point is due for 30 s, the command repeats \
      the last location. Ctrl-C stops it.

      The daemon reports that the machine has entered or left a region only if a location still \
      shows this after RegionDwell (20 s).

      Examples:
        taskctl post-location 52.5163 13.3777 --accuracy 10
        taskctl post-location -33.8568 151.2153
        taskctl post-location --gpx commute.gpx --speed-factor 10
      """)

  @OptionGroup var options: ConnectionOptions

  @Argument(
    help: ArgumentHelp("In degrees, from -90 to 90; negative in the south.", valueName: "latitude"))
  var latitude: Double?

  @Argument(
    help: ArgumentHelp(
      "In degrees, from -180 to 180; negative in the west.", valueName: "longitude"))
  var longitude: Double?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The radius, in meters, of the circle that contains the true position with a probability of "
        + "68 %; without it, the accuracy is unknown.",
      valueName: "meters"))
  var accuracy: Double?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The height above the mean sea level.", valueName: "meters"))
  var altitude: Double?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The speed in meters per second; with --gpx, ignore the times and move at this speed.",
      valueName: "m/s"))
  var speed: Double?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The direction of the motion, clockwise from north, from 0 to less than 360.",
      valueName: "degrees"))
  var course: Double?

  @Option(
    help: ArgumentHelp("Play the points of this GPX file.", valueName: "file"),
    completion: .file(extensions: ["gpx"]))
  var gpx: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "With --gpx: play this many times as fast; the default is 1.", valueName: "number"))
  var speedFactor: Double?

  @Option(
    help: ArgumentHelp(
      "Only the applications of this user (name or uid) receive the location.",
      valueName: "user"),
    completion: OwnerCompletion.kind, transform: Owner.init(parsing:))
  var owner: Owner?

  /// The size limit of a GPX file, in bytes. A track of one day with one point per second has about
  /// 20 MB.
  private static let bytesMax = 1 << 26

  func validate() throws {
    if let accuracy, !(accuracy > 0 && accuracy.isFinite) {
      throw ValidationError("--accuracy is \(accuracy); it must be finite and more than 0")
    }
    if let altitude, !altitude.isFinite {
      throw ValidationError("--altitude is \(altitude); it must be finite")
    }
    if let speed, !(speed >= 0 && speed.isFinite) {
      throw ValidationError("--speed is \(speed); it must be finite and not negative")
    }
    if let course, !(0..<360).contains(course) {
      throw ValidationError("--course is \(course); the range is 0 to less than 360")
    }
    if gpx == nil { try validatePlace() } else { try validateTrack() }
  }

  private func validatePlace() throws {
    if speedFactor != nil { throw ValidationError("--speed-factor needs --gpx") }
    guard let latitude, let longitude else {
      throw ValidationError(
        "give a latitude and a longitude, like 52.5163 13.3777, or --gpx with a file")
    }
    guard (-90...90).contains(latitude) else {
      throw ValidationError("the latitude is \(latitude); the range is -90 to 90")
    }
    guard (-180...180).contains(longitude) else {
      throw ValidationError("the longitude is \(longitude); the range is -180 to 180")
    }
  }

  private func validateTrack() throws {
    if latitude != nil { throw ValidationError("give a latitude and longitude or --gpx, not both") }
    if altitude != nil || course != nil {
      throw ValidationError("--altitude and --course need a latitude and longitude")
    }
    if let speed, !TrackPlan.speeds.contains(speed) {
      throw ValidationError("--speed is \(speed); with --gpx, the range is 0.1 to 10000")
    }
    if let speedFactor, !TrackPlan.factors.contains(speedFactor) {
      throw ValidationError("--speed-factor is \(speedFactor); the range is 0.001 to 1000000")
    }
  }

  func run() throws {
    if let gpx { return try play(gpx) }
    guard let latitude, let longitude else { return }
    let output = try options.connect().call(
      ControlInterface.PostLocation.self,
      .init(
        location: .init(
          latitude: latitude, longitude: longitude, accuracy: accuracy, altitude: altitude,
          speed: speed, course: course, measuredAtUSec: Int(WallClock.now())),
        owner: owner?.uid),
      timeout: answerTimeout)
    if options.json { try Output.write(JSONOutput.line(output)) }
  }

  private func play(_ path: String) throws {
    let plan = try plan(path)
    let connection = try options.connect()
    var progress = TrackProgress(plan)
    defer { progress.clear() }
    let player = TrackPlayer(clock: .boot) { point in
      _ = try connection.call(
        ControlInterface.PostLocation.self,
        .init(
          location: .init(point, accuracy: accuracy, at: Int(WallClock.now())),
          owner: owner?.uid),
        timeout: answerTimeout)
    }
    try player.play(plan) { progress.show($0, $1) }
    progress.clear()
    try Output.write(
      options.json
        ? JSONOutput.line(["posted": JSONValue(plan.count)] as JSONValue)
        : "posted \(plan.count == 1 ? "1 location" : "\(plan.count) locations")\n")
  }

  private func plan(_ path: String) throws(CommandFailure) -> TrackPlan {
    let bytes: [UInt8]
    do throws(BoundedFileError) {
      bytes = try BoundedFile(path: path, bytesMax: Self.bytesMax).bytes
    } catch {
      throw .failed(
        name: "UnreadableTrack",
        sentence: PrintableText.of(
          "could not read \(path): \(error.words(limitOf: "a GPX file"))"))
    }
    do throws(TrackProblem) {
      return try TrackPlan(Track(gpx: bytes), speed: speed, factor: speedFactor ?? 1)
    } catch {
      throw .failed(
        name: "InvalidTrack",
        sentence: PrintableText.of("\(path):\(error.line): \(error.message)"))
    }
  }
}

extension ControlInterface.Location {
  /// Creates the location to post for a point of a track.
  fileprivate init(_ point: Track.Point, accuracy: Double?, at wallUSec: Int) {
    self.init(
      latitude: point.coordinate.latitude, longitude: point.coordinate.longitude,
      accuracy: accuracy, altitude: point.altitude, speed: point.speed, course: point.course,
      measuredAtUSec: wallUSec)
  }
}
