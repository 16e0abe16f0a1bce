// When a receiver must run (contract §17): while an application uses continuous updates, and during
// looks. A look is the time in which a receiver determines the location for regions and significant
// changes. `UserLocation` determines when looks are due.

extension Scheduler {
  /// What the sources must do at present.
  public var locationNeeds: LocationNeeds { location.needs }

  /// The earliest instant at which a look begins, or at which `LocationFixTime` of a look ends; nil
  /// if no look is planned or in progress.
  var nextLook: Instant? {
    if location.users.isEmpty { return nil }
    return location.users.values.lazy.compactMap { user in
      switch user.look {
      case .idle: nil
      case .due(let at): at
      case .under(let since, _): since.advanced(by: policy.locationFixTime)
      }
    }.min()
  }

  /// The instant at which the next look begins; nil if no look is planned. A sleeping machine must
  /// wake for the look.
  var nextLookDue: Instant? {
    if location.users.isEmpty { return nil }
    return location.users.values.lazy.compactMap(\.dueAt).min()
  }

  /// Begins the looks that are due, and ends those that took `LocationFixTime`.
  mutating func looksDue(in turn: inout Turn) {
    if location.users.isEmpty { return }
    var hasChanged = false
    for user in location.users.sortedKeys {
      guard let look = location.users[user]?.look else { continue }
      switch look {
      case .idle: break
      case .due(let at):
        guard at <= turn.instant else { continue }
        beginLook(of: user, in: turn)
        hasChanged = true
      case .under(let since, _):
        guard since.advanced(by: policy.locationFixTime) <= turn.instant else { continue }
        location.users[user]?.lookFailed(at: turn.instant)
        hasChanged = true
      }
    }
    guard hasChanged else { return }
    planLooks(in: &turn)
    useWakeUp(in: &turn)
  }

  /// Begins the looks that are due soon, because the machine is awake anyway. Skips the looks that
  /// are already due: the deadline begins them, or the current event brings the location. If the
  /// last look found no location, the next look does not begin early.
  mutating func lookEarly(in turn: Turn) {
    if location.users.isEmpty { return }
    for user in location.users.sortedKeys {
      guard let one = location.users[user], let due = one.dueAt, let last = one.locatedAt,
        due > turn.instant, one.retry == nil,
        turn.instant.duration(to: due) <= last.duration(to: due) / 4
      else { continue }
      beginLook(of: user, in: turn)
    }
  }

  /// Begins a look if a source can determine the location. A location that an operator posted
  /// counts as a source only for `LocationFixTime`, so there may be no source any more.
  private mutating func beginLook(of user: UserID, in turn: Turn) {
    let canLocate = location.canLocate(user, at: turn.instant)
    location.users[user]?.look = canLocate ? .under(since: turn.instant, found: false) : .idle
  }

  /// The maximum uncertainty, in meters, with which a location ends a look for regions. Source:
  /// this project; the minimum radius of a region.
  private static let lookRadiusMax = 100.0

  mutating func endLook(of user: UserID, by found: Location) {
    guard location.users[user]?.isUnderWay == true else { return }
    if found.radius <= Self.lookRadiusMax || !looksForRegions(user) {
      location.users[user]?.look = .idle
    }
  }

  private func looksForRegions(_ user: UserID) -> Bool {
    location.applications.contains { key, application in
      key.owner == user && !application.regions.isEmpty && isAuthorized(key, .regions)
    }
  }

  /// Determines the next look of each user.
  mutating func planLooks(in turn: inout Turn) {
    let running = location.updates.keys.compactMap { instances[$0]?.application.owner }
    let monitoring = location.applications.lazy.filter { $0.value.monitors }.map(\.key.owner)
    let users = Set(running).union(monitoring)
    for user in location.users.keys where !users.contains(user) {
      guard location.users[user]?.postedUntil.map({ $0 <= turn.instant }) ?? true else { continue }
      location.users[user] = nil
    }
    for user in users.sorted() {
      var one = location.users[user] ?? UserLocation()
      let next = location.canLocate(user, at: turn.instant) ? nextLook(of: user, one) : nil
      switch (one.look, next) {
      case (_, nil): one.look = .idle
      case (.under, _): break
      case (.idle, let at?), (.due, let at?):
        let earliest = max(at, one.retry?.at ?? at)
        one.look =
          earliest <= turn.instant ? .under(since: turn.instant, found: false) : .due(at: earliest)
      }
      location.users[user] = one
    }
  }

  private func nextLook(of user: UserID, _ one: UserLocation) -> Instant? {
    var next: Instant?
    for (key, application) in location.applications where key.owner == user {
      if isAuthorized(key, .regions) {
        next = earlier(next, one.nextLook(for: application.regions, dwell: policy.regionDwell))
      }
      if isAuthorized(key, .significantChanges) {
        next = earlier(
          next, one.nextLook(for: application.reference, hasRadio: location.hasRadio))
      }
    }
    return next
  }

  /// Adapts the state to a change of the location services: the entitlements by continuous updates,
  /// the questions about consent, the waiting reports, and the times of the looks.
  mutating func reconsiderLocation(in turn: inout Turn) {
    for id in location.updates.sortedKeys {
      if let key = instances[id]?.application { updateLocating(of: key, in: &turn) }
    }
    for key in location.applications.sortedKeys
    where location.applications[key]?.isAsking == true && authorization(of: key) != .notDetermined {
      location.change(key) { $0.isAsking = false }
      turn.emit(.location(.ask(key, false)))
    }
    for (key, application) in location.applications where !application.waiting.isEmpty {
      for service in [LocationService.significantChanges, .regions]
      where !isAuthorized(key, service) {
        location.change(key) { $0.dropWaiting(of: service) }
      }
    }
    if !location.isIdle { planLooks(in: &turn) }
  }

