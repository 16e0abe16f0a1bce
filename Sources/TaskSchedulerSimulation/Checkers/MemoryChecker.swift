import TaskSchedulerCore

/// Everybody who runs is warned before anybody is ended for memory; then one at a time, suspended
/// ones first, the largest of a class first, never the foreground, and not before the last one's
/// memory is back (§11).
struct MemoryChecker: Checker {
  static let name = "memory"

  /// Those that were told of pressure.
  private var warned: Set<InstanceID> = []
  private var pressure: MemoryPressure?
  private var reading = MemoryReading(available: 0, total: 0)
  /// When the trigger fired after which nothing but the last could have been the first; nil where
  /// it cannot be known from outside when the stretch of pressure began.
  private var beganAt: UInt64?
  private var pressedAt: UInt64 = 0
  private var isCalm = true
  /// Whether it was asked for sizes, and nobody was chosen since.
  private var isChoosing = false
  /// The one that was chosen last, and until when it may be waited for.
  private var victim: (id: InstanceID, name: String, givenUpAt: UInt64)?
  /// When each was last seen to become active.
  private var activeAt: [InstanceID: UInt64] = [:]
  private var activations: UInt64 = 0

  mutating func before(_ event: Event, _ ledger: Ledger) throws(Finding) {
    if let due = victim?.givenUpAt, due <= ledger.now { victim = nil }
    switch event {
    case .memory(.pressed(let pressed)):
      beganAt = isCalm ? ledger.now : beganAt
      isCalm = false
      pressedAt = ledger.now
      pressure = pressed
      reading = pressed.memory
    case .memory(.looked(let read)): reading = read
    case .memory(.reclaimed(let id, let read)):
      if victim?.id == id {
        victim = nil
        reading = read
      }
    case .deadlineReached:
      guard !isCalm, !isChoosing, victim == nil,
        pressedAt + Nanoseconds.of(ledger.policy.memoryQuietTime) <= ledger.now
      else { return }
      // It may be over by now; whether it was noticed shows with the next trigger.
      beganAt = nil
    case .recovered: beganAt = nil
    case .stop:
      beganAt = nil
      victim = nil
    case _: break
    }
  }

  mutating func see(_ effect: Effect, _ ledger: Ledger) throws(Finding) {
    switch effect {
    case .notify(let id, .memoryWarning):
      let sighting = ledger[id]
      try require(
        sighting.map { $0.hasStream && $0.state != .suspended } ?? false,
        "instance \(id.number) is warned, and cannot hear it")
      if case .memory(.warn) = ledger.event { return }
      warned.insert(id)
    case .memory(.measure):
      try require(victim == nil, "another is looked for while \(victim?.name ?? "") is in hand")
      isChoosing = true
      try checkTime(ledger)
    case .memory(.reclaim(let id)):
      if victim?.id == id {
        victim?.givenUpAt = ledger.now + ledger.limits.terminateTimeout
      }
      if case .leaderExited(id, _) = ledger.event { return }
      try require(
        ledger[id]?.isKilled ?? true, "the memory of instance \(id.number) is taken while it runs")
    case .release(let id, _):
      activeAt[id] = nil
      warned.remove(id)
    case .record(let record):
      switch record.change {
      case .memoryChosen(let choice): try checkChoice(choice, ledger)
      case .transition(_, .active, _):
        activations += 1
        if let sighting = ledger.byKey[record.application] { activeAt[sighting.id] = activations }
      case _: break
      }
    case .reply, .deliver, .expire, .notify, .socket, .notification, .memory, .spawn, .manage,
      .suspend, .resume, .terminate, .kill, .checkTracer, .resources:
      break
    }
  }

  // MARK: The choice

  private mutating func checkChoice(
    _ choice: MemoryChoice, _ ledger: Ledger
  ) throws(Finding) {
    guard case .memory(.measured(let sizes)) = ledger.event else {
      return try require(false, "somebody is chosen, and nobody was measured")
    }
    guard let chosen = ledger.byKey[choice.chosen.application] else {
      return try require(false, "\(choice.chosen.application.id.name) is chosen, and does not run")
    }
    let name = chosen.key.id.name
    try require(victim == nil, "\(name) is chosen while \(victim?.name ?? "") is in hand")
    try require(
      chosen.state == .suspended || chosen.state == .background,
      "\(name) is \(chosen.state), and is chosen to end for memory")
    try require(chosen.ending == nil, "\(name) is chosen, and ends already")
    try require(
      chosen.state == .suspended || !chosen.hasStream || warned.contains(chosen.id),
      "\(name) was not warned before it is to end")
    let dirty = Dictionary(sizes.map { ($0.instance, $0.dirty) }, uniquingKeysWith: { $1 })
    let others = ledger.live.filter { $0.ending == nil && $0 !== chosen }
    for other in others where other.state == .suspended || other.state == .background {
      let otherName = other.key.id.name
      try require(
        chosen.state == .suspended || other.state != .suspended,
        "\(name) is to end, and \(otherName) is suspended")
      guard other.state == chosen.state else { continue }
      guard let one = dirty[chosen.id], let more = dirty[other.id] else {
        return try require(false, "\(name) is chosen, and \(otherName) was not measured")
      }
      try require(one >= more, "\(name) is chosen with \(one) bytes; \(otherName) has \(more)")
      if one == more, let recent = activeAt[chosen.id], let older = activeAt[other.id] {
        try require(recent < older, "\(name) is chosen; \(otherName) was active longer ago")
      }
    }
    isChoosing = false
    let limits = ledger.limits
    let patience = limits.callbackTimeout * 2 + limits.terminateTimeout
    victim = (chosen.id, name, ledger.now + patience)
  }

  /// Pressure has outlasted the warning, or there is no time for that; and an end may help.
  /// What comes while sizes are read changes nothing: that takes a tenth of a second.
  private func checkTime(_ ledger: Ledger) throws(Finding) {
    switch ledger.event {
    case .memory(.pressed), .memory(.looked), .memory(.reclaimed): break
    case _: return
    }
    let percent = Double(reading.available) / Double(max(1, reading.total)) * 100
    let floor = Double(ledger.policy.memoryFloorPercent)
    try require(
      percent < floor || pressure?.source == .slice,
      "somebody is to end, and \(percent)% of the machine's memory is available")
    guard let beganAt, percent >= floor / 2 else { return }
    try require(
      beganAt + Nanoseconds.of(ledger.policy.memoryWarningTime) <= ledger.now,
      "somebody is to end before the warning can have helped")
  }

  mutating func after(_ ledger: Ledger) throws(Finding) {
    guard case .memory(.pressed) = ledger.event else { return }
    for sighting in ledger.live
    where sighting.hasStream && sighting.state != .suspended && !sighting.isKilled {
      try require(
        warned.contains(sighting.id),
        "\(sighting.key.id.name) runs, memory is short, and it is not warned")
    }
  }
}
