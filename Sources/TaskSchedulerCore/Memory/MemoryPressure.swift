// What is done when memory is short (contract §11): everybody who runs is warned; if it lasts,
// applications are ended one at a time, each only when the memory of the last is back.
//
// The kernel tells of pressure. It lasts where
// - less than `MemoryFloorPercent` of the machine's memory is available when the time after the
//   warning is over, or when a trigger fires after that; or
// - the daemon's own slice presses after that. Its limit may be far below what the machine has.
// Pressure of the whole machine alone ends nobody: a container that thrashes within a limit of its
// own counts in it, and no end of an application would help that.
//
// Who would be the one is found out before, while the warning has its time or while memory comes
// near to the floor: nobody ends earlier for it, but the choice does not wait for it.

extension Scheduler {
  mutating func handle(_ event: MemoryEvent, in turn: inout Turn) {
    switch event {
    case .pressed(let pressure): memoryPressed(pressure, in: &turn)
    case .looked(let reading): memoryLooked(reading, in: &turn)
    case .measured(let sizes): memoryMeasured(sizes, in: &turn)
    case .reclaimed(let id, let reading):
      guard case .reclaiming(id, _) = memory.phase else { return }
      memoryIsBack(reading, in: &turn)
    case .warn(let request, let key, let owner):
      simulateWarning(request, key, owner, in: &turn)
    }
  }

  private mutating func memoryPressed(_ pressure: MemoryPressure, in turn: inout Turn) {
    memory.pressedAt = turn.instant
    memory.reading = pressure.memory
    switch memory.phase {
    case .calm:
      memory.phase = .warned(patience: patience(turn), looks: true)
      memory.pressedSince = turn.instant
      memory.warningEnds = patience(turn)
      memory.episodeLast += 1
      turn.memoryEpisode = memory.episode
      for id in instances.keys.sorted() {
        with(id, in: &turn) { $0.hearMemoryWarning(in: &$1) }
      }
      if isMemoryCritical { return choose(in: &turn) }
      // The time may be shorter than measuring takes.
      memoryDue(in: &turn)
    case .warned(let patience, _):
      let isOfSlice = pressure.source == .slice
      let lasts = isOfSlice || isMemoryShort
      if (lasts && patience <= turn.instant) || isMemoryCritical { return choose(in: &turn) }
      let mayEndSoon = patience <= turn.instant.advanced(by: Policy.memoryMeasuringLead)
      if mayEndSoon, isOfSlice || isMemoryNearFloor { measureAhead(in: &turn) }
    case .measuring, .ending, .reclaiming:
      break
    }
  }

  /// The time after the warning is over.
  private mutating func memoryLooked(_ reading: MemoryReading, in turn: inout Turn) {
    memory.reading = reading
    guard case .warned(let patience, _) = memory.phase,
      (patience <= turn.instant && isMemoryShort) || isMemoryCritical
    else { return }
    choose(in: &turn)
  }

  /// The one that was ended is gone.
  private mutating func memoryIsBack(_ reading: MemoryReading, in turn: inout Turn) {
    memory.reading = reading
    guard isMemoryShort else { return wait(until: patience(turn), looking: false, turn) }
    // One was ended before the warning had its time; that does not do for all others.
    if turn.instant < memory.warningEnds, !isMemoryCritical {
      return wait(until: memory.warningEnds, looking: true, turn)
    }
    choose(in: &turn)
  }

  /// The one that was ended is waited for no longer; how much there is was not said.
  private mutating func giveUpWaiting(in turn: inout Turn) {
    let patience = max(turn.instant, memory.warningEnds)
    wait(until: patience, looking: patience > turn.instant, turn)
    if memory.phase != .calm { turn.emit(.memory(.look)) }
  }

  /// Nobody is in hand any more.
  private mutating func wait(until patience: Instant, looking looks: Bool, _ turn: Turn) {
    if isMemoryQuiet(turn) { return memory.calmDown() }
    memory.phase = .warned(patience: patience, looks: looks)
  }

  /// Nothing was heard of pressure for so long that it is over.
  private func isMemoryQuiet(_ turn: Turn) -> Bool {
    memory.pressedAt.advanced(by: turn.policy.memoryQuietTime) <= turn.instant
  }

  private func patience(_ turn: Turn) -> Instant {
    turn.instant.advanced(by: turn.policy.memoryWarningTime)
  }

