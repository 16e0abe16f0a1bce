import TaskSchedulerWire

/// A circle on the earth. The application learns when the machine enters and leaves it.
public struct CircularRegion: Hashable, Sendable, Identifiable {
  /// The identity of the region, unique within the application. It has 1 to 128 bytes and no
  /// control characters.
  public var identifier: String
  /// The center.
  public var center: LocationCoordinate
  /// The radius, from 100 m to 100,000 m. A location whose accuracy is worse than the radius cannot
  /// show that the machine is inside.
  public var radius: Double
  /// Whether the application learns that the machine has entered the region.
  public var notifyOnEntry: Bool
  /// Whether the application learns that the machine has left the region.
  public var notifyOnExit: Bool

  /// The identifier.
  public var id: String { identifier }

  /// Creates a region. The daemon refuses values that are out of range.
  public init(
    identifier: String, center: LocationCoordinate, radius: Double, notifyOnEntry: Bool = true,
    notifyOnExit: Bool = true
  ) {
    self.identifier = identifier
    self.center = center
    self.radius = radius
    self.notifyOnEntry = notifyOnEntry
    self.notifyOnExit = notifyOnExit
  }

  init(_ region: ApplicationInterface.Region) {
    self.init(
      identifier: region.identifier,
      center: LocationCoordinate(latitude: region.latitude, longitude: region.longitude),
      radius: region.radius, notifyOnEntry: region.notifyOnEntry ?? true,
      notifyOnExit: region.notifyOnExit ?? true)
  }

  /// Returns the region as a value of the daemon's interface.
  ///
  /// - Throws: `invalidParameter` for a value that JSON cannot express: an infinite number, or NaN.
  func wireValue() throws(ApplicationError) -> ApplicationInterface.Region {
    let numbers = [
      ("latitude", center.latitude), ("longitude", center.longitude), ("radius", radius),
    ]
    for (name, number) in numbers where !number.isFinite {
      throw .refused(.invalidParameter("region.\(name)"))
    }
    return .init(
      identifier: identifier, latitude: center.latitude, longitude: center.longitude,
      radius: radius, notifyOnEntry: notifyOnEntry, notifyOnExit: notifyOnExit)
  }
}

/// A region that the application monitors.
public struct MonitoredRegion: Hashable, Sendable {
  /// The region.
  public let region: CircularRegion
  /// Whether the machine is inside; nil if the daemon does not know yet.
  public let isInside: Bool?

  init(_ monitored: ApplicationInterface.MonitoredRegion) {
    region = CircularRegion(monitored.region)
    isInside = monitored.inside
  }
}

/// The fact that the machine has entered or left a region.
public struct RegionCrossing: Hashable, Sendable {
  /// The identifier of the region.
  public let identifier: String
  /// The location that shows the crossing.
  public let location: Location

  init(_ event: ApplicationInterface.RegionEvent) {
    identifier = event.identifier
    location = Location(event.location)
  }
}
