/// Determines from locations whether the machine is inside a region.
///
/// The problem: a location is uncertain, and near the boundary the locations of a resting machine
/// lie on both sides. The idea: a location shows the side only if its distance from the boundary
/// is at least its possible error. The machine has crossed the boundary only when all locations
/// have shown the new side for `RegionDwell`.
struct RegionMonitor: Equatable, Sendable {
  /// A crossing that `RegionDwell` has not confirmed.
  struct Candidate: Equatable {
    var isInside: Bool
    var since: Instant
  }

  /// The effect of a location on ``RegionMonitor/isInside``.
  enum Outcome: Equatable {
    case unchanged
    /// The location is the first one that decides the side.
    case found(isInside: Bool)
    case crossed(isInside: Bool)
  }

  let region: Region
  /// Whether the machine is inside; nil until a location has decided it.
  private(set) var isInside: Bool?
  private(set) var candidate: Candidate?

  /// The least margin on both sides of the boundary, in meters. Source: contract §17.
  private static let marginMin = 50.0
  /// The assumed maximum speed of the machine, in meters per second (144 km/h). Source:
  /// contract §17.
  private static let speedMax = 40.0

  init(_ region: Region, isInside: Bool? = nil, candidate: Candidate? = nil) {
    self.region = region
    self.isInside = isInside
    self.candidate = candidate
  }

  private static func margin(_ location: Location) -> Double { max(location.radius, marginMin) }

  /// Returns whether a location is inside; nil if it is too close to the boundary to tell.
  private func side(of location: Location) -> Bool? {
    let distance = region.center.distance(to: location.coordinate)
    let margin = Self.margin(location)
    if distance + margin <= region.radius { return true }
    return distance - margin >= region.radius ? false : nil
  }

  mutating func take(_ location: Location, at now: Instant, dwell: Duration) -> Outcome {
    guard let side = side(of: location), side != isInside else {
      candidate = nil
      return .unchanged
    }
    guard isInside != nil else {
      isInside = side
      return .found(isInside: side)
    }
    guard let candidate, candidate.isInside == side else {
      self.candidate = Candidate(isInside: side, since: now)
      return .unchanged
    }
    guard candidate.since.advanced(by: dwell) <= now else { return .unchanged }
    self.candidate = nil
    isInside = side
    return .crossed(isInside: side)
  }

  /// Returns how long the machine needs, at its maximum speed, from a location to the margin around
  /// the boundary.
  func timeToBoundary(from location: Location) -> Duration {
    let distance = region.center.distance(to: location.coordinate)
    let away = abs(distance - region.radius) - Self.margin(location)
    return .seconds(max(0, away) / Self.speedMax)
  }
}
