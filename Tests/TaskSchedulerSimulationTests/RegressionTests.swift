import TaskSchedulerSimulation
import Testing

/// Runs that once violated a promise, as `taskctl simulate` prints them when it has made them
/// smaller. Each is named after what it found.
@Suite("runs that have failed")
struct RegressionTests {
  @Test("a task begun after the limit, with a debugger there, is not suspended")
  func taskWhileTraced() {
    let options = SimulationOptions(seed: 574)
    #expect(Simulation(options).run().violation == nil)
  }
}
