import TaskSchedulerCore

// The use of the location in a run.
extension SimulatedConfiguration {
  /// Returns the random numbers for a choice that holds for the whole run.
  private func choice(_ number: UInt64) -> SeededGenerator {
    SeededGenerator(seed: seed, .location, UInt64.max - number)
  }

  /// Whether the applications of this run use the location.
  var usesLocation: Bool {
    var chance = choice(0)
    return chance.happens(600)
  }

  /// The sources of the machine.
  var locationSources: [LocationSource] {
    guard usesLocation else { return [] }
    var chance = choice(1)
    var sources: [LocationSource] = chance.happens(700) ? [.gpsd] : []
    for user in Set(keys.map(\.owner)).sorted() where chance.happens(500) {
      sources.append(.geoClue(user))
    }
    if chance.happens(400) { sources.append(.cell) }
    if chance.happens(300) { sources.append(.accessPoint) }
    return sources
  }

  /// Returns the services in a manifest after `index` changes of the manifests.
  func locationServices(_ manifest: Int, _ index: UInt64) -> [LocationService] {
    var chance = SeededGenerator(seed: seed, .location, 1 << 40 + index << 8 + UInt64(manifest))
    return LocationService.allCases.filter { _ in chance.happens(850) }
  }

  /// Returns the rules of the settings after `index` changes.
  func locationRules(_ index: UInt64) -> LocationRules {
    var chance = SeededGenerator(seed: seed, .location, 1 << 50 + index)
    if chance.happens(400) { return LocationRules() }
    let ids = Set(keys.map(\.id)).sorted()
    return LocationRules(
      allowed: ids.filter { _ in chance.happens(400) },
      denied: ids.filter { _ in chance.happens(100) }, allowsAll: chance.happens(150))
  }

  /// Sets the settings of the location, which stay the same for the whole run.
  func setLocation(in policy: inout Policy) {
    var chance = choice(2)
    policy.regionDwell = .milliseconds(10 + chance.below(30_000))
    policy.locationFixTime = .seconds(15 + chance.below(60))
    if chance.happens(500) { policy.regionsPerApplicationMax = 1 + chance.below(6) }
    if chance.happens(300) { policy.regionsPerUserMax = 2 + chance.below(12) }
    if chance.happens(200) { policy.locationApplicationsPerUserMax = 1 + chance.below(3) }
  }

  // MARK: Regions

  func regionID(_ chance: inout SeededGenerator) -> RegionID {
    let number = chance.below(chance.happens(700) ? 4 : 24)
    guard let id = RegionID("region-\(number)") else { preconditionFailure("not an id") }
    return id
  }

  /// Returns a region. Most regions are at the places of the journey, or on the way between them.
  func region(_ journey: SimulatedJourney, _ chance: inout SeededGenerator) -> Region {
    let place = chance.pick(journey.places)
    let isOnTheWay = chance.happens(300)
    var center = isOnTheWay
      ? place.onTheWay(to: chance.pick(journey.places), share: chance.share()) : place
    center = center.moved(by: chance.pick([1, 50, 300, 1500]), &chance)
    var radius = chance.pick([100, 150, 250, 400, 1000, 3000.0])
    if chance.happens(40) {
      radius = chance.pick(chance.happens(500) ? [Region.radii.lowerBound] : [50_000, 100_000])
      center = center.moved(by: radius, &chance)
    }
    let region = Region(
      regionID(&chance), center: center.coordinate, radius: radius,
      notifiesOnEntry: chance.happens(850), notifiesOnExit: chance.happens(850))
    guard let region else { preconditionFailure("the radius is out of bounds: \(radius)") }
    return region
  }

  /// Returns the contents of the store at the start of the run, which come from an earlier boot.
  func storedLocationServices(_ journey: SimulatedJourney) -> [StoredLocationServices] {
    var chance = choice(3)
    guard chance.happens(500) else { return [] }
    return keys.filter { _ in chance.happens(400) }.map { key in
      let authorization = chance.pick(
        [.authorized, .authorized, .denied, .notDetermined] as [LocationAuthorization])
      var stored = StoredLocationServices(
        application: key, authorization: authorization,
        wasAsked: authorization != .notDetermined || chance.happens(500),
        monitorsSignificantChanges: chance.happens(500))
      for _ in 0..<chance.below(4) {
        let region = region(journey, &chance)
        stored.regions.removeAll { $0.region.id == region.id }
        stored.regions.append(.init(region, isInside: chance.pick([nil, true, false])))
      }
      return stored
    }
  }
}
