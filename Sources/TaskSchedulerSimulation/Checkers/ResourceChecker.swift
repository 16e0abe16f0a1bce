import TaskSchedulerCore

/// Checks the priority, sampling, throttling and killing of background applications (§12).
struct ResourceChecker: Checker {
  static let name = "resources"

  mutating func see(_ effect: Effect, _ ledger: Ledger) throws(Finding) {
    switch effect {
    case .resources(.look(let id)):
      guard let sighting = ledger[id] else { return }
      try require(
        sighting.state == .background, "\(sighting.key.id.name) is sampled in the foreground")
    case .kill(let id):
      guard let sighting = ledger[id], sighting.ending == nil, case .resources = ledger.event
      else { return }
      try require(
        sighting.offence != nil, "\(sighting.key.id.name) is killed, and has used nothing")
    case .reply, .deliver, .expire, .notify, .socket, .notification, .memory, .spawn, .manage,
      .suspend, .resume, .terminate, .release, .checkTracer, .record, .resources:
      break
    }
  }

  mutating func after(_ ledger: Ledger) throws(Finding) {
    for sighting in ledger.live where !sighting.isKilled {
      let name = sighting.key.id.name
      try require(
        sighting.priority == ProcessPriority(sighting.state),
        "\(name) is \(sighting.state), and favoured as \(sighting.priority)")
      guard sighting.state == .background, sighting.ending == nil else {
        try require(sighting.throttledTo == nil, "\(name) is throttled, and not in the background")
        continue
      }
      if sighting.isStopping || !sighting.isBusy(at: ledger.now)
        || sighting.owed.contains(.willResignActive) || sighting.owed.contains(.didEnterBackground)
      { continue }
      try require(
        sighting.isLookedAt, "\(name) runs in the background, and the daemon does not sample it")
    }
    try checkFound(ledger)
  }

  /// Checks that the scheduler acts on the use that this event reports.
  private func checkFound(_ ledger: Ledger) throws(Finding) {
    switch ledger.event {
    case .resources(.used(let id, _)):
      guard let sighting = ledger[id], !sighting.isKilled, sighting.ending == nil,
        sighting.state == .background
      else { return }
      let name = sighting.key.id.name
      try require(
        sighting.offence == nil, "\(name) violates a rule for the background, and is not killed")
      try require(
        sighting.isStopping || sighting.isExcessive == (sighting.throttledTo != nil),
        "\(name) uses \(sighting.isExcessive ? "too much" : "little") and is "
          + (sighting.throttledTo == nil ? "not throttled" : "throttled"))
    case .resources(.held(let id, _)):
      guard let sighting = ledger[id] else { return }
      try require(
        sighting.offence == nil || sighting.isKilled,
        "\(sighting.key.id.name) is suspended with a lock on shared data")
    case _: break
    }
  }
}
