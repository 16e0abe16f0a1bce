// What follows from the use of resources in the background (contract §12): the scheduler sets
// priorities, measures use, throttles an instance that uses too much, and kills one that goes on.

extension Scheduler {
  mutating func handle(_ event: ResourceEvent, in turn: inout Turn) {
    switch event {
    case .used(let id, let use):
      updateInstance(id, in: &turn) { $0.used(use, in: &$1) }
    case .held(let id, let path):
      updateInstance(id, in: &turn) { $0.heldResource(path, in: &$1) }
    case .listens(let id, let addresses):
      updateInstance(id, in: &turn) { $0.listens(addresses, in: &$1) }
    }
  }
}

extension Instance {
  /// Starts the measurements, once the instance has acknowledged the callbacks on its way to the
  /// background. Call this whenever the instance may continue to run there.
  mutating func watchUse(in turn: inout Turn) {
    guard rules.look == .none, !callbacks.contains(.willResignActive),
      !callbacks.contains(.didEnterBackground)
    else { return }
    askUse(in: &turn)
  }

  mutating func lookIfDue(in turn: inout Turn) {
    if let due = rules.nextLook, due <= turn.instant { askUse(in: &turn) }
  }

  private mutating func askUse(in turn: inout Turn) {
    rules.look = .asked
    turn.emit(.resources(.look(id)))
  }

  /// Ends the measurements and the throttle, at the end of the stretch in the background.
  mutating func stopWatchingUse(in turn: inout Turn) {
    liftThrottle(in: &turn)
    rules.forgetUse()
  }

  /// Starts the measurements anew after a recovery, because another daemon counts from another
  /// instant.
  mutating func watchUseAnew(in turn: inout Turn) {
    if let percent = rules.throttledTo {
      turn.emitLast(.resources(.throttle(id, percent: percent)))
    }
    rules.stretch = nil
    if rules.look != .none { askUse(in: &turn) }
  }

  /// Throttles a resumed instance as before.
  func throttleAgain(in turn: inout Turn) {
    if let percent = rules.throttledTo {
      turn.emit(.resources(.throttle(id, percent: percent)))
    }
  }

  mutating func liftThrottle(in turn: inout Turn) {
    guard rules.throttledTo != nil else { return }
    rules.throttledTo = nil
    turn.emit(.resources(.throttle(id, percent: nil)))
    record(.resources(.throttled(percent: nil)), in: &turn)
  }

  fileprivate mutating func used(_ use: ResourceUse, in turn: inout Turn) {
    guard state == .background, termination == nil, rules.look != .none else { return }
    let now = turn.instant
    let wasAsked = rules.look == .asked
    if wasAsked { rules.look = .due(now.advanced(by: turn.policy.backgroundUseWindow)) }
    guard let stretch = rules.stretch, !use.isTraced else {
      rules.stretch = .init(since: now, processor: use.processor, gpu: use.gpu)
      return
    }
    if use.gpu - stretch.gpu > turn.policy.backgroundGPUTime {
      record(.resources(.usedGPU(use.gpu - stretch.gpu)), in: &turn)
      return kill(.gpuInBackground, .gpu(use.gpu - stretch.gpu), in: &turn)
    }
    let window = stretch.since.duration(to: now)
    // The daemon also reports GPU use between two measurements, without a newer CPU time.
    guard wasAsked, suspension != .stopping, window >= turn.policy.backgroundUseWindow else {
      return
    }
    rules.stretch?.since = now
    rules.stretch?.processor = use.processor
    judge(use.processor - stretch.processor, within: window, in: &turn)
  }

  /// Throttles an instance that used too much. Kills one that used up its throttled share, or that
  /// used too much again after a throttle.
  private mutating func judge(
    _ used: Duration, within window: Duration, in turn: inout Turn
  ) {
    // Four fifths: an instance cannot use all of its share, because it waits for its turn.
    let allowed = rules.throttledTo.map { window * $0 * 80 / 10_000 }
    guard used > allowed ?? (window * turn.policy.backgroundProcessorShare / 100) else {
      return liftThrottle(in: &turn)
    }
    record(.resources(.usedProcessor(used, within: window)), in: &turn)
    if rules.wasThrottled {
      let share = rules.throttledTo.map { ProcessorShare.throttled(percent: $0) }
      let usual = ProcessorShare.usual(percent: turn.policy.backgroundProcessorShare)
      return kill(
        .excessiveUse, .processor(used, within: window, share: share ?? usual), in: &turn)
    }
    let percent = turn.policy.throttledProcessorShare
    rules.throttledTo = percent
    rules.wasThrottled = true
    turn.emit(.resources(.throttle(id, percent: percent)))
    record(.resources(.throttled(percent: percent)), in: &turn)
  }

  fileprivate mutating func heldResource(_ path: String, in turn: inout Turn) {
    guard suspension == .stopping, termination == nil else { return }
    record(.resources(.heldResource(path: path)), in: &turn)
    kill(.sharedResourceHeld, .sharedResource(path: path), in: &turn)
  }

  fileprivate mutating func listens(_ report: ListeningReport, in turn: inout Turn) {
    guard suspension == .stopping, termination == nil, report != rules.listening else { return }
    rules.listening = report
    if !report.isEmpty { record(.resources(.listens(report)), in: &turn) }
  }
}

extension Instance {
  /// Sets the priority for a new state. A higher priority is set at once, before the processes run;
  /// a lower one after all other effects.
  func prioritize(from state: ApplicationState, to next: ApplicationState, in turn: inout Turn) {
    let (before, after) = (ProcessPriority(state), ProcessPriority(next))
    guard before != after else { return }
    let effect = Effect.resources(.prioritize(id, after))
    if after == .foreground || before == .suspended {
      turn.emit(effect)
    } else {
      turn.emitLast(effect)
    }
  }
}
