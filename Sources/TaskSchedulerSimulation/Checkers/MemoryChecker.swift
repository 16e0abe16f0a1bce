import TaskSchedulerCore

/// Checks the order in which the daemon warns applications and terminates them to free memory
/// (contract.md#memory).
///
/// The daemon warns all running applications first. While pressure lasts, it terminates one
/// application at a time, and waits until the memory of that application is free. Suspended
/// applications come first, then background ones. Within a class, the largest application comes
/// first. The daemon never terminates a foreground application.
struct MemoryChecker: Checker {
  static let name = "memory"

  /// The instances that the daemon has warned of the current pressure.
  private var warned: Set<InstanceID> = []
  private var reading = MemoryReading(available: 0, total: 0)
  private var isCalm = true
  private var pressedAt: UInt64 = 0
  /// The earliest instant at which the daemon may terminate an application, unless memory is
  /// critical.
  private var warningEnds: UInt64 = 0
  /// The instant from which the daemon must terminate an application if the pressure lasts.
  private var choiceDueAt: UInt64 = 0
  /// The instant of the outstanding request for sizes; nil if there is none.
  private var askedAt: UInt64?
  /// The last measured sizes in bytes, and the instant of their request.
  private var dirty: [InstanceID: UInt64] = [:]
  private var dirtyAt: UInt64 = 0
  // While the daemon waits for sizes: whether it may (`mayChoose`) or must (`mustChoose`) choose an
  // application when the sizes arrive.
  private var mayChoose = false
  private var mustChoose = false
  /// The application that was chosen last, and the instant until which the daemon may wait for its
  /// memory; nil if the daemon does not wait.
  private var victim: (id: InstanceID, name: String, givenUpAt: UInt64)?
  /// The order in which instances last became active.
  private var activeAt: [InstanceID: UInt64] = [:]
  /// The instant at which each suspended instance was suspended.
  private var suspendedSince: [InstanceID: UInt64] = [:]
  private var activations: UInt64 = 0

  mutating func before(_ event: Event, _ observed: ObservedState) throws(Finding) {
    switch event {
    case .memory(.pressed(let pressed)):
      // The last pressure may have ended without an event.
      if isCalm || isQuiet(observed) { waitAgain(observed) }
      if isCalm { warningEnds = choiceDueAt }
      isCalm = false
      pressedAt = observed.now
      reading = pressed.memory
    case .memory(.read(let read)): reading = read
    case .memory(.measured(let sizes)): take(sizes)
    case .memory(.reclaimed(let id, let read)):
      guard victim?.id == id else { return }
      victim = nil
      reading = read
      if isQuiet(observed) {
        end()
      } else if !isShort(observed) {
        waitAgain(observed)
      }
    case .scheduler(.deadlineReached):
      if let due = victim?.givenUpAt {
        guard due <= observed.now else { return }
        victim = nil
      }
      if isQuiet(observed), !mayChoose { end() }
    case .scheduler(.recovered):
      // The request died with the daemon, and suspended applications may have run since.
      askedAt = nil
      dirty = [:]
      mayChoose = false
      mustChoose = false
      if victim == nil, isQuiet(observed) {
        end()
      } else if victim == nil {
        waitAgain(observed)
        warningEnds = choiceDueAt
      }
      let givenUpAt = observed.now + terminationTime(observed)
      victim?.givenUpAt = givenUpAt
    case .scheduler(.stop):
      victim = nil
      askedAt = nil
      end()
    case .memory(.warn), .scheduler, .application, .operation, .process, .socket, .notification,
      .systemChanged, .session, .resources, .switcher, .location:
      break
    }
  }

  private mutating func take(_ sizes: [MemorySize]) {
    guard let asked = askedAt else { return }
    dirty = Dictionary(sizes.map { ($0.instance, $0.dirty) }, uniquingKeysWith: { $1 })
    dirtyAt = asked
    askedAt = nil
  }

  private func isQuiet(_ observed: ObservedState) -> Bool {
    pressedAt + Nanoseconds.of(observed.policy.memoryQuietTime) <= observed.now
  }

  /// Records the end of the pressure.
  private mutating func end() {
    isCalm = true
    warned = []
    dirty = [:]
    mayChoose = false
    mustChoose = false
  }

  /// Restarts `MemoryWarningTime`, after which the daemon must terminate an application if the
  /// pressure lasts.
  private mutating func waitAgain(_ observed: ObservedState) {
    choiceDueAt = observed.now + Nanoseconds.of(observed.policy.memoryWarningTime)
  }

