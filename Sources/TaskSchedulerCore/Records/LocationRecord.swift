/// A change of an application's location services, for the log and the monitors.
public enum LocationRecord: Equatable, Sendable {
  case started(LocationService)
  case stopped(LocationService)
  case regionMonitored(RegionID)
  case regionForgotten(RegionID)
  case regionCrossed(RegionCrossing)
  /// The scheduler told the application that the location has changed significantly.
  case changedSignificantly
  /// The user or an operator has decided whether the application may learn the location.
  case authorized(LocationAuthorization)

  var level: LogLevel {
    switch self {
    case .started, .stopped, .regionCrossed, .changedSignificantly, .authorized: .info
    case .regionMonitored, .regionForgotten: .debug
    }
  }

  var recordDescription: RecordDescription {
    switch self {
    case .started(let service): .location(service, .locationStarted, "started \(service.words)")
    case .stopped(let service): .location(service, .locationStopped, "stopped \(service.words)")
    case .regionMonitored(let id):
      .region(id, .regionMonitored, .predicate("monitors the region '\(id.name)'"))
    case .regionForgotten(let id):
      .region(id, .regionForgotten, .predicate("no longer monitors the region '\(id.name)'"))
    case .regionCrossed(let crossing):
      .region(
        crossing.region, .regionCrossed, .clause(crossing.words), isInside: crossing.isInside)
    case .changedSignificantly:
      .init(.significantChange, .predicate("was told that the location changed significantly"))
    case .authorized(let authorization):
      .init(
        .locationAuthorized, .predicate(authorization.words),
        ["authorization": .text(authorization.rawValue)])
    }
  }
}

extension RegionCrossing {
  fileprivate var words: String {
    "the machine \(isInside ? "entered" : "left") the region '\(region.name)'"
  }
}

extension RecordDescription {
  fileprivate static func location(
    _ service: LocationService, _ kind: Record.Kind,
    _ predicate: @escaping @autoclosure () -> String
  ) -> Self {
    .init(kind, .predicate(predicate()), ["service": .text(service.rawValue)])
  }

  fileprivate static func region(
    _ id: RegionID, _ kind: Record.Kind, _ text: @escaping @autoclosure () -> RecordText,
    isInside: Bool? = nil
  ) -> Self {
    .init(
      kind, text(),
      ["region": .text(id.name), "side": isInside.map { .text($0 ? "inside" : "outside") }])
  }
}
