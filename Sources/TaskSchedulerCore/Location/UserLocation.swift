/// What the scheduler knows about the location of one user, and when it next needs a location for
/// regions and significant changes.
///
/// A look is the time in which a receiver determines the location for these two services. Between
/// two looks, no receiver runs for them. For regions, the next look is due when the machine could
/// reach the nearest boundary.
struct UserLocation: Equatable, Sendable {
  enum Look: Equatable {
    /// No location is needed for regions and significant changes.
    case idle
    case due(at: Instant)
    /// A receiver determines the location. `found` tells whether it has reported a location.
    case under(since: Instant, found: Bool)
  }

  /// The newest location, and the instant of its report.
  private(set) var location: Location?
  private(set) var locatedAt: Instant?
  /// The instant at which the location posted for this user alone expires. Until then, this
  /// location replaces the locations of the sources.
  var postedUntil: Instant?
  /// The instant at which a radio source last reported that the machine has moved; nil if a
  /// location was determined since.
  var movedAt: Instant?
  var look = Look.idle
  /// The delay after looks that found no location, and the earliest instant of the next look; nil
  /// if there was no such look, or if a location has come since.
  private(set) var retry: Retry?

  struct Retry: Equatable {
    var delay: Duration
    var at: Instant
  }

  /// The least and the greatest time between two looks. Source: contract §17.
  static let intervals: ClosedRange<Duration> = .seconds(60) ... .seconds(900)
  /// The least time between two significant changes. Source: contract §17, as on iOS.
  static let changeInterval: Duration = .seconds(300)
  /// The maximum delay of a late report, in nanoseconds. If a location is older than the newest
  /// location by at least this delay, the scheduler assumes that the source's clock was corrected.
  private static let lateMax: Int64 = 600_000_000_000

  var isUnderWay: Bool { if case .under = look { true } else { false } }
  var dueAt: Instant? { if case .due(let at) = look { at } else { nil } }

  /// Returns whether a location is late: not newer than the newest location, and older by less than
  /// ``lateMax``.
  func isLate(_ location: Location) -> Bool {
    guard let newest = self.location else { return false }
    let (age, isOverflown) = newest.time.nanoseconds.subtractingReportingOverflow(
      location.time.nanoseconds)
    return !isOverflown && age >= 0 && age < Self.lateMax
  }

  mutating func take(_ location: Location, at now: Instant) {
    self.location = location
    locatedAt = now
    movedAt = nil
    retry = nil
    if case .under(let since, _) = look { look = .under(since: since, found: true) }
  }

  /// Ends a look for which no location of sufficient accuracy came in time.
  mutating func lookFailed(at now: Instant) {
    guard case .under(_, let found) = look else { return }
    look = .idle
    if found { return }
    let next = retry.map { $0.delay * 2 } ?? Self.intervals.lowerBound
    let delay = min(next, Self.intervals.upperBound)
    retry = Retry(delay: delay, at: now.advanced(by: delay))
  }

  init() {}

  init(
    location: Location?, locatedAt: Instant?, postedUntil: Instant?, movedAt: Instant?,
    look: Look, retry: Retry?
  ) {
    self.location = location
    self.locatedAt = locatedAt
    self.postedUntil = postedUntil
    self.movedAt = movedAt
    self.look = look
    self.retry = retry
  }
}
