import TaskSchedulerCore

// The requests and decisions about the location (contract.md#location).
extension ObservedState {
  var instant: Instant { Instant(nanoseconds: now) }

  func apply(_ event: LocationEvent) {
    switch event {
    case .startUpdates(let request, let id, let wish): startUpdates(request, id, wish)
    case .stopUpdates(let request, let id):
      location.reply = (request, .done)
      location.updates[id] = nil
    case .monitorSignificantChanges(let request, let id):
      start(.monitorSignificantChanges(true), request, id, .significantChanges)
    case .stopMonitoringSignificantChanges(let request, let id):
      stopMonitoringSignificantChanges(request, id)
    case .startMonitoring(let request, let id, let region):
      start(.monitor(region), request, id, .regions)
    case .stopMonitoring(let request, let id, let region): stopMonitoring(request, id, region)
    case .requestAuthorization(let request, let id): requestAuthorization(request, id)
    case .authorize(let request, let key, let decision): authorize(request, key, decision)
    case .forget(let request, let key): forget(request, key)
    case .rulesChanged(let rules): changeAuthorizations { $0.rules = rules }
    case .sourceChanged(let source, let isAvailable):
      if isAvailable { location.sources.insert(source) } else { location.sources.remove(source) }
    case .located(let source, let found): located(source, found)
    case .posted(let request, let found, let user): posted(request, found, for: user)
    case .moved: for user in location.users.keys { location.users[user]?.movedAt = instant }
    case .stored(let id):
      if let pending = location.pending.removeValue(forKey: id) { stored(pending) }
    case .storeFailed(let id, let reason):
      if let pending = location.pending.removeValue(forKey: id) { notStored(pending, reason) }
    case .loaded(let stored): for one in stored { load(one) }
    }
    authorizationsChanged()
    planLooks()
  }

  func locationManifestsChanged() {
    authorizationsChanged()
    planLooks()
  }

  /// Records that an instance has opened its event stream. The daemon must now tell the application
  /// its waiting reports.
  func streamOpened(_ id: InstanceID) {
    if let instance = self[id], !isRefused { location.mustTell.insert(instance.key) }
  }

  /// Records the region because of which an application is launched, if there is one.
  func locationLaunched(_ id: InstanceID, _ key: ApplicationKey) {
    location.launchRegions[id] = location.applications[key]?.waiting.lazy.compactMap(\.region).first
  }

  private func load(_ stored: StoredLocationServices) {
    location.change(stored.application) { use in
      use.authorization = stored.authorization
      use.wasAsked = stored.wasAsked
      use.isAsking = stored.wasAsked && stored.authorization == .notDetermined
      use.reference = stored.monitorsSignificantChanges ? .unknown : nil
      for one in stored.regions {
        use.regions[one.region.id] = ObservedRegion(region: one.region, isInside: one.isInside)
      }
    }
  }

  // MARK: Authorization

  /// Returns the decision of the settings; nil if the user decides.
  private func decisionOfRules(_ key: ApplicationKey) -> Bool? {
    if location.rules.denied.contains(key.id) { return false }
    return location.rules.allowsAll || location.rules.allowed.contains(key.id) ? true : nil
  }

  func locationAuthorization(of key: ApplicationKey) -> LocationAuthorization {
    switch decisionOfRules(key) {
    case true: .authorized
    case false: .denied
    case nil: location.applications[key]?.authorization ?? .notDetermined
    }
  }

  private func denial(of key: ApplicationKey, _ service: LocationService) -> LocationDenial? {
    if let isAllowed = decisionOfRules(key) { return isAllowed ? nil : .settings }
    if let manifest = manifest(for: key), !manifest.locationServices.contains(service) {
      return .manifest
    }
    return location.applications[key]?.authorization == .denied ? .user : nil
  }

  /// Returns whether a service may report locations to an application.
  func mayLocate(_ key: ApplicationKey, _ service: LocationService) -> Bool {
    locationAuthorization(of: key) == .authorized && denial(of: key, service) == nil
  }

  // MARK: Requests

  private func refuseEnded(_ request: RequestID) {
    location.reply = (request, .refused(.invalidState(.notRunning)))
  }

  /// Returns the refusal of a request to start `service`; nil if the request is allowed. If
  /// `service` is nil, the request asks for authorization.
  private func refusal(_ id: InstanceID, _ service: LocationService?) -> Refusal? {
    guard let instance = self[id] else { return .invalidState(.notRunning) }
    if instance.ending != nil { return .terminating }
    if instance.state == .suspended { return .invalidState(.suspended) }
    if !instance.isAware { return .noEventStream }
    guard let service else { return exceededQuota(instance.key) }
    if let denial = denial(of: instance.key, service) { return .locationDenied(denial) }
    if let refusal = exceededQuota(instance.key) { return refusal }
    return location.canLocate(instance.key.owner, at: instant) ? nil : .locationUnavailable
  }

