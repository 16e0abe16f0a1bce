// The procedure for memory pressure (contract §11). The scheduler warns all running applications.
// If pressure lasts, the scheduler terminates one application at a time. It waits until the memory
// of that application is free before it terminates the next one.
//
// The kernel reports pressure. Pressure lasts if
// - less than `MemoryFloorPercent` of the machine's memory is available when `MemoryWarningTime`
//   has passed since the warning, or when a later trigger fires; or
// - a trigger of the daemon's own slice fires after `MemoryWarningTime`. The limit of the slice may
//   be far below the machine's memory.
// Pressure of the whole machine alone is not a reason to terminate an application. A container that
// thrashes within its own limit also causes such pressure, and a termination does not relieve it.
//
// The scheduler measures the sizes of the candidates in advance: during `MemoryWarningTime`, or
// when the available memory is near `MemoryFloorPercent`. The choice then need not wait for the
// sizes. An early measurement does not make a termination earlier.

extension Scheduler {
  mutating func handle(_ event: MemoryEvent, in turn: inout Turn) {
    switch event {
    case .pressed(let pressure): memoryPressed(pressure, in: &turn)
    case .read(let reading): memoryRead(reading, in: &turn)
    case .measured(let sizes): memoryMeasured(sizes, in: &turn)
    case .reclaimed(let id, let reading):
      guard case .reclaiming(id, _) = memory.phase else { return }
      memoryReclaimed(reading, in: &turn)
    case .warn(let request, let key, let owner):
      simulateWarning(request, key, owner, in: &turn)
    }
  }

  private mutating func memoryPressed(_ pressure: MemoryPressure, in turn: inout Turn) {
    memory.pressedAt = turn.instant
    memory.reading = pressure.memory
    switch memory.phase {
    case .calm:
      memory.phase = .warned(decidesAt: decidesAt(turn), readsMemory: true)
      memory.pressedSince = turn.instant
      memory.warningEnds = decidesAt(turn)
      memory.episodeLast += 1
      turn.memoryEpisode = memory.episode
      for id in instances.keys.sorted() {
        updateInstance(id, in: &turn) { $0.deliverMemoryWarning(in: &$1) }
      }
      if isMemoryCritical { return choose(in: &turn) }
      // If `MemoryWarningTime` is shorter than a measurement, the measurement must begin now.
      memoryDue(in: &turn)
    case .warned(let decidesAt, _):
      let isOfSlice = pressure.source == .slice
      let lasts = isOfSlice || isMemoryShort
      if (lasts && decidesAt <= turn.instant) || isMemoryCritical { return choose(in: &turn) }
      let mayEndSoon = decidesAt <= turn.instant.advanced(by: Policy.memoryMeasuringLead)
      if mayEndSoon, isOfSlice || isMemoryNearFloor { measureAhead(in: &turn) }
    case .measuring, .ending, .reclaiming:
      break
    }
  }

  /// Handles a reading of the memory. The scheduler requests one at the end of `MemoryWarningTime`,
  /// and when it stops waiting for the chosen application.
  private mutating func memoryRead(_ reading: MemoryReading, in turn: inout Turn) {
    memory.reading = reading
    guard case .warned(let decidesAt, _) = memory.phase,
      (decidesAt <= turn.instant && isMemoryShort) || isMemoryCritical
    else { return }
    choose(in: &turn)
  }

  /// Handles the report that the memory of the chosen application is free.
  private mutating func memoryReclaimed(_ reading: MemoryReading, in turn: inout Turn) {
    memory.reading = reading
    guard isMemoryShort, !isMemoryQuiet(turn) else {
      return wait(until: decidesAt(turn), readingMemory: false, turn)
    }
    // The chosen application ended within `MemoryWarningTime`. The other applications still have
    // the rest of that time.
    if turn.instant < memory.warningEnds, !isMemoryCritical {
      return wait(until: memory.warningEnds, readingMemory: true, turn)
    }
    choose(in: &turn)
  }

  /// Stops waiting for the chosen application. The daemon has not reported in time that the memory
  /// of that application is free.
  private mutating func giveUpWaiting(in turn: inout Turn) {
    let decidesAt = max(turn.instant, memory.warningEnds)
    wait(until: decidesAt, readingMemory: decidesAt > turn.instant, turn)
    if memory.phase != .calm { turn.emit(.memory(.read)) }
  }

  /// Ends the episode if pressure has ended. Otherwise, waits for a trigger after `decidesAt`, or
  /// for the end of pressure.
  ///
  /// - Parameter readsMemory: Whether the scheduler also requests a reading of the memory at
  ///   `decidesAt`.
  private mutating func wait(
    until decidesAt: Instant, readingMemory readsMemory: Bool, _ turn: Turn
  ) {
    if isMemoryQuiet(turn) { return memory.endPressure() }
    memory.phase = .warned(decidesAt: decidesAt, readsMemory: readsMemory)
  }

