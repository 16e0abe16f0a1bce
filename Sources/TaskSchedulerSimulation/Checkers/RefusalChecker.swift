import TaskSchedulerCore

/// What the contract's table and quotas allow is done; what they do not is refused (§2, §15.7).
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
    case .register(_, let key, _, let target, _):
      start(key, target, mayStay: ledger.manifest(for: key)?.multitasking ?? true, ledger)
    case .adopt(_, let adoption):
      start(
        adoption.application, adoption.target,
        mayStay: ledger.manifest(for: adoption.application)?.multitasking ?? true, ledger)
    case .launch(_, let key, let target, _): launch(key, target, ledger)
    case .activate(_, let key):
      ledger.byKey[key] == nil
        ? launch(key, .foreground, ledger)
        : operate(key, [.inactive, .background, .suspended], ledger)
    case .deactivate(_, let key): operate(key, [.active], ledger)
    case .sendToBackground(_, let key): operate(key, [.active, .inactive], ledger)
    case .terminate(_, let key, _): ledger.byKey[key] == nil ? .refused : .allowed
    case .openStream(_, let id, let name): ledger[id]?.key.id == name ? .allowed : .refused
    case .beginBackgroundTask(_, let id, _): begin(id, ledger)
    case .acknowledge, .endBackgroundTask, .streamClosed, .spawned, .spawnFailed, .leaderExited,
      .suspensionCompleted, .suspensionFailed, .signalFailed, .tracerChecked, .activityBegan,
      .activityEnded, .deadlineReached, .policyChanged, .manifestsChanged, .stop, .recovered:
      .unknown
    }
  }

  private func operate(
    _ key: ApplicationKey, _ states: [ApplicationState], _ ledger: Ledger
  ) -> Verdict {
    guard let sighting = ledger.byKey[key], sighting.ending == nil,
      states.contains(sighting.state), sighting.owed.count < ledger.policy.queuedCallbacksMax
    else { return .refused }
    return .allowed
  }

  private func launch(
    _ key: ApplicationKey, _ target: LaunchTarget, _ ledger: Ledger
  ) -> Verdict {
    guard let manifest = ledger.manifests.first(where: { $0.id == key.id }),
      manifest.owner == key.owner, manifest.isLaunchable
    else { return .refused }
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

  private func begin(_ id: InstanceID, _ ledger: Ledger) -> Verdict {
    guard let sighting = ledger[id], sighting.state != .suspended else { return .refused }
    let count = ledger.live.filter { $0.key.owner == sighting.key.owner }
      .reduce(0) { $0 + $1.tasks.count }
    let policy = ledger.policy
    return sighting.tasks.count < policy.tasksPerApplicationMax && count < policy.tasksPerUserMax
      ? .allowed : .refused
  }
}
