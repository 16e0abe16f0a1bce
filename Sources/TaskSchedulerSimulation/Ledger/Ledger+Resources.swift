import TaskSchedulerCore

// What instances use in the background (contract §12), as the contract judges it.
extension Ledger {
  func found(_ event: ResourceEvent) {
    switch event {
    case .used(let id, let use): if let sighting = self[id] { used(sighting, use) }
    case .held(let id, _):
      guard let sighting = self[id] else { return }
      sighting.offence =
        sighting.isStopping && sighting.ending == nil ? .sharedResourceHeld : nil
    case .listens: break
    }
  }

  private func used(_ sighting: Sighting, _ use: ResourceUse) {
    (sighting.offence, sighting.isExcessive) = (nil, sighting.throttledTo != nil)
    guard sighting.state == .background, sighting.ending == nil, sighting.isLookedAt else { return }
    guard let before = sighting.stretch, !use.isTraced else {
      sighting.stretch = (now, use.processor, use.gpu)
      return
    }
    if use.gpu - before.gpu > policy.backgroundGPUTime {
      sighting.offence = .gpuInBackground
      return
    }
    let window = Duration.nanoseconds(Int64(now - before.since))
    guard !sighting.isStopping, window >= policy.backgroundUseWindow else { return }
    sighting.stretch = (now, use.processor, before.gpu)
    let used = use.processor - before.processor
    guard let throttledTo = sighting.throttledTo else {
      sighting.isExcessive = used * 100 > window * policy.backgroundProcessorShare
      if sighting.isExcessive, sighting.wasThrottled { sighting.offence = .excessiveUse }
      return
    }
    sighting.isExcessive = false
    if used * 500 > window * throttledTo * 4 { sighting.offence = .excessiveUse }
  }

  func apply(_ effect: ResourceEffect) {
    switch effect {
    case .prioritize(let id, let priority): self[id]?.priority = priority
    case .look(let id): self[id]?.isLookedAt = true
    case .throttle(let id, let percent):
      self[id]?.throttledTo = percent
      if percent != nil { self[id]?.wasThrottled = true }
    }
  }
}
