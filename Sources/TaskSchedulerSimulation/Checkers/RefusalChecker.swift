import TaskSchedulerCore

/// Checks that the scheduler refuses exactly what the table and quotas do not allow (§2, §15.7).
struct RefusalChecker: Checker {
  static let name = "refusals"

  private enum Verdict { case allowed, refused, unknown }
  private var verdict = Verdict.unknown

  mutating func before(_ event: Event, _ ledger: Ledger) throws(Finding) {
    verdict = judge(event, ledger)
  }

  mutating func after(_ ledger: Ledger) throws(Finding) {
    switch verdict {
    case .allowed: try require(!ledger.isRefused, "refused, and it is allowed: \(ledger.event)")
    case .refused:
      try require(ledger.isRefused, "done, and it is not allowed: \(ledger.event)")
    case .unknown: break
    }
  }

  private func judge(_ event: Event, _ ledger: Ledger) -> Verdict {
    switch event {
    case .application(.register(_, let key, _, let target, _)):
      start(key, target, mayStay: ledger.manifest(for: key)?.multitasking ?? true, ledger)
    case .operation(.adopt(_, let adoption)):
      start(
        adoption.application, adoption.target,
        mayStay: ledger.manifest(for: adoption.application)?.multitasking ?? true, ledger)
    case .operation(.launch(_, let key, let target, let reason)):
      launch(key, target, reason, ledger)
    case .operation(.activate(_, let key)):
      ledger.byKey[key] == nil
        ? launch(key, .foreground, .user, ledger)
        : operate(key, [.inactive, .background, .suspended], to: [.active], ledger)
    case .operation(.deactivate(_, let key)):
      operate(
        key, [.active, .inactive], to: ledger.byKey[key]?.isRising == true ? [] : [.inactive],
        ledger)
    case .operation(.sendToBackground(_, let key)):
      operate(key, [.active, .inactive], to: [.background, .suspended], ledger)
    case .operation(.terminate(_, let key, _)): terminate(key, ledger)
    case .application(.openStream(_, let id, let name)):
      ledger[id]?.key.id == name ? .allowed : .refused
    case .application(.beginBackgroundTask(_, let id, _)): begin(id, ledger)
    case .application(.setKeepAlive(_, let id, let interval)): setKeepAlive(id, interval, ledger)
    case .socket(let event): socket(event, ledger)
    case .systemChanged(_, let change, _):
      if case .custom = change.kind { .unknown } else { .allowed }
    case .memory(.warn(_, let key, _)): warn(key, ledger)
    case .application(.acknowledge), .application(.endBackgroundTask), .application(.streamClosed),
      .process, .notification, .scheduler, .memory, .resources:
      .unknown
    }
  }

  /// Judges a terminate: it is allowed for an application that does not run and is not launching.
  private func terminate(_ key: ApplicationKey, _ ledger: Ledger) -> Verdict {
    if ledger.byKey[key] != nil { return .allowed }
    if ledger.launches.values.contains(where: { $0.key == key }) { return .refused }
    // Without a manifest of its own it may have been forgotten.
    return ledger.manifest(for: key)?.owner == key.owner ? .allowed : .unknown
  }

  /// - Parameter wanted: the states that are asked for: an application that is in one stays there.
  private func operate(
    _ key: ApplicationKey, _ states: [ApplicationState], to wanted: [ApplicationState],
    _ ledger: Ledger
  ) -> Verdict {
    guard let sighting = ledger.byKey[key], sighting.ending == nil else { return .refused }
    if wanted.contains(sighting.state) { return .allowed }
    guard states.contains(sighting.state),
      sighting.owed.count < ledger.policy.queuedCallbacksMax
    else { return .refused }
    return .allowed
  }

  private func launch(
    _ key: ApplicationKey, _ target: LaunchTarget, _ reason: LaunchReason, _ ledger: Ledger
  ) -> Verdict {
    guard let manifest = ledger.manifests.first(where: { $0.id == key.id }),
      manifest.owner == key.owner, manifest.isLaunchable
    else { return .refused }
    if [.boot, .relaunch, .location].contains(reason) {
      if ledger.barred.contains(key) { return .refused }
      if ledger.perhapsBarred.contains(key) { return .unknown }
    }
    return start(key, target, mayStay: manifest.multitasking, ledger)
  }

  private func start(
    _ key: ApplicationKey, _ target: LaunchTarget, mayStay: Bool, _ ledger: Ledger
  ) -> Verdict {
    let starting = ledger.launches.values
    if ledger.byKey[key] != nil || starting.contains(where: { $0.key == key }) { return .refused }
    if target == .background, !mayStay || !ledger.policy.multitaskingSupported { return .refused }
    let count =
      ledger.live.filter { $0.key.owner == key.owner }.count
      + starting.filter { $0.key.owner == key.owner }.count
    return count < ledger.policy.applicationsPerUserMax ? .allowed : .refused
  }

  private func setKeepAlive(
    _ id: InstanceID, _ interval: Duration?, _ ledger: Ledger
  ) -> Verdict {
    guard let sighting = ledger[id] else { return .refused }
    guard let interval else { return .allowed }
    let mayRun = sighting.ending == nil && sighting.state != .suspended
    return mayRun && sighting.plan.modes.contains(.voip) && sighting.isAware
      && interval >= ledger.policy.keepAliveMinimum ? .allowed : .refused
  }

  /// Judges a request for a warning: an application without an event stream receives none.
  private func warn(_ key: ApplicationKey?, _ ledger: Ledger) -> Verdict {
    guard let key else { return .allowed }
    guard let sighting = ledger.byKey[key], sighting.state != .suspended, sighting.hasStream
    else { return .refused }
    return .allowed
  }

  private func socket(_ event: SocketEvent, _ ledger: Ledger) -> Verdict {
    switch event {
    case .manage(_, let id, let socket):
      if ledger[id]?.sockets.contains(socket) ?? false { return .allowed }
      guard let sighting = ledger[id], sighting.ending == nil, sighting.plan.modes.contains(.voip)
      else { return .refused }
      return sighting.sockets.count < ledger.policy.socketsPerApplicationMax ? .allowed : .refused
    case .release(_, let id, let socket):
      return ledger[id]?.sockets.contains(socket) ?? false ? .allowed : .refused
    case .ready, .closed, .lost: return .unknown
    }
  }

  private func begin(_ id: InstanceID, _ ledger: Ledger) -> Verdict {
    guard let sighting = ledger[id], sighting.state != .suspended else { return .refused }
    let count = ledger.live.filter { $0.key.owner == sighting.key.owner }
      .reduce(0) { $0 + $1.tasks.count }
    let policy = ledger.policy
    return sighting.tasks.count < policy.tasksPerApplicationMax && count < policy.tasksPerUserMax
      ? .allowed : .refused
  }
}
