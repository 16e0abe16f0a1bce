import TaskSchedulerCore

/// Checks the order in which the daemon warns and ends applications for memory (§11).
///
/// It warns all running applications first. While pressure lasts, it ends one at a time: suspended
/// ones first, the largest of a class first, never the foreground, each after the last one's
/// memory was released.
struct MemoryChecker: Checker {
  static let name = "memory"

  /// Instances that were warned of the current pressure.
  private var warned: Set<InstanceID> = []
  private var reading = MemoryReading(available: 0, total: 0)
  private var isCalm = true
  private var pressedAt: UInt64 = 0
  /// The instant at which the time of the warning ends.
  private var warningEnds: UInt64 = 0
  /// The instant from which lasting pressure must end an application.
  private var patienceEnds: UInt64 = 0
  /// The instant of the outstanding request for sizes.
  private var askedAt: UInt64?
  /// The sizes that came last, and when they were asked for.
  private var dirty: [InstanceID: UInt64] = [:]
  private var dirtyAt: UInt64 = 0
  /// Sizes are awaited, and one might have been chosen, or was to be, had they been there.
  private var mayChoose = false
  private var mustChoose = false
  /// The one that was chosen last, and until when it may be waited for.
  private var victim: (id: InstanceID, name: String, givenUpAt: UInt64)?
  /// The order in which instances last became active.
  private var activeAt: [InstanceID: UInt64] = [:]
  /// The instant at which each suspended instance was suspended.
  private var stillSince: [InstanceID: UInt64] = [:]
  private var activations: UInt64 = 0

  mutating func before(_ event: Event, _ ledger: Ledger) throws(Finding) {
    switch event {
    case .memory(.pressed(let pressed)):
      // A stretch may have ended without a sign of it.
      if isCalm || isQuiet(ledger) { waitAgain(ledger) }
      if isCalm { warningEnds = patienceEnds }
      isCalm = false
      pressedAt = ledger.now
      reading = pressed.memory
    case .memory(.looked(let read)): reading = read
    case .memory(.measured(let sizes)): take(sizes)
    case .memory(.reclaimed(let id, let read)):
      guard victim?.id == id else { return }
      victim = nil
      reading = read
      if !isShort(ledger) { waitAgain(ledger) }
    case .scheduler(.deadlineReached):
      if let due = victim?.givenUpAt {
        guard due <= ledger.now else { return }
        victim = nil
      }
      if isQuiet(ledger), !mayChoose { end() }
    case .scheduler(.recovered):
      // The sizes are lost with the daemon, and suspended applications may have run.
      askedAt = nil
      dirty = [:]
    case .scheduler(.stop):
      victim = nil
      askedAt = nil
      end()
    case _: break
    }
  }

  private mutating func take(_ sizes: [MemorySize]) {
    guard let asked = askedAt else { return }
    dirty = Dictionary(sizes.map { ($0.instance, $0.dirty) }, uniquingKeysWith: { $1 })
    dirtyAt = asked
    askedAt = nil
  }

  private func isQuiet(_ ledger: Ledger) -> Bool {
    pressedAt + Nanoseconds.of(ledger.policy.memoryQuietTime) <= ledger.now
  }

  /// This stretch of pressure is over.
  private mutating func end() {
    isCalm = true
    warned = []
    dirty = [:]
    mayChoose = false
    mustChoose = false
  }

  private mutating func waitAgain(_ ledger: Ledger) {
    patienceEnds = ledger.now + Nanoseconds.of(ledger.policy.memoryWarningTime)
  }

