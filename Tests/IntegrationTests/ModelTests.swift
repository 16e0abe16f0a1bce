import Glibc
import TaskSchedulerCore
import TaskSchedulerWire
import Testing

/// A comparison of the real daemon with the core. As in the simulation, a seed determines the
/// actions of users and programs, but the daemon, the processes and the time are real.
@Suite("The real daemon behaves as the core")
struct ModelTests {
  /// Three fixed seeds and a random one. A failure names its seed.
  private static let seeds: [UInt64] = [1, 2, 3, .random(in: 4...999_999)]

  @Test(
      """
      After each step, the daemon has the state that the core predicts. Suspended processes are \
      stopped, and all others run. Each call and each application gets the core's answer
      """,
    arguments: seeds)
  func model(_ seed: UInt64) throws {
    let world = try RealWorld(seed: seed)
    try world.run(for: .seconds(6))
    let (tally, facts) = (world.tally, world.facts)
    print(
      "seed \(seed): \(tally.actions) actions, \(world.model.eventCount) events, \(tally.answers)",
      "answers, \(tally.told) things told, \(facts.compared) comparisons; processes seen stopped",
      "\(facts.stopped) times, running \(facts.running) times; \(tally.states.count) states")
    #expect(tally.actions > RealWorld.actionsMin && facts.compared > tally.actions)
    #expect(tally.answers > 0 && facts.running > 0)
  }

  @Test("A stopped process that runs according to the core is detected")
  func planted() throws {
    let daemon = try DaemonFixture(.init(options: [("suspend-mechanism", "\"signal\"")]))
    let monitor = try Monitor(daemon)
    let model = try CoreModel(daemon)
    let inspection = Inspection(daemon, model)
    let id = "org.test.mail"
    let application = try TestApplication(daemon, id)
    try application.registered()
    _ = try application.callbackKinds(2)
    // The last acknowledgement of the application may still be on its way.
    try waitUntil("the application has acknowledged all callbacks") {
      try daemon.application(id).instance?.callbacksPending == 0
    }
    let stat = try #require(try daemon.proc.stat(application.pid))
    let leaders = [Leader(pid: stat.pid, startTime: stat.startTime)]
    try inspection.compare(leaders)
    #expect(inspection.facts.running == 1)
    kill(application.pid, SIGSTOP)
    try waitUntil("the application is stopped") {
      try daemon.state(of: application.pid) == .stopped
    }
    #expect(throws: PredictionMismatch.self) { try inspection.compare(leaders) }
    kill(application.pid, SIGCONT)
    try daemon.sendToBackground(id)
    try monitor.transition(id, to: .suspended)
    try inspection.compare(leaders)
    #expect(inspection.facts.stopped == 2)
  }
}
