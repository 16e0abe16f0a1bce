// The deadlines of one instance, and the actions when they pass.
//
// Before the scheduler enforces a limit, the daemon checks whether a debugger outside the instance
// traces one of its processes. While a debugger traces the instance, the scheduler enforces only
// the limits of an end that an operator or the user has ordered (contract §3).

extension Instance {
  /// Returns the earliest deadline of the instance.
  func deadline(_ policy: SharedPolicy) -> Instant? {
    earlier(limit(policy), stint?.use?.nextDue)
  }

  /// Returns the earliest limit. While a debugger traces the instance, returns the instant of the
  /// next check for the debugger instead. Returns nil if there is no limit, or while a check is in
  /// progress.
  private func limit(_ policy: SharedPolicy) -> Instant? {
    switch tracer {
    case .asked: nil
    case .present(let nextCheck): stint == nil && limits(policy).isEmpty ? nil : nextCheck
    case .absent: nearest(policy)
    }
  }

  /// Returns all limits, in no particular order.
  func limits(_ policy: SharedPolicy) -> [Limit] {
    var limits: [Limit] = []
    forEachLimit(policy) { limits.append($0) }
    return limits
  }

  /// Calls `body` with each limit, in no particular order. Almost every event looks for the nearest
  /// limit, and an array would require an allocation each time.
  private func forEachLimit(_ policy: SharedPolicy, _ body: (Limit) -> Void) {
    switch termination?.phase {
    case .signalled(let killAt): return body(Limit(kind: .kill, at: killAt))
    case .killed(let retryAt):
      if let retryAt { body(Limit(kind: .killRetry, at: retryAt)) }
      return
    case .callbacks, nil: break
    }
    if let due = callbacks.deadline(policy), let callback = callbacks.inFlight {
      body(Limit(kind: .callback(callback.kind), at: due))
    }
    if termination != nil { return }
    stint?.forEachLimit(policy, body)
    if let due = handling.nextEnd { body(Limit(kind: .event, at: due)) }
    if let due = window?.resignsAt(policy) { body(Limit(kind: .unfocused, at: due)) }
    if let due = window?.leavesAt(policy) { body(Limit(kind: .hidden, at: due)) }
    guard stint != nil, let audio else { return }
    if let due = audio.graceEnds { body(Limit(kind: .audio, at: due)) }
    if let due = audio.silence.due(policy) { body(Limit(kind: .audio, at: due)) }
  }

  private func nearest(_ policy: SharedPolicy) -> Instant? {
    var nearest: Instant?
    forEachLimit(policy) { nearest = earlier(nearest, $0.at) }
    return nearest
  }

  /// Asks the daemon to check for a debugger if a limit of the instance has passed.
  mutating func deadlinePassed(in turn: inout Turn) {
    if let due = limit(turn.policy), due <= turn.instant { askForDebugger(in: &turn) }
  }

  /// Asks the daemon to check for a debugger, before the scheduler enforces a limit.
  ///
  /// If a limit has passed while the machine slept, restarts the limits. The time that the check
  /// takes does not matter, because a user with many applications can delay the check.
  mutating func askForDebugger(in turn: inout Turn) {
    if case .asked = tracer { return }
    if !isTraced { restartLimitsIfSlept(since: Instant(nanoseconds: 0), in: &turn) }
    tracer = .asked(heldBefore: isTraced, since: turn.instant)
    turn.emit(.checkTracer(id))
  }

  mutating func tracerChecked(isTraced: Bool, in turn: inout Turn) {
    guard case .asked(let heldBefore, let since) = tracer else { return }
    if isTraced, termination?.isOrdered != true {
      tracer = .present(nextCheck: turn.instant.advanced(by: turn.policy.tracerCheckInterval))
      // While a debugger traces the instance, an expired task is an entitlement again.
      reconsider(in: &turn)
    } else {
      tracer = .absent
      if heldBefore {
        stint?.time.restartLimit(at: turn.instant)
        restartLimits(in: &turn)
      } else {
        restartLimitsIfSlept(since: since, in: &turn)
      }
      enforceLimits(in: &turn)
    }
  }

  /// Restarts the limits of the instance if one of them has passed so long ago, but after `since`,
  /// that the machine must have slept.
  private mutating func restartLimitsIfSlept(since: Instant, in turn: inout Turn) {
    let (now, tolerance) = (turn.instant, turn.policy.wakeTolerance)
    if limits(turn.policy).contains(where: { since < $0.at && $0.at.advanced(by: tolerance) < now })
    {
      restartLimits(in: &turn)
    }
  }

