import TaskSchedulerCore

/// No limit is late by more than the machine's own delay (§15.5).
struct LateLimitChecker: Checker {
  static let name = "late limits"
  let slack: UInt64

  mutating func after(_ ledger: Ledger) throws(Finding) {
    let now = ledger.now
    let limits = ledger.limits
    func isLate(_ due: UInt64) -> Bool { max(due, ledger.floor) + slack < now }
    for sighting in ledger.live where !sighting.isTraced {
      if let asked = sighting.askedAt {
        try require(!isLate(asked), "\(sighting.key.id.name) is not checked for a debugger")
        continue
      }
      let name = sighting.key.id.name
      if sighting.isKilled {
        let due = sighting.killRetryDue.map { max($0, sighting.base) }
        try require(due.map { !isLate($0) } ?? true, "\(name) is not killed again")
        continue
      }
      if let due = sighting.terminateDue {
        try require(
          !isLate(max(due, sighting.terminateDueLate)), "\(name) is not killed after SIGTERM")
        continue
      }
      if !sighting.owed.isEmpty {
        let due = max(sighting.callbackSince, sighting.base) + sighting.callbackLimit(limits)
        try require(!isLate(due), "\(name) is not killed for a callback not acknowledged")
      }
      guard sighting.ending == nil, sighting.state == .background, !sighting.tasks.isEmpty
      else { continue }
      let warning = sighting.stintSince + limits.backgroundTime - limits.expirationLead
      if !sighting.tasks.allSatisfy(\.isExpired) {
        try require(
          !isLate(max(warning, sighting.base)), "\(name): expiration handlers are not called")
      }
      let limit = max(sighting.limit(limits), sighting.base + limits.expirationLead)
      let mayRun =
        sighting.isBusy(at: now)
        || sighting.launchDue.map { now <= max($0, sighting.launchDueLate) + slack } ?? false
        || sighting.handledDueLate(limits).map { now <= $0 + slack } ?? false
      try require(mayRun || !isLate(limit), "\(name) is not killed at the end of its time")
    }
  }
}
