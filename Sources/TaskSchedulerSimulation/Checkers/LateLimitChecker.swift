import TaskSchedulerCore

/// Checks that the daemon enforces each limit in time (contract.md#never-early). The permitted
/// delay is that of the machine's timer.
struct LateLimitChecker: Checker {
  static let name = "late limits"
  let slack: UInt64

  mutating func after(_ observed: ObservedState) throws(Finding) {
    let now = observed.now
    let limits = observed.limits
    func isLate(_ due: UInt64) -> Bool { max(due, observed.floor) + slack < now }
    for instance in observed.live where !instance.isTraced {
      if let asked = instance.askedAt {
        try require(!isLate(asked), "\(instance.name) is not checked for a debugger in time")
        continue
      }
      let name = instance.name
      if instance.isKilled {
        let due = instance.killRetryDue.map { max($0, instance.base) }
        try require(
          due.map { !isLate($0) } ?? true, "the failed kill of \(name) is not repeated in time")
        continue
      }
      if let due = instance.terminateDue {
        try require(
          !isLate(max(due, instance.terminateDueLate)),
          "\(name) is not killed in time after its stop signal")
        continue
      }
      if !instance.outstanding.isEmpty {
        let due = max(instance.callbackSince, instance.base) + instance.callbackLimit(limits)
        try require(!isLate(due), "\(name) is not killed for a missing acknowledgement")
      }
      guard instance.ending == nil, instance.state == .background, !instance.tasks.isEmpty
      else { continue }
      let warning = instance.stintSince + limits.backgroundTime - limits.expirationLead
      if !instance.tasks.allSatisfy(\.isExpired) {
        try require(
          !isLate(max(warning, instance.base)), "\(name): expiration handlers are not called")
      }
      let limit = max(instance.limit(limits), instance.base + limits.expirationLead)
      let mayRun =
        instance.isBusy(at: now)
        || instance.launchDue.map { now <= max($0, instance.launchDueLate) + slack } ?? false
        || instance.eventDueLate(limits).map { now <= $0 + slack } ?? false
      try require(mayRun || !isLate(limit), "\(name) is not killed after its background time")
    }
  }
}