  mutating func see(_ effect: Effect, _ ledger: Ledger) throws(Finding) {
    switch effect {
    case .notify(let id, .memoryWarning):
      let sighting = ledger[id]
      try require(
        sighting.map { $0.hasStream && $0.state != .suspended } ?? false,
        "instance \(id.number) is warned, and has no event stream or is suspended")
      if case .memory(.warn) = ledger.event { return }
      warned.insert(id)
    case .memory(.measure):
      try require(victim == nil, "sizes are requested while \(victim?.name ?? "") is in hand")
      try require(askedAt == nil, "sizes are asked for while others are awaited")
      try checkAsking(ledger)
      askedAt = ledger.now
    case .memory(.reclaim(let id)):
      if victim?.id == id {
        victim?.givenUpAt = ledger.now + ledger.limits.terminateTimeout
      }
      if case .process(.leaderExited(id, _)) = ledger.event { return }
      try require(
        ledger[id]?.isKilled ?? true, "the memory of instance \(id.number) is taken while it runs")
    case .release(let id, _):
      activeAt[id] = nil
      stillSince[id] = nil
      warned.remove(id)
    case .record(let record):
      switch record.change {
      case .memoryChosen(let choice): try checkChoice(choice, ledger)
      case .transition(_, .active, _):
        activations += 1
        if let sighting = ledger.byKey[record.application] { activeAt[sighting.id] = activations }
      case .transition(_, .suspended, _):
        if let sighting = ledger.byKey[record.application] { stillSince[sighting.id] = ledger.now }
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
    try checkTime(ledger)
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
    try checkAge(of: chosen, ledger)
    let others = ledger.live.filter { $0.ending == nil && $0 !== chosen }
    for other in others where other.state == .suspended || other.state == .background {
      let otherName = other.key.id.name
      try require(
        chosen.state == .suspended || other.state != .suspended,
        "\(name) is to end, and \(otherName) is suspended")
      guard other.state == chosen.state else { continue }
      try checkAge(of: other, ledger)
      guard let one = dirty[chosen.id], let more = dirty[other.id] else {
        return try require(false, "\(name) is chosen, and \(otherName) was not measured")
      }
      try require(one >= more, "\(name) is chosen with \(one) bytes; \(otherName) has \(more)")
      if one == more, let recent = activeAt[chosen.id], let older = activeAt[other.id] {
        try require(recent < older, "\(name) is chosen; \(otherName) was active longer ago")
      }
    }
    mayChoose = false
    mustChoose = false
    let limits = ledger.limits
    let patience = limits.callbackTimeout * 2 + limits.terminateTimeout
    victim = (chosen.id, name, ledger.now + patience)
  }

  private func isBelow(_ percent: Double) -> Bool {
    Double(reading.available) * 100 < Double(reading.total) * percent
  }

  private func isShort(_ ledger: Ledger) -> Bool {
    isBelow(Double(ledger.policy.memoryFloorPercent))
  }

  /// Pressure has outlasted the warning, or there is no time for that; and an end may help: memory
  /// is short, or the slice presses. Nil where this event does not say so.
  private func objection(_ ledger: Ledger) -> String? {
    var mayHelp = isShort(ledger)
    switch ledger.event {
    case .memory(.pressed(let pressed)): mayHelp = mayHelp || pressed.source == .slice
    case .memory(.looked), .memory(.reclaimed): break
    case _: return "nothing is heard of memory"
    }
    if isCalm { return "there is no pressure" }
    if !mayHelp { return "\(reading.available) of \(reading.total) bytes are available" }
    if isCritical(ledger) || warningEnds <= ledger.now { return nil }
    return "the warning cannot have helped yet"
  }

  private func isCritical(_ ledger: Ledger) -> Bool {
    isBelow(Double(ledger.policy.memoryFloorPercent) / 2)
  }

  /// Checks the time of a choice. Events during the measurement of at most 100 ms change nothing.
  private func checkTime(_ ledger: Ledger) throws(Finding) {
    if mayChoose, case .memory(.measured) = ledger.event { return }
    let objection = objection(ledger)
    try require(objection == nil, "an application is chosen, and \(objection ?? "")")
  }

  /// Checks that the daemon measures applications only shortly before it may end one.
  private func checkAsking(_ ledger: Ledger) throws(Finding) {
    let lead = Nanoseconds.of(Policy.memoryMeasuringLead)
    try require(
      mayChoose || !isCalm && (isCritical(ledger) || warningEnds <= ledger.now + lead),
      "sizes are requested, and no application may end soon")
  }

  /// Checks the age of a size: it stays valid for a suspended application only.
  private func checkAge(of sighting: Sighting, _ ledger: Ledger) throws(Finding) {
    if case .memory(.measured) = ledger.event { return }
    // Twice the time that measuring may take.
    let isNew = ledger.now <= dirtyAt + 160 * Nanoseconds.millisecond
    let isStill =
      sighting.state == .suspended && (stillSince[sighting.id] ?? .max) <= dirtyAt
    try require(isNew || isStill, "what \(sighting.key.id.name) uses was read long ago")
  }

  mutating func after(_ ledger: Ledger) throws(Finding) {
    switch ledger.event {
    case .memory(.measured):
      guard askedAt == nil, victim == nil else { return }
      try require(
        !mustChoose || candidate(ledger) == nil,
        "sizes were received, and no application is chosen")
      // No application was left to choose.
      if mayChoose { waitAgain(ledger) }
      mayChoose = false
      mustChoose = false
    case .scheduler(.recovered):
      guard askedAt == nil else { return }
      if mayChoose { waitAgain(ledger) }
      mayChoose = false
      mustChoose = false
    case .memory(.pressed(let pressed)):
      try checkWarned(ledger)
      try checkChoosing(pressed.source == .slice || isShort(ledger), ledger)
    case .memory(.looked), .memory(.reclaimed):
      try checkChoosing(isShort(ledger), ledger)
    case _: break
    }
  }

  private func checkWarned(_ ledger: Ledger) throws(Finding) {
    for sighting in ledger.live
    where sighting.hasStream && sighting.state != .suspended && !sighting.isKilled {
      try require(
        warned.contains(sighting.id),
        "\(sighting.key.id.name) runs, memory is short, and it is not warned")
    }
  }

  private func candidate(_ ledger: Ledger) -> Sighting? {
    ledger.live.first {
      $0.ending == nil && ($0.state == .suspended || $0.state == .background)
    }
  }

  /// Checks that lasting pressure ends an application at once, unless sizes are outstanding.
  private mutating func checkChoosing(_ lasts: Bool, _ ledger: Ledger) throws(Finding) {
    if askedAt != nil, objection(ledger) == nil { mayChoose = true }
    guard lasts, !isCalm, victim == nil else { return }
    guard let candidate = candidate(ledger) else { return waitAgain(ledger) }
    guard patienceEnds <= ledger.now else { return }
    try require(
      askedAt != nil, "pressure lasts, and no application ends, not even \(candidate.key.id.name)")
    mustChoose = true
  }
}
