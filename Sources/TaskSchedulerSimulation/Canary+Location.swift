import TaskSchedulerCore

// The planted defects that concern the location (contract.md#location).
extension PlantedDefect {
  /// Returns the manifests that the scheduler receives in place of the given manifests.
  func changed(_ manifests: [Manifest]) -> [Manifest] {
    guard canary == .wakeByUpdates else { return manifests }
    return manifests.map { manifest in
      var changed = manifest
      if !changed.backgroundModes.contains(.location) { changed.backgroundModes.append(.location) }
      return changed
    }
  }

  /// Returns the event that the scheduler receives in place of the given event.
  func changed(_ event: LocationEvent) -> LocationEvent {
    switch event {
    case .authorize(let request, let key, .denied):
      return canary == .locateAfterDenial ? .authorize(request, key, .authorized) : event
    case .rulesChanged(var rules):
      if canary == .locateAfterDenial { rules.denied = [] }
      return .rulesChanged(rules)
    case .loaded(var stored):
      if canary == .forgetRegion {
        for index in stored.indices { stored[index].regions = [] }
      }
      return .loaded(stored)
    case .located(let source, var location):
      if canary == .trustLocation { location.accuracy = 1 }
      return .located(source, location)
    case .startUpdates, .stopUpdates, .monitorSignificantChanges,
      .stopMonitoringSignificantChanges, .startMonitoring, .stopMonitoring, .requestAuthorization,
      .authorize, .forget, .sourceChanged, .posted, .moved, .stored, .storeFailed:
      return event
    }
  }

  /// Returns the effects that the simulated daemon carries out in place of the given effect.
  mutating func changeLocation(_ effect: Effect) -> [Effect] {
    switch effect {
    case .notify(_, .region):
      if canary == .dropCrossing, strikes() { return [] }
      if canary == .crossTwice, strikes() { return [effect, effect] }
    case .notify(let id, .significantChange(let callback, let location)):
      if canary == .loseChange, strikes() { return [] }
      let older = lastChange[id]
      lastChange[id] = location
      if canary == .oldChange, let older {
        return [.notify(id, .significantChange(callback, older))]
      }
    case .location(.need(let needs)):
      if canary == .keepReceiver, needs.accuracy == nil, strikes() { return [] }
      if canary == .dropReceiver, needs.accuracy != nil, strikes() { return [] }
    case .location(.ask(_, true)): if canary == .askTwice, strikes() { return [effect, effect] }
    case .location(.store(_, _, .monitor)):
      if canary == .dropRegion, strikes() { return [] }
    case .reply, .deliver, .expire, .notify, .socket, .notification, .spawn, .manage, .suspend,
      .resume, .terminate, .kill, .release, .checkTracer, .record, .memory, .resources, .audio,
      .remote, .dropPicture, .location:
      break
    }
    return [effect]
  }
}
