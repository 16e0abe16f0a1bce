// The rules for the use of resources in the background (contract §12). The scheduler sets
// priorities, measures use, and throttles an instance that uses too much. It kills an instance that
// still uses too much.

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
  /// Starts to measure the resource use, unless willResignActive or didEnterBackground is
  /// unacknowledged. Call this whenever the instance continues to run in the background.
  mutating func startMeasuringUse(in turn: inout Turn) {
    guard let stint, stint.use == nil, !callbacks.contains(.willResignActive),
      !callbacks.contains(.didEnterBackground)
    else { return }
    self.stint?.use = UseMeasurement()
    turn.emit(.resources(.sample(id)))
  }

  mutating func measureIfDue(in turn: inout Turn) {
    if let due = stint?.use?.nextDue, due <= turn.instant { requestUse(in: &turn) }
  }

  private mutating func requestUse(in turn: inout Turn) {
    stint?.use?.progress = .asked
    turn.emit(.resources(.sample(id)))
  }

  /// Ends the measurements and the throttle.
  mutating func stopMeasuringUse(in turn: inout Turn) {
    liftThrottle(in: &turn)
    stint?.use = nil
  }

  /// Starts the measurements again after a recovery, because each daemon counts use from its own
  /// start.
  mutating func restartMeasuringUse(in turn: inout Turn) {
    guard let use = stint?.use else { return }
    if let percent = use.throttledTo {
      turn.emitLast(.resources(.throttle(id, percent: percent)))
    }
    stint?.use?.window = nil
    requestUse(in: &turn)
  }

  /// Throttles an instance to the same share as before, after its processes were resumed.
  func throttleAgain(in turn: inout Turn) {
    if let percent = stint?.use?.throttledTo {
      turn.emit(.resources(.throttle(id, percent: percent)))
    }
  }

  mutating func liftThrottle(in turn: inout Turn) {
    guard stint?.use?.throttledTo != nil else { return }
    stint?.use?.throttledTo = nil
    turn.emit(.resources(.throttle(id, percent: nil)))
    record(.resources(.throttled(percent: nil)), in: &turn)
  }

  fileprivate mutating func used(_ use: ResourceUse, in turn: inout Turn) {
    guard termination == nil, let measurement = stint?.use else { return }
    let now = turn.instant
    let wasAsked = measurement.progress == .asked
    if wasAsked {
      stint?.use?.progress = .due(now.advanced(by: turn.policy.backgroundUseWindow))
    }
    guard let window = measurement.window, !use.isTraced else {
      stint?.use?.window = .init(since: now, processor: use.processor, gpu: use.gpu)
      return
    }
    if use.gpu - window.gpu > turn.policy.backgroundGPUTime {
      record(.resources(.usedGPU(use.gpu - window.gpu)), in: &turn)
      return kill(.gpuInBackground, .gpu(use.gpu - window.gpu), in: &turn)
    }
    let time = window.since.duration(to: now)
    // The daemon also reports GPU use between two measurements. Such a report contains no newer CPU
    // time.
    guard wasAsked, !isStopping, time >= turn.policy.backgroundUseWindow else { return }
    stint?.use?.window?.since = now
    stint?.use?.window?.processor = use.processor
    enforceProcessorShare(use.processor - window.processor, within: time, measurement, in: &turn)
  }

  /// Throttles an instance that used too much CPU time. Kills a throttled instance that used more
  /// than four fifths of its share. Also kills an instance that used too much again after the
  /// throttle was lifted.
  private mutating func enforceProcessorShare(
    _ used: Duration, within window: Duration, _ measurement: UseMeasurement, in turn: inout Turn
  ) {
    // A throttled instance cannot use its whole share, because it waits for CPUs. The limit is
    // therefore four fifths of the share.
    let allowed = measurement.throttledTo.map { window * $0 * 80 / 10_000 }
    guard used > allowed ?? (window * turn.policy.backgroundProcessorShare / 100) else {
      return liftThrottle(in: &turn)
    }
    record(.resources(.usedProcessor(used, within: window)), in: &turn)
    if measurement.wasThrottled {
      let share = measurement.throttledTo.map { ProcessorShare.throttled(percent: $0) }
      let usual = ProcessorShare.usual(percent: turn.policy.backgroundProcessorShare)
      return kill(
        .excessiveUse, .processor(used, within: window, share: share ?? usual), in: &turn)
    }
    let percent = turn.policy.throttledProcessorShare
    stint?.use?.throttledTo = percent
    stint?.use?.wasThrottled = true
    turn.emit(.resources(.throttle(id, percent: percent)))
    record(.resources(.throttled(percent: percent)), in: &turn)
  }

  fileprivate mutating func heldResource(_ path: String, in turn: inout Turn) {
    guard isStopping, termination == nil else { return }
    record(.resources(.heldResource(path: path)), in: &turn)
    kill(.sharedResourceHeld, .sharedResource(path: path), in: &turn)
  }

  fileprivate mutating func listens(_ report: ListeningReport, in turn: inout Turn) {
    guard isStopping, termination == nil, report != listening else { return }
    listening = report
    if !report.isEmpty { record(.resources(.listens(report)), in: &turn) }
  }
}

extension Instance {
  /// Returns the priority of the instance in a state. If audio or location updates entitle the
  /// instance to run in the background, it has the priority of the foreground, so that audio does
  /// not stutter.
  func priority(in state: ApplicationState) -> ProcessPriority {
    state == .background && (isEntitledByAudio || isLocating) ? .foreground : ProcessPriority(state)
  }

  /// Changes the priority. The daemon raises the priority before the processes run, and lowers it
  /// after all other effects.
  func prioritize(
    from before: ProcessPriority, to after: ProcessPriority, in turn: inout Turn
  ) {
    guard before != after else { return }
    let effect = Effect.resources(.prioritize(id, after))
    if after == .foreground || before == .suspended {
      turn.emit(effect)
    } else {
      turn.emitLast(effect)
    }
  }
}
