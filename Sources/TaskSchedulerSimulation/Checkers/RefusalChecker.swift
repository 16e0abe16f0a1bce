import TaskSchedulerCore

/// Checks that the scheduler refuses a request if and only if the contract requires the refusal.
/// The reason is the table of states (contract.md#state-transitions), a quota, or a property of the
/// application. Does not check a request whose verdict is unknown.
struct RefusalChecker: Checker {
  static let name = "refusals"

  enum Verdict { case allowed, refused, unknown }
  private var verdict = Verdict.unknown

  mutating func before(_ event: Event, _ observed: ObservedState) throws(Finding) {
    verdict = evaluate(event, observed)
  }

  mutating func after(_ observed: ObservedState) throws(Finding) {
    switch verdict {
    case .allowed: try require(!observed.isRefused, "a legal request is refused: \(observed.event)")
    case .refused:
      try require(observed.isRefused, "an illegal request is carried out: \(observed.event)")
    case .unknown: break
    }
  }

  private func evaluate(_ event: Event, _ observed: ObservedState) -> Verdict {
    switch event {
    case .application(.register(_, let key, _, let target, _)):
      Self.start(key, target, mayStay: observed.manifest(for: key)?.multitasking ?? true, observed)
    case .operation(.adopt(_, let adoption)):
      Self.start(
        adoption.application, adoption.target,
        mayStay: observed.manifest(for: adoption.application)?.multitasking ?? true, observed)
    case .operation(.launch(_, let key, let target, let reason)):
      Self.launch(key, target, reason, observed)
    case .operation(.activate(_, let key)):
      observed.byKey[key] == nil
        ? Self.launch(key, .foreground, .user, observed)
        : operate(key, [.inactive, .background, .suspended], to: [.active], observed)
    case .operation(.deactivate(_, let key)):
      operate(
        key, [.active, .inactive], to: observed.byKey[key]?.isActivating == true ? [] : [.inactive],
        observed)
    case .operation(.sendToBackground(_, let key)):
      operate(key, [.active, .inactive], to: [.background, .suspended], observed)
    case .operation(.terminate(_, let key, _)): terminate(key, observed)
    case .operation(.remoteControl): .unknown  // `MediaCommandChecker` checks the reply.
    case .application(.openStream(_, let id, let name)):
      observed[id]?.key.id == name ? .allowed : .refused
    case .application(.beginBackgroundTask(_, let id, _)): begin(id, observed)
    case .application(.beginCall(_, let id)):
      observed[id].map { $0.ending == nil && $0.plan.modes.contains(.voip) && $0.isAware } ?? false
        ? .allowed : .refused
    case .application(.setAudioSession(_, let id, _)):
      observed[id].map { $0.ending == nil } ?? false ? .allowed : .refused
    case .application(.setKeepAlive(_, let id, let interval)): setKeepAlive(id, interval, observed)
    case .socket(let event): socket(event, observed)
    case .systemChanged(_, let change, let owner):
      !change.isNamed || Self.isReceivedAtOnce(by: owner, observed) ? .allowed : .unknown
    case .memory(.warn(_, let key, _)): warn(key, observed)
    case .switcher(.remove(_, let key, _)): terminate(key, observed)
    case .switcher(.setSnapshot(_, let id, _)):
      observed[id].map { $0.ending == nil } ?? false ? .allowed : .refused
    // `LocationRequestChecker` checks the reply, including the kind of refusal.
    case .location: .unknown
    case .application, .process, .notification, .scheduler, .memory, .resources, .session,
      .switcher(.lost):
      .unknown
    }
  }

  /// Returns whether every application of a user receives each change at once. If so, the daemon
  /// holds no custom change for the user, and the quota allows another one.
  ///
  /// - Parameter owner: The user; nil for all users.
  private static func isReceivedAtOnce(by owner: UserID?, _ observed: ObservedState) -> Bool {
    observed.live.allSatisfy { instance in
      owner != nil && instance.key.owner != owner
        || !instance.isAware || instance.hasStream && instance.state != .suspended
    }
  }

