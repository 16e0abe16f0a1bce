import TaskSchedulerCore

/// Checks that the daemon neither suspends a foreground application nor kills one to free memory
/// (contract.md#never-foreground).
struct ForegroundChecker: Checker {
  static let name = "foreground"

  mutating func see(_ effect: Effect, _ observed: ObservedState) throws(Finding) {
    if case .suspend(let id) = effect, let instance = observed[id] {
      try require(
        !instance.state.isForeground,
        "\(instance.name) is \(instance.state), but the daemon suspends it")
    }
    if case .record(let record) = effect, case .ended(let end) = record.change,
      end.reason == .memoryPressure,
      let instance = observed.byKey[record.application]
    {
      try require(
        !instance.state.isForeground,
        "\(instance.name) is \(instance.state), but is killed to free memory")
    }
  }

  mutating func after(_ observed: ObservedState) throws(Finding) {
    for instance in observed.live where instance.state.isForeground {
      try require(
        !instance.isStopping && !instance.isStopped,
        "\(instance.name) is \(instance.state), but its processes are not resumed")
    }
  }
}
