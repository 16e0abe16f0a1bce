import TaskSchedulerWire

/// The outstanding reports about the location, in the order in which the daemon receives them.
///
/// A newer location replaces one that was not sent. ``GeoClueClient`` limits how often the location
/// changes.
struct LocationReports {
  /// The contents of a report.
  enum Report: Equatable {
    /// Whether GeoClue is available.
    case source(Bool)
    case location(SessionInterface.Location)
  }

  private var source = LatestReport<Bool>()
  /// The location that waits to be sent.
  private var location: SessionInterface.Location?

  mutating func update(isAvailable: Bool) { source.update(isAvailable) }

  /// Adds a location, which replaces a location that was not sent.
  mutating func add(_ location: SessionInterface.Location) { self.location = location }

  /// Drops the location that waits to be sent, because the daemon no longer needs locations.
  mutating func endLocations() { location = nil }

  /// Begins a new attachment, in which the daemon has not ordered locations.
  mutating func attached() {
    source.attached()
    location = nil
  }

  /// Returns the report that must be sent now, and counts it as sent; nil if there is none. The
  /// daemon must know that GeoClue is available before it receives a location.
  mutating func take() -> Report? {
    if source.isDue, let isAvailable = source.take() { return .source(isAvailable) }
    defer { location = nil }
    return location.map { .location($0) }
  }
}
