import TaskSchedulerCore

/// Callbacks come by the contract's table, one at a time, in order (§2, §3); those in flight when a
/// connection or the daemon was lost come again with the same id.
struct CallbackChecker: Checker {
  static let name = "callbacks"

  mutating func see(_ effect: Effect, _ ledger: Ledger) throws(Finding) {
    guard case .deliver(let id, let callback, let reason) = effect else { return }
    guard let sighting = ledger[id] else {
      return try require(false, "\(callback.kind) for instance \(id.number), which is not there")
    }
    let name = sighting.key.id.name
    try require(sighting.hasStream, "\(name) gets \(callback.kind) without an event stream")
    try require(sighting.state != .suspended, "\(name) gets \(callback.kind) while suspended")
    try require(
      sighting.owed.first == callback.kind,
      "\(name) gets \(callback.kind), and is owed \(sighting.owed)")
    if let inFlight = sighting.inFlight {
      try require(
        inFlight == callback.id, "\(name) gets \(callback.kind) with another callback in flight")
      try require(isAgain(ledger.event), "\(name) gets \(callback.kind) a second time")
    } else {
      try require(
        callback.id.number > sighting.callbackLast, "\(name): a callback's id is used again")
    }
    let expected = callback.kind == .didFinishLaunching ? sighting.plan.reason : nil
    try require(reason == expected, "\(name): \(callback.kind) with a wrong launch reason")
  }

  private func isAgain(_ event: Event) -> Bool {
    switch event {
    case .application(.openStream), .scheduler(.recovered): true
    case _: false
    }
  }

  mutating func after(_ ledger: Ledger) throws(Finding) {
    for sighting in ledger.live where sighting.hasStream && !sighting.isKilled {
      try require(
        sighting.owed.isEmpty || sighting.inFlight != nil,
        "\(sighting.key.id.name) is owed \(sighting.owed) and is told nothing")
    }
  }

  func settled(_ ledger: Ledger) throws(Finding) {
    for sighting in ledger.live {
      try require(
        sighting.owed.isEmpty, "\(sighting.key.id.name) is still owed \(sighting.owed)")
    }
  }
}
