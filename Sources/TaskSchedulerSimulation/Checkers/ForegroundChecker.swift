import TaskSchedulerCore

/// The foreground is never suspended, and never killed for memory (§15.3).
struct ForegroundChecker: Checker {
  static let name = "foreground"

  mutating func see(_ effect: Effect, _ ledger: Ledger) throws(Finding) {
    if case .suspend(let id) = effect, let sighting = ledger[id] {
      try require(
        !sighting.state.isForeground, "\(sighting.key.id.name) is \(sighting.state) and stopped")
    }
    if case .record(let record) = effect, case .ended(let end) = record.change,
      end.reason == .memoryPressure,
      let sighting = ledger.byKey[record.application] {
      try require(
        !sighting.state.isForeground,
        "\(sighting.key.id.name) is \(sighting.state) and killed for memory")
    }
  }

  mutating func after(_ ledger: Ledger) throws(Finding) {
    for sighting in ledger.live where sighting.state.isForeground {
      try require(
        !sighting.isStopping && !sighting.isStopped,
        "\(sighting.key.id.name) is \(sighting.state), and its processes are not resumed")
    }
  }
}
