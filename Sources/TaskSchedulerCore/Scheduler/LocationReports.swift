// The locations that sources report, and the reports that applications receive because of them
// (contract §17).

extension Scheduler {
  /// Takes a location of a source, for each user that the source serves.
  mutating func located(
    _ source: LocationSource, _ location: Location, in turn: inout Turn
  ) {
    guard self.location.sources.contains(source) else { return }
    let users = self.location.users.sortedKeys.filter { user in
      if case .geoClue(user: let other) = source, other != user { return false }
      let isLate = self.location.users[user]?.isLate(location) == true
      return !isLate && !self.location.isPosted(for: user, at: turn.instant)
    }
    take(location, for: users, in: &turn)
  }

  /// Takes a location that an operator simulates.
  mutating func posted(
    _ request: RequestID, _ location: Location, for user: UserID?, in turn: inout Turn
  ) {
    turn.reply(request, .done)
    let end = turn.instant.advanced(by: policy.locationFixTime)
    if let user {
      self.location.users[user, default: UserLocation()].postedUntil = end
      take(location, for: [user], in: &turn)
    } else {
      self.location.postedUntil = end
      take(location, for: self.location.users.sortedKeys, in: &turn)
    }
  }

  /// Takes a location for the given users.
  ///
  /// Sends the continuous updates of all users before the reports. A report can resume an
  /// application. The scheduler may then also call keep-alive handlers, and so resume applications
  /// of other users. These applications must not receive this location as an update.
  private mutating func take(_ location: Location, for users: [UserID], in turn: inout Turn) {
    for user in users {
      self.location.users[user]?.take(location, at: turn.instant)
      tellUpdates(location, to: user, in: &turn)
    }
    for user in users { report(location, to: user, in: &turn) }
  }

  private mutating func report(_ location: Location, to user: UserID, in turn: inout Turn) {
    let keys = self.location.applications.keys.filter { $0.owner == user }.sorted()
    for key in keys {
      if isAuthorized(key, .regions) { enterAndLeave(location, key, in: &turn) }
      if isAuthorized(key, .significantChanges) { moveSignificantly(location, key, in: &turn) }
      tellWaiting(of: key, in: &turn)
    }
    endLook(of: user, by: location)
  }

  private mutating func tellUpdates(
    _ location: Location, to user: UserID, in turn: inout Turn
  ) {
    for id in self.location.updates.sortedKeys {
      guard let instance = instances.boxes[id]?.value, instance.application.owner == user,
        instance.hasStream, instance.termination == nil, !instance.isSuspendedOrStopping,
        self.location.updates[id]?.wants(location) == true,
        isAuthorized(instance.application, .updates)
      else { continue }
      self.location.updates[id]?.told = location
      self.location.change(instance.application) { $0.lastUsed = turn.instant }
      turn.emit(.notify(id, .location(location)))
    }
  }

  private mutating func enterAndLeave(
    _ location: Location, _ key: ApplicationKey, in turn: inout Turn
  ) {
    let ids = self.location.applications[key]?.regions.sortedKeys ?? []
    for id in ids {
      var monitor = self.location.applications[key]?.regions[id]
      guard let outcome = monitor?.take(location, at: turn.instant, dwell: policy.regionDwell),
        let monitor
      else { continue }
      self.location.change(key) { $0.regions[id] = monitor }
      switch outcome {
      case .unchanged: break
      case .found(let isInside):
        storeReport(RegionCrossing(id, isInside: isInside), of: key, in: &turn)
      case .crossed(let isInside):
        crossed(RegionCrossing(id, isInside: isInside), monitor.region, location, key, in: &turn)
      }
    }
  }

  private mutating func crossed(
    _ crossing: RegionCrossing, _ region: Region, _ location: Location, _ key: ApplicationKey,
    in turn: inout Turn
  ) {
    record(.location(.regionCrossed(crossing)), of: key, in: &turn)
    if crossing.isInside ? region.notifiesOnEntry : region.notifiesOnExit {
      self.location.change(key) { $0.add(.crossing(crossing, location)) }
    } else {
      storeReport(crossing, of: key, in: &turn)
    }
  }

  /// The minimum distance between two significant changes, and the maximum uncertainty of a
  /// location that shows such a change, both in meters. Source: contract §17, as on iOS.
  private static let significantDistance = 500.0

