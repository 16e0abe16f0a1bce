import TaskSchedulerCore

/// The comparison of what the scheduler knows with the true position.
struct LocationComparison {
  /// The state of a region of an application.
  struct Entry {
    var region: Region
    /// The side that the scheduler knows.
    var known: Bool?
    /// The true side; nil near the boundary.
    var isInside: Bool?
    /// The instant since which neither `known` nor `isInside` has changed.
    var since: UInt64
    /// Whether the scheduler has known the right side at least once.
    var wasRight: Bool
  }

  /// The instant since which the scheduler has been able to learn the true position at all times;
  /// nil if it cannot now.
  var trustedSince: UInt64?
  var entries: [ApplicationKey: [RegionID: Entry]] = [:]
  var lastAt: UInt64 = 0
  var isOver = false

  /// Restarts the comparison, because a location may be far from the true position.
  mutating func distrust() {
    trustedSince = nil
    entries = [:]
  }
}

// Checks that the scheduler misses no crossing (contract.md#location-regions). The checkers know
// only the locations that the scheduler received. This check knows the true position, so it also
// reports a violation if the looks are too rare.
extension Simulation {
  private static let comparisonInterval = 10 * Nanoseconds.second
  /// The longest time until the scheduler notices a crossing, apart from `RegionDwell`. The next
  /// look begins at most 60 s after the crossing. A receiver needs 10 s for each of two locations.
  private static let noticeMax = 100 * Nanoseconds.second
  /// The longest time until the next look. First, a posted location may replace those of the
  /// sources for `LocationFixTime`. The look then begins at most 15 min after the last location or
  /// failed look.
  private static let lookMax = 1100 * Nanoseconds.second
  /// The distance from a boundary beyond which every location shows the right side. The greatest
  /// error of a receiver is 42 m, and the greatest margin is 60 m.
  private static let clearance = 150.0

  func planComparison() {
    location.comparison.lastAt = now
    schedule(after: Self.comparisonInterval, .location(.comparison))
  }

  /// For each region, compares the side that the scheduler knows with the true position. Reports a
  /// violation if they differ for too long.
  func compareWithTruth() {
    if location.comparison.isOver { return }
    let isPunctual =
      now <= location.comparison.lastAt + Self.comparisonInterval + Nanoseconds.second
    planComparison()
    let isTrusted =
      isUp && isPunctual && location.sources[.gpsd] == true && faults[.locationsAreWrong] == 0
      && faults[.locationsAreLate] == 0 && !location.journey.isInTunnel(at: now)
    guard isTrusted else { return location.comparison.distrust() }
    location.comparison.trustedSince = location.comparison.trustedSince ?? now
    let place = location.journey.place(at: now).coordinate
    let earlier = location.comparison.entries
    location.comparison.entries = [:]
    for (key, region, known) in checkers.monitoredRegions {
      let entry = compare(region, known, place, earlier[key]?[region.id])
      location.comparison.entries[key, default: [:]][region.id] = entry
      check(entry, of: key)
    }
  }

  private func compare(
    _ region: Region, _ known: Bool?, _ place: Coordinate, _ earlier: LocationComparison.Entry?
  ) -> LocationComparison.Entry {
    let distance = region.center.distance(to: place)
    let isInside: Bool? =
      if distance <= region.radius - Self.clearance {
        true
      } else if distance >= region.radius + Self.clearance {
        false
      } else {
        nil
      }
    var entry = LocationComparison.Entry(
      region: region, known: known, isInside: isInside, since: now, wasRight: false)
    if let earlier, earlier.region == region, earlier.known == known {
      entry.wasRight = earlier.wasRight
      if earlier.isInside == isInside { entry.since = earlier.since }
    }
    if isInside != nil, isInside == known { entry.wasRight = true }
    return entry
  }

  private func check(_ entry: LocationComparison.Entry, of key: ApplicationKey) {
    guard let isInside = entry.isInside, isInside != entry.known,
      let trustedSince = location.comparison.trustedSince, trustedSince + Self.lookMax <= now
    else { return }
    // If the scheduler has never known the right side, it has not missed a crossing. It may then
    // wait for the next look, so the limit is longer.
    let limit =
      entry.wasRight
      ? Self.noticeMax + Nanoseconds.of(checkers.policy.regionDwell) : Self.lookMax
    guard entry.since + limit <= now else { return }
    report(
      "crossings",
      "the machine has been \(isInside ? "inside" : "outside") region \(entry.region.id.name) of "
        + "\(key.id.name) for \((now - entry.since) / Nanoseconds.second) s, but the scheduler has "
        + "not noticed")
  }
}
