import TaskSchedulerCore
import TaskSchedulerDaemon

/// The messages of gpsd to the daemon. The daemon must read the same reports wherever the stream is
/// split, and must accept only possible positions.
///
/// The first byte of the input selects the lengths of the pieces.
enum GPSDTarget {
  private struct Outcome: Equatable {
    var reports: [GPSDReport] = []
    var violation: GPSDViolation?
  }

  static func run(_ input: UnsafeRawBufferPointer) throws {
    var controlBytes = ControlBytes(input)
    guard let seed = controlBytes.byte() else { return }
    let stream = Array(controlBytes.rest)
    let whole = read([stream])
    let split = read(FramingTarget.split(stream, seed))
    try require(split == whole, "the pieces give \(split), the whole stream \(whole)")
    for report in whole.reports {
      guard case .position(let location) = report else { continue }
      try check(location)
    }
    if let violation = whole.violation {
      try require(!violation.description.isEmpty, "the violation has no description")
    }
  }

  private static func check(_ location: Location) throws {
    let (latitude, longitude) = (location.coordinate.latitude, location.coordinate.longitude)
    try require((-90...90).contains(latitude), "the latitude is \(latitude)")
    try require((-180...180).contains(longitude), "the longitude is \(longitude)")
    if let accuracy = location.accuracy {
      try require(accuracy.isFinite && accuracy > 0, "the accuracy is \(accuracy)")
    }
    if let course = location.course {
      try require((0..<360).contains(course), "the course is \(course)")
    }
    if let speed = location.speed {
      try require(speed.isFinite && speed >= 0, "the speed is \(speed)")
    }
    // Accepts the years from 1970 to 2199. The additional days allow for an offset from UTC.
    let day: Int64 = 86_400_000_000_000
    try require(
      (-day...84_007 * day).contains(location.time.nanoseconds), "the time is \(location.time)")
  }

  private static func read(_ pieces: [[UInt8]]) -> Outcome {
    var outcome = Outcome()
    var buffer = GPSDReportBuffer()
    for piece in pieces {
      piece.withUnsafeBytes { buffer.append($0) }
      do throws(GPSDViolation) {
        while let report = try buffer.next() { outcome.reports.append(report) }
      } catch {
        outcome.violation = error
        return outcome
      }
    }
    return outcome
  }
}