  private mutating func moveSignificantly(
    _ location: Location, _ key: ApplicationKey, in turn: inout Turn
  ) {
    let isTold: Bool
    switch self.location.applications[key]?.reference {
    case nil: return
    case .awaited: isTold = true
    case .unknown: isTold = false
    case .told(let last, let at):
      guard location.radius <= Self.significantDistance,
        last.coordinate.distance(to: location.coordinate) >= Self.significantDistance,
        at.advanced(by: UserLocation.changeInterval) <= turn.instant
      else { return }
      isTold = true
    }
    self.location.change(key) {
      $0.reference = .told(location, at: turn.instant)
      if isTold { $0.add(.significantChange(location)) }
    }
  }

  // MARK: Telling applications

  /// Sends an application the reports that wait for it. Resumes a suspended application. If the
  /// application does not run, launches it if possible.
  mutating func tellWaiting(of key: ApplicationKey, in turn: inout Turn) {
    guard location.applications[key]?.waiting.isEmpty == false else { return }
    guard let application = applications[key] else { return }
    guard let id = application.instance else {
      guard application.launching == nil, application.isLaunchable,
        application.manifest?.multitasking == true, policy.multitaskingSupported,
        application.relaunch?.isBarred != true
      else { return }
      return launch(nil, key, target: .background, reason: .location, in: &turn)
    }
    var hasWoken = false
    while let instance = instances.boxes[id]?.value, instance.hasStream,
      instance.termination == nil,
      instance.handling.unacknowledgedCount < policy.queuedCallbacksMax
    {
      hasWoken = hasWoken || instance.state == .suspended
      var report: ApplicationLocation.Report?
      location.change(key) { report = $0.takeFirst() }
      guard let report else { break }
      tell(report, to: id, of: key, in: &turn)
    }
    if hasWoken { useWakeUp(in: &turn) }
  }

  private mutating func tell(
    _ report: ApplicationLocation.Report, to id: InstanceID, of key: ApplicationKey,
    in turn: inout Turn
  ) {
    location.change(key) { $0.lastUsed = turn.instant }
    switch report {
    case .crossing(let crossing, let location):
      storeReport(crossing, of: key, in: &turn)
      updateInstance(id, in: &turn) {
        $0.handle({ .region($0, crossing, location) }, cause: .location, in: &$1)
      }
    case .significantChange(let location):
      updateInstance(id, in: &turn) {
        $0.record(.location(.changedSignificantly), in: &$1)
        $0.handle({ .significantChange($0, location) }, cause: .location, in: &$1)
      }
    }
  }

  /// Returns the region whose crossing is the reason for the launch of an application; nil if there
  /// is none.
  public func launchRegion(of key: ApplicationKey) -> RegionID? {
    location.applications[key]?.waiting.lazy.compactMap(\.crossing).first?.region
  }

  // MARK: Entitlement

  /// Determines again whether continuous location updates entitle the instance of an application to
  /// run in the background. The updates must be started and authorized, and the instance must have
  /// mode `location`.
  mutating func updateLocating(of key: ApplicationKey, in turn: inout Turn) {
    guard let id = applications[key]?.instance else { return }
    let isLocating = location.updates[id] != nil && isAuthorized(key, .updates)
    updateInstance(id, in: &turn) { $0.setLocating(isLocating, in: &$1) }
  }

  /// Ends the continuous updates of an instance that has ended.
  mutating func forgetUpdates(of instance: Instance) {
    location.updates[instance.id] = nil
    let key = instance.application
    guard location.applications[key] != nil, applications.manifest(for: key) == nil else { return }
    // If the application has no manifest and uses no service, `lastUsed` must not prevent the
    // scheduler from forgetting it.
    location.change(key) { if !$0.monitors { $0.lastUsed = nil } }
  }
}

extension Instance {
  fileprivate mutating func setLocating(_ isLocating: Bool, in turn: inout Turn) {
    let next = isLocating && backgroundModes.contains(.location)
    guard next != self.isLocating else { return }
    changeAudio(in: &turn) { $0.isLocating = next }
    if termination != nil { return }
    if !next { reasons.entitlementEnded(.location, at: turn.instant) }
    // Continuous updates must not resume a suspended application.
    if state != .suspended { reconsider(in: &turn) }
  }
}