  private func startUpdates(_ request: RequestID, _ id: InstanceID, _ wish: LocationRequest) {
    if let refusal = refusal(id, .updates) {
      location.reply = (request, .refused(refusal))
    } else if let key = self[id]?.key {
      location.updates[id] = (wish, nil)
      location.reply = (request, .located(locationAuthorization(of: key)))
      askIfUndecided(key)
    }
  }

  /// Handles the start of a service that lasts longer than the instance. The reply follows when the
  /// change is stored.
  private func start(
    _ change: LocationChange, _ request: RequestID, _ id: InstanceID, _ service: LocationService
  ) {
    if let refusal = refusal(id, service) ?? exceededQuota(change, id) {
      location.reply = (request, .refused(refusal))
    } else if let key = self[id]?.key {
      expect(change, of: key)
      askIfUndecided(key)
    }
  }

  /// Returns the refusal of a request that would make the daemon remember one more application than
  /// the quota allows; nil if the request is allowed.
  private func exceededQuota(_ key: ApplicationKey) -> Refusal? {
    let max = policy.locationApplicationsPerUserMax
    guard !location.knows(key), location.keys(of: key.owner).count >= max else { return nil }
    return .quotaExceeded(name: "MaxLocationApplicationsPerUser", limit: max)
  }

  private func exceededQuota(_ change: LocationChange, _ id: InstanceID) -> Refusal? {
    guard case .monitor(let region) = change, let key = self[id]?.key else { return nil }
    let ids = location.regionIDs(of: key)
    if ids.contains(region.id) { return nil }
    if ids.count >= policy.regionsPerApplicationMax {
      return .quotaExceeded(
        name: "MaxRegionsPerApplication", limit: policy.regionsPerApplicationMax)
    }
    return location.regionCount(of: key.owner) < policy.regionsPerUserMax
      ? nil : .quotaExceeded(name: "MaxRegionsPerUser", limit: policy.regionsPerUserMax)
  }

  /// Handles the request to forget an application. The reply follows the last change.
  private func forget(_ request: RequestID, _ key: ApplicationKey) {
    guard location.knows(key) else {
      location.reply = (request, .refused(.unknownApplication(key)))
      return
    }
    for region in location.regionIDs(of: key).sorted() { expect(.stopMonitoring(region), of: key) }
    expect(.monitorSignificantChanges(false), of: key)
    expect(.authorize(.notDetermined, wasAsked: false), of: key)
    location.change(key) { $0.wasTold = false }
  }

  private func stopMonitoringSignificantChanges(_ request: RequestID, _ id: InstanceID) {
    guard let key = self[id]?.key else { return refuseEnded(request) }
    expect(.monitorSignificantChanges(false), of: key)
  }

  private func stopMonitoring(_ request: RequestID, _ id: InstanceID, _ region: RegionID) {
    guard let key = self[id]?.key else { return refuseEnded(request) }
    if location.regionIDs(of: key).contains(region) {
      expect(.stopMonitoring(region), of: key)
    } else {
      location.reply = (request, .refused(.unknownRegion(region)))
    }
  }

  private func requestAuthorization(_ request: RequestID, _ id: InstanceID) {
    if let refusal = refusal(id, nil) {
      location.reply = (request, .refused(refusal))
    } else if let key = self[id]?.key {
      location.reply = (request, .located(locationAuthorization(of: key)))
      askIfUndecided(key)
    }
  }

  private func askIfUndecided(_ key: ApplicationKey) {
    guard locationAuthorization(of: key) == .notDetermined,
      location.applications[key]?.wasAsked != true
    else { return }
    location.change(key) {
      $0.wasAsked = true
      $0.isAsking = true
    }
    location.questions.append(.init(application: key, isShown: true))
    expect(.authorize(.notDetermined, wasAsked: true), of: key)
  }

  private func authorize(
    _ request: RequestID?, _ key: ApplicationKey, _ decision: LocationAuthorization
  ) {
    let isKnown =
      request == nil || byKey[key] != nil || location.applications[key] != nil
      || launches.values.contains { $0.key == key } || manifests.contains {
        $0.id == key.id && $0.owner == key.owner
      }
    // The scheduler also remembers some applications that have ended. The checkers do not know
    // whether this application is one of them.
    location.isReplyUnsure = !isKnown
    if !isKnown, isRefused { return }
    if let request, let refusal = exceededQuota(key) {
      location.reply = (request, .refused(refusal))
      return
    }
    expect(
      .authorize(decision, wasAsked: request == nil || decision != .notDetermined), of: key)
  }

  // MARK: Decisions

