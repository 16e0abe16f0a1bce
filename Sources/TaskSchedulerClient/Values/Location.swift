import FoundationEssentials
import TaskSchedulerWire

/// A place on the earth (WGS 84).
public struct LocationCoordinate: Hashable, Sendable {
  /// The latitude in degrees, from -90 to 90; positive north of the equator.
  public var latitude: Double
  /// The longitude in degrees, from -180 to 180; positive east of Greenwich.
  public var longitude: Double

  /// Creates a coordinate. The daemon refuses one that is out of range.
  public init(latitude: Double, longitude: Double) {
    self.latitude = latitude
    self.longitude = longitude
  }
}

/// A position of the machine, as a source measured it. A value is nil if the source does not know
/// it.
public struct Location: Hashable, Sendable {
  /// The place.
  public let coordinate: LocationCoordinate
  /// The radius, in meters, of the circle that contains the true position with a probability of
  /// 68 %.
  public let horizontalAccuracy: Double?
  /// The height above the mean sea level, in meters.
  public let altitude: Double?
  /// The speed in meters per second.
  public let speed: Double?
  /// The direction of the motion, in degrees clockwise from north, from 0 to less than 360.
  public let course: Double?
  /// The time of the measurement, by the clock of the source.
  public let timestamp: Date

  init(_ location: ApplicationInterface.Location) {
    coordinate = LocationCoordinate(
      latitude: location.latitude, longitude: location.longitude)
    horizontalAccuracy = location.accuracy
    altitude = location.altitude
    speed = location.speed
    course = location.course
    timestamp = Date(timeIntervalSince1970: Double(location.measuredAtUSec) / 1_000_000)
  }
}

/// How accurate the locations of continuous updates must be. The names are those of Core Location.
///
/// GeoClue chooses its sources by the highest accuracy that any application needs at present; gpsd
/// always uses all its receivers.
public enum LocationAccuracy: String, Hashable, Sendable, CaseIterable {
  /// The best accuracy of all sources, for navigation.
  case best
  /// 10 m.
  case tenMeters
  /// 100 m.
  case hundredMeters
  /// 1 km.
  case kilometer
  /// 3 km.
  case threeKilometers

  var wireValue: ApplicationInterface.LocationAccuracy {
    switch self {
    case .best: .best
    case .tenMeters: .tenMeters
    case .hundredMeters: .hundredMeters
    case .kilometer: .kilometer
    case .threeKilometers: .threeKilometers
    }
  }
}

/// Whether the application may learn the location.
public enum LocationAuthorization: String, Hashable, Sendable, CaseIterable {
  /// No decision has been made yet. The daemon asks the user.
  case notDetermined
  /// The settings of the daemon, an operator or the user denies the application the location.
  case denied
  /// The settings of the daemon, an operator or the user allows the application the location.
  case authorized

  init(_ authorization: ApplicationInterface.LocationAuthorization) {
    switch authorization {
    case .notDetermined: self = .notDetermined
    case .denied: self = .denied
    case .authorized: self = .authorized
    }
  }
}

/// The reason why an application may not learn the location.
public enum LocationDenial: String, Hashable, Sendable, CaseIterable {
  /// The manifest does not name the location service.
  case manifest
  /// The settings of the daemon deny the application.
  case settings
  /// The user or an operator denies the application the location.
  case user

  init(_ denial: ApplicationInterface.LocationDenial) {
    switch denial {
    case .manifest: self = .manifest
    case .settings: self = .settings
    case .user: self = .user
    }
  }
}
