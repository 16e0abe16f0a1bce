import TaskSchedulerCore

/// Checks that no limit fires early (contract.md#never-early), and that no limit fires while a
/// debugger is attached (contract.md#callback-debugger).
///
/// If an operator or the user terminates an application, the limits of this termination also apply
/// while a debugger is attached.
struct EarlyLimitChecker: Checker {
  static let name = "early limits"

  mutating func see(_ effect: Effect, _ observed: ObservedState) throws(Finding) {
    switch effect {
    case .kill(let id): try checkKill(id, observed)
    case .expire(let id, _, _): try checkExpiration(id, observed)
    case .reply, .deliver, .notify, .socket, .notification, .memory, .spawn, .manage, .suspend,
      .resume, .terminate, .release, .checkTracer, .record, .resources, .dropPicture, .audio,
      .remote, .location:
      break
    }
  }

  private func checkKill(_ id: InstanceID, _ observed: ObservedState) throws(Finding) {
    guard let instance = observed[id] else {
      return try require(false, "instance \(id.number) is killed, but does not exist")
    }
    let name = instance.name
    let now = observed.now
    if case .scheduler(.recovered) = observed.event {
      return try require(instance.isKilled, "\(name) is killed by the recovery of the daemon")
    }
    if observed.event.terminatedApplication != nil, instance.wasSuspendedAtEnd,
      !instance.isKilled
    {
      return
    }
    // This kill frees memory and enforces no limit. `MemoryChecker` checks it.
    if case .memory = observed.event, instance.ending == .memoryPressure,
      instance.wasSuspendedAtEnd, !instance.isKilled
    {
      return
    }
    // The limits of resources are not time limits. `ResourceChecker` checks them.
    if case .resources = observed.event, instance.ending == nil { return }
    guard case .process(.tracerChecked(id, let isTraced)) = observed.event,
      !isTraced || instance.isOrdered
    else {
      return try require(false, "\(name) is killed, although a debugger may be attached")
    }
    if instance.isKilled {
      return try require(
        instance.killRetryDue.map { $0 <= now } ?? false,
        "the kill of \(name) is repeated too early")
    }
    if let due = instance.terminateDue {
      return try require(
        due <= now, "\(name) is killed \(due - now) ns too early after its stop signal")
    }
    if let due = instance.callbackDue(observed.limits), due <= now { return }
    let isTaskLeft =
      instance.ending == nil && instance.state == .background && !instance.tasks.isEmpty
    try require(
      isTaskLeft && !instance.isBusy(at: now) && instance.limit(observed.limits) <= now,
      "\(name) is killed before any of its limits has expired")
  }

  private func checkExpiration(_ id: InstanceID, _ observed: ObservedState) throws(Finding) {
    guard let instance = observed[id] else { return }
    try require(
      instance.state == .background && instance.warnedAt != nil,
      "\(instance.name): a task expires before its time")
  }
}
