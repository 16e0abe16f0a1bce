import TaskSchedulerCore

/// The sources of locations of the simulated machine.
struct SimulatedLocation {
  var journey: SimulatedJourney
  /// Whether each source is available. The sources that are not in the dictionary do not exist.
  var sources: [LocationSource: Bool] = [:]
  /// The needs in the daemon's last message to the sources.
  var needs = LocationNeeds()
  /// A number that changes whenever the receivers are turned on or off. A planned fix with an
  /// earlier number does not happen.
  var fixGeneration = 0
  /// A number that changes whenever the radio watch is turned on or off. A planned change of the
  /// cell or of the access point with an earlier number does not happen.
  var radioGeneration = 0
  /// The place at which the cell or the access point last changed, and the distance from this place
  /// beyond which it changes again.
  var radio = (place: SimulatedPlace(east: 0, north: 0), range: 1000.0)
  /// The applications about which the users are asked.
  var questions: Set<ApplicationKey> = []
  /// The number of streams of random numbers that `drawLocation()` has returned.
  var draws: UInt64 = 0
  var comparison = LocationComparison()

  init(seed: UInt64, at now: UInt64, sources: [LocationSource]) {
    journey = SimulatedJourney(seed: seed, at: now)
    for source in sources { self.sources[source] = true }
  }

  /// The sources that report locations at present, in a fixed order.
  var receivers: [LocationSource] {
    guard needs.accuracy != nil else { return [] }
    let all = [LocationSource.gpsd] + needs.users.map { .geoClue($0) }
    return all.filter { sources[$0] == true }
  }

  var hasRadio: Bool { sources[.cell] == true || sources[.accessPoint] == true }
}

/// A planned event about the location.
enum PlannedLocationEvent {
  /// The receivers find the position.
  case fix(generation: Int)
  /// The modem and the network look for a new cell or access point.
  case radio(generation: Int)
  /// A source appears or disappears.
  case sourceChange(LocationSource)
  /// A user answers the question about an application.
  case answer(ApplicationKey, LocationAuthorization)
  /// An operator posts a location. Later, the operator posts `again` more locations.
  case post(SimulatedPlace, for: UserID?, again: Int)
  /// The simulation compares what the scheduler knows with the true position.
  case comparison
  /// The store writes waiting changes.
  case storeWrites(generation: Int)
  /// The store has reported all results of the last write.
  case storeRests(generation: Int)
  /// The daemon receives a result of the store.
  case storeAnswers(LocationEvent, generation: Int)
}

// The sources report locations while the daemon needs locations. Sources report late, twice and
// wrongly, and they vanish and return.
extension Simulation {
  /// Returns a new stream of random numbers, for a choice about the location that does not belong
  /// to a numbered action.
  func drawLocation() -> SeededGenerator {
    location.draws += 1
    return SeededGenerator(seed: options.seed, .fixes, location.draws)
  }

  /// Posts the contents of the store, the settings and the available sources to the first daemon.
  func startLocation() {
    guard configuration.usesLocation else { return }
    let stored = configuration.storedLocationServices(location.journey)
    locationStore.load(stored)
    post(.location(.loaded(stored)))
    post(.location(.rulesChanged(configuration.locationRules(0))))
    reportSources()
    planComparison()
  }

  /// Reports which sources are available, to a daemon that has just started.
  func reportSources() {
    for source in configuration.locationSources where isUp {
      let isAvailable = location.sources[source] ?? false
      post(.location(.sourceChanged(source, isAvailable: isAvailable)))
    }
  }

  func perform(_ planned: PlannedLocationEvent) {
    switch planned {
    case .fix(let generation): if generation == location.fixGeneration { reportFixes() }
    case .radio(let generation): if generation == location.radioGeneration { reportRadio() }
    case .sourceChange(let source): toggle(source)
    case .answer(let key, let authorization): answer(key, authorization)
    case .post(let place, let user, let again): postLocation(place, for: user, again: again)
    case .comparison: compareWithTruth()
    case .storeWrites(let generation):
      if isUp, generation == recoveryCount { locationStore.write(in: self) }
    case .storeRests(let generation):
      if isUp, generation == recoveryCount { locationStore.rest(in: self) }
    case .storeAnswers(let event, let generation):
      // A result dies with the daemon that requested it.
      if isUp, generation == recoveryCount { post(.location(event)) }
    }
  }

  // MARK: Effects

  func carryOut(_ effect: LocationEffect) {
    switch effect {
    case .need(let needs): take(needs)
    case .store(let id, let key, let change):
      locationStore.carryOut(id, key, change, in: self)
    case .ask(let key, true): ask(key)
    case .ask(let key, false): location.questions.remove(key)
    }
  }

  private func take(_ needs: LocationNeeds) {
    let before = location.needs
    location.needs = needs
    if (needs.accuracy == nil) != (before.accuracy == nil) {
      location.fixGeneration += 1
      planFix()
    }
    if needs.watchesRadio != before.watchesRadio {
      location.radioGeneration += 1
      location.radio.place = location.journey.place(at: now)
      planRadio()
    }
  }

