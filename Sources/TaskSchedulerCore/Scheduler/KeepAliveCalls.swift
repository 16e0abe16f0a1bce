// Keep-alive handlers (contract §6): how applications set handlers, and how the scheduler calls
// them. ``KeepAlivePlanner`` determines the times of the calls.

extension Scheduler {
  mutating func setKeepAlive(
    _ request: RequestID, _ id: InstanceID, interval: Duration?, in turn: inout Turn
  ) {
    guard let instance = instances[id] else {
      return turn.reply(request, .refused(.invalidState(.notRunning)))
    }
    if let interval, let refusal = instance.refusalOfKeepAlive(interval, policy) {
      turn.reply(request, .refused(refusal))
      return instance.record(.refused(refusal), in: &turn)
    }
    if let interval {
      keepAlives.set(id, interval: interval, at: turn.instant)
    } else {
      keepAlives.remove(id)
    }
    turn.reply(request, .done)
    instance.record(.keepAliveSet(interval: interval), in: &turn)
  }

  /// Runs a burst if a handler cannot wait any longer.
  mutating func runKeepAlives(in turn: inout Turn) {
    let due = keepAlives.burst(at: turn.instant, tolerance: policy.wakeTolerance)
    callKeepAlives(due, in: &turn)
  }

  /// Runs a burst during a wake-up that happens for another reason, if this saves a later wake-up.
  mutating func useWakeUp(in turn: inout Turn) {
    let due = keepAlives.useWakeUp(at: turn.instant, tolerance: policy.wakeTolerance)
    callKeepAlives(due, in: &turn)
  }

  private mutating func callKeepAlives(_ ids: [InstanceID], in turn: inout Turn) {
    if ids.isEmpty { return }
    for id in ids { updateInstance(id, in: &turn) { $0.callKeepAlive(in: &$1) } }
    lookEarly(in: turn)
  }
}

extension Instance {
  fileprivate func refusalOfKeepAlive(_ interval: Duration, _ policy: SharedPolicy) -> Refusal? {
    if termination != nil { return .terminating }
    if state == .suspended { return .invalidState(state) }
    guard backgroundModes.contains(.voip) else { return .modeNotDeclared(.voip) }
    guard isAware else { return .noEventStream }
    guard interval >= policy.keepAliveMinimum else {
      return .keepAliveTooShort(minimum: policy.keepAliveMinimum)
    }
    return nil
  }

  fileprivate mutating func callKeepAlive(in turn: inout Turn) {
    // If an earlier keep-alive call still waits behind another callback, the application receives
    // that call after this burst. No second call is necessary.
    if termination != nil || callbacks.waits(.keepAlive) { return }
    if state == .suspended {
      leaveSuspended(to: .background(Stint(at: turn.instant)), cause: .event, in: &turn)
    }
    record(.keepAliveCalled, in: &turn)
    enqueue([.keepAlive], in: &turn)
    reconsider(in: &turn)
  }
}
