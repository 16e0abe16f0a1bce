import TaskSchedulerCore

/// Checks when the daemon launches an application by itself (contract.md#launch). The daemon does
/// so only at its start, for an incoming call, for a report of the location, and after an end that
/// was not the choice of the application, a user or an operator.
///
/// A relaunch comes after a delay that grows with each relaunch. If the daemon ended the
/// application to free memory, the relaunch also waits for the end of memory pressure. No relaunch
/// follows an end that a user or an operator ordered.
struct RelaunchChecker: Checker {
  static let name = "relaunch"
  let slack: UInt64

  private struct Plan {
    var delay: UInt64
    /// The instant of the relaunch; nil while the application runs.
    var due: UInt64?
    /// Whether the daemon ended the application to free memory. The relaunch then also waits for
    /// the end of the pressure.
    var awaitsMemory = false
    /// Whether the application ever lost its manifest. The scheduler may have forgotten such an
    /// application.
    var mayBeForgotten = false
  }

  private var plans: [ApplicationKey: Plan] = [:]
  private var startedAt: [ApplicationKey: UInt64] = [:]
  private var ended: (key: ApplicationKey, reason: EndReason)?
  private var planned: [ApplicationKey: (delay: UInt64, awaitsMemory: Bool)] = [:]

  // Memory pressure (contract.md#memory) is over when the kernel has not reported it for
  // MemoryQuietTime.
  private var pressedAt: UInt64 = 0
  private var isPressed = false
  /// The latest instant until which the scheduler waits for the memory of the application that it
  /// terminates.
  private var memoryEndsBy: UInt64 = 0
  /// Whether the scheduler waits for the end of that application.
  private var isEnding = false

  init(slack: UInt64) { self.slack = slack }

  mutating func before(_ event: Event, _ observed: ObservedState) throws(Finding) {
    ended = nil
    planned = [:]
    if case .memory(.pressed) = event {
      pressedAt = observed.now
      isPressed = true
    } else if isPressed, pressedAt + quietTime(observed) <= observed.now {
      isPressed = false
    }
    if case .scheduler(.recovered) = event {
      if isEnding { memoryEndsBy = observed.now + terminationTime(observed) }
    } else if memoryEndsBy < observed.now {
      isEnding = false
    }
    if let key = event.terminatedApplication, !observed.isRefused, observed.byKey[key] == nil,
      plans[key]?.due != nil
    {
      // The termination cancels the pending relaunch.
      plans[key] = nil
    }
  }

  mutating func see(_ effect: Effect, _ observed: ObservedState) throws(Finding) {
    switch effect {
    case .spawn(_, let key, let reason): try spawn(key, reason, observed)
    case .manage(_, _, let key):
      startedAt[key] = observed.now
      plans[key]?.due = nil
    case .record(let record):
      if case .ended(let end) = record.change { ended = (record.application, end.reason) }
      if case .relaunchPlanned(let delay, let awaitsMemory) = record.change {
        planned[record.application] = (Nanoseconds.of(delay), awaitsMemory)
      }
      if case .memoryChosen = record.change {
        memoryEndsBy = observed.now + terminationTime(observed)
        isEnding = true
      }
    case .memory(.reclaim):
      memoryEndsBy = observed.now + observed.limits.terminateTimeout
      isEnding = false
    case .reply, .deliver, .expire, .notify, .socket, .notification, .memory, .suspend, .resume,
      .terminate, .kill, .release, .checkTracer, .resources, .dropPicture, .audio, .remote,
      .location:
      break
    }
  }

  /// The time within which an application that is terminated to free memory must end.
  private func terminationTime(_ observed: ObservedState) -> UInt64 {
    2 * observed.limits.callbackTimeout + observed.limits.terminateTimeout
  }

  private func spawn(
    _ key: ApplicationKey, _ reason: LaunchReason, _ observed: ObservedState
  ) throws(Finding) {
    switch observed.event {
    case .operation(.launch), .operation(.activate), .scheduler(.recovered), .notification,
      .session(.callAnswered):
      return
    // `LocationReportChecker` checks the launch.
    case .location where reason == .location: return
    case .session(.incomingCall(let called)) where reason == .call:
      try require(
        key == called && !observed.barred.contains(key),
        "\(key.id.name) is launched for an incoming call, but must not be")
    case .scheduler(.started):
      try require(
        isPersistent(key, observed) && observed.policy.multitaskingSupported && reason == .boot,
        "\(key.id.name) is launched at the daemon's start, but must not be")
    case .operation, .scheduler, .application, .process, .socket, .systemChanged, .session, .memory,
      .resources, .switcher, .location:
      try require(
        reason == .relaunch,
        "\(key.id.name) is launched without a request, by \(observed.event)")
      try require(
        !observed.barred.contains(key),
        "\(key.id.name) is relaunched after a user or operator ended it")
      guard let plan = plans[key], let due = plan.due else {
        return try require(false, "\(key.id.name) is relaunched, but its end requires no relaunch")
      }
      try require(due <= observed.now, "\(key.id.name) is relaunched too early")
      try require(
        !plan.awaitsMemory || !isPressed,
        "\(key.id.name) was ended to free memory, but is relaunched under pressure")
      try require(
        observed.policy.multitaskingSupported,
        "\(key.id.name) is relaunched, although the machine does not support multitasking")
    }
  }

