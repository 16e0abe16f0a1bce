import TaskSchedulerCore

/// Checks the priority, sampling, throttling and killing of background applications
/// (contract.md#resources).
struct ResourceChecker: Checker {
  static let name = "resources"

  mutating func see(_ effect: Effect, _ observed: ObservedState) throws(Finding) {
    switch effect {
    case .resources(.sample(let id)):
      guard let instance = observed[id] else { return }
      try require(
        instance.state == .background, "\(instance.name) is \(instance.state), but is sampled")
    case .kill(let id):
      guard let instance = observed[id], instance.ending == nil, case .resources = observed.event
      else { return }
      try require(
        instance.violatedRule != nil, "\(instance.name) is killed, but violates no rule")
    case .reply, .deliver, .expire, .notify, .socket, .notification, .memory, .spawn, .manage,
      .suspend, .resume, .terminate, .release, .checkTracer, .record, .resources, .dropPicture,
      .audio, .remote, .location:
      break
    }
  }

  mutating func after(_ observed: ObservedState) throws(Finding) {
    for instance in observed.live where !instance.isKilled {
      let name = instance.name
      try require(
        instance.priority == instance.rightfulPriority,
        "\(name) is \(instance.state), but has \(instance.priority) priority")
      guard instance.state == .background, instance.ending == nil else {
        try require(instance.throttledTo == nil, "\(name) is throttled outside the background")
        continue
      }
      if instance.isStopping || !instance.isBusy(at: observed.now)
        || instance.outstanding.contains(.willResignActive)
        || instance.outstanding.contains(.didEnterBackground)
      { continue }
      try require(
        instance.isSampled, "\(name) runs in the background, but the daemon does not sample it")
    }
    try checkFound(observed)
  }

  /// Checks that the scheduler acts on the resource use that this event reports.
  private func checkFound(_ observed: ObservedState) throws(Finding) {
    switch observed.event {
    case .resources(.used(let id, _)):
      guard let instance = observed[id], !instance.isKilled, instance.ending == nil,
        instance.state == .background
      else { return }
      let name = instance.name
      try require(
        instance.violatedRule == nil, "\(name) violates a background rule, but is not killed")
      try require(
        instance.isStopping || instance.isExcessive == (instance.throttledTo != nil),
        "\(name) uses \(instance.isExcessive ? "too much" : "little") CPU time, but is "
          + (instance.throttledTo == nil ? "not throttled" : "throttled"))
    case .resources(.held(let id, _)):
      guard let instance = observed[id] else { return }
      try require(
        instance.violatedRule == nil || instance.isKilled,
        "\(instance.name) is suspended with a lock on a shared file, but is not killed")
    case .resources(.listens), .application, .operation, .process, .scheduler, .socket,
      .notification, .systemChanged, .session, .memory, .switcher, .location:
      break
    }
  }
}
