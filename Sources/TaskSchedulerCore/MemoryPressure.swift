// What is done when memory is short (contract §11): everybody who runs is warned; if it lasts,
// applications are ended one at a time, each only when the memory of the last is back.
//
// The kernel tells of pressure. It lasts where
// - less than `MemoryFloorPercent` of the machine's memory is available when the time after the
//   warning is over, or when a trigger fires after that; or
// - the daemon's own slice presses after that. Its limit may be far below what the machine has.
// Pressure of the whole machine alone ends nobody: a container that thrashes within a limit of its
// own counts in it, and no end of an application would help that.

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
      if isMemoryCritical { measureCandidates(in: &turn) }
    case .warned(let patience, _):
      let lasts = pressure.source == .slice || isMemoryShort
      if (lasts && patience <= turn.instant) || isMemoryCritical { measureCandidates(in: &turn) }
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
    measureCandidates(in: &turn)
  }

  /// The one that was ended is gone.
  private mutating func memoryIsBack(_ reading: MemoryReading, in turn: inout Turn) {
    memory.reading = reading
    guard isMemoryShort else { return wait(until: patience(turn), looking: false, turn) }
    // One was ended before the warning had its time; that does not do for all others.
    if turn.instant < memory.warningEnds, !isMemoryCritical {
      return wait(until: memory.warningEnds, looking: true, turn)
    }
    measureCandidates(in: &turn)
  }

  /// The one that was ended is waited for no longer; how much there is was not said.
  private mutating func giveUpWaiting(in turn: inout Turn) {
    let patience = max(turn.instant, memory.warningEnds)
    wait(until: patience, looking: patience > turn.instant, turn)
    if memory.phase != .calm { turn.emit(.memory(.look)) }
  }

  /// Nobody is in hand any more.
  private mutating func wait(until patience: Instant, looking looks: Bool, _ turn: Turn) {
    memory.phase = isMemoryQuiet(turn) ? .calm : .warned(patience: patience, looks: looks)
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

  private mutating func measureCandidates(in turn: inout Turn) {
    let candidates = memoryCandidates
    if candidates.isEmpty { return wait(until: patience(turn), looking: false, turn) }
    if case .measuring = memory.phase {} else { memory.phase = .measuring(since: turn.instant) }
    turn.emit(.memory(.measure(candidates)))
  }

  private mutating func memoryMeasured(_ sizes: [MemorySize], in turn: inout Turn) {
    guard case .measuring(let since) = memory.phase else { return }
    let candidates = memoryCandidates
    var known: [InstanceID: MemorySize] = [:]
    for size in sizes { known[size.instance] = size }
    let measured = candidates.compactMap { known[$0] }
    // Somebody has been suspended, or has come, meanwhile: who is first is not known.
    guard measured.count == candidates.count else { return measureCandidates(in: &turn) }
    let order = memoryOrder(measured)
    guard let chosen = order.first else { return measureCandidates(in: &turn) }
    let choice = MemoryChoice(
      chosen: chosen, runnersUp: Array(order.dropFirst().prefix(3)), classCount: order.count,
      memory: memory.reading, pressedSince: memory.pressedSince, at: turn.instant,
      choosingTime: since.duration(to: turn.instant))
    end(choice, in: &turn)
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
        memory.phase = .calm
      } else if looks {
        memory.phase = .warned(patience: patience, looks: false)
        turn.emit(.memory(.look))
      }
    case .ending, .reclaiming: giveUpWaiting(in: &turn)
    }
  }

  /// After the daemon's absence: what it was asked is asked again.
  mutating func recoverMemory(in turn: inout Turn) {
    switch memory.phase {
    case .calm, .ending: break
    case .warned(let patience, _):
      memory.phase = .warned(patience: patience, looks: true)
    case .measuring: measureCandidates(in: &turn)
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