  /// Restarts the limits of the instance, because for a time the application could not answer, or
  /// its agent could not report: the machine slept, no daemon ran, or a debugger held the
  /// application. `BackgroundTime` does not restart, only `ExpirationLead` does.
  mutating func restartLimits(in turn: inout Turn) {
    stint?.time.restartLead(at: turn.instant)
    restartAnswers(in: &turn)
    window?.restart(at: turn.instant)
    audio?.silence.restart(at: turn.instant)
    if stint != nil, audio?.graceEnds != nil {
      audio?.setGrace(until: turn.instant.advanced(by: turn.policy.audioGraceTime))
    }
  }

  /// Restarts the limit of every unanswered message, of a launch and of the stop signal.
  mutating func restartAnswers(in turn: inout Turn) {
    callbacks.restartLimit(at: turn.instant)
    handling.extend(until: turn.instant.advanced(by: turn.policy.eventTime))
    if stint?.launchEnds != nil {
      stint?.launchEnds = turn.instant.advanced(by: turn.policy.launchTime)
    }
    if case .signalled = termination?.phase {
      termination?.phase = .signalled(
        killAt: turn.instant.advanced(by: turn.policy.terminateTimeout))
    }
  }

  private mutating func enforceLimits(in turn: inout Turn) {
    let now = turn.instant
    if let termination {
      return enforceTermination(termination.phase, in: &turn)
    }
    if let due = callbacks.deadline(turn.policy), due <= now, let late = callbacks.inFlight {
      return kill(late.kind.reasonOfLimit, .callback(late.kind), in: &turn)
    }
    if handling.endIfOver(at: now) { reasons.entitlementEnded(.eventTime, at: now) }
    if let due = stint?.launchEnds, due <= now {
      stint?.launchEnds = nil
      reasons.entitlementEnded(.launchTime, at: now)
    }
    endSilenceIfDue(in: turn)
    endAudioGraceIfDue(in: &turn)
    if case .failed(let retryAt) = stint?.suspension, retryAt <= now { stint?.suspension = .none }
    if let due = stint?.time.warningDue(turn.policy), due <= now {
      stint?.time.warn(at: now)
      expireTasks(in: &turn)
    }
    stint?.time.endIfOver(turn.policy, at: now)
    reconsider(debuggerIsAbsent: true, in: &turn)
    enforceWindowLimits(in: &turn)
  }

  private mutating func enforceTermination(_ phase: Termination.Phase, in turn: inout Turn) {
    switch phase {
    case .callbacks:
      guard let due = callbacks.deadline(turn.policy), due <= turn.instant,
        let late = callbacks.inFlight
      else { return }
      // If a user or an operator ordered the end, the order is the reason. Otherwise, the missing
      // acknowledgement is the reason (§14).
      let ordered = termination.flatMap { $0.reason.isOrdered ? $0.reason : nil }
      let reason = ordered ?? late.kind.reasonOfLimit
      termination?.reason = reason
      kill(reason, .callback(late.kind), in: &turn)
    case .signalled(let killAt):
      if killAt <= turn.instant, let reason = termination?.reason {
        killAfterStopSignal(reason, in: &turn)
      }
    case .killed(let retryAt):
      if let retryAt, retryAt <= turn.instant, let reason = termination?.reason {
        kill(reason, in: &turn)
      }
    }
  }
}

extension CallbackKind {
  /// The reason for the end of an instance that did not acknowledge this callback in time.
  fileprivate var reasonOfLimit: EndReason {
    self == .keepAlive ? .keepAliveTimeout : .callbackTimeout
  }
}

extension Stint {
  /// Calls `body` with each pending limit, in no particular order.
  fileprivate func forEachLimit(_ policy: SharedPolicy, _ body: (Limit) -> Void) {
    if let launchEnds { body(Limit(kind: .launch, at: launchEnds)) }
    switch suspension {
    case .failed(let retryAt): body(Limit(kind: .suspension, at: retryAt))
    case .muting(let end): body(Limit(kind: .mute, at: end))
    case .none, .stopping: break
    }
    if let due = time.warningDue(policy) { body(Limit(kind: .expiration, at: due)) }
    if !time.isOver { body(Limit(kind: .backgroundTime, at: time.limit(policy))) }
  }
}
