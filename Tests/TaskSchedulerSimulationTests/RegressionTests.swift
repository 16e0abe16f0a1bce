import TaskSchedulerSimulation
import Testing

/// Tests with simulated runs that once violated a promise. `taskctl simulate` found each run, made
/// it shorter, and printed the options that repeat it. The name of a test describes the promise.
@Suite("Runs that have failed before")
struct RegressionTests {
  @Test("A traced application that begins a task after its background time is not suspended")
  func taskWhileTraced() {
    let options = SimulationOptions(seed: 574)
    #expect(Simulation(options).run().violation == nil)
  }

  @Test("§6 An application with an unacknowledged keepAlive misses no call")
  func callBehindAnother() {
    let options = SimulationOptions(seed: 2240)
    #expect(Simulation(options).run().violation == nil)
  }

  @Test("§6 The interval after a late burst counts from the planned time of the burst")
  func lateBurst() {
    let options = SimulationOptions(seed: 727)
    #expect(Simulation(options).run().violation == nil)
  }

  @Test("§6 A change to a shorter interval respects the tolerance of the longer interval")
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
    §11 Below half of MemoryFloorPercent, only one application is terminated before the warning \
    time ends
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

  @Test("§13 Each stream that began paused and muted is unmuted when it runs")
  func pausedStreams() {
    let options = SimulationOptions(seed: 1004)
    #expect(Simulation(options).run().violation == nil)
  }

  @Test("§13 A stream that began muted is still muted when a new agent reports it as audible")
  func mutedFromTheBeginning() {
    let options = SimulationOptions(seed: 1785)
    #expect(Simulation(options).run().violation == nil)
  }

  @Test("§17 An application whose suspension waits for its mute receives no update of the location")
  func mutedBeforeSuspension() {
    let options = SimulationOptions(seed: 1236)
    #expect(Simulation(options).run().violation == nil)
  }

  @Test("§17 A forgotten application does not count among a user's applications with a location")
  func forgottenLocation() {
    let options = SimulationOptions(seed: 12)
    #expect(Simulation(options).run().violation == nil)
  }
}
