/// A position of the machine, as a source measured it.
public struct Location: Equatable, Sendable {
  public var coordinate: Coordinate
  /// The radius, in meters, of the circle that contains the true position with a probability of
  /// 68 %; nil if the source does not know it.
  public var accuracy: Double?
  /// The altitude in meters above the mean sea level.
  public var altitude: Double?
  /// The speed in meters per second.
  public var speed: Double?
  /// The direction of the motion, in degrees clockwise from north, 0 up to 360.
  public var course: Double?
  /// The time of the measurement, by the source's clock.
  public var time: WallTime

  public init(
    _ coordinate: Coordinate, accuracy: Double? = nil, altitude: Double? = nil,
    speed: Double? = nil, course: Double? = nil, time: WallTime
  ) {
    self.coordinate = coordinate
    // Some sources report 0 if they do not know the accuracy.
    self.accuracy = accuracy.flatMap { $0.isFinite && $0 > 0 ? $0 : nil }
    self.altitude = altitude.flatMap { $0.isFinite ? $0 : nil }
    self.speed = speed.flatMap { $0.isFinite && $0 >= 0 ? $0 : nil }
    self.course = course.flatMap { (0..<360).contains($0) ? $0 : nil }
    self.time = time
  }

  /// The accuracy, in meters, that the scheduler assumes for a location without one. Source: this
  /// project; a receiver that sees few satellites has this accuracy.
  static let accuracyAssumed = 50.0

  /// How far the true position may be from the coordinate, in meters.
  var radius: Double { accuracy ?? Self.accuracyAssumed }
}

/// How accurate an application wants the location to be. The sources need to be only as accurate as
/// the most demanding application requires.
public enum LocationAccuracy: String, Comparable, Sendable, CaseIterable {
  case best, tenMeters, hundredMeters, kilometer, threeKilometers

  /// Returns whether `lhs` is less accurate than `rhs`.
  public static func < (lhs: Self, rhs: Self) -> Bool { lhs.rank < rhs.rank }

  private var rank: Int {
    switch self {
    case .best: 4
    case .tenMeters: 3
    case .hundredMeters: 2
    case .kilometer: 1
    case .threeKilometers: 0
    }
  }
}

/// What an application wants of continuous updates.
public struct LocationRequest: Equatable, Sendable {
  public var desiredAccuracy: LocationAccuracy
  /// The least distance, in meters, between the locations of two successive updates; nil to receive
  /// every location.
  public var distanceFilter: Double?

  public init(desiredAccuracy: LocationAccuracy = .best, distanceFilter: Double? = nil) {
    self.desiredAccuracy = desiredAccuracy
    self.distanceFilter = distanceFilter
  }
}

/// A service that reports the location to an application.
public enum LocationService: String, Equatable, Sendable, CaseIterable {
  /// Continuous updates.
  case updates
  case significantChanges
  case regions

  /// The name in manifests and scenarios.
  package var manifestName: String {
    switch self {
    case .updates: "updates"
    case .significantChanges: "significant-changes"
    case .regions: "regions"
    }
  }
}

/// Whether an application may learn the location.
public enum LocationAuthorization: String, Equatable, Sendable, CaseIterable {
  /// Neither an operator nor the user has decided.
  case notDetermined
  case denied
  case authorized
}

/// What denies an application a location service.
public enum LocationDenial: String, Equatable, Sendable, CaseIterable {
  /// The application's manifest does not name the service.
  case manifest
  /// The table `[location]` of the settings.
  case settings
  /// The user, or an operator with taskctl.
  case user
}

/// The operator's decisions in the settings. They override the user's answers.
public struct LocationRules: Equatable, Sendable {
  public var allowed: [ApplicationID]
  public var denied: [ApplicationID]
  /// Whether the rules allow all applications except those in ``denied``.
  public var allowsAll: Bool

  public init(
    allowed: [ApplicationID] = [], denied: [ApplicationID] = [], allowsAll: Bool = false
  ) {
    self.allowed = allowed
    self.denied = denied
    self.allowsAll = allowsAll
  }

  /// Returns the decision for an application; nil if the user decides.
  func decision(for id: ApplicationID) -> Bool? {
    if denied.contains(id) { return false }
    return allowsAll || allowed.contains(id) ? true : nil
  }
}

/// A source that reports locations, or only that the machine has moved.
public enum LocationSource: Hashable, Sendable {
  case gpsd
  /// GeoClue, through the session agent of a user. Only this user's applications receive its
  /// locations, because the agent runs as the user and may report false locations.
  case geoClue(UserID)
  /// The cell of a modem.
  case cell
  /// The access point of a wireless network.
  case accessPoint

  /// Whether the source reports only that the machine has moved.
  var isRadio: Bool {
    switch self {
    case .gpsd, .geoClue: false
    case .cell, .accessPoint: true
    }
  }
}

/// What the sources must do at present.
public struct LocationNeeds: Equatable, Sendable {
  /// The required accuracy of the locations; nil if no locations are required. With nil, no
  /// receiver needs to run.
  public var accuracy: LocationAccuracy?
  /// The users whose session agents must report GeoClue's locations, ordered by id; empty while
  /// gpsd is available.
  public var users: [UserID]
  /// Whether the radio sources must report a change of the cell or of the access point.
  public var watchesRadio: Bool

  public init(
    accuracy: LocationAccuracy? = nil, users: [UserID] = [], watchesRadio: Bool = false
  ) {
    self.accuracy = accuracy
    self.users = users
    self.watchesRadio = watchesRadio
  }
}