  private func planFix() {
    guard location.needs.accuracy != nil else { return }
    var chance = drawLocation()
    let delay = chance.pick([1, 3, 8, 10]) * Nanoseconds.second
    schedule(
      after: delay - chance.below(Nanoseconds.second / 2),
      .location(.fix(generation: location.fixGeneration)))
  }

  private func planRadio() {
    // At the end of a run, the applications still monitor significant changes, so the daemon does
    // not end the radio watch. Without this check, the planned events would never end.
    guard location.needs.watchesRadio, !location.comparison.isOver else { return }
    var chance = drawLocation()
    schedule(
      after: (5 + chance.below(25)) * Nanoseconds.second,
      .location(.radio(generation: location.radioGeneration)))
  }

  // MARK: Locations

  private func reportFixes() {
    guard isUp else { return }
    for source in location.receivers where !location.journey.isInTunnel(at: now) {
      var chance = drawLocation()
      reportFix(of: source, &chance)
    }
    planFix()
  }

  private func reportFix(of source: LocationSource, _ chance: inout SeededGenerator) {
    let event = Event.location(.located(source, fix(of: source, &chance)))
    if chance.happens(faults[.locationsAreLate]) {
      schedule(after: chance.below(40 * Nanoseconds.second), .arrives(event))
      if chance.happens(500) { return }
    }
    post(event)
  }

  private func fix(of source: LocationSource, _ chance: inout SeededGenerator) -> Location {
    var place = location.journey.place(at: now)
    var accuracy = chance.pick(source == .gpsd ? [3, 5, 8, 20, 60] : [15, 40, 90, 300, 1200.0])
    var error = accuracy * chance.between(0, 0.7)
    var isKnown = source != .gpsd || chance.happens(900)
    if chance.happens(faults[.locationsAreWrong]) {
      switch chance.below(4) {
      case 0: error = chance.between(2_000, 80_000)
      case 1: error = accuracy * chance.between(1, 10)
      case 2: isKnown = false
      case _: accuracy = chance.pick([0, 700, 50_000])
      }
    }
    place = place.moved(by: error, &chance)
    // A receiver has its own clock. The clock of GeoClue is that of the machine.
    let time = source == .gpsd ? WallTime(nanoseconds: Int64(now) + Self.trueOffset) : wallClock
    return Location(
      place.coordinate, accuracy: isKnown ? accuracy : nil,
      speed: chance.happens(500) ? chance.between(0, 30) : nil, time: time)
  }

  /// The offset of the true time from the time since boot, in nanoseconds.
  private static let trueOffset: Int64 = 1_800_000_000_000_000_000

  /// Reports a new cell or access point if the machine has moved, or if the modem roams.
  private func reportRadio() {
    guard isUp else { return }
    var chance = drawLocation()
    let place = location.journey.place(at: now)
    let hasMoved = place.distance(to: location.radio.place) > location.radio.range
    if location.hasRadio, hasMoved || chance.happens(isSettling ? 0 : 15) {
      location.radio = (place, chance.between(500, 2000))
      post(.location(.moved))
    }
    planRadio()
  }

  // MARK: Sources

  private func toggle(_ source: LocationSource) {
    guard let isAvailable = location.sources[source] else { return }
    if isSettling, isAvailable { return }
    location.sources[source] = !isAvailable
    // A daemon that is down learns at its start which sources are available.
    if isUp { post(.location(.sourceChanged(source, isAvailable: !isAvailable))) }
  }

  /// Lets a source vanish, in most cases for a while, or lets a vanished source return.
  func changeSource(_ chance: inout SeededGenerator) {
    let sources = configuration.locationSources
    guard !sources.isEmpty else { return }
    let source = chance.pick(sources)
    let wasAvailable = location.sources[source] == true
    if wasAvailable, !chance.happens(faults[.sourcesVanish]) { return }
    toggle(source)
    if wasAvailable, chance.happens(800) {
      let delay = chance.pick([2, 60, 1000]) * Nanoseconds.second
      schedule(after: chance.below(delay), .location(.sourceChange(source)))
    }
  }

  func locationDaemonDied() {
    locationStore.daemonDied()
    location.needs = LocationNeeds()
    location.fixGeneration += 1
    location.radioGeneration += 1
  }

  /// Sets the needs and the questions after a takeover, as the new daemon reads them from the
  /// scheduler. Reports which sources are available.
  func takeOverLocation() {
    guard isUp else { return }
    take(pump.scheduler.locationNeeds)
    location.questions = []
    for user in Set(configuration.keys.map(\.owner)).sorted() {
      for key in pump.scheduler.locationQuestions(for: user) { ask(key) }
    }
    reportSources()
  }

  // MARK: The liveness phase

  func endLocationFaults() {
    for source in configuration.locationSources where location.sources[source] == false {
      toggle(source)
    }
  }

  /// Ends what would repeat forever: continuous updates or, with `isLast`, looks for a location.
  func endRepeatingLocation(isLast: Bool) {
    guard configuration.usesLocation else { return }
    if isLast {
      location.comparison.isOver = true
      for source in configuration.locationSources { location.sources[source] = false }
      return reportSources()
    }
    for (index, process) in processes.enumerated() where process.isAlive {
      if let id = process.instance { post(.location(.stopUpdates(request(index), id))) }
    }
  }
}
