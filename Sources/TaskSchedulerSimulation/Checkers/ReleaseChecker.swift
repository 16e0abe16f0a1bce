import TaskSchedulerCore

/// Checks that every instance is released once (§15.1).
///
/// After its release, no effect names the instance, and its processes are not stopped.
struct ReleaseChecker: Checker {
  static let name = "release"

  private var managedLast: UInt64 = 0

  mutating func see(_ effect: Effect, _ ledger: Ledger) throws(Finding) {
    switch effect {
    case .manage(let id, _, let key):
      try require(id.number > 0, "an instance's id is 0")
      try require(
        ledger[id] == nil && ledger.byKey[key] == nil, "\(key.id.name) has two instances")
    case .release(let id, let killing):
      guard let sighting = ledger[id] else {
        return try require(false, "instance \(id.number) is released, which is not there")
      }
      if case .scheduler(.stop) = ledger.event {
        try require(!killing, "\(sighting.key.id.name) is killed by the scheduler's stop")
        try require(
          !sighting.isStopped && !sighting.isStopping,
          "\(sighting.key.id.name) is released, and its processes are stopped")
      } else {
        try require(
          killing == (sighting.ending != nil),
          "\(sighting.key.id.name): what is left of it is \(killing ? "" : "not ")killed")
      }
    case .deliver(let id, _, _), .expire(let id, _, _), .notify(let id, _), .suspend(let id),
      .resume(let id), .terminate(let id, _), .kill(let id), .checkTracer(let id),
      .resources(.prioritize(let id, _)), .resources(.look(let id)),
      .resources(.throttle(let id, _)),
      .socket(.hold(let id, _)), .socket(.letGo(let id, _)), .socket(.watch(let id)),
      .socket(.stopWatching(let id)):
      try require(ledger[id] != nil, "something is done to instance \(id.number), which is over")
    case .reply, .notification, .memory, .spawn, .record: break
    }
  }

  mutating func after(_ ledger: Ledger) throws(Finding) {
    if case .process(.leaderExited(let id, _)) = ledger.event {
      try require(ledger[id] == nil, "instance \(id.number) is over and not released")
    }
    if case .scheduler(.stop) = ledger.event { try settled(ledger) }
  }

  func settled(_ ledger: Ledger) throws(Finding) {
    let held = ledger.live.first?.key.id.name
    try require(held == nil, "\(held ?? "") is still held")
  }
}
