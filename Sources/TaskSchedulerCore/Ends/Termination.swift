// How an instance is brought to its end (contract §2, §3, §14).

/// An end under way. The first reason stands, but that a person's order takes the place of one of
/// the daemon's own (contract §14).
struct Termination: Hashable, Sendable {
  var reason: EndReason
  var phase: Phase
  /// Requests to be answered when the leader has exited.
  var waiters: [RequestID] = []
  /// What exactly brought it about; it goes with the reason.
  var detail: EndDetail?
  /// Set when SIGKILL follows the signal that asked it to end.
  var forced: ForcedEnd?

  /// Whether a person has ordered it: then no debugger holds its limits up (contract §3).
  var isOrdered: Bool { reason.isOrdered }

  enum Phase: Hashable {
    /// The application is told, and has not acknowledged willTerminate.
    case callbacks
    /// The stop signal has been sent; SIGKILL comes at the instant given.
    case signalled(killAt: Instant)
    /// SIGKILL has been sent; nil once it is known to have been sent to all, else the next try.
    case killed(retryAt: Instant?)
  }
}

extension Instance {
  /// The orderly end. A suspended instance gets no notice.
  mutating func terminate(
    _ reason: EndReason, _ detail: EndDetail? = nil, waiter: RequestID?, in turn: inout Turn
  ) {
    if let present = termination {
      if let waiter { termination?.waiters.append(waiter) }
      guard reason.isOrdered, !present.isOrdered else { return }
      termination?.reason = reason
      // A callback that was not acknowledged says how it ended, whatever the reason.
      if case .callback = present.detail {} else { termination?.detail = nil }
      return enforceOrder(in: &turn)
    }
    let waiters = waiter.map { [$0] } ?? []
    guard state != .suspended else {
      kill(reason, detail, in: &turn)
      termination?.waiters = waiters
      return enforceOrder(in: &turn)
    }
    isActivating = false
    undoSuspension(in: &turn)
    stopWatchingUse(in: &turn)
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

  /// An end that an operator or the user has ordered is enforced although a debugger is attached.
  /// The limits that the debugger held up run again from the order.
  private mutating func enforceOrder(in turn: inout Turn) {
    guard termination?.isOrdered == true else { return }
    switch tracer {
    case .absent, .asked(heldBefore: false): return
    case .present: tracer = .absent
    case .asked(heldBefore: true): tracer = .asked(heldBefore: false)
    }
    restartAnswers(in: &turn)
  }

  /// Whether SIGKILL is on its way: then nothing more is said to it, whatever it still says.
  var isKilled: Bool {
    if case .killed = termination?.phase { true } else { false }
  }

  /// The stop signal, with SIGKILL to follow.
  mutating func signalTermination(in turn: inout Turn) {
    termination?.phase = .signalled(killAt: turn.instant.advanced(by: turn.policy.terminateTimeout))
    turn.emit(.terminate(id, stopSignal))
  }

  /// The end without notice. Of an end under way the reason stands.
  mutating func kill(_ reason: EndReason, _ detail: EndDetail? = nil, in turn: inout Turn) {
    var next = termination ?? Termination(reason: reason, phase: .callbacks)
    next.phase = .killed(retryAt: nil)
    if next.reason == reason, let detail { next.detail = detail }
    termination = next
    isActivating = false
    suspension = .none
    rules.forgetUse()
    turn.emit(.kill(id))
  }

  /// It has not ended within `TerminateTimeout` of its stop signal.
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

  /// The scheduler stops: the processes go on without it.
  func letGo(in turn: inout Turn) -> End {
    let end = End(reason: .schedulerStopped, at: turn.instant)
    if state == .suspended || suspension == .stopping { turn.emit(.resume(id)) }
    record(.transition(from: state, to: .notRunning, cause: .schedulerStopped), in: &turn)
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

  /// The leader is gone: answers those who wait, and lets go of what is left.
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

extension EndReason {
  init(_ status: ExitStatus) {
    switch status {
    case .exited(let code): self = .exited(code: code)
    case .signaled(let signal): self = .crashed(signal: signal)
    case .unknown: self = .unknown
    }
  }
}