  /// Returns whether no pressure was reported for `MemoryQuietTime`.
  private func isMemoryQuiet(_ turn: Turn) -> Bool {
    memory.pressedAt.advanced(by: turn.policy.memoryQuietTime) <= turn.instant
  }

  private func decidesAt(_ turn: Turn) -> Instant {
    turn.instant.advanced(by: turn.policy.memoryWarningTime)
  }

  private var isMemoryShort: Bool {
    memory.reading.isBelow(percent: Double(policy.memoryFloorPercent))
  }

  /// Whether less than half of `MemoryFloorPercent` is available. If so, the scheduler does not
  /// wait for the effect of the warning.
  private var isMemoryCritical: Bool {
    memory.reading.isBelow(percent: Double(policy.memoryFloorPercent) / 2)
  }

  /// Whether less than twice `MemoryFloorPercent` is available. If so, the available memory may be
  /// below `MemoryFloorPercent` at the next trigger.
  private var isMemoryNearFloor: Bool {
    memory.reading.isBelow(percent: Double(policy.memoryFloorPercent) * 2)
  }

  // MARK: The choice

  /// Returns the measured applications in the order in which the scheduler would terminate them.
  /// Foreground applications come last; the scheduler never terminates them to free memory.
  public func memoryOrder(_ sizes: [MemorySize]) -> [MemoryCandidate] {
    sizes.compactMap { size in
      guard let instance = instances[size.instance], instance.termination == nil else {
        return nil
      }
      return MemoryCandidate(
        application: instance.application, state: instance.state, size: size,
        activation: applications[instance.application]?.activation ?? 0)
    }.sorted { $0.isEnded(before: $1) }
  }

  /// The suspended instances; if there are none, the background instances.
  private var memoryCandidates: [InstanceID] {
    let ids = instances.keys.sorted().filter { instances[$0]?.termination == nil }
    for state in [ApplicationState.suspended, .background] {
      let candidates = ids.filter { instances[$0]?.state == state }
      if !candidates.isEmpty { return candidates }
    }
    return []
  }

  /// Terminates the first candidate if the sizes are known; otherwise measures the candidates.
  private mutating func choose(in turn: inout Turn) {
    let candidates = memoryCandidates
    if candidates.isEmpty { return wait(until: decidesAt(turn), readingMemory: false, turn) }
    if let order = orderKnown(candidates, turn) {
      return end(order, since: turn.instant, in: &turn)
    }
    if case .measuring = memory.phase {} else { memory.phase = .measuring(since: turn.instant) }
    measure(candidates, in: &turn)
  }

  /// Measures the candidates before a choice is necessary, unless the sizes of suspended instances
  /// are known.
  private mutating func measureAhead(in turn: inout Turn) {
    let candidates = memoryCandidates
    if let order = orderKnown(candidates, turn), order[0].state == .suspended { return }
    if !candidates.isEmpty { return measure(candidates, in: &turn) }
    memory.measurement = memory.measurement ?? .init(askedAt: turn.instant, sizes: [])
  }

  private mutating func measure(_ candidates: [InstanceID], in turn: inout Turn) {
    // Only one measurement runs at a time. If its sizes do not suffice, the scheduler requests
    // another one.
    if memory.isBeingMeasured { return }
    memory.measurement = .init(askedAt: turn.instant)
    turn.emit(.memory(.measure(candidates)))
  }

  private mutating func memoryMeasured(_ sizes: [MemorySize], in turn: inout Turn) {
    guard case .measuring(let since) = memory.phase else {
      // A later choice may need the sizes.
      if memory.isBeingMeasured { memory.measurement?.sizes = sizes }
      if memory.phase == .calm { memory.measurement = nil }
      return
    }
    memory.measurement = nil
    // An instance that was suspended or started during the measurement has no known size.
    guard let order = order(memoryCandidates, sizes) else { return choose(in: &turn) }
    end(order, since: since, in: &turn)
  }

  /// Returns the candidates in the order of termination, by their stored sizes; nil if a size is
  /// unknown or no longer valid.
  ///
  /// The size of an instance stays valid while it is suspended. The size of a running instance is
  /// valid for `memorySizeLife`. Also returns nil if the size of the first candidate is an
  /// estimate.
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