  private func isPersistent(_ key: ApplicationKey, _ observed: ObservedState) -> Bool {
    observed.manifests.first { $0.id == key.id && $0.owner == key.owner }?.isLaunchedAutomatically
      ?? false
  }

  mutating func after(_ observed: ObservedState) throws(Finding) {
    if let ended { try checkEnd(ended.key, ended.reason, observed) }
    for (key, (delay, awaitsMemory)) in planned where ended?.key != key {
      // The application did not end at this event, so its relaunch follows a failed launch.
      try require(
        !awaitsMemory, "\(key.id.name) waits for the end of pressure after a failed launch")
      try require(
        plans[key].map { delay == min($0.delay * 2, longest(observed)) } ?? false
          || plans[key]?.mayBeForgotten ?? true && delay == shortest(observed),
        "\(key.id.name) waits \(delay) ns for its next launch, which is not the required delay")
      plans[key] = Plan(delay: delay, due: observed.now + delay)
    }
    if case .scheduler(.manifestsChanged) = observed.event { forget(observed) }
    if case .scheduler(.stop) = observed.event { plans = [:] }
    // Without multitasking, relaunches wait.
    guard observed.policy.multitaskingSupported else { return }
    for (key, plan) in plans {
      guard let due = plan.due, observed.byKey[key] == nil,
        !observed.launches.values.contains(where: { $0.key == key }), isPersistent(key, observed)
      else { continue }
      try require(
        max(due, observed.floor, plan.awaitsMemory ? memoryCalmBy(observed) : 0) + slack
          >= observed.now,
        "\(key.id.name) is not relaunched in time")
    }
  }

  /// Returns the latest instant at which the scheduler may still assume memory pressure, if the
  /// kernel reports no further pressure. The result includes one second for the measurement of
  /// applications.
  private func memoryCalmBy(_ observed: ObservedState) -> UInt64 {
    max(pressedAt + quietTime(observed), memoryEndsBy, observed.floor) + Nanoseconds.second
  }

  private func quietTime(_ observed: ObservedState) -> UInt64 {
    Nanoseconds.of(observed.policy.memoryQuietTime)
  }

  private mutating func checkEnd(
    _ key: ApplicationKey, _ reason: EndReason, _ observed: ObservedState
  ) throws(Finding) {
    let name = key.id.name
    guard reason.callsForRelaunch, isPersistent(key, observed) else {
      try require(planned[key] == nil, "\(name) ended with \(reason), but a relaunch is planned")
      if reason == .exited(code: 0) || reason.isByPerson { plans[key] = nil }
      return
    }
    let awaitsMemory = reason == .memoryPressure
    try require(
      planned[key]?.awaitsMemory == awaitsMemory,
      "\(name) ended with \(reason), so a relaunch must be planned that "
        + "\(awaitsMemory ? "waits" : "does not wait") for the end of memory pressure")
    let delay = planned[key]?.delay
    let ranFor = observed.now - (startedAt[key] ?? 0)
    let isFresh = ranFor >= Nanoseconds.of(observed.policy.relaunchResetTime)
    let isNew = plans[key]?.mayBeForgotten ?? false && delay == shortest(observed)
    let before = isFresh || isNew ? nil : plans[key]?.delay
    let expected = min(before.map { $0 * 2 } ?? shortest(observed), longest(observed))
    try require(
      delay == expected, "\(name) waits \(delay ?? 0) ns for its relaunch, not \(expected) ns")
    plans[key] = Plan(
      delay: expected, due: observed.now + expected, awaitsMemory: awaitsMemory)
  }

  /// Cancels the planned relaunches of applications that are no longer launched automatically.
  private mutating func forget(_ observed: ObservedState) {
    for key in plans.keys where !isPersistent(key, observed) {
      plans[key]?.due = nil
      if observed.manifest(for: key) == nil { plans[key]?.mayBeForgotten = true }
    }
  }

  private func shortest(_ observed: ObservedState) -> UInt64 {
    Nanoseconds.of(observed.policy.relaunchDelay)
  }
  private func longest(_ observed: ObservedState) -> UInt64 {
    Nanoseconds.of(observed.policy.relaunchDelayMax)
  }
}
