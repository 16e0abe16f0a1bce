import TaskSchedulerCore
import TaskSchedulerSimulation

/// Prints every event of one run and its effects.
struct SeedTrace {
  let options: SimulationOptions

  func run() throws {
    let simulation = Simulation(options)
    var text = "seed \(options.seed)\nfaults: \(simulation.faultsText)\n"
    var number = 0
    simulation.observer = { event, effects, instant in
      number += 1
      text += "\(number) @\(instant.nanoseconds) \(Self.short(event))\n"
      for effect in effects { text += "    \(Self.short(effect))\n" }
    }
    let outcome = simulation.run()
    try Output.write(text)
    if let violation = outcome.violation {
      Output.complain("taskctl: \(violation.checker): \(violation.sentence)")
      throw SimulationExit.violation
    }
  }

  /// Returns Swift's description of the value without module names.
  static func short(_ value: some Any) -> String {
    String(describing: value).replacing("TaskSchedulerCore.", with: "")
  }
}
