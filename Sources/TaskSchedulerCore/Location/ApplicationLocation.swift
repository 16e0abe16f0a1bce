/// What the scheduler knows about the location services of one application, whether or not the
/// application runs.
struct ApplicationLocation: Equatable, Sendable {
  /// A report that the application has not received yet.
  enum Report: Equatable {
    case crossing(RegionCrossing, Location)
    case significantChange(Location)

    var crossing: RegionCrossing? {
      if case .crossing(let crossing, _) = self { crossing } else { nil }
    }
  }

  /// The location from which the scheduler measures the distance of the next significant change.
  enum Reference: Equatable {
    /// There is no reference yet. The application receives the first location.
    case awaited
    /// There is no reference yet. The application does not receive the first location, because its
    /// request is from before a reboot.
    case unknown
    case told(Location, at: Instant)
  }

  /// The decision of the user, or of an operator with taskctl.
  var authorization = LocationAuthorization.notDetermined
  /// Whether the user has been asked.
  var wasAsked = false
  /// Whether the question is on the user's screen.
  var isAsking = false
  /// The reference of the significant changes that the application monitors; nil if it monitors
  /// none.
  var reference: Reference?
  var regions: [RegionID: RegionMonitor] = [:]
  /// The reports that wait for the application, the oldest first.
  private(set) var waiting: [Report] = []
  /// The last instant at which the application received a location, a change or a crossing.
  var lastUsed: Instant?

  /// The maximum number of reports in ``waiting``. A further report replaces the oldest one.
  /// Source: this project; each of 20 regions can be entered and left six times while the
  /// application cannot run.
  private static let waitingMax = 256

  var isEmpty: Bool {
    authorization == .notDetermined && !wasAsked && reference == nil && regions.isEmpty
      && waiting.isEmpty && lastUsed == nil
  }

  var monitors: Bool { reference != nil || !regions.isEmpty }

  /// Adds a report. Keeps every waiting crossing, but only the newest significant change.
  mutating func add(_ report: Report) {
    if report.crossing == nil { waiting.removeAll { $0.crossing == nil } }
    waiting.append(report)
    if waiting.count > Self.waitingMax { waiting.removeFirst() }
  }

  mutating func takeFirst() -> Report? { waiting.isEmpty ? nil : waiting.removeFirst() }

  /// Removes the reports of a service that the application has stopped, or may no longer use.
  mutating func dropWaiting(of service: LocationService) {
    waiting.removeAll { ($0.crossing == nil) == (service == .significantChanges) }
  }

  mutating func dropWaiting(of region: RegionID) {
    waiting.removeAll { $0.crossing?.region == region }
  }

  init() {}

  init(_ stored: StoredLocationServices) {
    authorization = stored.authorization
    wasAsked = stored.wasAsked
    isAsking = stored.wasAsked && stored.authorization == .notDetermined
    reference = stored.monitorsSignificantChanges ? .unknown : nil
    for one in stored.regions {
      regions[one.region.id] = RegionMonitor(one.region, isInside: one.isInside)
    }
  }

  init(
    authorization: LocationAuthorization, wasAsked: Bool, isAsking: Bool, reference: Reference?,
    regions: [RegionID: RegionMonitor], waiting: [Report], lastUsed: Instant?
  ) {
    self.authorization = authorization
    self.wasAsked = wasAsked
    self.isAsking = isAsking
    self.reference = reference
    self.regions = regions
    self.waiting = waiting
    self.lastUsed = lastUsed
  }
}

/// The continuous updates of a running instance.
struct LocationUpdates: Equatable, Sendable {
  var request: LocationRequest
  /// The last location that the application received.
  var told: Location?

  /// Returns whether a location is at least `distanceFilter` from the last location that the
  /// application received.
  func wants(_ location: Location) -> Bool {
    guard let told, let filter = request.distanceFilter else { return true }
    return told.coordinate.distance(to: location.coordinate) >= filter
  }
}