  /// Returns the candidates in the order of termination; nil if there are none, or if a size is
  /// unknown.
  private func order(
    _ candidates: [InstanceID], _ sizes: [MemorySize]
  ) -> [MemoryCandidate]? {
    var known: [InstanceID: MemorySize] = [:]
    for size in sizes { known[size.instance] = size }
    let measured = candidates.compactMap { known[$0] }
    return measured.isEmpty || measured.count < candidates.count ? nil : memoryOrder(measured)
  }

  /// Terminates the first application of the order.
  ///
  /// - Parameter since: The instant at which the choice became necessary.
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
    let isSuspended = choice.chosen.state == .suspended
    updateInstance(id, in: &turn) { instance, turn in
      let warnedAt = instance.inbox.memoryWarning.flatMap {
        $0.episode == turn.memoryEpisode ? $0.at : nil
      }
      instance.record(.memoryChosen(choice), in: &turn)
      instance.terminate(
        .memoryPressure, .memory(choice, warnedAt: warnedAt), waiter: nil, in: &turn)
    }
    if isSuspended { return reclaim(id, in: &turn) }
    memory.phase = .ending(id, givenUpAt: endGivenUpAt(turn))
  }

  /// The time for a callback that precedes willTerminate, for willTerminate itself, and for the
  /// stop signal.
  private func endGivenUpAt(_ turn: Turn) -> Instant {
    turn.instant.advanced(by: turn.policy.callbackTimeout * 2 + turn.policy.terminateTimeout)
  }

  private mutating func reclaim(_ id: InstanceID, in turn: inout Turn) {
    let givenUpAt = turn.instant.advanced(by: turn.policy.terminateTimeout)
    memory.phase = .reclaiming(id, givenUpAt: givenUpAt)
    turn.emit(.memory(.reclaim(id)))
  }

  /// Reclaims the memory of an ended instance, if the scheduler terminated that instance to free
  /// memory.
  mutating func instanceOfMemoryEnded(_ id: InstanceID, in turn: inout Turn) {
    if case .ending(id, _) = memory.phase { reclaim(id, in: &turn) }
  }

  // MARK: Time

  mutating func memoryDue(in turn: inout Turn) {
    guard let due = memory.deadline(turn.policy), due <= turn.instant else { return }
    switch memory.phase {
    case .calm, .measuring: break
    case .warned(let decidesAt, let readsMemory):
      if isMemoryQuiet(turn) {
        memory.endPressure()
      } else if readsMemory, turn.instant < decidesAt {
        measureAhead(in: &turn)
      } else if readsMemory {
        memory.phase = .warned(decidesAt: decidesAt, readsMemory: false)
        turn.emit(.memory(.read))
      }
    case .ending, .reclaiming: giveUpWaiting(in: &turn)
    }
  }

  /// Repeats the requests of the procedure after the daemon's absence.
  mutating func recoverMemory(in turn: inout Turn) {
    // The reply died with the previous daemon, and suspended processes may have run since.
    memory.measurement = nil
    switch memory.phase {
    case .calm: break
    // The applications may receive the warning only now, and the pressure may have ended.
    case .warned, .measuring:
      memory.warningEnds = decidesAt(turn)
      wait(until: memory.warningEnds, readingMemory: true, turn)
      // If memory is critical, the reading leads to a choice at once.
      if memory.phase != .calm { turn.emit(.memory(.read)) }
    case .ending(let id, _):
      memory.phase = .ending(id, givenUpAt: endGivenUpAt(turn))
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
      return updateInstance(id, in: &turn) { $0.warnOfMemory(isSimulated: true, in: &$1) }
    }
    turn.reply(request, .done)
    for id in instances.keys.sorted() {
      guard owner == nil || instances[id]?.application.owner == owner else { continue }
      updateInstance(id, in: &turn) { $0.warnOfMemory(isSimulated: true, in: &$1) }
    }
  }
}

extension Instance {
  /// Warns a running application once in each episode of pressure. The application receives the
  /// warning at the start of the episode, when it is resumed, or when it opens its event stream.
  mutating func deliverMemoryWarning(in turn: inout Turn) {
    guard let episode = turn.memoryEpisode, inbox.memoryWarning?.episode != episode else { return }
    if warnOfMemory(isSimulated: false, in: &turn) {
      inbox.memoryWarning = DeliveredMemoryWarning(episode: episode, at: turn.instant)
    }
  }

  /// Sends the application a memory warning, if it can receive one.
  ///
  /// - Returns: Whether the application could receive the warning.
  @discardableResult
  mutating func warnOfMemory(isSimulated: Bool, in turn: inout Turn) -> Bool {
    guard state != .suspended, hasStream, !isKilled else { return false }
    turn.emit(.notify(id, .memoryWarning))
    record(.memoryWarned(isSimulated: isSimulated), in: &turn)
    return true
  }
}
