import TaskSchedulerCore

// The locations that sources report, and the looks for regions and significant changes
// (contract.md#location).
extension ObservedState {
  // MARK: Locations

  func located(_ source: LocationSource, _ found: Location) {
    guard location.sources.contains(source) else { return }
    for user in location.users.keys.sorted() {
      let isServed: Bool =
        switch source {
        case .gpsd: true
        case .geoClue(let own): own == user
        case .cell, .accessPoint: false
        }
      let isLate = location.users[user]?.isLate(found) ?? false
      if isServed, !isLate, !location.isPosted(for: user, at: instant) { take(found, for: user) }
    }
  }

  func posted(_ request: RequestID, _ found: Location, for user: UserID?) {
    location.reply = (request, .done)
    let end = instant.advanced(by: policy.locationFixTime)
    if let user {
      location.users[user, default: ObservedUserLocation()].postedUntil = end
      take(found, for: user)
    } else {
      location.postedUntil = end
      for user in location.users.keys.sorted() { take(found, for: user) }
    }
  }

  private func take(_ found: Location, for user: UserID) {
    location.users[user]?.newest = (found, instant)
    location.users[user]?.movedAt = nil
    location.users[user]?.retry = nil
    if case .underWay(let since, _) = location.users[user]?.look {
      location.users[user]?.look = .underWay(since: since, hasFound: true)
    }
    tellUpdates(found, to: user)
    for key in location.applications.keys.sorted() where key.owner == user {
      if mayLocate(key, .regions) { cross(found, key) }
      if mayLocate(key, .significantChanges) { moveSignificantly(found, key) }
      location.mustTell.insert(key)
    }
    // An inaccurate location does not show on which side of a boundary the machine is, so the look
    // continues.
    guard found.uncertainty <= 100 || !looksForRegions(user) else { return }
    location.users[user]?.isUnsure = false
    if location.users[user]?.isLooking == true { location.users[user]?.look = .idle }
  }

  private func tellUpdates(_ found: Location, to user: UserID) {
    for id in location.updates.keys.sorted() {
      guard let instance = self[id], instance.key.owner == user, instance.hasStream,
        instance.ending == nil, instance.state != .suspended, !instance.isStopping,
        instance.audio.muteDue == nil,
        mayLocate(instance.key, .updates), let (request, told) = location.updates[id]
      else { continue }
      if let told, let filter = request.distanceFilter,
        told.coordinate.distance(to: found.coordinate) < filter
      {
        continue
      }
      location.updates[id]?.told = found
      location.change(instance.key) { $0.wasTold = true }
      location.messages.append(.init(instance: id, location: found))
    }
  }

  private func cross(_ found: Location, _ key: ApplicationKey) {
    for id in (location.applications[key]?.regions ?? [:]).keys.sorted() {
      guard var region = location.applications[key]?.regions[id] else { continue }
      let side = region.take(found, at: instant, dwell: policy.regionDwell)
      location.change(key) { $0.regions[id] = region }
      guard let side else { continue }
      let crossing = RegionCrossing(id, isInside: side.isInside)
      let isTold = side.isInside ? region.region.notifiesOnEntry : region.region.notifiesOnExit
      if side.isCrossing, isTold {
        location.change(key) { $0.add(.crossing(crossing, found)) }
      } else {
        expectReport(crossing, of: key)
      }
    }
  }

  private func moveSignificantly(_ found: Location, _ key: ApplicationKey) {
    let isTold: Bool
    switch location.applications[key]?.reference {
    case nil: return
    case .awaited: isTold = true
    case .unknown: isTold = false
    case .told(let last, let at):
      guard found.uncertainty <= 500, last.coordinate.distance(to: found.coordinate) >= 500,
        at.advanced(by: .seconds(300)) <= instant
      else { return }
      isTold = true
    }
    location.change(key) { use in
      use.reference = .told(found, at: instant)
      if isTold { use.add(.change(found)) }
    }
  }

  // MARK: Looks

  func looksForRegions(_ user: UserID) -> Bool {
    location.applications.contains { key, use in
      key.owner == user && !use.regions.isEmpty && mayLocate(key, .regions)
    }
  }

  /// Determines the next look of each user.
  func planLooks() {
    var using = Set(location.updates.keys.compactMap { self[$0]?.key.owner })
    for (key, use) in location.applications where use.monitors { using.insert(key.owner) }
    for (user, one) in location.users where !using.contains(user) {
      if let end = one.postedUntil, instant < end { continue }
      location.users[user] = nil
    }
    for user in using {
      var one = location.users[user] ?? ObservedUserLocation()
      let next = location.canLocate(user, at: instant) ? nextLook(of: user, one) : nil
      if let next {
        if !one.isLooking {
          let due = max(next, one.retry?.at ?? next)
          one.look = due <= instant ? .underWay(since: instant, hasFound: false) : .due(at: due)
        }
      } else {
        one.look = .idle
        one.isUnsure = false
      }
      location.users[user] = one
    }
  }

  private func nextLook(of user: UserID, _ one: ObservedUserLocation) -> Instant? {
    var dues: [Instant] = []
    for (key, use) in location.applications where key.owner == user {
      if mayLocate(key, .regions) { dues += nextLooks(for: use.regions, one) }
      if mayLocate(key, .significantChanges) {
        dues += nextLook(for: use.reference, one).map { [$0] } ?? []
      }
    }
    return dues.min()
  }

