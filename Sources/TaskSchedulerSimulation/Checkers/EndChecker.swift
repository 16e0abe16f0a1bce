import TaskSchedulerCore

/// Checks that every end has exactly one reason, and that the reason is right
/// (contract.md#end-one-reason).
///
/// If a missing acknowledgement causes an end, the detail of the end names the callback.
struct EndChecker: Checker {
  static let name = "ends"

  /// The reason for each application's last end.
  private var reasons: [ApplicationKey: EndReason] = [:]
  private var endLast: (key: ApplicationKey, reason: EndReason)?

  mutating func see(_ effect: Effect, _ observed: ObservedState) throws(Finding) {
    switch effect {
    case .record(let record):
      guard case .ended(let end) = record.change else { return }
      let reason = end.reason
      guard let instance = observed.byKey[record.application] else {
        return try require(false, "\(record.application.id.name) ends, but does not run")
      }
      let expected = expected(instance, observed.event)
      try require(
        reason == expected,
        "the end of \(instance.name) has the reason \(reason), not \(expected)")
      if let late = instance.lateAtKill {
        try require(
          end.detail == .callback(late),
          "\(instance.name) was killed because it did not acknowledge \(late), but its end does "
            + "not name the callback")
      }
      try require(
        end.forced == nil || (instance.isKilled && instance.terminateDue != nil),
        "the end of \(instance.name) mentions a kill after the stop signal, but there was no such "
          + "kill")
      try require(
        end.forced?.signal ?? instance.plan.stopSignal == instance.plan.stopSignal,
        "the end of \(instance.name) names a signal that is not its stop signal")
      endLast = (record.application, reason)
      reasons[record.application] = reason
    case .reply(_, .ended(let end)):
      try require(
        endLast?.reason == end.reason || endsRelaunch(end, observed),
        "the reason in the reply to a termination is not the reason for the end")
    case .terminate(let id, let signal):
      guard let instance = observed[id] else {
        return try require(false, "instance \(id.number) is terminated, but does not exist")
      }
      try require(
        signal == instance.plan.stopSignal,
        "\(instance.name) receives \(signal.name), not its stop signal")
      try require(
        instance.ending != nil && !instance.isKilled,
        "\(instance.name) receives its stop signal, but no request or limit ends it")
      try require(
        !instance.outstanding.contains(.willTerminate),
        "\(instance.name) receives its stop signal before it has acknowledged willTerminate")
    case .reply, .deliver, .expire, .notify, .socket, .notification, .memory, .spawn, .manage,
      .suspend, .resume, .kill, .release, .checkTracer, .resources, .dropPicture, .audio,
      .remote, .location:
      break
    }
  }

  /// Returns whether `end` is the right reply to the termination of an application that does not
  /// run. The right reply is the last end of that application.
  private func endsRelaunch(_ end: End, _ observed: ObservedState) -> Bool {
    guard let key = observed.event.terminatedApplication else { return false }
    return observed.byKey[key] == nil && end.reason == reasons[key]
  }

  private func expected(_ instance: ObservedInstance, _ event: Event) -> EndReason {
    if case .scheduler(.stop) = event { return .schedulerStopped }
    if case .process(.released(instance.id, _)) = event { return .released }
    if let ending = instance.ending { return ending }
    guard case .process(.leaderExited(_, let status)) = event else { return .schedulerStopped }
    return switch status {
    case .exited(let code): .exited(code: code)
    case .signaled(let signal): .crashed(signal: signal)
    case .unknown: .unknown
    }
  }

  mutating func after(_ observed: ObservedState) throws(Finding) {
    endLast = nil
    for instance in observed.live where instance.ending != nil && !instance.isKilled {
      try require(
        !instance.outstanding.isEmpty || instance.terminateDue != nil,
        "\(instance.name) must end, but has no outstanding callback and received no signal")
    }
  }

  func checkFinalState(_ observed: ObservedState) throws(Finding) {
    for instance in observed.live {
      try require(instance.ending == nil, "\(instance.name) has not ended after the last limit")
    }
  }
}
