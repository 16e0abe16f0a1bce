import TaskSchedulerCore

/// What the checkers know about a region that an application monitors.
struct ObservedRegion {
  let region: Region
  /// Whether the machine is inside; nil if no location has decided this yet. The application knows
  /// this side, or is about to be told.
  var isInside: Bool?
  /// The opposite side, and the instant since which all locations show it; nil if the latest
  /// location does not show the opposite side.
  var other: (isInside: Bool, since: Instant)?

  /// The least margin around the boundary, in meters.
  private static let marginMin = 50.0

  /// Takes a location. Returns the new side, and whether the change is a crossing; nil if the
  /// location does not decide a new side.
  mutating func take(
    _ location: Location, at now: Instant, dwell: Duration
  ) -> (isInside: Bool, isCrossing: Bool)? {
    let distance = region.center.distance(to: location.coordinate)
    let margin = max(location.uncertainty, Self.marginMin)
    let isIn = distance + margin <= region.radius
    let isOut = distance - margin >= region.radius
    guard isIn || isOut, isIn != isInside else {
      other = nil
      return nil
    }
    if isInside == nil {
      isInside = isIn
      return (isIn, false)
    }
    guard let other else {
      self.other = (isIn, now)
      return nil
    }
    guard other.since.advanced(by: dwell) <= now else { return nil }
    self.other = nil
    isInside = isIn
    return (isIn, true)
  }

  /// Returns the time that the machine needs, at the highest speed, from a location to the margin
  /// around the boundary.
  func timeToBoundary(from location: Location) -> Duration {
    let distance = region.center.distance(to: location.coordinate)
    let margin = max(location.uncertainty, Self.marginMin)
    return .seconds(max(0, abs(distance - region.radius) - margin) / 40)
  }
}

extension Location {
  /// The radius of the circle that may contain the true position, in meters.
  var uncertainty: Double { accuracy ?? 50 }
}

/// What the checkers know about the location services of an application.
struct ObservedLocationUse {
  /// A report that the application must be told.
  enum Report: Equatable {
    case crossing(RegionCrossing, Location)
    case change(Location)

    var region: RegionID? {
      if case .crossing(let crossing, _) = self { crossing.region } else { nil }
    }

    var service: LocationService { region == nil ? .significantChanges : .regions }
  }

  /// The location from which the distance to the next significant change is measured.
  enum Reference {
    /// There is no location yet. The application is told the first one.
    case awaited
    /// There is no location yet. The first one becomes the reference without a report.
    case unknown
    case told(Location, at: Instant)
  }

  var authorization = LocationAuthorization.notDetermined
  var wasAsked = false
  /// Whether the user is being asked to authorize the application.
  var isAsking = false
  /// The reference for significant changes; nil if the application does not monitor them.
  var reference: Reference?
  var regions: [RegionID: ObservedRegion] = [:]
  var waiting: [Report] = []
  /// Whether the application was ever told a location.
  var wasTold = false

  var monitors: Bool { reference != nil || !regions.isEmpty }
  /// Whether the application monitors nothing and was told nothing, and no decision about it
  /// exists.
  var isUnused: Bool {
    authorization == .notDetermined && !wasAsked && !monitors && waiting.isEmpty && !wasTold
  }

  /// Adds a report. Only the newest significant change waits.
  mutating func add(_ report: Report) {
    if report.region == nil { waiting.removeAll { $0.region == nil } }
    waiting.append(report)
    if waiting.count > Self.waitingMax { waiting.removeFirst() }
  }

  private static let waitingMax = 256
}

/// What the checkers know about the location of a user.
struct ObservedUserLocation {
  /// The state of a look: a short use of the receivers for regions and significant changes.
  enum Look {
    case idle
    case due(at: Instant)
    case underWay(since: Instant, hasFound: Bool)
  }

  var newest: (location: Location, at: Instant)?
  var postedUntil: Instant?
  /// The instant at which a radio source reported a move; nil if a location came later.
  var movedAt: Instant?
  var look = Look.idle
  /// The delay after the last look that found no location, and the instant at which the delay ends.
  var retry: (delay: Duration, at: Instant)?
  /// Whether a look may have begun unnoticed, because the checkers do not see every burst of
  /// keep-alive handlers.
  var isUnsure = false

  var isLooking: Bool { if case .underWay = look { true } else { false } }

