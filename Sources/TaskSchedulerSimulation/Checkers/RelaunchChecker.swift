import TaskSchedulerCore

/// Applications come back by themselves only at the daemon's start and after an end that neither
/// they nor a person chose: after the back-off's times, after an end for memory not before pressure
/// is over, and never after a person has ended them (§8).
struct RelaunchChecker: Checker {
  static let name = "relaunch"
  let slack: UInt64

  private struct Plan {
    var delay: UInt64
    /// The instant of the relaunch; nil while the application runs.
    var due: UInt64?
    /// Whether it ended for memory and also waits until the pressure ends.
    var awaitsMemory = false
    /// Whether it had no manifest for a while, so that the scheduler may have forgotten it.
    var mayBeForgotten = false
  }

  private var plans: [ApplicationKey: Plan] = [:]
  private var startedAt: [ApplicationKey: UInt64] = [:]
  private var ended: (key: ApplicationKey, reason: EndReason)?
  private var planned: [ApplicationKey: (delay: UInt64, awaitsMemory: Bool)] = [:]

  // Pressure on memory, as §11 has it: over when it was not heard of for MemoryQuietTime.
  private var pressedAt: UInt64 = 0
  private var isPressed = false
  /// By then an end for memory, and the return of that memory, is no longer waited for.
  private var memoryEndsBy: UInt64 = 0

  init(slack: UInt64) { self.slack = slack }

  mutating func before(_ event: Event, _ ledger: Ledger) throws(Finding) {
    ended = nil
    planned = [:]
    if case .memory(.pressed) = event {
      pressedAt = ledger.now
      isPressed = true
    } else if isPressed, pressedAt + quietTime(ledger) <= ledger.now {
      isPressed = false
    }
    if case .operation(.terminate(_, let key, _)) = event, !ledger.isRefused,
      ledger.byKey[key] == nil,
      plans[key]?.due != nil {
      // It waited for its relaunch.
      plans[key] = nil
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
      if case .relaunchPlanned(let delay, let awaitsMemory) = record.change {
        planned[record.application] = (Nanoseconds.of(delay), awaitsMemory)
      }
      if case .memoryChosen = record.change {
        memoryEndsBy =
          ledger.now + 2 * ledger.limits.callbackTimeout + ledger.limits.terminateTimeout
      }
    case .memory(.reclaim): memoryEndsBy = ledger.now + ledger.limits.terminateTimeout
    case .reply, .deliver, .expire, .notify, .socket, .notification, .memory, .suspend, .resume,
      .terminate, .kill, .release, .checkTracer, .resources:
      break
    }
  }

  private func spawn(
    _ key: ApplicationKey, _ reason: LaunchReason, _ ledger: Ledger
  ) throws(Finding) {
    switch ledger.event {
    case .operation(.launch), .operation(.activate), .scheduler(.recovered), .notification: return
    case .scheduler(.started):
      try require(
        isPersistent(key, ledger) && ledger.policy.multitaskingSupported && reason == .boot,
        "\(key.id.name) is launched at the start")
    case _:
      try require(reason == .relaunch, "\(key.id.name) is launched by \(ledger.event)")
      try require(
        !ledger.barred.contains(key),
        "\(key.id.name) is relaunched after a user or operator ended it")
      guard let plan = plans[key], let due = plan.due else {
        return try require(false, "\(key.id.name) is launched again, and its end asks for none")
      }
      try require(due <= ledger.now, "\(key.id.name) is launched again too early")
      try require(
        !plan.awaitsMemory || !isPressed,
        "\(key.id.name) was ended for memory, and is launched again under pressure")
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
    for (key, (delay, awaitsMemory)) in planned where ended?.key != key {
      // A launch has failed.
      try require(!awaitsMemory, "\(key.id.name) waits for memory, and could not be launched")
      try require(
        plans[key].map { delay == min($0.delay * 2, longest(ledger)) } ?? false
          || plans[key]?.mayBeForgotten ?? true && delay == shortest(ledger),
        "\(key.id.name) waits \(delay) ns for its next launch")
      plans[key] = Plan(delay: delay, due: ledger.now + delay)
    }
    if case .scheduler(.manifestsChanged) = ledger.event { forget(ledger) }
    if case .scheduler(.stop) = ledger.event { plans = [:] }
    // Without multitasking it waits.
    guard ledger.policy.multitaskingSupported else { return }
    for (key, plan) in plans {
      guard let due = plan.due, ledger.byKey[key] == nil,
        !ledger.launches.values.contains(where: { $0.key == key }), isPersistent(key, ledger)
      else { continue }
      try require(
        max(due, ledger.floor, plan.awaitsMemory ? calmBy(ledger) : 0) + slack >= ledger.now,
        "\(key.id.name) is not launched again")
    }
  }

  /// By then pressure is over that nothing is heard of any more. Sizes may have been awaited.
  private func calmBy(_ ledger: Ledger) -> UInt64 {
    max(pressedAt + quietTime(ledger), memoryEndsBy, ledger.floor) + Nanoseconds.second
  }

  private func quietTime(_ ledger: Ledger) -> UInt64 {
    Nanoseconds.of(ledger.policy.memoryQuietTime)
  }

  private mutating func checkEnd(
    _ key: ApplicationKey, _ reason: EndReason, _ ledger: Ledger
  ) throws(Finding) {
    let name = key.id.name
    guard reason.callsForRelaunch, isPersistent(key, ledger) else {
      try require(planned[key] == nil, "\(name) ended by \(reason), and is to come back")
      if reason == .exited(code: 0) || reason.isByPerson { plans[key] = nil }
      return
    }
    let awaitsMemory = reason == .memoryPressure
    try require(
      planned[key]?.awaitsMemory == awaitsMemory,
      "\(name) ended by \(reason), and waits for memory: \(planned[key]?.awaitsMemory ?? false)")
    let delay = planned[key]?.delay
    let ranFor = ledger.now - (startedAt[key] ?? 0)
    let isFresh = ranFor >= Nanoseconds.of(ledger.policy.relaunchResetTime)
    let isNew = plans[key]?.mayBeForgotten ?? false && delay == shortest(ledger)
    let before = isFresh || isNew ? nil : plans[key]?.delay
    let expected = min(before.map { $0 * 2 } ?? shortest(ledger), longest(ledger))
    try require(delay == expected, "\(name) waits \(delay ?? 0), not \(expected) ns")
    plans[key] = Plan(
      delay: expected, due: ledger.now + expected, awaitsMemory: awaitsMemory)
  }

  /// Drops the plans of applications that need no relaunch any more.
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