  mutating func see(_ effect: Effect, _ observed: ObservedState) throws(Finding) {
    switch effect {
    case .notify(let id, .memoryWarning):
      let instance = observed[id]
      try require(
        instance.map { $0.hasStream && $0.state != .suspended } ?? false,
        "instance \(id.number) is warned, but has no event stream or is suspended")
      if case .memory(.warn) = observed.event { return }
      warned.insert(id)
    case .memory(.measure):
      try require(victim == nil, "memory sizes are requested while \(victim?.name ?? "") ends")
      try require(askedAt == nil, "memory sizes are requested twice")
      try checkAsking(observed)
      askedAt = observed.now
    case .memory(.reclaim(let id)):
      if victim?.id == id {
        victim?.givenUpAt = observed.now + observed.limits.terminateTimeout
      }
      if case .process(.leaderExited(id, _)) = observed.event { return }
      try require(
        observed[id]?.isKilled ?? true,
        "the memory of instance \(id.number) is reclaimed while the instance runs")
    case .release(let id, _):
      activeAt[id] = nil
      suspendedSince[id] = nil
      warned.remove(id)
    case .record(let record):
      if case .memoryChosen(let choice) = record.change { try checkChoice(choice, observed) }
      if case .transition(_, let next, _) = record.change {
        let instance = observed.byKey[record.application]
        if next == .active {
          activations += 1
          if let instance { activeAt[instance.id] = activations }
        } else if next == .suspended, let instance {
          suspendedSince[instance.id] = observed.now
        }
      }
    case .reply, .deliver, .expire, .notify, .socket, .notification, .memory, .spawn, .manage,
      .suspend, .resume, .terminate, .kill, .checkTracer, .resources, .dropPicture, .audio,
      .remote, .location:
      break
    }
  }

  // MARK: The choice

  private mutating func checkChoice(
    _ choice: MemoryChoice, _ observed: ObservedState
  ) throws(Finding) {
    try checkTime(observed)
    guard let chosen = observed.byKey[choice.chosen.application] else {
      return try require(
        false, "\(choice.chosen.application.id.name) is chosen for termination, but does not run")
    }
    let name = chosen.name
    try require(victim == nil, "\(name) is chosen for termination while \(victim?.name ?? "") ends")
    try require(
      chosen.state == .suspended || chosen.state == .background,
      "\(name) is \(chosen.state), but is chosen for termination")
    try require(chosen.ending == nil, "\(name) is chosen for termination, but ends already")
    try require(
      chosen.state == .suspended || !chosen.hasStream || warned.contains(chosen.id),
      "\(name) is chosen for termination, but was not warned")
    try checkAge(of: chosen, observed)
    let others = observed.live.filter { $0.ending == nil && $0 !== chosen }
    for other in others where other.state == .suspended || other.state == .background {
      let otherName = other.name
      try require(
        chosen.state == .suspended || other.state != .suspended,
        "\(name) is chosen for termination, but \(otherName) is suspended")
      guard other.state == chosen.state else { continue }
      try checkAge(of: other, observed)
      guard let one = dirty[chosen.id], let more = dirty[other.id] else {
        return try require(
          false, "\(name) is chosen for termination, but \(otherName) was not measured")
      }
      try require(
        one >= more,
        "\(name) has \(one) bytes of dirty memory and is chosen for termination, but "
          + "\(otherName) has \(more)")
      if one == more, let recent = activeAt[chosen.id], let older = activeAt[other.id] {
        try require(
          recent < older,
          "\(name) is chosen for termination, but \(otherName) was active longer ago")
      }
    }
    mayChoose = false
    mustChoose = false
    victim = (chosen.id, name, observed.now + terminationTime(observed))
  }

  /// The time within which a chosen application must end.
  private func terminationTime(_ observed: ObservedState) -> UInt64 {
    observed.limits.callbackTimeout * 2 + observed.limits.terminateTimeout
  }

  private func isBelow(_ percent: Double) -> Bool {
    Double(reading.available) * 100 < Double(reading.total) * percent
  }

  private func isShort(_ observed: ObservedState) -> Bool {
    isBelow(Double(observed.policy.memoryFloorPercent))
  }

