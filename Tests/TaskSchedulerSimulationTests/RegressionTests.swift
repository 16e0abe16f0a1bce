import TaskSchedulerSimulation
import Testing

/// Runs that once violated a promise, as `taskctl simulate` prints them when it has made them
/// smaller. Each is named after what it found.
@Suite("Runs that have failed before")
struct RegressionTests {
  @Test("A task that begins after the limit with a debugger attached is not suspended")
  func taskWhileTraced() {
    let options = SimulationOptions(seed: 574)
    #expect(Simulation(options).run().violation == nil)
  }

  @Test("§6 An application that has not acknowledged its last keep-alive misses none")
  func callBehindAnother() {
    let options = SimulationOptions(seed: 2240)
    #expect(Simulation(options).run().violation == nil)
  }

  @Test("§6 A late burst counts from the time when it was due, less the lead")
  func lateBurst() {
    let options = SimulationOptions(seed: 727)
    #expect(Simulation(options).run().violation == nil)
  }

  @Test("§6 A handler with a shortened interval may have been called late by the longer one")
  func shortened() {
    let options = SimulationOptions(seed: 869)
    #expect(Simulation(options).run().violation == nil)
  }

  @Test("§6 An application with an outstanding call has bursts without a visible call")
  func waitingCalls() {
    let options = SimulationOptions(seed: 976)
    #expect(Simulation(options).run().violation == nil)
  }

  @Test("§7 A program without an event stream that its socket wakes reads the new data")
  func unawareReader() {
    let options = SimulationOptions(seed: 5942)
    #expect(Simulation(options).run().violation == nil)
  }

  @Test(
    "§11 An application is terminated before the warning's time, without time left; no second is")
  func secondBeforeTheWarning() {
    let options = SimulationOptions(seed: 1)
    #expect(Simulation(options).run().violation == nil)
  }

  @Test(
    "§12 An application that plays audio and cannot be stopped again after a restart is sampled")
  func playsAfterLoss() {
    let options = SimulationOptions(seed: 57)
    #expect(Simulation(options).run().violation == nil)
  }
}
