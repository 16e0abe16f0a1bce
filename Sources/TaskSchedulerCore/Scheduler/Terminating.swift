// The termination of an instance (contract §2, §3, §14).

extension Instance {
  /// Begins the termination of the instance: willTerminate, then the stop signal, then SIGKILL.
  /// Kills a suspended instance without notice.
  mutating func terminate(
    _ reason: EndReason, _ detail: EndDetail? = nil, waiter: RequestID?, in turn: inout Turn
  ) {
    if let present = termination {
      if let waiter { termination?.waiters.append(waiter) }
      guard reason.isOrdered, !present.isOrdered else { return }
      termination?.reason = reason
      // Keep a detail that names an unacknowledged callback, although a user or an operator has now
      // ordered the end.
      if case .callback = present.detail {} else { termination?.detail = nil }
      return enforceOrder(in: &turn)
    }
    let waiters = waiter.map { [$0] } ?? []
    guard state != .suspended else {
      kill(reason, detail, in: &turn)
      termination?.waiters = waiters
      return enforceOrder(in: &turn)
    }
    cancelActivation()
    undoSuspension(in: &turn)
    stopMeasuringUse(in: &turn)
    termination = Termination(
      reason: reason, phase: .callbacks, waiters: waiters, detail: detail)
    enforceOrder(in: &turn)
    if isAware {
      enqueue(
        state == .active ? [.willResignActive, .willTerminate] : [.willTerminate], in: &turn)
    } else {
      signalTermination(in: &turn)
    }
  }

  /// If an operator or the user ordered the end, a debugger no longer keeps the scheduler from
  /// enforcing the limits of the instance. These limits restart, because they may have passed while
  /// the debugger traced the instance.
  private mutating func enforceOrder(in turn: inout Turn) {
    guard termination?.isOrdered == true else { return }
    switch tracer {
    case .absent, .asked(heldBefore: false, _): return
    case .present: tracer = .absent
    case .asked(heldBefore: true, let since): tracer = .asked(heldBefore: false, since: since)
    }
    restartAnswers(in: &turn)
  }

  /// Whether the daemon is killing the instance. If so, the instance receives no further message.
  var isKilled: Bool {
    if case .killed = termination?.phase { true } else { false }
  }

  /// Sends the stop signal. SIGKILL follows after `TerminateTimeout`.
  mutating func signalTermination(in turn: inout Turn) {
    termination?.phase = .signalled(killAt: turn.instant.advanced(by: turn.policy.terminateTimeout))
    turn.emit(.terminate(id, stopSignal))
  }

  /// Kills the instance without notice. If a termination is in progress, its reason stays.
  mutating func kill(_ reason: EndReason, _ detail: EndDetail? = nil, in turn: inout Turn) {
    var next = termination ?? Termination(reason: reason, phase: .callbacks)
    next.phase = .killed(retryAt: nil)
    if next.reason == reason, let detail { next.detail = detail }
    termination = next
    cancelActivation()
    if state == .suspended { phase = .suspended(isStopping: false) }
    stint?.suspension = .none
    stint?.use = nil
    turn.emit(.kill(id))
  }

  /// Kills the instance, because it has not ended within `TerminateTimeout` of its stop signal.
  mutating func killAfterStopSignal(_ reason: EndReason, in turn: inout Turn) {
    termination?.forced = ForcedEnd(signal: stopSignal, limit: turn.policy.terminateTimeout)
    kill(reason, in: &turn)
  }

  mutating func signalFailed(reason: String, in turn: inout Turn) {
    record(.signalFailed(reason: reason), in: &turn)
    if case .killed = termination?.phase {
      termination?.phase = .killed(
        retryAt: turn.instant.advanced(by: turn.policy.terminateTimeout))
    }
  }

  /// Ends the management of the instance, because the scheduler stops or must not suspend the
  /// application. The processes continue to run.
  func leaveRunning(
    _ reason: EndReason, cause: TransitionCause, detail: EndDetail?, in turn: inout Turn
  ) -> End {
    let end = End(reason: reason, at: turn.instant, detail: detail)
    if state == .suspended || isStopping { turn.emit(.resume(id)) }
    record(.transition(from: state, to: .notRunning, cause: cause), in: &turn)
    record(.ended(end), in: &turn)
    turn.emit(.release(id, killing: false))
    answerWaiters(end, in: &turn)
    return end
  }

  private func answerWaiters(_ end: End, in turn: inout Turn) {
    for waiter in termination?.waiters ?? [] {
      turn.reply(waiter, .ended(end))
    }
  }

  /// Ends the instance after the exit of its leader. Replies to the waiting requests, and releases
  /// the remaining processes.
  func finish(_ status: ExitStatus, in turn: inout Turn) -> End {
    let end = End(
      reason: termination?.reason ?? EndReason(status), at: turn.instant,
      detail: termination?.detail, forced: termination?.forced)
    record(.transition(from: state, to: .notRunning, cause: .leaderExited), in: &turn)
    record(.ended(end), in: &turn)
    turn.emit(.release(id, killing: termination != nil))
    answerWaiters(end, in: &turn)
    return end
  }
}
