import TaskSchedulerCore

/// Applications come back by themselves only after a crash and at the daemon's start, after the
/// back-off's times, and never after an operator has ended them (§8).
struct RelaunchChecker: Checker {
  static let name = "relaunch"
  let slack: UInt64

  private struct Plan {
    var delay: UInt64
    /// When it is to come back; nil where it runs.
    var due: UInt64?
    /// It had no manifest for a while, and the application may have been forgotten.
    var mayBeForgotten = false
  }

  private var plans: [ApplicationKey: Plan] = [:]
  private var startedAt: [ApplicationKey: UInt64] = [:]
  private var ended: (key: ApplicationKey, reason: EndReason)?
  private var planned: [ApplicationKey: UInt64] = [:]

  init(slack: UInt64) { self.slack = slack }

  mutating func before(_ event: Event, _ ledger: Ledger) throws(Finding) {
    ended = nil
    planned = [:]
    if case .terminate(_, let key, let byUser) = event, !ledger.isRefused,
      ledger.byKey[key] == nil {
      // It waited for its relaunch.
      if byUser { plans[key]?.due = nil } else { plans[key] = nil }
    }
  }

  mutating func see(_ effect: Effect, _ ledger: Ledger) throws(Finding) {
    switch effect {
    case .spawn(_, let key, let reason): try spawn(key, reason, ledger)
    case .manage(_, _, let key):
      startedAt[key] = ledger.now
      plans[key]?.due = nil
    case .record(let record):
      if case .ended(let end) = record.change { ended = (record.application, end.reason) }
      if case .relaunchPlanned(let delay) = record.change {
        planned[record.application] = Nanoseconds.of(delay)
      }
    case .reply, .deliver, .expire, .notify, .socket, .notification, .memory, .suspend, .resume,
      .terminate, .kill, .release, .checkTracer, .resources:
      break
    }
  }

  private func spawn(
    _ key: ApplicationKey, _ reason: LaunchReason, _ ledger: Ledger
  ) throws(Finding) {
    switch ledger.event {
    case .launch, .activate, .recovered, .notification: return
    case .started:
      try require(
        isPersistent(key, ledger) && ledger.policy.multitaskingSupported && reason == .boot,
        "\(key.id.name) is launched at the start")
    case _:
      try require(reason == .relaunch, "\(key.id.name) is launched by \(ledger.event)")
      try require(!ledger.barred.contains(key), "\(key.id.name) comes back from an operator's end")
      guard let due = plans[key]?.due else {
        return try require(false, "\(key.id.name) is launched again, and has not crashed")
      }
      try require(due <= ledger.now, "\(key.id.name) is launched again too early")
      try require(
        ledger.policy.multitaskingSupported,
        "\(key.id.name) is launched again into the background that there is not")
    }
  }

  private func isPersistent(_ key: ApplicationKey, _ ledger: Ledger) -> Bool {
    ledger.manifests.first { $0.id == key.id && $0.owner == key.owner }?.bringsBack ?? false
  }

  mutating func after(_ ledger: Ledger) throws(Finding) {
    if let ended { try checkEnd(ended.key, ended.reason, ledger) }
    for (key, delay) in planned where ended?.key != key {
      // A launch has failed.
      try require(
        plans[key].map { delay == min($0.delay * 2, longest(ledger)) } ?? false
          || plans[key]?.mayBeForgotten ?? true && delay == shortest(ledger),
        "\(key.id.name) waits \(delay) ns for its next launch")
      plans[key] = Plan(delay: delay, due: ledger.now + delay)
    }
    if case .manifestsChanged = ledger.event { forget(ledger) }
    if case .stop = ledger.event { plans = [:] }
    // Without multitasking it waits.
    guard ledger.policy.multitaskingSupported else { return }
    for (key, plan) in plans {
      guard let due = plan.due, ledger.byKey[key] == nil,
        !ledger.launches.values.contains(where: { $0.key == key }), isPersistent(key, ledger)
      else { continue }
      try require(
        max(due, ledger.floor) + slack >= ledger.now, "\(key.id.name) is not launched again")
    }
  }

  private mutating func checkEnd(
    _ key: ApplicationKey, _ reason: EndReason, _ ledger: Ledger
  ) throws(Finding) {
    let name = key.id.name
    let isCrash =
      switch reason {
      case .exited(let code): code != 0
      case .crashed: true
      case _: false
      }
    guard isCrash, isPersistent(key, ledger) else {
      try require(planned[key] == nil, "\(name) ended by \(reason), and is to come back")
      if reason == .exited(code: 0) || reason == .terminatedByOperator { plans[key] = nil }
      return
    }
    let ranFor = ledger.now - (startedAt[key] ?? 0)
    let isFresh = ranFor >= Nanoseconds.of(ledger.policy.relaunchResetTime)
    let isNew = plans[key]?.mayBeForgotten ?? false && planned[key] == shortest(ledger)
    let before = isFresh || isNew ? nil : plans[key]?.delay
    let expected = min(before.map { $0 * 2 } ?? shortest(ledger), longest(ledger))
    try require(planned[key] == expected, "\(name) waits \(planned[key] ?? 0), not \(expected) ns")
    plans[key] = Plan(delay: expected, due: ledger.now + expected)
  }

  /// What is no longer asked for is not waited for, and may be forgotten.
  private mutating func forget(_ ledger: Ledger) {
    for key in plans.keys where !isPersistent(key, ledger) {
      plans[key]?.due = nil
      if ledger.manifest(for: key) == nil { plans[key]?.mayBeForgotten = true }
    }
  }

  private func shortest(_ ledger: Ledger) -> UInt64 { Nanoseconds.of(ledger.policy.relaunchDelay) }
  private func longest(_ ledger: Ledger) -> UInt64 {
    Nanoseconds.of(ledger.policy.relaunchDelayMax)
  }
}