  private var isMemoryShort: Bool {
    memory.reading.isBelow(percent: Double(policy.memoryFloorPercent))
  }

  /// Half of the floor is gone, too: the warning came, and there is no time to wait for its fruits.
  private var isMemoryCritical: Bool {
    memory.reading.isBelow(percent: Double(policy.memoryFloorPercent) / 2)
  }

  /// Not much more than the floor is left, and by the next trigger it may be gone.
  private var isMemoryNearFloor: Bool {
    memory.reading.isBelow(percent: Double(policy.memoryFloorPercent) * 2)
  }

  // MARK: The choice

  /// Those of the first class in which there is anybody.
  private var memoryCandidates: [InstanceID] {
    let ids = instances.keys.sorted().filter { instances[$0]?.termination == nil }
    for state in [ApplicationState.suspended, .background] {
      let candidates = ids.filter { instances[$0]?.state == state }
      if !candidates.isEmpty { return candidates }
    }
    return []
  }

  /// One is to end: the first of those that were measured before, or who turns out to be.
  private mutating func choose(in turn: inout Turn) {
    let candidates = memoryCandidates
    if candidates.isEmpty { return wait(until: patience(turn), looking: false, turn) }
    if let order = orderKnown(candidates, turn) {
      return end(order, since: turn.instant, in: &turn)
    }
    if case .measuring = memory.phase {} else { memory.phase = .measuring(since: turn.instant) }
    measure(candidates, in: &turn)
  }

  /// It may be needed soon. Who is suspended is not measured twice.
  private mutating func measureAhead(in turn: inout Turn) {
    let candidates = memoryCandidates
    if let order = orderKnown(candidates, turn), order[0].state == .suspended { return }
    if !candidates.isEmpty { return measure(candidates, in: &turn) }
    memory.measurement = memory.measurement ?? .init(askedAt: turn.instant, sizes: [])
  }

  private mutating func measure(_ candidates: [InstanceID], in turn: inout Turn) {
    // One at a time: the answer that is on its way will do, or it is asked again then.
    if memory.isBeingMeasured { return }
    memory.measurement = .init(askedAt: turn.instant)
    turn.emit(.memory(.measure(candidates)))
  }

  private mutating func memoryMeasured(_ sizes: [MemorySize], in turn: inout Turn) {
    guard case .measuring(let since) = memory.phase else {
      // Until it is needed, if it is.
      if memory.isBeingMeasured { memory.measurement?.sizes = sizes }
      if memory.phase == .calm { memory.measurement = nil }
      return
    }
    memory.measurement = nil
    // Somebody has been suspended, or has come, meanwhile: who is first is not known.
    guard let order = order(memoryCandidates, sizes) else { return choose(in: &turn) }
    end(order, since: since, in: &turn)
  }

  /// Their order by what was measured before, where that holds still: who has stood still since
  /// uses what it used, who runs does not for long. And the largest, which ended the reading early,
  /// may be gone.
  private func orderKnown(_ candidates: [InstanceID], _ turn: Turn) -> [MemoryCandidate]? {
    guard let measurement = memory.measurement, let sizes = measurement.sizes,
      let order = order(candidates, sizes), !order[0].size.isEstimate
    else { return nil }
    let asked = measurement.askedAt
    let isNew = turn.instant <= asked.advanced(by: Policy.memorySizeLife)
    let holds = candidates.allSatisfy { id in
      isNew || instances[id].map { $0.state == .suspended && $0.stateSince <= asked } ?? false
    }
    return holds ? order : nil
  }

  /// The candidates in the order in which they go; nil where there are none, or where it is not
  /// known of all how much they use.
  private func order(
    _ candidates: [InstanceID], _ sizes: [MemorySize]
  ) -> [MemoryCandidate]? {
    var known: [InstanceID: MemorySize] = [:]
    for size in sizes { known[size.instance] = size }
    let measured = candidates.compactMap { known[$0] }
    return measured.isEmpty || measured.count < candidates.count ? nil : memoryOrder(measured)
  }

  /// - Parameter since: when it was to be known who is first.
  private mutating func end(
    _ order: [MemoryCandidate], since: Instant, in turn: inout Turn
  ) {
    memory.measurement = nil
    end(
      MemoryChoice(
        chosen: order[0], runnersUp: Array(order.dropFirst().prefix(3)), classCount: order.count,
        memory: memory.reading, pressedSince: memory.pressedSince, at: turn.instant,
        choosingTime: since.duration(to: turn.instant)),
      in: &turn)
  }