  /// A location is late if it is older than the newest one by less than this, in nanoseconds. If it
  /// is older by this or more, the clock of the source was corrected.
  private static let lateMax: Int64 = 600_000_000_000

  /// Returns whether a location of a source is late: not newer than the newest location, but older
  /// by less than ``lateMax``.
  func isLate(_ location: Location) -> Bool {
    guard let newest else { return false }
    let age = newest.location.time.nanoseconds - location.time.nanoseconds
    return age >= 0 && age < Self.lateMax
  }
}

/// What the checkers know about the location services, and what the current event requires.
struct ObservedLocations {
  struct Pending {
    var application: ApplicationKey
    var change: LocationChange
    var request: RequestID?
  }

  struct Change: Equatable {
    var application: ApplicationKey
    var change: LocationChange
  }

  struct Question: Hashable {
    var application: ApplicationKey
    var isShown: Bool
  }

  /// A location for continuous updates.
  struct Message: Equatable {
    var instance: InstanceID
    var location: Location
  }

  var rules = LocationRules()
  var sources: Set<LocationSource> = []
  /// The needs in the daemon's last message to the sources.
  var needs = LocationNeeds()
  var applications: [ApplicationKey: ObservedLocationUse] = [:]
  var users: [UserID: ObservedUserLocation] = [:]
  /// The continuous updates of running instances, with the last location told.
  var updates: [InstanceID: (request: LocationRequest, told: Location?)] = [:]
  /// The instant until which a location that an operator posted for all users replaces those of the
  /// sources.
  var postedUntil: Instant?
  var pending: [TransactionID: Pending] = [:]
  var transactionLast: UInt64 = 0
  /// The region that is the reason for each launch.
  var launchRegions: [InstanceID: RegionID] = [:]

  // MARK: The current event
  /// The reply that the event requires, and the request that receives it; nil if the reply comes
  /// later, or the event has no request.
  var reply: (request: RequestID, reply: Reply)?
  /// Whether the scheduler may refuse the event or carry it out. The checkers cannot know which is
  /// right.
  var isReplyUnsure = false
  var changes: [Change] = []
  var questions: [Question] = []
  var messages: [Message] = []
  /// The applications to which the daemon must send their waiting reports because of the event.
  var mustTell: Set<ApplicationKey> = []
  /// Whether a look began or ended because a deadline was reached.
  var hasLooked = false
  /// Whether a burst of keep-alive handlers, data on a managed socket or a notification came with
  /// the event.
  var hasWoken = false

  mutating func begin() {
    reply = nil
    isReplyUnsure = false
    changes = []
    questions = []
    messages = []
    mustTell = []
    hasLooked = false
    hasWoken = false
  }

  mutating func change(_ key: ApplicationKey, _ body: (inout ObservedLocationUse) -> Void) {
    body(&applications[key, default: ObservedLocationUse()])
    if applications[key]?.isUnused == true { applications[key] = nil }
  }

  /// Forgets an instance that has ended.
  mutating func forget(_ id: InstanceID) {
    updates[id] = nil
    launchRegions[id] = nil
  }

  /// Returns the ids of the regions that an application monitors or is about to monitor.
  func regionIDs(of key: ApplicationKey) -> Set<RegionID> {
    var ids = Set((applications[key]?.regions ?? [:]).keys)
    for one in pending.values where one.application == key {
      if case .monitor(let region) = one.change { ids.insert(region.id) }
    }
    return ids
  }

  func regionCount(of user: UserID) -> Int {
    keys(of: user).reduce(0) { $0 + regionIDs(of: $1).count }
  }

  /// Returns the applications of a user that are in ``applications`` or have a pending change.
  func keys(of user: UserID) -> Set<ApplicationKey> {
    Set(applications.keys).union(pending.values.map(\.application)).filter { $0.owner == user }
  }

  func knows(_ key: ApplicationKey) -> Bool { keys(of: key.owner).contains(key) }

  func isPosted(for user: UserID, at now: Instant) -> Bool {
    [postedUntil, users[user]?.postedUntil].contains { $0.map { now < $0 } ?? false }
  }

  func canLocate(_ user: UserID, at now: Instant) -> Bool {
    sources.contains(.gpsd) || sources.contains(.geoClue(user)) || isPosted(for: user, at: now)
  }

  var hasRadio: Bool { sources.contains(.cell) || sources.contains(.accessPoint) }
}