  /// Makes a change that can affect authorizations. Records each application that must be told
  /// because its authorization has changed. Discards the waiting reports of each application that
  /// is no longer authorized.
  ///
  /// - Parameter key: The application that the change is about; nil if it is about several.
  private func changeAuthorizations(
    of key: ApplicationKey? = nil, _ change: (inout ObservedLocations) -> Void
  ) {
    let running = location.updates.keys.compactMap { self[$0]?.key }
    let keys = Set(location.applications.keys).union(running).union(key.map { [$0] } ?? [])
    let before = keys.sorted().map { ($0, locationAuthorization(of: $0)) }
    change(&location)
    for (key, old) in before {
      let next = locationAuthorization(of: key)
      guard next != old else { continue }
      if next != .authorized { location.change(key) { $0.waiting = [] } }
      byKey[key]?.heldAuthorization = next
    }
  }

  private func decided(
    _ key: ApplicationKey, _ decision: LocationAuthorization, wasAsked: Bool
  ) {
    if decision == .notDetermined, wasAsked {
      return location.change(key) { $0.wasAsked = true }
    }
    if location.applications[key]?.isAsking == true {
      location.questions.append(.init(application: key, isShown: false))
    }
    changeAuthorizations(of: key) {
      $0.change(key) { use in
        use.authorization = decision
        use.wasAsked = wasAsked
        use.isAsking = false
      }
    }
    let updates = byKey[key].flatMap { location.updates[$0.id] }
    if location.applications[key]?.monitors == true || updates != nil { askIfUndecided(key) }
  }

  /// Determines which instances may run in the background because of their location updates.
  /// Discards the reports that applications are no longer allowed to learn, and removes the
  /// questions that the settings have decided.
  func authorizationsChanged() {
    for instance in live {
      instance.isLocating =
        location.updates[instance.id] != nil && instance.plan.modes.contains(.location)
        && mayLocate(instance.key, .updates)
    }
    for (key, use) in location.applications
    where use.isAsking && locationAuthorization(of: key) != .notDetermined {
      location.change(key) { $0.isAsking = false }
      location.questions.append(.init(application: key, isShown: false))
    }
    for (key, use) in location.applications where !use.waiting.isEmpty {
      let kept = use.waiting.filter { mayLocate(key, $0.service) }
      location.change(key) { $0.waiting = kept }
    }
  }

  // MARK: The store

  private func expect(_ change: LocationChange, of key: ApplicationKey) {
    location.changes.append(.init(application: key, change: change))
  }

  /// Records that the daemon must store a crossing of the boundary of a region.
  func expectReport(_ crossing: RegionCrossing, of key: ApplicationKey) {
    expect(.report(crossing), of: key)
  }

  private func stored(_ pending: ObservedLocations.Pending) {
    let key = pending.application
    switch pending.change {
    case .monitor(let region):
      location.change(key) { use in
        use.waiting.removeAll { $0.region == region.id }
        use.regions[region.id] = ObservedRegion(region: region)
      }
      answer(pending.request, .located(locationAuthorization(of: key)))
    case .stopMonitoring(let id):
      location.change(key) { use in
        use.waiting.removeAll { $0.region == id }
        use.regions[id] = nil
      }
      answer(pending.request, .done)
    case .monitorSignificantChanges(let isOn):
      location.change(key) { use in
        if !isOn { use.waiting.removeAll { $0.region == nil } }
        use.reference = isOn ? .awaited : nil
      }
      answer(
        pending.request, isOn ? .located(locationAuthorization(of: key)) : .done)
    case .authorize(let decision, let wasAsked):
      answer(pending.request, .done)
      decided(key, decision, wasAsked: wasAsked)
    case .report: break
    }
  }

  private func notStored(_ pending: ObservedLocations.Pending, _ reason: String) {
    answer(pending.request, .refused(.notStored(reason: reason)))
    // The user's answer counts until a reboot, although it was not stored.
    if pending.request == nil, case .authorize(let decision, let wasAsked) = pending.change {
      decided(pending.application, decision, wasAsked: wasAsked)
    }
  }

  private func answer(_ request: RequestID?, _ reply: Reply) {
    if let request { location.reply = (request, reply) }
  }

  func note(_ id: TransactionID, _ key: ApplicationKey, _ change: LocationChange) {
    guard location.pending[id] == nil else { return }
    location.transactionLast = max(location.transactionLast, id.number)
    var request: RequestID?
    switch change {
    case .report, .authorize(.notDetermined, wasAsked: true): break
    case .stopMonitoring, .monitorSignificantChanges:
      if case .location(.forget) = event {} else { request = event.request }
    case .monitor, .authorize: request = event.request
    }
    location.pending[id] = .init(application: key, change: change, request: request)
  }
}