  // MARK: Needs

  /// Tells the sources the needs of the applications, if the needs have changed. Call this at the
  /// end of each ``Turn``.
  mutating func updateLocationNeeds(in turn: inout Turn) {
    if location.isIdle { return }
    var needs = LocationNeeds()
    var users: Set<UserID> = []
    func need(_ accuracy: LocationAccuracy, _ user: UserID) {
      needs.accuracy = max(needs.accuracy ?? accuracy, accuracy)
      users.insert(user)
    }
    for (id, updates) in location.updates {
      guard let instance = instances.boxes[id]?.value, instance.state != .suspended,
        instance.termination == nil, isAuthorized(instance.application, .updates)
      else { continue }
      need(updates.request.desiredAccuracy, instance.application.owner)
    }
    for (user, one) in location.users where one.isUnderWay {
      need(looksForRegions(user) ? .tenMeters : .hundredMeters, user)
    }
    if !location.sources.contains(.gpsd) {
      needs.users = users.filter { location.sources.contains(.geoClue($0)) }.sorted()
    }
    needs.watchesRadio = location.applications.contains { key, application in
      application.reference != nil && isAuthorized(key, .significantChanges)
    }
    guard needs != location.needs else { return }
    location.needs = needs
    turn.emit(.location(.need(needs)))
  }

  // MARK: Status

  /// Returns the applications whose questions wait for the answer of a user, ordered by id.
  public func locationQuestions(for user: UserID) -> [ApplicationKey] {
    location.applications.filter { $0.key.owner == user && $0.value.isAsking }.sortedKeys
  }

  /// Returns the regions that an application monitors, in the order of their ids.
  public func monitoredRegions(
    of key: ApplicationKey
  ) -> [StoredLocationServices.MonitoredRegion] {
    let regions = location.applications[key]?.regions ?? [:]
    return regions.sortedByKey.map {
      .init($0.value.region, isInside: $0.value.isInside)
    }
  }

  public var locationStatus: LocationStatus {
    let running = location.updates.keys.compactMap { instances[$0]?.application }
    let keys = Set(location.applications.keys).union(running).sorted()
    return LocationStatus(
      sources: location.sources.reduce(into: [:]) { $0[$1] = true }, needs: location.needs,
      uses: keys.map { use(of: $0) }, locations: location.users.compactMapValues(\.location),
      nextLooks: location.users.compactMapValues(\.dueAt),
      postedUntil: location.users.compactMapValues(\.postedUntil),
      postedForAllUntil: location.postedUntil)
  }

  private func use(of key: ApplicationKey) -> LocationStatus.Use {
    var use = LocationStatus.Use(
      application: key, authorization: authorization(of: key),
      updates: applications[key]?.instance.flatMap { location.updates[$0]?.request },
      monitorsSignificantChanges: location.applications[key]?.reference != nil,
      regions: monitoredRegions(of: key), lastUsed: location.applications[key]?.lastUsed)
    // If the application uses no service, all services are checked. The manifest then counts as the
    // reason for the denial only if it names no service.
    let services = use.services.isEmpty ? LocationService.allCases : use.services
    let denials = services.map { denial(of: key, $0) }
    if denials.allSatisfy({ $0 == denials[0] }) { use.denial = denials[0] }
    if use.denial != nil {
      use.authorization = .denied
    } else if use.authorization == .denied {
      use.denial = .user
    }
    // While an application is not authorized, the scheduler does not update whether the machine is
    // inside a region. The stored value may be wrong.
    if use.authorization != .authorized {
      for index in use.regions.indices { use.regions[index].isInside = nil }
    }
    return use
  }
}

extension UserLocation {
  /// Returns the instant at which the regions of an application need the next location.
  func nextLook(for regions: [RegionID: RegionMonitor], dwell: Duration) -> Instant? {
    if regions.isEmpty { return nil }
    guard let location, let locatedAt else { return Instant(nanoseconds: 0) }
    var next = locatedAt.advanced(by: Self.intervals.upperBound)
    for monitor in regions.values {
      if let candidate = monitor.candidate {
        next = min(next, candidate.since.advanced(by: dwell))
      } else {
        let time = monitor.timeToBoundary(from: location)
        let wait = min(max(time, Self.intervals.lowerBound), Self.intervals.upperBound)
        next = min(next, locatedAt.advanced(by: wait))
      }
    }
    return next
  }

  /// Returns the instant at which the significant changes of an application need the next location.
  ///
  /// - Parameter hasRadio: Whether a radio source is available. If so, no location is needed until
  ///   the source has reported that the machine moved.
  func nextLook(for reference: ApplicationLocation.Reference?, hasRadio: Bool) -> Instant? {
    switch reference {
    case nil: return nil
    case .awaited, .unknown: return Instant(nanoseconds: 0)
    case .told(_, let at):
      let earliest = max(at, locatedAt ?? at).advanced(by: Self.changeInterval)
      return hasRadio ? movedAt.map { max($0, earliest) } : earliest
    }
  }
}
