import TaskSchedulerCore

/// Checks that every instance is released once (contract.md#never-stay-suspended).
///
/// After the release, no effect names the instance. When the scheduler stops, the processes of the
/// released instances run.
struct ReleaseChecker: Checker {
  static let name = "release"

  private var managedLast: UInt64 = 0

  mutating func see(_ effect: Effect, _ observed: ObservedState) throws(Finding) {
    switch effect {
    case .manage(let id, _, let key):
      try require(id.number > 0, "an instance's id is 0")
      try require(
        observed[id] == nil && observed.byKey[key] == nil, "\(key.id.name) has two instances")
    case .release(let id, let killing):
      guard let instance = observed[id] else {
        return try require(false, "instance \(id.number) is released, but does not exist")
      }
      if case .scheduler(.stop) = observed.event {
        try require(!killing, "\(instance.name) is killed when the scheduler stops")
        try require(
          !instance.isStopped && !instance.isStopping,
          "\(instance.name) is released, but its processes are stopped")
      } else {
        try require(
          killing == (instance.ending != nil),
          "the remaining processes of \(instance.name) are wrongly "
            + (killing ? "killed" : "left alive"))
      }
    case .deliver(let id, _, _), .expire(let id, _, _), .notify(let id, _), .suspend(let id),
      .resume(let id), .terminate(let id, _), .kill(let id), .checkTracer(let id),
      .resources(.prioritize(let id, _)), .resources(.sample(let id)),
      .resources(.throttle(let id, _)),
      .socket(.hold(let id, _)), .socket(.release(let id, _)), .socket(.watch(let id)),
      .socket(.stopWatching(let id)), .remote(.command(_, let id, _)):
      try require(observed[id] != nil, "an effect names instance \(id.number), which has ended")
    case .reply, .notification, .memory, .spawn, .record, .dropPicture, .audio,
      .remote(.present), .location:
      break
    }
  }

  mutating func after(_ observed: ObservedState) throws(Finding) {
    if case .process(.leaderExited(let id, _)) = observed.event {
      try require(observed[id] == nil, "instance \(id.number) has ended, but is not released")
    }
    if case .scheduler(.stop) = observed.event { try checkFinalState(observed) }
  }

  func checkFinalState(_ observed: ObservedState) throws(Finding) {
    let held = observed.live.first?.key.id.name
    try require(held == nil, "\(held ?? "") is not released")
  }
}
