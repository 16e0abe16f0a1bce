import TaskSchedulerCore

// Applications that use the location, users that answer questions, and operators that authorize
// applications and simulate locations.
extension Simulation {
  /// After some of the numbered actions, performs one action about the location.
  func actOnLocation(_ number: Int) {
    var chance = SeededGenerator(seed: options.seed, .location, UInt64(number))
    guard configuration.usesLocation, chance.happens(300) else { return }
    switch chance.below(100) {
    case 0..<60: requestLocation(&chance)
    case 60..<74: decideOnLocation(&chance)
    case 74..<82: postLocation(&chance)
    case _: changeSource(&chance)
    }
  }

  // MARK: Applications

  /// Lets an application make a request. The application may be suspended, may be terminating, or
  /// may no longer exist when the daemon receives the call.
  private func requestLocation(_ chance: inout SeededGenerator) {
    // A late call may be from a process that has since ended or been stopped.
    let isLate = chance.happens(100)
    let callers = processes.indices.suffix(16).filter {
      processes[$0].instance != nil
        && (isLate || processes[$0].isAlive && !processes[$0].isStopped)
    }
    if chance.happens(30) {
      let unknown = InstanceID(1 << 40)
      return send(.location(locationRequest(request(nil), unknown, &chance)))
    }
    guard !callers.isEmpty else { return }
    let index = chance.pick(callers)
    guard let id = processes[index].instance else { return }
    // Some applications begin to monitor several regions at once.
    for _ in 0..<(chance.happens(200) ? 1 + chance.below(8) : 1) {
      send(.location(locationRequest(request(index), id, &chance)))
    }
  }

  private func locationRequest(
    _ request: RequestID, _ id: InstanceID, _ chance: inout SeededGenerator
  ) -> LocationEvent {
    switch chance.below(20) {
    case 0..<4:
      let filter = chance.pick([nil, nil, 0, 50, 500] as [Double?])
      return .startUpdates(
        request, id,
        LocationRequest(
          desiredAccuracy: chance.pick(LocationAccuracy.allCases), distanceFilter: filter))
    case 4..<8: return .stopUpdates(request, id)
    case 8..<10: return .monitorSignificantChanges(request, id)
    case 10: return .stopMonitoringSignificantChanges(request, id)
    case 11..<17:
      return .startMonitoring(request, id, configuration.region(location.journey, &chance))
    case 17, 18: return .stopMonitoring(request, id, configuration.regionID(&chance))
    case _: return .requestAuthorization(request, id)
    }
  }

  // MARK: Users and operators

  private static let authorizations: [LocationAuthorization] = [
    .authorized, .authorized, .denied, .notDetermined,
  ]

  private func decideOnLocation(_ chance: inout SeededGenerator) {
    if chance.happens(300) {
      configurationLast += 1
      return post(.location(.rulesChanged(configuration.locationRules(configurationLast))))
    }
    let key = chance.pick(configuration.keys + [Workload.unknownKey])
    if chance.happens(100) { return send(.location(.forget(request(nil), key))) }
    send(.location(.authorize(request(nil), key, chance.pick(Self.authorizations))))
  }

  /// Asks the user about an application. Some users never answer.
  func ask(_ key: ApplicationKey) {
    location.questions.insert(key)
    var chance = drawLocation()
    guard !isSettling, chance.happens(750) else { return }
    let authorization: LocationAuthorization = chance.happens(750) ? .authorized : .denied
    let delay = chance.below(chance.pick([5, 60]) * Nanoseconds.second)
    schedule(after: delay, .location(.answer(key, authorization)))
  }

  /// Answers a question that the user still sees.
  func answer(_ key: ApplicationKey, _ authorization: LocationAuthorization) {
    guard isUp, location.questions.contains(key) else { return }
    post(.location(.authorize(nil, key, authorization)))
  }

  private func postLocation(_ chance: inout SeededGenerator) {
    let user = chance.pick([nil] + configuration.keys.map(\.owner))
    let place: SimulatedPlace =
      switch chance.below(4) {
      case 0: location.journey.place(at: now)
      case 1: chance.pick(location.journey.places).moved(by: chance.between(0, 90_000), &chance)
      case _: chance.pick(location.journey.places)
      }
    postLocation(place, for: user, again: chance.happens(700) ? 1 + chance.below(6) : 0)
  }

  func postLocation(_ place: SimulatedPlace, for user: UserID?, again: Int) {
    if isSettling { return }
    var chance = drawLocation()
    location.comparison.distrust()
    let accuracy = chance.pick([nil, 5, 40, 300] as [Double?])
    send(
      .location(
        .posted(
          request(nil), Location(place.coordinate, accuracy: accuracy, time: wallClock), for: user)
      ))
    guard again > 0 else { return }
    let delay = chance.pick([1, 8, 15]) * Nanoseconds.second
    schedule(after: delay, .location(.post(place, for: user, again: again - 1)))
  }
}