  /// Returns the verdict on a termination, which is also allowed for an application that does not
  /// run.
  private func terminate(_ key: ApplicationKey, _ observed: ObservedState) -> Verdict {
    if observed.byKey[key] != nil { return .allowed }
    if observed.launches.values.contains(where: { $0.key == key }) { return .refused }
    // The scheduler may have forgotten an application without a manifest of its own.
    return observed.manifest(for: key)?.owner == key.owner ? .allowed : .unknown
  }

  /// Returns the verdict on a request for a change of state.
  ///
  /// - Parameters:
  ///   - states: The states from which the request is allowed.
  ///   - wanted: The requested states. An application that is in one of them stays there.
  private func operate(
    _ key: ApplicationKey, _ states: [ApplicationState], to wanted: [ApplicationState],
    _ observed: ObservedState
  ) -> Verdict {
    guard let instance = observed.byKey[key], instance.ending == nil else { return .refused }
    if wanted.contains(instance.state) { return .allowed }
    guard states.contains(instance.state),
      instance.outstanding.count < observed.policy.queuedCallbacksMax
    else { return .refused }
    return .allowed
  }

  /// Returns the verdict on a launch.
  static func launch(
    _ key: ApplicationKey, _ target: LaunchTarget, _ reason: LaunchReason, _ observed: ObservedState
  ) -> Verdict {
    guard let manifest = observed.manifests.first(where: { $0.id == key.id }),
      manifest.owner == key.owner, manifest.isLaunchable
    else { return .refused }
    if [.boot, .relaunch, .location, .call].contains(reason) {
      if observed.barred.contains(key) { return .refused }
      if observed.possiblyBarred.contains(key) { return .unknown }
    }
    return start(key, target, mayStay: manifest.multitasking, observed)
  }

  private static func start(
    _ key: ApplicationKey, _ target: LaunchTarget, mayStay: Bool, _ observed: ObservedState
  ) -> Verdict {
    let starting = observed.launches.values
    if observed.byKey[key] != nil || starting.contains(where: { $0.key == key }) { return .refused }
    if target == .background, !mayStay || !observed.policy.multitaskingSupported { return .refused }
    let count =
      observed.live.filter { $0.key.owner == key.owner }.count
      + starting.filter { $0.key.owner == key.owner }.count
    return count < observed.policy.applicationsPerUserMax ? .allowed : .refused
  }

  private func setKeepAlive(
    _ id: InstanceID, _ interval: Duration?, _ observed: ObservedState
  ) -> Verdict {
    guard let instance = observed[id] else { return .refused }
    guard let interval else { return .allowed }
    let mayRun = instance.ending == nil && instance.state != .suspended
    return mayRun && instance.plan.modes.contains(.voip) && instance.isAware
      && interval >= observed.policy.keepAliveMinimum ? .allowed : .refused
  }

  /// Returns the verdict on a request for a warning. An application without an event stream
  /// receives no warning.
  private func warn(_ key: ApplicationKey?, _ observed: ObservedState) -> Verdict {
    guard let key else { return .allowed }
    guard let instance = observed.byKey[key], instance.state != .suspended, instance.hasStream
    else { return .refused }
    return .allowed
  }

  private func socket(_ event: SocketEvent, _ observed: ObservedState) -> Verdict {
    switch event {
    case .manage(_, let id, let socket):
      if observed[id]?.sockets.contains(socket) ?? false { return .allowed }
      guard let instance = observed[id], instance.ending == nil, instance.plan.modes.contains(.voip)
      else { return .refused }
      return instance.sockets.count < observed.policy.socketsPerApplicationMax ? .allowed : .refused
    case .release(_, let id, let socket):
      return observed[id]?.sockets.contains(socket) ?? false ? .allowed : .refused
    case .ready, .closed, .lost: return .unknown
    }
  }

  private func begin(_ id: InstanceID, _ observed: ObservedState) -> Verdict {
    guard let instance = observed[id], instance.state != .suspended else { return .refused }
    let count = observed.live.filter { $0.key.owner == instance.key.owner }
      .reduce(0) { $0 + $1.tasks.count }
    let policy = observed.policy
    return instance.tasks.count < policy.tasksPerApplicationMax && count < policy.tasksPerUserMax
      ? .allowed : .refused
  }
}