  private mutating func end(_ choice: MemoryChoice, in turn: inout Turn) {
    let id = choice.chosen.size.instance
    let policy = turn.policy
    let isSuspended = choice.chosen.state == .suspended
    with(id, in: &turn) { instance, turn in
      let warnedAt = instance.inbox.memoryHeard.flatMap {
        $0.episode == turn.memoryEpisode ? $0.at : nil
      }
      instance.record(.memoryChosen(choice), in: &turn)
      instance.terminate(
        .memoryPressure, .memory(choice, warnedAt: warnedAt), waiter: nil, in: &turn)
    }
    if isSuspended { return reclaim(id, in: &turn) }
    // A callback before it, its own, SIGTERM: no longer, unless a debugger holds it.
    let time = policy.callbackTimeout * 2 + policy.terminateTimeout
    memory.phase = .ending(id, givenUpAt: turn.instant.advanced(by: time))
  }

  private mutating func reclaim(_ id: InstanceID, in turn: inout Turn) {
    let givenUpAt = turn.instant.advanced(by: turn.policy.terminateTimeout)
    memory.phase = .reclaiming(id, givenUpAt: givenUpAt)
    turn.emit(.memory(.reclaim(id)))
  }

  /// An instance is over, perhaps the one that was told to end.
  mutating func memoryUserEnded(_ id: InstanceID, in turn: inout Turn) {
    if case .ending(id, _) = memory.phase { reclaim(id, in: &turn) }
  }

  // MARK: Time

  mutating func memoryDue(in turn: inout Turn) {
    guard let due = memory.deadline(turn.policy), due <= turn.instant else { return }
    switch memory.phase {
    case .calm, .measuring: break
    case .warned(let patience, let looks):
      if isMemoryQuiet(turn) {
        memory.calmDown()
      } else if looks, turn.instant < patience {
        measureAhead(in: &turn)
      } else if looks {
        memory.phase = .warned(patience: patience, looks: false)
        turn.emit(.memory(.look))
      }
    case .ending, .reclaiming: giveUpWaiting(in: &turn)
    }
  }

  /// After the daemon's absence: what it was asked is asked again.
  mutating func recoverMemory(in turn: inout Turn) {
    // No answer comes to who has died, and in its absence who was suspended may have run.
    memory.measurement = nil
    switch memory.phase {
    case .calm, .ending: break
    case .warned(let patience, _):
      memory.phase = .warned(patience: patience, looks: true)
    case .measuring: choose(in: &turn)
    case .reclaiming(let id, _): reclaim(id, in: &turn)
    }
  }

  // MARK: Warnings

  private mutating func simulateWarning(
    _ request: RequestID, _ key: ApplicationKey?, _ owner: UserID?, in turn: inout Turn
  ) {
    if let key {
      guard let id = applications[key]?.instance, let instance = instances[id] else {
        return turn.reply(request, .refused(.cannotBeTold(.notRunning)))
      }
      guard instance.state != .suspended, instance.hasStream else {
        return turn.reply(request, .refused(.cannotBeTold(instance.state)))
      }
      turn.reply(request, .done)
      return with(id, in: &turn) { $0.warnOfMemory(isSimulated: true, in: &$1) }
    }
    turn.reply(request, .done)
    for id in instances.keys.sorted() {
      guard owner == nil || instances[id]?.application.owner == owner else { continue }
      with(id, in: &turn) { $0.warnOfMemory(isSimulated: true, in: &$1) }
    }
  }
}

extension Instance {
  /// Tells a running application of the pressure there is, once in each stretch of it: at its
  /// beginning, or when it runs and listens again.
  mutating func hearMemoryWarning(in turn: inout Turn) {
    guard let episode = turn.memoryEpisode, inbox.memoryHeard?.episode != episode else { return }
    if warnOfMemory(isSimulated: false, in: &turn) {
      inbox.memoryHeard = MemoryHeard(episode: episode, at: turn.instant)
    }
  }

  /// - Returns: whether it could be told.
  @discardableResult
  mutating func warnOfMemory(isSimulated: Bool, in turn: inout Turn) -> Bool {
    guard state != .suspended, hasStream, !isKilled else { return false }
    turn.emit(.notify(id, .memoryWarning))
    record(.memoryWarned(isSimulated: isSimulated), in: &turn)
    return true
  }
}
