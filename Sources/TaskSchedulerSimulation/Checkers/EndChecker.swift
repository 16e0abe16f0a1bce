import TaskSchedulerCore

/// Every end has exactly one reason, and the right one (§14); where a callback was not
/// acknowledged, the detail says which.
struct EndChecker: Checker {
  static let name = "ends"

  /// The reason of each application's last end.
  private var reasons: [ApplicationKey: EndReason] = [:]
  private var endLast: (key: ApplicationKey, reason: EndReason)?

  mutating func see(_ effect: Effect, _ ledger: Ledger) throws(Finding) {
    switch effect {
    case .record(let record):
      guard case .ended(let end) = record.change else { return }
      let reason = end.reason
      guard let sighting = ledger.byKey[record.application] else {
        return try require(false, "\(record.application.id.name) ends, and does not run")
      }
      let expected = expected(sighting, ledger.event)
      try require(
        reason == expected,
        "\(sighting.key.id.name) is said to have ended by \(reason); it was \(expected)")
      if let late = sighting.lateAtKill {
        try require(
          end.detail == .callback(late),
          "\(sighting.key.id.name) was killed for \(late), which its end does not say")
      }
      try require(
        end.forced == nil || (sighting.isKilled && sighting.terminateDue != nil),
        "\(sighting.key.id.name) is said to have been killed after a signal, and was not")
      try require(
        end.forced?.signal ?? sighting.plan.stopSignal == sighting.plan.stopSignal,
        "\(sighting.key.id.name) is said to have been sent another signal than it was")
      endLast = (record.application, reason)
      reasons[record.application] = reason
    case .reply(_, .ended(let end)):
      try require(
        endLast?.reason == end.reason || endsRelaunch(end, ledger),
        "a terminate is answered with another reason")
    case .terminate(let id, let signal):
      guard let sighting = ledger[id] else {
        return try require(false, "instance \(id.number) is terminated, which is not there")
      }
      try require(
        signal == sighting.plan.stopSignal,
        "\(sighting.key.id.name) gets \(signal.name); its stop signal is another")
      try require(
        sighting.ending != nil && !sighting.isKilled,
        "\(sighting.key.id.name) gets SIGTERM, and no request or limit ends it")
      try require(
        !sighting.owed.contains(.willTerminate),
        "\(sighting.key.id.name) gets SIGTERM before it has acknowledged willTerminate")
    case .reply, .deliver, .expire, .notify, .socket, .notification, .memory, .spawn, .manage,
      .suspend, .resume, .kill, .release, .checkTracer, .resources:
      break
    }
  }

  /// Whether it answers the terminate of an application that does not run: with how it ended last.
  private func endsRelaunch(_ end: End, _ ledger: Ledger) -> Bool {
    guard case .operation(.terminate(_, let key, _)) = ledger.event, ledger.byKey[key] == nil else {
      return false
    }
    return end.reason == reasons[key]
  }

  private func expected(_ sighting: Sighting, _ event: Event) -> EndReason {
    if case .scheduler(.stop) = event { return .schedulerStopped }
    if let ending = sighting.ending { return ending }
    guard case .process(.leaderExited(_, let status)) = event else { return .schedulerStopped }
    return switch status {
    case .exited(let code): .exited(code: code)
    case .signaled(let signal): .crashed(signal: signal)
    case .unknown: .unknown
    }
  }

  mutating func after(_ ledger: Ledger) throws(Finding) {
    endLast = nil
    for sighting in ledger.live where sighting.ending != nil && !sighting.isKilled {
      try require(
        !sighting.owed.isEmpty || sighting.terminateDue != nil,
        "\(sighting.key.id.name) is to end, and nothing is done about it")
    }
  }

  func settled(_ ledger: Ledger) throws(Finding) {
    for sighting in ledger.live {
      try require(sighting.ending == nil, "\(sighting.key.id.name) has not ended at last")
    }
  }
}
