// The requests about the location (contract §17): applications start and stop services, and users
// and operators decide which applications may learn the location.

extension Scheduler {
  mutating func handle(_ event: LocationEvent, in turn: inout Turn) {
    switch event {
    case .startUpdates(let request, let id, let wish):
      startUpdates(request, id, wish, in: &turn)
    case .stopUpdates(let request, let id):
      turn.reply(request, .done)
      stopUpdates(of: id, in: &turn)
    case .monitorSignificantChanges(let request, let id):
      monitorSignificantChanges(request, id, in: &turn)
    case .stopMonitoringSignificantChanges(let request, let id):
      stopMonitoringSignificantChanges(request, id, in: &turn)
    case .startMonitoring(let request, let id, let region):
      startMonitoring(request, id, region, in: &turn)
    case .stopMonitoring(let request, let id, let region):
      stopMonitoring(request, id, region, in: &turn)
    case .requestAuthorization(let request, let id):
      requestAuthorization(request, id, in: &turn)
    case .authorize(let request, let key, let decision):
      authorize(request, key, decision, in: &turn)
    case .forget(let request, let key): forget(request, key, in: &turn)
    case .rulesChanged(let rules):
      changeAuthorizations(of: [], in: &turn) { $0.location.rules = rules }
    case .sourceChanged(let source, let isAvailable):
      location.sources.removeAll { $0 == source }
      if isAvailable { location.sources.append(source) }
    case .located(let source, let location): located(source, location, in: &turn)
    case .posted(let request, let location, let user):
      posted(request, location, for: user, in: &turn)
    case .moved: for user in location.users.keys { location.users[user]?.movedAt = turn.instant }
    case .stored(let id):
      if let pending = location.takePending(id) { stored(pending, in: &turn) }
    case .storeFailed(let id, let reason):
      if let pending = location.takePending(id) { notStored(pending, reason, in: &turn) }
    case .loaded(let stored):
      for one in stored { location.change(one.application) { $0 = ApplicationLocation(one) } }
    }
    reconsiderLocation(in: &turn)
  }

  // MARK: Services

  private mutating func startUpdates(
    _ request: RequestID, _ id: InstanceID, _ wish: LocationRequest, in turn: inout Turn
  ) {
    guard let key = accept(request, id, .updates, in: &turn) else { return }
    let isNew = location.updates.updateValue(LocationUpdates(request: wish), forKey: id) == nil
    turn.reply(request, .located(authorization(of: key)))
    if isNew { instances[id]?.record(.location(.started(.updates)), in: &turn) }
    askIfUndecided(key, in: &turn)
    updateLocating(of: key, in: &turn)
  }

  mutating func stopUpdates(of id: InstanceID, in turn: inout Turn) {
    guard location.updates.removeValue(forKey: id) != nil, let key = instances[id]?.application
    else { return }
    instances[id]?.record(.location(.stopped(.updates)), in: &turn)
    updateLocating(of: key, in: &turn)
  }

  private mutating func monitorSignificantChanges(
    _ request: RequestID, _ id: InstanceID, in turn: inout Turn
  ) {
    guard let key = accept(request, id, .significantChanges, in: &turn) else { return }
    store(.monitorSignificantChanges(true), of: key, request, in: &turn)
    askIfUndecided(key, in: &turn)
  }

  private mutating func stopMonitoringSignificantChanges(
    _ request: RequestID, _ id: InstanceID, in turn: inout Turn
  ) {
    guard let key = instances[id]?.application else {
      return turn.reply(request, .refused(.invalidState(.notRunning)))
    }
    store(.monitorSignificantChanges(false), of: key, request, in: &turn)
  }

  private mutating func startMonitoring(
    _ request: RequestID, _ id: InstanceID, _ region: Region, in turn: inout Turn
  ) {
    guard let key = accept(request, id, .regions, in: &turn) else { return }
    let ids = location.regionIDs(of: key)
    if !ids.contains(region.id), let refusal = refusalOfRegion(count: ids.count, key.owner) {
      return refuse(request, key, refusal, in: &turn)
    }
    store(.monitor(region), of: key, request, in: &turn)
    askIfUndecided(key, in: &turn)
  }

  private func refusalOfRegion(count: Int, _ user: UserID) -> Refusal? {
    if count >= policy.regionsPerApplicationMax {
      return .quotaExceeded(
        name: "MaxRegionsPerApplication", limit: policy.regionsPerApplicationMax)
    }
    guard location.regionCount(of: user) >= policy.regionsPerUserMax else { return nil }
    return .quotaExceeded(name: "MaxRegionsPerUser", limit: policy.regionsPerUserMax)
  }

  private mutating func stopMonitoring(
    _ request: RequestID, _ id: InstanceID, _ region: RegionID, in turn: inout Turn
  ) {
    guard let key = instances[id]?.application else {
      return turn.reply(request, .refused(.invalidState(.notRunning)))
    }
    guard location.regionIDs(of: key).contains(region) else {
      return refuse(request, key, .unknownRegion(region), in: &turn)
    }
    store(.stopMonitoring(region), of: key, request, in: &turn)
  }

