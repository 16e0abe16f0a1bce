import TaskSchedulerCore

/// Checks that only entitled applications run in the background (§5), and that all others are
/// suspended and stopped.
struct SuspensionChecker: Checker {
  static let name = "suspension"
  let slack: UInt64

  mutating func see(_ effect: Effect, _ ledger: Ledger) throws(Finding) {
    switch effect {
    case .suspend(let id): try checkSuspend(id, ledger)
    case .resume(let id):
      try require(
        ledger[id] != nil, "instance \(id.number) is resumed, which is not there")
    case .record(let record):
      if case .transition(_, .suspended, _) = record.change,
        let sighting = ledger.byKey[record.application] {
        try require(
          sighting.isStopped, "\(sighting.key.id.name) is said to be suspended, and runs")
      }
    case .reply, .deliver, .expire, .notify, .socket, .notification, .memory, .spawn, .manage,
      .terminate, .kill, .release, .checkTracer, .resources:
      break
    }
  }

  private func checkSuspend(_ id: InstanceID, _ ledger: Ledger) throws(Finding) {
    guard let sighting = ledger[id] else {
      return try require(false, "instance \(id.number) is stopped, which is not there")
    }
    let name = sighting.key.id.name
    if case .scheduler(.recovered) = ledger.event,
      sighting.isStopping || sighting.state == .suspended
    {
      return
    }
    try require(!sighting.isStopping && !sighting.isStopped, "\(name) is stopped twice")
    try require(sighting.state == .background, "\(name) is \(sighting.state) and stopped")
    try require(sighting.ending == nil, "\(name) is stopped while it ends")
    try require(
      !sighting.isBusy(at: ledger.now) && sighting.tasks.isEmpty,
      "\(name) is stopped, and something entitles it to run")
  }

  mutating func after(_ ledger: Ledger) throws(Finding) {
    let now = ledger.now
    for sighting in ledger.live where !sighting.isKilled {
      let name = sighting.key.id.name
      if sighting.state == .suspended {
        try require(
          sighting.isStopped || sighting.isStopping, "\(name) is suspended, and its processes run")
        continue
      }
      try require(
        !sighting.isStopped, "\(name) is \(sighting.state), and its processes are stopped")
      guard sighting.state == .background else { continue }
      let hasTasks = !sighting.tasks.isEmpty && sighting.hasTimeLeft(ledger.limits, at: now)
      if sighting.ending != nil || sighting.isBusy(at: now) || hasTasks {
        try require(!sighting.isStopping, "\(name) may run, and is being stopped")
        continue
      }
      if sighting.isTraced || sighting.askedAt != nil || !sighting.tasks.isEmpty { continue }
      try require(
        sighting.isStopping || mayWait(sighting, ledger),
        "nothing entitles \(name) to run, and it is not stopped")
    }
  }

  /// Whether a moment is awaited: the end of its launch or of an event's time, or the next try.
  private func mayWait(_ sighting: Sighting, _ ledger: Ledger) -> Bool {
    let launch = sighting.launchDue.map { max($0, sighting.launchDueLate) }
    let retry = sighting.retryDueLate.map { max($0, sighting.base) }
    let handled = sighting.handledDueLate(ledger.limits)
    guard let due = [launch, retry, handled].compactMap({ $0 }).max() else { return false }
    return ledger.now <= max(due, ledger.floor) + slack
  }

  func settled(_ ledger: Ledger) throws(Finding) {
    for sighting in ledger.live {
      try require(
        !sighting.isStopping && sighting.state != .background,
        "\(sighting.key.id.name) is not suspended at last")
    }
  }
}
