import TaskSchedulerCore
import TaskSchedulerSimulation

/// A GPX file of `taskctl post-location`. The reader must either refuse the file with the line of
/// the mistake, or return points that are unchanged after writing and reading them again.
enum GPXTarget {
  static func run(_ input: UnsafeRawBufferPointer) throws {
    let bytes = Array(input)
    let lineCount = 1 + bytes.count { $0 == 0x0A }
    let track: Track
    do throws(TrackProblem) {
      track = try Track(gpx: bytes)
    } catch {
      try require(!error.message.isEmpty, "the mistake has no message")
      try require((1...lineCount).contains(error.line), "line \(error.line) of \(lineCount)")
      return try require(
        ProblemCheck.isPrintable(error.message),
        "the message contains unprintable characters: \(String(reflecting: error.message))")
    }
    try require(
      (1...Track.pointsMax).contains(track.points.count), "\(track.points.count) points")
    for point in track.points {
      try require((1...lineCount).contains(point.line), "line \(point.line) of \(lineCount)")
    }
    let again = try? Track(gpx: Array(text(of: track).utf8))
    try require(
      again?.points.map(bare) == track.points.map(bare),
      "\(track) was read back as \(String(describing: again))")
  }

  /// Returns a point with only those values that `text(of:)` writes.
  private static func bare(_ point: Track.Point) -> Track.Point {
    .init(
      point.coordinate, altitude: point.altitude, speed: point.speed, course: point.course)
  }

  private static func text(of track: Track) -> String {
    let points = track.points.map { point in
      let parts = [("ele", point.altitude), ("speed", point.speed), ("course", point.course)]
        .map { name, value in value.map { "<\(name)>\($0)</\(name)>" } ?? "" }
      return "<trkpt lat=\"\(point.coordinate.latitude)\" lon=\"\(point.coordinate.longitude)\">"
        + parts.joined() + "</trkpt>\n"
    }
    return "<gpx><trk><trkseg>\n\(points.joined())</trkseg></trk></gpx>\n"
  }
}