  /// Returns the application of an instance if it may start a service. Otherwise refuses the
  /// request and returns nil.
  private mutating func accept(
    _ request: RequestID, _ id: InstanceID, _ service: LocationService, in turn: inout Turn
  ) -> ApplicationKey? {
    guard let instance = instances[id] else {
      turn.reply(request, .refused(.invalidState(.notRunning)))
      return nil
    }
    let key = instance.application
    var refusal = instance.refusalOfLocation
    if refusal == nil, let denial = denial(of: key, service) { refusal = .locationDenied(denial) }
    if refusal == nil { refusal = refusalOfApplication(key) }
    if refusal == nil, !location.canLocate(key.owner, at: turn.instant) {
      refusal = .locationUnavailable
    }
    guard let refusal else { return key }
    refuse(request, key, refusal, in: &turn)
    return nil
  }

  /// Returns a refusal if the application is not known yet and the quota of its user is used up;
  /// otherwise nil.
  private func refusalOfApplication(_ key: ApplicationKey) -> Refusal? {
    let max = policy.locationApplicationsPerUserMax
    guard !location.knows(key), location.applicationCount(of: key.owner) >= max else { return nil }
    return .quotaExceeded(name: "MaxLocationApplicationsPerUser", limit: max)
  }

  // MARK: Authorization

  /// Returns the reason why an application may not use a service. Returns nil if the application
  /// may use the service, or if no decision exists.
  func denial(of key: ApplicationKey, _ service: LocationService) -> LocationDenial? {
    if let isAllowed = location.rules.decision(for: key.id) {
      return isAllowed ? nil : .settings
    }
    if let manifest = applications.manifest(for: key),
      !manifest.locationServices.contains(service)
    {
      return .manifest
    }
    return location.applications[key]?.authorization == .denied ? .user : nil
  }

  /// Returns the decision about an application, regardless of what its manifest says.
  func authorization(of key: ApplicationKey) -> LocationAuthorization {
    switch location.rules.decision(for: key.id) {
    case true: .authorized
    case false: .denied
    case nil: location.applications[key]?.authorization ?? .notDetermined
    }
  }

  /// Returns whether an application may use a service now.
  func isAuthorized(_ key: ApplicationKey, _ service: LocationService) -> Bool {
    authorization(of: key) == .authorized && denial(of: key, service) == nil
  }

  private mutating func requestAuthorization(
    _ request: RequestID, _ id: InstanceID, in turn: inout Turn
  ) {
    guard let instance = instances[id] else {
      return turn.reply(request, .refused(.invalidState(.notRunning)))
    }
    if let refusal = instance.refusalOfLocation ?? refusalOfApplication(instance.application) {
      return refuse(request, instance.application, refusal, in: &turn)
    }
    turn.reply(request, .located(authorization(of: instance.application)))
    askIfUndecided(instance.application, in: &turn)
  }

  /// Asks the user whether the application may learn the location. Does nothing if this is decided,
  /// or if the user has already been asked.
  private mutating func askIfUndecided(_ key: ApplicationKey, in turn: inout Turn) {
    guard authorization(of: key) == .notDetermined,
      location.applications[key]?.wasAsked != true
    else { return }
    location.change(key) {
      $0.wasAsked = true
      $0.isAsking = true
    }
    turn.emit(.location(.ask(key, true)))
    store(.authorize(.notDetermined, wasAsked: true), of: key, nil, in: &turn)
  }

  private mutating func authorize(
    _ request: RequestID?, _ key: ApplicationKey, _ decision: LocationAuthorization,
    in turn: inout Turn
  ) {
    if request != nil, applications[key] == nil, location.applications[key] == nil {
      return refuse(request, key, .unknownApplication(key), in: &turn)
    }
    if let refusal = refusalOfApplication(key) {
      return refuse(request, key, refusal, in: &turn)
    }
    let wasAsked = request == nil || decision != .notDetermined
    store(.authorize(decision, wasAsked: wasAsked), of: key, request, in: &turn)
  }

  /// Deletes what survives the end of an application: its regions, its request for significant
  /// changes and its authorization. The reply comes when the last of these deletions is durable.
  private mutating func forget(
    _ request: RequestID, _ key: ApplicationKey, in turn: inout Turn
  ) {
    guard location.knows(key) else {
      return refuse(request, key, .unknownApplication(key), in: &turn)
    }
    for region in location.regionIDs(of: key).sorted() {
      store(.stopMonitoring(region), of: key, nil, in: &turn)
    }
    store(.monitorSignificantChanges(false), of: key, nil, in: &turn)
    store(.authorize(.notDetermined, wasAsked: false), of: key, request, in: &turn)
    location.change(key) { $0.lastUsed = nil }
  }

