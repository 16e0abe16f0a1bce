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

  @Test("§6 who has not answered the last call of its keep-alive handler misses none")
  func callBehindAnother() {
    let options = SimulationOptions(seed: 2240)
    #expect(Simulation(options).run().violation == nil)
  }

  @Test("§6 a burst that a machine came to late counts from when it was due, a lead before that")
  func lateBurst() {
    let options = SimulationOptions(seed: 727)
    #expect(Simulation(options).run().violation == nil)
  }

  @Test("§6 a handler whose interval is made shorter may have been called late by the longer one")
  func shortened() {
    let options = SimulationOptions(seed: 869)
    #expect(Simulation(options).run().violation == nil)
  }

  @Test("§6 who has a call waiting has bursts for which nobody is seen to be called")
  func waitingCalls() {
    let options = SimulationOptions(seed: 976)
    #expect(Simulation(options).run().violation == nil)
  }

  @Test("§7 a program that is woken by its socket, and has no event stream, reads what has come")
  func unawareReader() {
    let options = SimulationOptions(seed: 5942)
    #expect(Simulation(options).run().violation == nil)
  }

  @Test("§11 one is ended before the warning had its time, for there was none; no second one is")
  func secondBeforeTheWarning() {
    let options = SimulationOptions(seed: 1)
    #expect(Simulation(options).run().violation == nil)
  }

  @Test("§12 who plays when it cannot be stopped again after the daemon's absence is looked at")
  func playsAfterLoss() {
    let options = SimulationOptions(seed: 57)
    #expect(Simulation(options).run().violation == nil)
  }
}