  private func nextLooks(
    for regions: [RegionID: ObservedRegion], _ one: ObservedUserLocation
  ) -> [Instant] {
    if regions.isEmpty { return [] }
    guard let (newest, at) = one.newest else { return [Instant(nanoseconds: 0)] }
    return regions.values.map { region in
      if let other = region.other { return other.since.advanced(by: policy.regionDwell) }
      let time = region.timeToBoundary(from: newest)
      return at.advanced(by: min(max(time, .seconds(60)), .seconds(900)))
    } + [at.advanced(by: .seconds(900))]
  }

  private func nextLook(
    for reference: ObservedLocationUse.Reference?, _ one: ObservedUserLocation
  ) -> Instant? {
    switch reference {
    case nil: return nil
    case .awaited, .unknown: return Instant(nanoseconds: 0)
    case .told(_, let at):
      let earliest = max(at, one.newest?.at ?? at).advanced(by: .seconds(300))
      return location.hasRadio ? one.movedAt.map { max($0, earliest) } : earliest
    }
  }

  /// Restarts `LocationFixTime` for the looks in progress, because no receiver ran while the daemon
  /// was absent.
  func looksRecovered() {
    for (user, one) in location.users {
      guard case .underWay(_, let hasFound) = one.look else { continue }
      location.users[user]?.look = .underWay(since: instant, hasFound: hasFound)
    }
  }

  /// Begins the looks that are due when a deadline is reached, and ends those that took too long.
  func lookDeadlineReached() {
    var hasChanged = false
    for user in location.users.keys.sorted() {
      switch location.users[user]?.look {
      case nil, .idle: break
      case .due(let at):
        guard at <= instant else { continue }
        location.users[user]?.look = .underWay(since: instant, hasFound: false)
        hasChanged = true
      case .underWay(let since, let hasFound):
        guard since.advanced(by: policy.locationFixTime) <= instant else { continue }
        location.users[user]?.look = .idle
        if !hasFound { waitLonger(user) }
        hasChanged = true
      }
    }
    location.hasLooked = hasChanged
    if hasChanged { planLooks() }
  }

  private func waitLonger(_ user: UserID) {
    let last = location.users[user]?.retry?.delay
    let delay = min(last.map { $0 * 2 } ?? .seconds(60), .seconds(900))
    location.users[user]?.retry = (delay, instant.advanced(by: delay))
  }

  /// If a burst of keep-alive handlers, data or a notification has woken the machine, begins the
  /// looks that are due soon. If a call of a handler already waits, the checkers do not see another
  /// call, and may therefore miss a burst.
  func lookEarly() {
    let isUnsure = !location.hasWoken && live.contains(where: \.hasCallWaiting)
    guard location.hasWoken || isUnsure else { return }
    for (user, one) in location.users {
      guard case .due(let due) = one.look, let last = one.newest?.at,
        due > instant, one.retry == nil,
        instant.duration(to: due) <= last.duration(to: due) / 4
      else { continue }
      if isUnsure {
        location.users[user]?.isUnsure = true
      } else {
        let canLocate = location.canLocate(user, at: instant)
        location.users[user]?.look =
          canLocate ? .underWay(since: instant, hasFound: false) : .idle
      }
    }
  }

  // MARK: Needs

  /// Returns the needs that the daemon must have reported to the sources; nil if the checkers
  /// cannot know them.
  func rightfulNeeds() -> LocationNeeds? {
    var wanted: [UserID: LocationAccuracy] = [:]
    func want(_ accuracy: LocationAccuracy, _ user: UserID) {
      wanted[user] = max(wanted[user] ?? accuracy, accuracy)
    }
    for (id, updates) in location.updates {
      guard let instance = self[id], instance.state != .suspended, instance.ending == nil,
        mayLocate(instance.key, .updates)
      else { continue }
      want(updates.request.desiredAccuracy, instance.key.owner)
    }
    for (user, one) in location.users {
      if one.isUnsure { return nil }
      if one.isLooking { want(looksForRegions(user) ? .tenMeters : .hundredMeters, user) }
    }
    let users = location.sources.contains(.gpsd)
      ? [] : wanted.keys.filter { location.sources.contains(.geoClue($0)) }.sorted()
    let watchesRadio = location.applications.contains { key, use in
      use.reference != nil && mayLocate(key, .significantChanges)
    }
    return LocationNeeds(
      accuracy: wanted.values.max(), users: users, watchesRadio: watchesRadio)
  }

  /// The monitored regions of the applications that may learn the location, ordered by application
  /// and id.
  var monitoredRegions: [(key: ApplicationKey, region: Region, isInside: Bool?)] {
    location.applications.keys.sorted().filter { mayLocate($0, .regions) }.flatMap { key in
      (location.applications[key]?.regions ?? [:]).values.sorted { $0.region.id < $1.region.id }
        .map { (key, $0.region, $0.isInside) }
    }
  }

  // MARK: Telling

  func apply(_ effect: LocationEffect) {
    switch effect {
    case .need(let needs): location.needs = needs
    case .store(let id, let key, let change): note(id, key, change)
    case .ask: break
    }
  }

  /// Records that the daemon delivered the oldest waiting report of an application to an instance,
  /// and removes this report from those that wait.
  func told(_ id: CallbackID, _ instance: ObservedInstance) {
    if instance.handledEvents.contains(where: { $0.id == id }) { return }
    instance.handledEvents.append((id, now + limits.eventTime))
    location.change(instance.key) { use in
      use.wasTold = true
      if !use.waiting.isEmpty { use.waiting.removeFirst() }
    }
  }
}
