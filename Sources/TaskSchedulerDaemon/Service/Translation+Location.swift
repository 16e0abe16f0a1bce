import TaskSchedulerCore
import TaskSchedulerWire

// Translates locations, regions and the authorization between the scheduler and the interfaces.

extension ApplicationInterface.Location {
  init(_ location: TaskSchedulerCore.Location) {
    self.init(
      latitude: location.coordinate.latitude, longitude: location.coordinate.longitude,
      accuracy: location.accuracy, altitude: location.altitude, speed: location.speed,
      course: location.course, measuredAtUSec: Int(location.time.nanoseconds / 1000))
  }
}

extension TaskSchedulerCore.Location {
  /// The latest time of a measurement, in microseconds since 1970: the year 2262.
  private static let timeMax = Int(Int64.max / 1000)

  /// Creates a location from a parameter of a call.
  ///
  /// - Parameter parameter: The path of the parameter, for errors.
  init(
    _ location: ApplicationInterface.Location, parameter: String
  ) throws(ParameterError) {
    func check(_ isValid: Bool?, _ field: String, _ rule: String) throws(ParameterError) {
      if isValid ?? true { return }
      throw ParameterError(parameter: "\(parameter).\(field)", problem: rule)
    }
    let coordinate = try Coordinate(
      latitude: location.latitude, longitude: location.longitude, parameter: parameter)
    try check(location.accuracy.map { $0 > 0 }, "accuracy", "an accuracy must be more than 0 m")
    try check(location.speed.map { $0 >= 0 }, "speed", "a speed must not be negative")
    try check(
      location.course.map { (0..<360).contains($0) }, "course",
      "a course must be from 0 to less than 360 degrees")
    try check(
      (0...Self.timeMax).contains(location.measuredAtUSec), "measuredAtUSec",
      "a time must be from 0 to \(Self.timeMax) µs since 1970")
    self.init(
      coordinate, accuracy: location.accuracy, altitude: location.altitude, speed: location.speed,
      course: location.course,
      time: WallTime(nanoseconds: Int64(location.measuredAtUSec) * 1000))
  }
}

extension Coordinate {
  /// Creates a coordinate from the fields `latitude` and `longitude` of a parameter of a call.
  fileprivate init(
    latitude: Double, longitude: Double, parameter: String
  ) throws(ParameterError) {
    guard (-90...90).contains(latitude) else {
      throw ParameterError(
        parameter: "\(parameter).latitude", problem: "a latitude must be from -90 to 90 degrees")
    }
    guard let coordinate = Coordinate(latitude: latitude, longitude: longitude) else {
      throw ParameterError(
        parameter: "\(parameter).longitude",
        problem: "a longitude must be from -180 to 180 degrees")
    }
    self = coordinate
  }
}

extension ApplicationInterface.LocationAuthorization {
  init(_ authorization: TaskSchedulerCore.LocationAuthorization) {
    switch authorization {
    case .notDetermined: self = .notDetermined
    case .denied: self = .denied
    case .authorized: self = .authorized
    }
  }
}

extension TaskSchedulerCore.LocationAuthorization {
  init(_ authorization: ApplicationInterface.LocationAuthorization) {
    switch authorization {
    case .notDetermined: self = .notDetermined
    case .denied: self = .denied
    case .authorized: self = .authorized
    }
  }
}

extension ApplicationInterface.LocationDenial {
  init(_ denial: TaskSchedulerCore.LocationDenial) {
    switch denial {
    case .manifest: self = .manifest
    case .settings: self = .settings
    case .user: self = .user
    }
  }
}

extension ControlInterface.LocationService {
  init(_ service: TaskSchedulerCore.LocationService) {
    switch service {
    case .updates: self = .updates
    case .significantChanges: self = .significantChanges
    case .regions: self = .regions
    }
  }
}

extension TaskSchedulerCore.LocationAccuracy {
  init(_ accuracy: ApplicationInterface.LocationAccuracy) {
    switch accuracy {
    case .best: self = .best
    case .tenMeters: self = .tenMeters
    case .hundredMeters: self = .hundredMeters
    case .kilometer: self = .kilometer
    case .threeKilometers: self = .threeKilometers
    }
  }
}

extension ApplicationInterface.LocationAccuracy {
  init(_ accuracy: TaskSchedulerCore.LocationAccuracy) {
    switch accuracy {
    case .best: self = .best
    case .tenMeters: self = .tenMeters
    case .hundredMeters: self = .hundredMeters
    case .kilometer: self = .kilometer
    case .threeKilometers: self = .threeKilometers
    }
  }
}

extension LocationRequest {
  init(_ input: ApplicationInterface.StartUpdatingLocation.Input) throws(ParameterError) {
    if let filter = input.distanceFilter, filter < 0 {
      throw ParameterError(
        parameter: "distanceFilter", problem: "a distance must not be negative")
    }
    self.init(
      desiredAccuracy: input.desiredAccuracy.map { .init($0) } ?? .best,
      distanceFilter: input.distanceFilter)
  }
}

extension TaskSchedulerCore.Region {
  /// Creates a region from a parameter of a call.
  ///
  /// - Parameter parameter: The path of the parameter, for errors.
  init(_ region: ApplicationInterface.Region, parameter: String) throws(ParameterError) {
    guard let id = RegionID(region.identifier), !hasControlCharacter(region.identifier) else {
      throw ParameterError(
        parameter: "\(parameter).identifier",
        problem: "an identifier must have 1 to \(RegionID.bytesMax) bytes and no control characters"
      )
    }
    let center = try Coordinate(
      latitude: region.latitude, longitude: region.longitude, parameter: parameter)
    guard
      let whole = Self(
        id, center: center, radius: region.radius, notifiesOnEntry: region.notifyOnEntry ?? true,
        notifiesOnExit: region.notifyOnExit ?? true)
    else {
      let radii = Self.radii
      throw ParameterError(
        parameter: "\(parameter).radius",
        problem: "a radius must be from \(Int(radii.lowerBound)) to \(Int(radii.upperBound)) m")
    }
    self = whole
  }
}

extension ApplicationInterface.Region {
  init(_ region: TaskSchedulerCore.Region) {
    self.init(
      identifier: region.id.name, latitude: region.center.latitude,
      longitude: region.center.longitude, radius: region.radius,
      notifyOnEntry: region.notifiesOnEntry, notifyOnExit: region.notifiesOnExit)
  }
}

extension ApplicationInterface.MonitoredRegion {
  init(_ monitored: StoredLocationServices.MonitoredRegion) {
    self.init(region: .init(monitored.region), inside: monitored.isInside)
  }
}

extension ApplicationInterface.SignificantLocationChange {
  init(_ id: CallbackID, _ location: TaskSchedulerCore.Location) {
    self.init(id: Int(clamping: id.number), location: .init(location))
  }
}

extension ApplicationInterface.RegionEvent {
  init(_ id: CallbackID, _ crossing: RegionCrossing, _ location: TaskSchedulerCore.Location) {
    self.init(
      id: Int(clamping: id.number), identifier: crossing.region.name, inside: crossing.isInside,
      location: .init(location))
  }
}