  /// Returns the reason why the daemon must not terminate an application at this event; nil if
  /// there is no such reason.
  ///
  /// The pressure must have lasted for `MemoryWarningTime`, unless memory is critical. A
  /// termination must also be able to help, because memory is short or because the pressure comes
  /// from the daemon's own slice.
  private func reasonAgainst(_ observed: ObservedState) -> String? {
    var mayHelp = isShort(observed)
    switch observed.event {
    case .memory(.pressed(let pressed)): mayHelp = mayHelp || pressed.source == .slice
    case .memory(.read), .memory(.reclaimed): break
    case .memory(.measured), .memory(.warn), .scheduler, .application, .operation, .process,
      .socket, .notification, .systemChanged, .session, .resources, .switcher, .location:
      return "the event does not report memory"
    }
    if isCalm { return "there is no pressure" }
    if !mayHelp {
      return "enough memory is available (\(reading.available) of \(reading.total) bytes)"
    }
    if isCritical(observed) || warningEnds <= observed.now { return nil }
    return "MemoryWarningTime has not passed since the warning"
  }

  private func isCritical(_ observed: ObservedState) -> Bool {
    isBelow(Double(observed.policy.memoryFloorPercent) / 2)
  }

  /// Checks that the daemon may choose an application at this event. A choice that had to wait for
  /// sizes stays legal until they arrive, after at most 100 ms.
  private func checkTime(_ observed: ObservedState) throws(Finding) {
    if mayChoose, case .memory(.measured) = observed.event { return }
    let reasonAgainst = reasonAgainst(observed)
    try require(
      reasonAgainst == nil,
      "an application is chosen for termination, but \(reasonAgainst ?? "")")
  }

  /// Checks that the daemon measures applications only if it may terminate one now or shortly
  /// afterwards.
  private func checkAsking(_ observed: ObservedState) throws(Finding) {
    let lead = Nanoseconds.of(Policy.memoryMeasuringLead)
    try require(
      mayChoose || !isCalm && (isCritical(observed) || warningEnds <= observed.now + lead),
      "memory sizes are requested, but the daemon may not terminate an application soon")
  }

  /// Checks the age of a measured size. A size is valid for 160 ms. The size of a suspended
  /// application is valid until the application is resumed.
  private func checkAge(of instance: ObservedInstance, _ observed: ObservedState) throws(Finding) {
    if case .memory(.measured) = observed.event { return }
    // A measurement may take `Policy.memoryMeasuringLead`. 160 ms is twice that time.
    let isNew = observed.now <= dirtyAt + 160 * Nanoseconds.millisecond
    let isStill =
      instance.state == .suspended && (suspendedSince[instance.id] ?? .max) <= dirtyAt
    try require(isNew || isStill, "the memory size of \(instance.name) is too old")
  }

  mutating func after(_ observed: ObservedState) throws(Finding) {
    switch observed.event {
    case .memory(.measured):
      guard askedAt == nil, victim == nil else { return }
      try require(
        !mustChoose || candidate(observed) == nil,
        "memory sizes were received, but no application is chosen for termination")
      // The scheduler had no application left to choose, so it waits for `MemoryWarningTime` again.
      if mayChoose { waitAgain(observed) }
      mayChoose = false
      mustChoose = false
    case .memory(.pressed(let pressed)):
      try checkWarned(observed)
      try checkChoosing(pressed.source == .slice || isShort(observed), observed)
    case .memory(.read), .memory(.reclaimed):
      try checkChoosing(isShort(observed), observed)
    case .memory(.warn), .scheduler, .application, .operation, .process, .socket, .notification,
      .systemChanged, .session, .resources, .switcher, .location:
      break
    }
  }

  private func checkWarned(_ observed: ObservedState) throws(Finding) {
    for instance in observed.live
    where instance.hasStream && instance.state != .suspended && !instance.isKilled {
      try require(
        warned.contains(instance.id),
        "\(instance.name) runs under memory pressure, but is not warned")
    }
  }

  private func candidate(_ observed: ObservedState) -> ObservedInstance? {
    observed.live.first {
      $0.ending == nil && ($0.state == .suspended || $0.state == .background)
    }
  }

  /// Checks that the daemon chooses an application at once if the pressure lasts, unless it waits
  /// for sizes.
  private mutating func checkChoosing(_ lasts: Bool, _ observed: ObservedState) throws(Finding) {
    if askedAt != nil, reasonAgainst(observed) == nil { mayChoose = true }
    guard lasts, !isCalm, victim == nil else { return }
    guard let candidate = candidate(observed) else { return waitAgain(observed) }
    guard choiceDueAt <= observed.now else { return }
    try require(
      askedAt != nil,
      "pressure lasts, but the daemon does not terminate \(candidate.name) or another application")
    mustChoose = true
  }
}