  private mutating func decided(
    _ key: ApplicationKey, _ decision: LocationAuthorization, wasAsked: Bool, in turn: inout Turn
  ) {
    let isQuestion = decision == .notDetermined && wasAsked
    if isQuestion { return location.change(key) { $0.wasAsked = true } }
    if location.applications[key]?.isAsking == true { turn.emit(.location(.ask(key, false))) }
    changeAuthorizations(of: [key], in: &turn) {
      $0.location.change(key) {
        $0.authorization = decision
        $0.wasAsked = wasAsked
        $0.isAsking = false
      }
    }
    record(.location(.authorized(decision)), of: key, in: &turn)
    let isUsed =
      location.applications[key]?.monitors == true
      || applications[key]?.instance.map { location.updates[$0] != nil } == true
    if isUsed { askIfUndecided(key, in: &turn) }
  }

  /// Makes a change that may affect authorizations. Then informs each running application whose
  /// authorization has changed.
  ///
  /// - Parameter added: Applications that the scheduler may not know before the change.
  private mutating func changeAuthorizations(
    of added: [ApplicationKey], in turn: inout Turn, _ change: (inout Scheduler) -> Void
  ) {
    let running = location.updates.keys.compactMap { instances[$0]?.application }
    let keys = Set(location.applications.keys).union(running).union(added).sorted()
    let before = keys.map { authorization(of: $0) }
    change(&self)
    for (key, old) in zip(keys, before) {
      let next = authorization(of: key)
      guard next != old, let id = applications[key]?.instance else { continue }
      updateInstance(id, in: &turn) {
        $0.inbox.locationAuthorization = next
        $0.deliverAuthorization(in: &$1)
      }
    }
  }

  // MARK: The store

  private mutating func store(
    _ change: LocationChange, of key: ApplicationKey, _ request: RequestID?,
    in turn: inout Turn
  ) {
    let id = location.begin(change, of: key, request: request)
    turn.emit(.location(.store(id, key, change)))
  }

  /// Stores whether the machine is inside a region. Call this when the application receives the
  /// report of the crossing, or if the application needs no report.
  mutating func storeReport(
    _ crossing: RegionCrossing, of key: ApplicationKey, in turn: inout Turn
  ) {
    store(.report(crossing), of: key, nil, in: &turn)
  }

  private mutating func stored(_ pending: LocationServices.Pending, in turn: inout Turn) {
    let key = pending.application
    switch pending.change {
    case .monitor(let region):
      location.change(key) {
        $0.dropWaiting(of: region.id)
        $0.regions[region.id] = RegionMonitor(region)
      }
      turn.reply(pending.request, .located(authorization(of: key)))
      record(.location(.regionMonitored(region.id)), of: key, in: &turn)
    case .stopMonitoring(let id):
      location.change(key) {
        $0.dropWaiting(of: id)
        $0.regions[id] = nil
      }
      turn.reply(pending.request, .done)
      record(.location(.regionForgotten(id)), of: key, in: &turn)
    case .monitorSignificantChanges(let isOn):
      changeReference(of: key, isOn, in: &turn)
      turn.reply(pending.request, isOn ? .located(authorization(of: key)) : .done)
    case .authorize(let decision, let wasAsked):
      turn.reply(pending.request, .done)
      decided(key, decision, wasAsked: wasAsked, in: &turn)
    case .report: break
    }
  }

  private mutating func changeReference(
    of key: ApplicationKey, _ isOn: Bool, in turn: inout Turn
  ) {
    let wasOn = location.applications[key]?.reference != nil
    location.change(key) {
      if !isOn { $0.dropWaiting(of: .significantChanges) }
      $0.reference = isOn ? .awaited : nil
    }
    guard isOn != wasOn else { return }
    record(
      .location(isOn ? .started(.significantChanges) : .stopped(.significantChanges)),
      of: key, in: &turn)
  }

  private mutating func notStored(
    _ pending: LocationServices.Pending, _ reason: String, in turn: inout Turn
  ) {
    refuse(pending.request, pending.application, .notStored(reason: reason), in: &turn)
    // The store could not save the user's answer, which therefore counts only until a reboot.
    if pending.request == nil, case .authorize(let decision, let wasAsked) = pending.change {
      decided(pending.application, decision, wasAsked: wasAsked, in: &turn)
    }
  }

  /// After a recovery, repeats the changes that the store has not answered, and tells the sources
  /// the current needs. A look in progress has the whole `LocationFixTime` again, because no
  /// receiver ran for it during the absence.
  mutating func recoverLocation(in turn: inout Turn) {
    for (_, pending) in location.pending.sortedByKey {
      turn.emit(.location(.store(pending.id, pending.application, pending.change)))
    }
    for (user, one) in location.users {
      guard case .under(_, let found) = one.look else { continue }
      location.users[user]?.look = .under(since: turn.instant, found: found)
    }
    turn.emit(.location(.need(location.needs)))
  }
}

extension Instance {
  /// Tells the application whether it may learn the location, unless it is suspended or has no
  /// event stream.
  mutating func deliverAuthorization(in turn: inout Turn) {
    guard state != .suspended, hasStream, termination == nil,
      let authorization = inbox.locationAuthorization
    else { return }
    inbox.locationAuthorization = nil
    turn.emit(.notify(id, .locationAuthorization(authorization)))
  }

  fileprivate var refusalOfLocation: Refusal? {
    if termination != nil { return .terminating }
    if state == .suspended { return .invalidState(state) }
    return isAware ? nil : .noEventStream
  }
}
