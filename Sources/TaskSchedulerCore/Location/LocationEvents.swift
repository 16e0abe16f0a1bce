/// An event about the location.
public enum LocationEvent: Equatable, Sendable {
  // Requests of applications. The reply to a start is `located`, with the authorization. An
  // application receives nothing before it is authorized.
  case startUpdates(RequestID, InstanceID, LocationRequest)
  case stopUpdates(RequestID, InstanceID)
  case monitorSignificantChanges(RequestID, InstanceID)
  case stopMonitoringSignificantChanges(RequestID, InstanceID)
  /// Adds a region, or replaces the region with the same id.
  case startMonitoring(RequestID, InstanceID, Region)
  case stopMonitoring(RequestID, InstanceID, RegionID)
  case requestAuthorization(RequestID, InstanceID)
  /// An operator's decision with taskctl or, if the request is nil, the user's answer. If an
  /// operator sets `notDetermined`, the scheduler asks the user again as soon as the application
  /// uses the location or requests authorization.
  case authorize(RequestID?, ApplicationKey, LocationAuthorization)
  /// Deletes an application's regions, its request for significant changes and its authorization.
  case forget(RequestID, ApplicationKey)
  case rulesChanged(LocationRules)
  /// A source appeared or disappeared.
  case sourceChanged(LocationSource, isAvailable: Bool)
  /// A source reports a location.
  case located(LocationSource, Location)
  /// A user or an operator simulates a location for the applications of one user or, with nil, of
  /// all users.
  case posted(RequestID, Location, for: UserID?)
  /// The cell of the modem or the access point of the network has changed.
  case moved
  /// The transaction is durable.
  case stored(TransactionID)
  /// The store could not carry out the transaction, and is unchanged.
  case storeFailed(TransactionID, reason: String)
  /// The contents of the store. The daemon sends this event when it starts without an earlier event
  /// log.
  case loaded([StoredLocationServices])

  var request: RequestID? {
    switch self {
    case .startUpdates(let request, _, _), .stopUpdates(let request, _),
      .monitorSignificantChanges(let request, _),
      .stopMonitoringSignificantChanges(let request, _), .startMonitoring(let request, _, _),
      .stopMonitoring(let request, _, _), .requestAuthorization(let request, _),
      .forget(let request, _), .posted(let request, _, _):
      request
    case .authorize(let request, _, _): request
    case .rulesChanged, .sourceChanged, .located, .moved, .stored, .storeFailed, .loaded: nil
    }
  }
}

/// A location-related action of the daemon.
public enum LocationEffect: Equatable, Sendable {
  /// Tells the sources what the applications need from now on. A new daemon begins with
  /// ``Scheduler/locationNeeds``, because it may receive this effect much later.
  case need(LocationNeeds)
  /// Makes a change durable, after all changes with lower ids. The answer is `stored` or
  /// `storeFailed`. After a recovery, the scheduler repeats an unanswered change.
  case store(TransactionID, ApplicationKey, LocationChange)
  /// Asks the user whether an application may learn the location. `true` shows the question, and
  /// `false` removes it.
  case ask(ApplicationKey, Bool)
}

/// A durable change of what the store contains about one application. If the store receives the
/// same change again, nothing changes.
public enum LocationChange: Equatable, Sendable {
  case monitor(Region)
  case stopMonitoring(RegionID)
  case monitorSignificantChanges(Bool)
  /// The user's or the operator's decision, and whether the user has been asked.
  case authorize(LocationAuthorization, wasAsked: Bool)
  /// Whether the machine is inside a region. If an application must be told of a crossing, the
  /// scheduler stores the crossing only when the application receives the report.
  case report(RegionCrossing)
}

/// What the store contains about one application.
public struct StoredLocationServices: Equatable, Sendable {
  /// A region, and whether the machine is inside. ``LocationChange/report(_:)`` changes
  /// `isInside`, which is nil if the side is not known.
  public struct MonitoredRegion: Equatable, Sendable {
    public var region: Region
    public var isInside: Bool?

    public init(_ region: Region, isInside: Bool?) {
      self.region = region
      self.isInside = isInside
    }
  }

  public var application: ApplicationKey
  public var authorization: LocationAuthorization
  public var wasAsked: Bool
  public var monitorsSignificantChanges: Bool
  public var regions: [MonitoredRegion]

  public init(
    application: ApplicationKey, authorization: LocationAuthorization = .notDetermined,
    wasAsked: Bool = false, monitorsSignificantChanges: Bool = false,
    regions: [MonitoredRegion] = []
  ) {
    self.application = application
    self.authorization = authorization
    self.wasAsked = wasAsked
    self.monitorsSignificantChanges = monitorsSignificantChanges
    self.regions = regions
  }
}

/// What the scheduler knows about the location, for operators.
public struct LocationStatus: Equatable, Sendable {
  /// The use of the location by one application.
  public struct Use: Equatable, Sendable {
    public var application: ApplicationKey
    public var authorization: LocationAuthorization
    /// What denies the application the location; nil if nothing does.
    public var denial: LocationDenial?
    /// The continuous updates that the running application has started; nil if it has none.
    public var updates: LocationRequest?
    public var monitorsSignificantChanges: Bool
    /// The monitored regions, and for each of them whether the machine is inside.
    public var regions: [StoredLocationServices.MonitoredRegion]
    /// The last instant at which the application received a location, a change or a crossing.
    public var lastUsed: Instant?

    /// The services that the application uses, even if it is not authorized.
    public var services: [LocationService] {
      (updates == nil ? [] : [.updates]) + (monitorsSignificantChanges ? [.significantChanges] : [])
        + (regions.isEmpty ? [] : [.regions])
    }
  }

  public var sources: [LocationSource: Bool]
  public var needs: LocationNeeds
  public var uses: [Use]
  /// The newest location of each user. It may come from a source that serves all users.
  public var locations: [UserID: Location]
  /// The instant at which each user's next location is needed for regions or significant changes.
  public var nextLooks: [UserID: Instant]
  /// For each user, the instant at which the location posted for this user alone expires. Until
  /// then, this location replaces the locations of the sources. At ``postedForAllUntil``, the
  /// location posted for all users expires.
  public var postedUntil: [UserID: Instant]
  public var postedForAllUntil: Instant?
}
