import TaskSchedulerCore

/// Checks that only entitled applications run in the background (contract.md#entitlement), and that
/// the daemon suspends all others.
struct SuspensionChecker: Checker {
  static let name = "suspension"
  let slack: UInt64

  mutating func see(_ effect: Effect, _ observed: ObservedState) throws(Finding) {
    switch effect {
    case .suspend(let id): try checkSuspend(id, observed)
    case .resume(let id):
      try require(
        observed[id] != nil, "instance \(id.number) is resumed, but does not exist")
    case .record(let record):
      if case .transition(_, .suspended, _) = record.change,
        let instance = observed.byKey[record.application]
      {
        try require(
          instance.isStopped, "\(instance.name) becomes suspended, but its processes run")
      }
    case .reply, .deliver, .expire, .notify, .socket, .notification, .memory, .spawn, .manage,
      .terminate, .kill, .release, .checkTracer, .resources, .dropPicture, .audio, .remote,
      .location:
      break
    }
  }

  private func checkSuspend(_ id: InstanceID, _ observed: ObservedState) throws(Finding) {
    guard let instance = observed[id] else {
      return try require(false, "instance \(id.number) is stopped, but does not exist")
    }
    let name = instance.name
    if case .scheduler(.recovered) = observed.event,
      instance.isStopping || instance.state == .suspended
    {
      return
    }
    try require(!instance.isStopping && !instance.isStopped, "\(name) is stopped twice")
    try require(instance.state == .background, "\(name) is \(instance.state), but is stopped")
    try require(instance.ending == nil, "\(name) is stopped while it ends")
    try require(
      !instance.isBusy(at: observed.now) && instance.tasks.isEmpty,
      "\(name) is stopped, but is entitled to run")
  }

  mutating func after(_ observed: ObservedState) throws(Finding) {
    let now = observed.now
    for instance in observed.live where !instance.isKilled {
      let name = instance.name
      if instance.state == .suspended {
        try require(
          instance.isStopped || instance.isStopping, "\(name) is suspended, but its processes run")
        continue
      }
      try require(
        !instance.isStopped, "\(name) is \(instance.state), but its processes are stopped")
      guard instance.state == .background else { continue }
      let hasTasks = !instance.tasks.isEmpty && instance.hasTimeLeft(observed.limits, at: now)
      if instance.ending != nil || instance.isBusy(at: now) || hasTasks {
        try require(!instance.isStopping, "\(name) is entitled to run, but is being stopped")
        continue
      }
      if instance.isTraced || instance.askedAt != nil || !instance.tasks.isEmpty { continue }
      try require(
        instance.isStopping || mayWait(instance, observed),
        "\(name) is not entitled to run, but is not stopped")
    }
  }

  /// Returns whether the daemon may postpone the suspension: until the launch limit or the limit of
  /// an event ends, until its next attempt to suspend, or until the audio is muted.
  private func mayWait(_ instance: ObservedInstance, _ observed: ObservedState) -> Bool {
    let launch = instance.launchDue.map { max($0, instance.launchDueLate) }
    let retry = instance.retryDueLate.map { max($0, instance.base) }
    let handled = instance.eventDueLate(observed.limits)
    let mute = instance.audio.audible.isEmpty ? nil : instance.audio.muteDue
    guard let due = [launch, retry, handled, mute].compactMap({ $0 }).max() else { return false }
    return observed.now <= max(due, observed.floor) + slack
  }

  func checkFinalState(_ observed: ObservedState) throws(Finding) {
    for instance in observed.live {
      try require(
        !instance.isStopping && instance.state != .background,
        "\(instance.name) is not suspended at the end of the run")
    }
  }
}
