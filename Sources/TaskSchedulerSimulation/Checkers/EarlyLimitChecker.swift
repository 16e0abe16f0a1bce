import TaskSchedulerCore

/// No limit fires early (§15.5), and none while a debugger is there (§3) but for those of an end
/// that an operator or the user has ordered.
struct EarlyLimitChecker: Checker {
  static let name = "early limits"

  mutating func see(_ effect: Effect, _ ledger: Ledger) throws(Finding) {
    switch effect {
    case .kill(let id): try checkKill(id, ledger)
    case .expire(let id, _, _): try checkExpiration(id, ledger)
    case .reply, .deliver, .notify, .socket, .notification, .memory, .spawn, .manage, .suspend,
      .resume, .terminate, .release, .checkTracer, .record, .resources:
      break
    }
  }

  private func checkKill(_ id: InstanceID, _ ledger: Ledger) throws(Finding) {
    guard let sighting = ledger[id] else {
      return try require(false, "instance \(id.number) is killed, which is not there")
    }
    let name = sighting.key.id.name
    let now = ledger.now
    if case .scheduler(.recovered) = ledger.event {
      return try require(sighting.isKilled, "\(name) is killed by the daemon's return")
    }
    if case .operation(.terminate) = ledger.event, sighting.wasSuspendedAtEnd, !sighting.isKilled {
      return
    }
    // For memory, which is no limit: `MemoryChecker` judges it.
    if case .memory = ledger.event, sighting.ending == .memoryPressure,
      sighting.wasSuspendedAtEnd, !sighting.isKilled {
      return
    }
    // What it uses is no limit of time: `ResourceChecker` judges it.
    if case .resources = ledger.event, sighting.ending == nil { return }
    guard case .process(.tracerChecked(id, let isTraced)) = ledger.event,
      !isTraced || sighting.isOrdered
    else {
      return try require(false, "\(name) is killed before the daemon checked for a debugger")
    }
    if sighting.isKilled {
      return try require(
        sighting.killRetryDue.map { $0 <= now } ?? false, "\(name) is killed again too early")
    }
    if let due = sighting.terminateDue {
      return try require(due <= now, "\(name) is killed \(due - now) ns early after SIGTERM")
    }
    if let due = sighting.callbackDue(ledger.limits), due <= now { return }
    let isTaskLeft =
      sighting.ending == nil && sighting.state == .background && !sighting.tasks.isEmpty
    try require(
      isTaskLeft && !sighting.isBusy(at: now) && sighting.limit(ledger.limits) <= now,
      "\(name) is killed before any limit of it has passed")
  }

  private func checkExpiration(_ id: InstanceID, _ ledger: Ledger) throws(Finding) {
    guard let sighting = ledger[id] else { return }
    try require(
      sighting.state == .background && sighting.warnedAt != nil,
      "\(sighting.key.id.name): a task expires before its time")
  }
}
