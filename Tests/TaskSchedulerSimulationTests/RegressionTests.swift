import TaskSchedulerSimulation
import Testing

/// Runs that once violated a promise, as `taskctl simulate` prints them after it has reduced them.
/// The name of a test describes the violated promise.
@Suite("Runs that have failed before")
struct RegressionTests {
  @Test("A task that begins after the limit with a debugger attached is not suspended")
  func taskWhileTraced() {
    let options = SimulationOptions(seed: 574)
    #expect(Simulation(options).run().violation == nil)
  }

  @Test("§6 An application with an unacknowledged keepAlive misses no call")
  func callBehindAnother() {
    let options = SimulationOptions(seed: 2240)
    #expect(Simulation(options).run().violation == nil)
  }

  @Test("§6 The interval after a late burst counts from its planned time")
  func lateBurst() {
    let options = SimulationOptions(seed: 727)
    #expect(Simulation(options).run().violation == nil)
  }

  @Test("§6 A shorter interval takes the tolerance of the longer one into account")
  func shortened() {
    let options = SimulationOptions(seed: 869)
    #expect(Simulation(options).run().violation == nil)
  }

  @Test("§6 A burst may have no visible call for an application with an outstanding call")
  func waitingCalls() {
    let options = SimulationOptions(seed: 976)
    #expect(Simulation(options).run().violation == nil)
  }

  @Test("§7 A program without an event stream reads the data that has resumed it")
  func unawareReader() {
    let options = SimulationOptions(seed: 5942)
    #expect(Simulation(options).run().violation == nil)
  }

  @Test(
    """
    §11 Below half the floor, only one application is terminated before the warning time \
    ends
    """)
  func secondBeforeTheWarning() {
    let options = SimulationOptions(seed: 1)
    #expect(Simulation(options).run().violation == nil)
  }

  @Test(
    "§12 A restarted daemon samples an application that plays audio and cannot be stopped")
  func playsAfterLoss() {
    let options = SimulationOptions(seed: 57)
    #expect(Simulation(options).run().violation == nil)
  }
}
