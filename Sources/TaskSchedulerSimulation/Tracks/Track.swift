import TaskSchedulerCore

/// A recorded or planned track, which taskctl plays as simulated locations.
public struct Track: Equatable, Sendable {
  /// A point of a track.
  public struct Point: Equatable, Sendable {
    public var coordinate: Coordinate
    /// The height above the mean sea level, in meters.
    public var altitude: Double?
    /// The speed in meters per second.
    public var speed: Double?
    /// The direction of the motion, in degrees clockwise from north, from 0 to less than 360.
    public var course: Double?
    public var time: WallTime?
    /// The line of the file at which the point begins, from 1.
    public var line: Int

    public init(
      _ coordinate: Coordinate, altitude: Double? = nil, speed: Double? = nil,
      course: Double? = nil, time: WallTime? = nil, line: Int = 1
    ) {
      self.coordinate = coordinate
      self.altitude = altitude
      self.speed = speed
      self.course = course
      self.time = time
      self.line = line
    }
  }

  /// The points in their order. There is at least one.
  public let points: [Point]

  /// The maximum number of points. Source: this project; enough for eleven days with a point each
  /// second.
  public static let pointsMax = 1_000_000

  /// Creates a track; nil if there are no points, or more than ``pointsMax``.
  public init?(_ points: [Point]) {
    guard (1...Self.pointsMax).contains(points.count) else { return nil }
    self.points = points
  }
}

/// A mistake in the file of a track, and its line, from 1.
public struct TrackProblem: Error, Equatable, Sendable {
  public var line: Int
  public var message: String

  public init(line: Int, message: String) {
    self.line = line
    self.message = message
  }
}
