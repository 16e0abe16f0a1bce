import Glibc
import TaskSchedulerCore
import TaskSchedulerSimulation

/// The locations of a track, and when taskctl posts them.
struct TrackPlan {
  /// A location, and the time since the start at which taskctl posts the location.
  struct Stop: Equatable {
    var at: Duration
    var point: Track.Point
  }

  private enum Pace {
    /// The times of the points.
    case times
    /// A point each second.
    case seconds
    /// A speed in meters per second, with one location per second.
    case speed(Double, Path)
  }

  /// The speeds at which a track can be played, in meters per second.
  static let speeds = 0.1...10_000.0
  /// The permitted speed factors. With the factor 2, a track takes half of its time.
  static let factors = 0.001...1_000_000.0

  private let points: [Track.Point]
  private let pace: Pace
  private let factor: Double
  /// The number of locations.
  let count: Int

  /// Creates the plan for a track.
  ///
  /// - Parameters:
  ///   - speed: The speed in meters per second, in the range ``speeds``; nil to use the times of
  ///     the points.
  ///   - factor: The speed factor, in the range ``factors``.
  /// - Throws: A mistake in the times of the points.
  init(_ track: Track, speed: Double?, factor: Double) throws(TrackProblem) {
    points = track.points
    self.factor = factor
    if let speed {
      let path = Path(track.points.map(\.coordinate))
      pace = .speed(speed, path)
      count = 1 + Int((path.length / (speed * factor)).rounded(.up))
    } else {
      pace = try Self.haveTimes(track.points) ? .times : .seconds
      count = track.points.count
    }
  }

  /// Returns whether the points have times. Either all points must have times, or none.
  private static func haveTimes(_ points: [Track.Point]) throws(TrackProblem) -> Bool {
    guard points.contains(where: { $0.time != nil }) else { return false }
    var last: WallTime?
    for point in points {
      guard let time = point.time else {
        throw TrackProblem(
          line: point.line,
          message: "the point has no time, but other points have; use --speed to ignore the times")
      }
      if let last, time < last {
        throw TrackProblem(
          line: point.line,
          message: "the time of the point is before that of the previous point; use --speed to "
            + "ignore the times")
      }
      last = time
    }
    return true
  }

  /// The time from the first location to the last one.
  var duration: Duration { stop(count - 1).at }

  /// Returns the location at an index, which must be less than ``count``.
  func stop(_ index: Int) -> Stop {
    switch pace {
    case .times:
      let seconds = seconds(from: points[0], to: points[index])
      return Stop(at: .seconds(seconds / factor), point: moving(index))
    case .seconds:
      return Stop(at: .seconds(Double(index) / factor), point: points[index])
    case .speed(let speed, let path):
      let distance = min(Double(index) * speed * factor, path.length)
      return Stop(
        at: .seconds(distance / (speed * factor)), point: point(at: distance, of: path, speed))
    }
  }

  /// Returns the point at an index. If the file has no speed or no course for the point, computes
  /// the missing value from the previous point.
  private func moving(_ index: Int) -> Track.Point {
    var point = points[index]
    guard index > 0 else { return point }
    let before = points[index - 1]
    let distance = before.coordinate.distance(to: point.coordinate)
    let seconds = seconds(from: before, to: point)
    if point.speed == nil, seconds > 0 { point.speed = distance / seconds }
    if point.course == nil, distance > 0 {
      point.course = Path.course(from: before.coordinate, to: point.coordinate)
    }
    return point
  }

  private func seconds(from one: Track.Point, to other: Track.Point) -> Double {
    Double((other.time?.nanoseconds ?? 0) - (one.time?.nanoseconds ?? 0)) / 1e9
  }

  /// Returns the point at a distance from the start of the path.
  private func point(at distance: Double, of path: Path, _ speed: Double) -> Track.Point {
    let (leg, fraction) = path.place(at: distance)
    guard leg + 1 < points.count else { return points[leg] }
    let (from, to) = (points[leg], points[leg + 1])
    var point = Track.Point(
      Path.coordinate(from: from.coordinate, to: to.coordinate, fraction), speed: speed,
      course: Path.course(from: from.coordinate, to: to.coordinate), line: from.line)
    if let low = from.altitude, let high = to.altitude {
      point.altitude = low + (high - low) * fraction
    }
    return point
  }
}

/// The line through the points of a track.
private struct Path {
  /// The distance of each point from the first one along the line, in meters.
  private var distances: [Double] = [0]
  var length: Double { distances[distances.count - 1] }

  init(_ points: [Coordinate]) {
    for (one, other) in zip(points, points.dropFirst()) {
      distances.append(length + one.distance(to: other))
    }
  }

  /// Returns the place at a distance from the start: the index of the point before it, and the
  /// fraction of the way from there to the next point.
  func place(at distance: Double) -> (index: Int, fraction: Double) {
    // Search for the first point that is not before the place.
    var (low, high) = (0, distances.count - 1)
    while low < high {
      let middle = (low + high) / 2
      if distances[middle] < distance { low = middle + 1 } else { high = middle }
    }
    guard low > 0 else { return (0, 0) }
    let (start, end) = (distances[low - 1], distances[low])
    return (low - 1, (distance - start) / (end - start))
  }

  /// Returns the place at a fraction of the shorter way between two places. This way may cross the
  /// meridian at 180 degrees.
  static func coordinate(
    from one: Coordinate, to other: Coordinate, _ fraction: Double
  ) -> Coordinate {
    var difference = other.longitude - one.longitude
    if difference > 180 { difference -= 360 } else if difference < -180 { difference += 360 }
    var longitude = one.longitude + difference * fraction
    if longitude > 180 { longitude -= 360 } else if longitude < -180 { longitude += 360 }
    let latitude = one.latitude + (other.latitude - one.latitude) * fraction
    return Coordinate(latitude: latitude, longitude: longitude) ?? other
  }

  /// Returns the direction at the start of the way between two places, in degrees clockwise from
  /// north, from 0 to less than 360.
  static func course(from one: Coordinate, to other: Coordinate) -> Double {
    func radians(_ degrees: Double) -> Double { degrees * .pi / 180 }
    let (start, end) = (radians(one.latitude), radians(other.latitude))
    let difference = radians(other.longitude - one.longitude)
    let east = sin(difference) * cos(end)
    let north = cos(start) * sin(end) - sin(start) * cos(end) * cos(difference)
    let degrees = atan2(east, north) * 180 / .pi
    let course = degrees < 0 ? degrees + 360 : degrees
    return course < 360 ? course : 0
  }
}
