import TaskSchedulerCore

// When limits restart (contract §3): after a debugger detached, the machine slept or the daemon
// was down.
extension Ledger {
  /// The daemon has looked for a debugger.
  func looked(_ sighting: Sighting, isTraced: Bool) {
    guard sighting.askedAt != nil else { return }
    sighting.askedAt = nil
    if isTraced, !sighting.isOrdered {
      sighting.isTraced = true
      return startAnew(sighting, at: now)
    }
    if sighting.isTraced {
      sighting.isTraced = false
      sighting.stintSince = now
      sighting.warnedAt = nil
      sighting.isLimitOver = false
      answerAnew(sighting)
      startAnew(sighting, at: now)
    }
    if let due = nextDue(sighting), due + limits.wakeTolerance < now {
      if sighting.state == .background, sighting.warnedAt != nil { sighting.warnedAt = now }
      answerAnew(sighting)
      startAnew(sighting, at: now)
    }
    guard sighting.ending == nil else { return }
    sighting.handled.removeAll { $0.due <= now }
    if let due = sighting.launchDue, due <= now { sighting.launchDue = nil }
    if let due = sighting.retryDue, due <= now { sighting.retryDue = nil }
    guard sighting.state == .background else { return }
    if sighting.warnedAt == nil,
      sighting.stintSince + limits.backgroundTime - limits.expirationLead <= now {
      sighting.warnedAt = now
    }
    sighting.isLimitOver = sighting.limit(limits) <= now
  }

  /// An operator or the user has ordered its end: from now on no debugger holds its limits up.
  func order(_ sighting: Sighting) {
    sighting.isOrdered = true
    guard sighting.isTraced else { return }
    sighting.isTraced = false
    answerAnew(sighting)
    startAnew(sighting, at: now)
  }

  /// Notes that something other than the daemon resumed a suspended instance. The daemon suspends
  /// it again, and waits first if that happened recently.
  func lost(_ sighting: Sighting) {
    guard sighting.state == .suspended, sighting.isStopped, !sighting.isStopping,
      sighting.ending == nil
    else { return }
    sighting.isStopped = false
    if let before = sighting.lostAt, now < before + limits.suspendRetryInterval {
      sighting.retryDue = now + limits.suspendRetryInterval
      sighting.retryDueLate = sighting.retryDue
    }
    sighting.lostAt = now
  }

  /// The earliest of its limits that have not been acted on.
  private func nextDue(_ sighting: Sighting) -> UInt64? {
    let callback = sighting.callbackDue(limits)
    if sighting.isKilled { return sighting.killRetryDue }
    if sighting.terminateDue != nil { return sighting.terminateDue }
    if sighting.ending != nil { return callback }
    let handled = sighting.handled.map(\.due).min()
    return [callback, sighting.launchDue, sighting.retryDue, stintDue(sighting), handled]
      .compactMap { $0 }.min()
  }

  private func stintDue(_ sighting: Sighting) -> UInt64? {
    guard sighting.state == .background else { return nil }
    if sighting.warnedAt == nil {
      return sighting.stintSince + limits.backgroundTime - limits.expirationLead
    }
    return sighting.isLimitOver ? nil : sighting.limit(limits)
  }

  /// Restarts the time for its outstanding callback.
  private func answerAnew(_ sighting: Sighting) {
    sighting.callbackSince = now
    sighting.handleAnew(limits, at: now)
    if sighting.launchDue != nil { sighting.launchDue = now + limits.launchTime }
    if sighting.terminateDue != nil, !sighting.isKilled {
      sighting.terminateDue = now + limits.terminateTimeout
    }
  }

  /// Restarts the limits that expired while the daemon was down.
  func forgive(_ sighting: Sighting, since lastAlive: UInt64) {
    func passed(_ due: UInt64?) -> Bool { due.map { lastAlive < $0 && $0 <= now } ?? false }
    if passed(stintDue(sighting)), sighting.warnedAt != nil { sighting.warnedAt = now }
    if passed(sighting.callbackDue(limits)) { sighting.callbackSince = now }
    if passed(sighting.handled.map(\.due).min()) { sighting.handleAnew(limits, at: now) }
    if passed(sighting.launchDue) { sighting.launchDue = now + limits.launchTime }
    if !sighting.isKilled, passed(sighting.terminateDue) {
      sighting.terminateDue = now + limits.terminateTimeout
    }
    startAnew(sighting, at: now)
    if sighting.askedAt != nil { sighting.askedAt = now }
  }
}
