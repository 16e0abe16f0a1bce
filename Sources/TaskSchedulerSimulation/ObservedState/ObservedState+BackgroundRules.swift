import TaskSchedulerCore

// The rules of the background (contract.md#resources).
extension ObservedState {
  func apply(_ event: ResourceEvent) {
    switch event {
    case .used(let id, let use): if let instance = self[id] { evaluate(use, of: instance) }
    case .held(let id, _):
      guard let instance = self[id] else { return }
      instance.violatedRule =
        instance.isStopping && instance.ending == nil ? .sharedResourceHeld : nil
    case .listens: break
    }
  }

  /// Determines whether the daemon must kill or throttle an instance for its use of resources.
  private func evaluate(_ use: ResourceUse, of instance: ObservedInstance) {
    (instance.violatedRule, instance.isExcessive) = (nil, instance.throttledTo != nil)
    guard instance.state == .background, instance.ending == nil, instance.isSampled else { return }
    guard let before = instance.useWindow, !use.isTraced else {
      instance.useWindow = (now, use.processor, use.gpu)
      return
    }
    if use.gpu - before.gpu > policy.backgroundGPUTime {
      instance.violatedRule = .gpuInBackground
      return
    }
    let window = Duration.nanoseconds(Int64(now - before.since))
    guard !instance.isStopping, window >= policy.backgroundUseWindow else { return }
    instance.useWindow = (now, use.processor, before.gpu)
    let used = use.processor - before.processor
    guard let throttledTo = instance.throttledTo else {
      instance.isExcessive = used * 100 > window * policy.backgroundProcessorShare
      if instance.isExcessive, instance.wasThrottled { instance.violatedRule = .excessiveUse }
      return
    }
    instance.isExcessive = false
    if used * 500 > window * throttledTo * 4 { instance.violatedRule = .excessiveUse }
  }

  func apply(_ effect: ResourceEffect) {
    switch effect {
    case .prioritize(let id, let priority): self[id]?.priority = priority
    case .sample(let id): self[id]?.isSampled = true
    case .throttle(let id, let percent):
      self[id]?.throttledTo = percent
      if percent != nil { self[id]?.wasThrottled = true }
    }
  }
}
