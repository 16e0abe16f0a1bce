import TaskSchedulerCore
import TaskSchedulerSimulation
import Testing

@Suite("Simulations")
struct SeedTests {
  @Test(
    "No seed violates a promise",
    arguments: stride(from: 1, to: 200, by: 25).map { UInt64($0)..<UInt64($0 + 25) })
  func seeds(_ seeds: Range<UInt64>) {
    for seed in seeds {
      let options = SimulationOptions(seed: seed, actionCount: 300)
      let violation = Simulation(options).run().violation
      #expect(violation == nil, "taskctl simulate \(options.commandLine) --trace")
    }
  }

  @Test("Equal options have equal runs, and another seed has another run")
  func determinism() {
    let options = SimulationOptions(seed: 7, actionCount: 300)
    let outcome = Simulation(options).run()
    #expect(Simulation(options).run() == outcome)
    var other = options
    other.seed = 8
    #expect(Simulation(other).run().traceHash != outcome.traceHash)
  }

  @Test("A run has many events, and some restarts of the daemon")
  func coverage() {
    let outcomes = (1...20).map { Simulation(SimulationOptions(seed: $0)).run() }
    #expect(outcomes.reduce(0) { $0 + $1.eventCount } > 20_000)
    #expect(outcomes.reduce(0) { $0 + $1.recoveryCount } > 100)
  }

  @Test("Runs contain interruptions by applications, lowered volumes and calls by streams")
  func audioCoverage() {
    var (takeovers, returns, lowered, calls) = (0, 0, 0, 0)
    for seed in 1...40 as ClosedRange<UInt64> {
      let simulation = Simulation(SimulationOptions(seed: seed))
      simulation.observer = { event, effects, _ in
        for effect in effects {
          if case .audio(.setVolume(_, let changes)) = effect,
            changes.contains(where: { $0.to < $0.from })
          {
            lowered += 1
          }
          if case .notify(_, .audioInterruption(_, .ended(shouldResume: false))) = effect {
            returns += 1
          }
          guard case .record(let record) = effect else { continue }
          if case .audioInterrupted(by: .application?) = record.change { takeovers += 1 }
          if case .session(.audio) = event, case .callChanged(.began) = record.change {
            calls += 1
          }
        }
      }
      _ = simulation.run()
    }
    #expect(takeovers > 10 && returns > 5)
    #expect(lowered > 5 && calls > 20)
  }
}

@Suite("Simulated locations")
struct LocationSeedTests {
  /// The numbers of effects in the runs, by kind.
  private struct Counts {
    var updates = 0
    var crossings = 0
    var changes = 0
    var wakeUps = 0
    var launches = 0
    var looks = 0
    var questions = 0
    var refusals: Set<String> = []
    var isReceiverOn = false

    mutating func note(_ effect: Effect) {
      switch effect {
      case .notify(_, .location): updates += 1
      case .notify(_, .region): crossings += 1
      case .notify(_, .significantChange): changes += 1
      case .record(let record):
        if case .transition(.suspended, _, .location) = record.change { wakeUps += 1 }
        if case .refused(let refusal) = record.change { refusals.insert(refusal.name) }
      case .spawn(_, _, .location): launches += 1
      case .location(.need(let needs)):
        if needs.accuracy != nil, !isReceiverOn { looks += 1 }
        isReceiverOn = needs.accuracy != nil
      case .location(.ask(_, true)): questions += 1
      case .reply, .deliver, .expire, .notify, .socket, .notification, .spawn, .manage, .suspend,
        .resume, .terminate, .kill, .release, .checkTracer, .memory, .resources, .audio, .remote,
        .dropPicture, .location:
        break
      }
    }
  }

  @Test("§17: Runs contain everything that the location does to applications")
  func coverage() {
    var counts = Counts()
    for seed in 1...60 as ClosedRange<UInt64> {
      let simulation = Simulation(SimulationOptions(seed: seed))
      counts.isReceiverOn = false
      simulation.observer = { _, effects, _ in for effect in effects { counts.note(effect) } }
      _ = simulation.run()
    }
    #expect(counts.updates > 200 && counts.crossings > 20 && counts.changes > 10, "\(counts)")
    #expect(counts.wakeUps > 5 && counts.launches > 2, "\(counts)")
    #expect(counts.looks > 200 && counts.questions > 20, "\(counts)")
    for name in [
      "LocationUnavailable", "LocationDenied", "UnknownRegion", "QuotaExceeded", "NotStored",
    ] {
      #expect(counts.refusals.contains(name), "\(name)")
    }
  }
}

@Suite("Canaries: faults that the checkers must report")
struct CanaryTests {
  @Test("The checkers report each canary", arguments: Canary.allCases)
  func canary(_ canary: Canary) {
    let isCaught = (1...100).contains { seed in
      Simulation(SimulationOptions(seed: seed, actionCount: 300, canary: canary)).run()
        .violation != nil
    }
    #expect(isCaught)
  }

  @Test("A reduced run fails in the same way")
  func shrinking() throws {
    var options = SimulationOptions(seed: 1, actionCount: 300, canary: .dropCallback)
    while Simulation(options).run().violation == nil { options.seed += 1 }
    let violation = try #require(Simulation(options).run().violation)
    let smallest = Shrinking.shrink(options, violation, attemptsMax: 300)
    #expect(Simulation(smallest).run().violation?.checker == violation.checker)
    let left = smallest.actionCount - smallest.skipped.reduce(0) { $0 + $1.count }
    #expect(left <= 10, "\(smallest.commandLine)")
  }
}
