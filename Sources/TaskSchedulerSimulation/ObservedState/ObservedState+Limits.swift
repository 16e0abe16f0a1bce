import TaskSchedulerCore

// The restart of limits (contract.md#callbacks) after a debugger detached, the machine slept, or
// the daemon was down.
extension ObservedState {
  /// Records that the daemon checks an instance for a debugger, because one of its limits has
  /// passed. If the machine slept past the limit, the limits restart.
  func askedForTracer(of instance: ObservedInstance) {
    if !instance.isTraced, let due = nextDue(instance), due + limits.wakeTolerance < now {
      restartLimits(instance)
    }
    // The daemons of the simulation answer at once, so the machine does not sleep during a check.
    instance.askedAt = now
  }

  /// Records that the daemon has checked an instance for a debugger.
  func tracerChecked(_ instance: ObservedInstance, isTraced: Bool) {
    guard instance.askedAt != nil else { return }
    instance.askedAt = nil
    if isTraced, !instance.isOrdered {
      instance.isTraced = true
      return tolerateRestart(of: instance, at: now)
    }
    if instance.isTraced {
      instance.isTraced = false
      instance.stintSince = now
      instance.warnedAt = nil
      instance.isLimitOver = false
      restartLimits(instance)
    }
    guard instance.ending == nil else { return }
    enforceWindowLimits(instance)
    instance.handledEvents.removeAll { $0.due <= now }
    if let due = instance.unacknowledgedDue, due <= now { instance.unacknowledgedDue = nil }
    if let due = instance.launchDue, due <= now { instance.launchDue = nil }
    instance.endSilenceIfDue(limits, at: now)
    instance.endGraceIfDue(at: now)
    if let due = instance.retryDue, due <= now { instance.retryDue = nil }
    guard instance.state == .background else { return }
    if instance.warnedAt == nil,
      instance.stintSince + limits.backgroundTime - limits.expirationLead <= now
    {
      instance.warnedAt = now
    }
    instance.isLimitOver = instance.limit(limits) <= now
  }

  /// Records that an operator or the user has ordered the end of an instance. A debugger no longer
  /// stops the limits of the instance.
  func endOrdered(_ instance: ObservedInstance) {
    instance.isOrdered = true
    guard instance.isTraced else { return }
    instance.isTraced = false
    restartAnswers(instance)
    tolerateRestart(of: instance, at: now)
  }

  /// Records that another program resumed a suspended instance. The daemon suspends the instance
  /// again: at once, or after `SuspendRetryInterval` if another program has already resumed the
  /// instance within this interval.
  func suspensionLost(_ instance: ObservedInstance) {
    guard instance.state == .suspended, instance.isStopped, !instance.isStopping,
      instance.ending == nil
    else { return }
    instance.isStopped = false
    if let before = instance.lostAt, now < before + limits.suspendRetryInterval {
      instance.retryDue = now + limits.suspendRetryInterval
      instance.retryDueLate = instance.retryDue
    }
    instance.lostAt = now
  }

  /// Returns the earliest instant at which a pending limit of an instance ends.
  private func nextDue(_ instance: ObservedInstance) -> UInt64? {
    let callback = instance.callbackDue(limits)
    if instance.isKilled { return instance.killRetryDue }
    if instance.terminateDue != nil { return instance.terminateDue }
    if instance.ending != nil { return callback }
    let event = instance.eventDues.min()
    let grace = instance.state == .background ? instance.audio.graceDue : nil
    return [
      callback, instance.launchDue, instance.retryDue, stintDue(instance), event, grace,
      instance.audio.muteDue, instance.audio.silenceDue(limits),
      instance.window?.nextDue(limits),
    ].compactMap { $0 }.min()
  }

  private func stintDue(_ instance: ObservedInstance) -> UInt64? {
    guard instance.state == .background else { return nil }
    if instance.warnedAt == nil {
      return instance.stintSince + limits.backgroundTime - limits.expirationLead
    }
    return instance.isLimitOver ? nil : instance.limit(limits)
  }

  /// Restarts the limits of an instance: the machine slept, no daemon ran, or a debugger held the
  /// instance. Background time does not restart, only `ExpirationLead` does.
  func restartLimits(_ instance: ObservedInstance) {
    if instance.state == .background, instance.warnedAt != nil, !instance.isLimitOver {
      instance.warnedAt = now
    }
    if instance.state == .background, instance.audio.graceDue != nil {
      instance.audio.graceDue = now + limits.audioGraceTime
    }
    if instance.audio.silentSince != nil { instance.audio.silentSince = now }
    instance.window?.restart(at: now)
    restartAnswers(instance)
    tolerateRestart(of: instance, at: now)
  }

  /// Restarts the limits of an instance for callbacks, events, its launch and its termination.
  private func restartAnswers(_ instance: ObservedInstance) {
    instance.callbackSince = now
    instance.restartEventLimits(limits, at: now)
    if instance.launchDue != nil { instance.launchDue = now + limits.launchTime }
    if instance.terminateDue != nil, !instance.isKilled {
      instance.terminateDue = now + limits.terminateTimeout
    }
  }
}
