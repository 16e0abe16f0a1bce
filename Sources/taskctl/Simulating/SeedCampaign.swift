import LinuxSystem
import TaskSchedulerSimulation
import TaskSchedulerWire

/// Runs many seeds in several processes and reports the results.
///
/// The workers are processes rather than threads. If the scheduler traps in one process, the others
/// continue, and the campaign knows the failing seed.
struct SeedCampaign {
  let plan: SeedPlan
  let jobs: Int
  let isJSON: Bool

  /// The number of seeds that are run again in another process to compare trace hashes.
  private static let comparedMax: UInt64 = 100

  /// Runs the seeds without a planted defect and reports any violation.
  func run() throws {
    let started = BootClock.now()
    let tally = try WorkerPool(plan: plan, jobs: jobs, canary: nil).run()
    let seconds = Double(BootClock.now() - started) / 1e9
    if let seed = tally.trapped.min() { return try reportTrap(seed) }
    if let seed = tally.violated.min() { return try reportViolation(seed, tally) }
    let different = try compare(tally)
    let summary = SeedSummary(
      firstSeed: plan.seeds.lowerBound, seeds: tally.hashes.count, events: tally.events,
      recoveries: tally.recoveries, seconds: seconds, traceHash: tally.combinedHash,
      comparedSeeds: min(Int(Self.comparedMax), plan.seeds.count), differing: different)
    try Output.write(isJSON ? JSONOutput.line(summary.json, nil) : summary.text)
    if let seed = different.first {
      Output.complain(
        "taskctl: seed \(seed) gave different results in two processes; see 'taskctl simulate"
          + " --seeds 1 --first \(seed) --trace'")
      throw SimulationExit.notDeterministic
    }
  }

  /// Runs the seeds once for each defect, and reports defects that no checker found.
  func run(canaries: [Canary]) throws {
    var missed: [Canary] = []
    for canary in canaries {
      let tally = try WorkerPool(plan: plan, jobs: jobs, canary: canary).run()
      let caught = tally.violated.count + tally.trapped.count
      if caught == 0 { missed.append(canary) }
      guard let seed = (tally.violated + tally.trapped).min() else {
        try say(canary, "was not caught by \(plan.seeds.count) seeds")
        continue
      }
      let violation = tally.trapped.contains(seed)
        ? nil : Simulation(plan.options(seed, canary: canary)).run().violation
      let finder = violation.map { "\($0.checker): \($0.sentence)" } ?? "the scheduler trapped"
      try say(canary, "caught by \(caught) of \(plan.seeds.count) seeds; seed \(seed): \(finder)")
    }
    if !missed.isEmpty { throw SimulationExit.canaryNotCaught }
  }

  private func say(_ canary: Canary, _ text: String) throws {
    let padding = String(repeating: " ", count: max(1, 20 - canary.rawValue.count))
    try Output.write("canary \(canary.rawValue)\(padding)\(PrintableText.of(text))\n")
  }

  /// Returns the seeds whose trace hash differs in another process.
  private func compare(_ tally: SeedTally) throws -> [UInt64] {
    var plan = plan
    plan.seeds = plan.seeds.prefix(Int(Self.comparedMax))
    let again = try WorkerPool(plan: plan, jobs: 1, canary: nil).run()
    return plan.seeds.filter { tally.hashes[$0] != again.hashes[$0] }
  }

  private func reportTrap(_ seed: UInt64) throws {
    Output.complain(
      "taskctl: the scheduler trapped at seed \(seed); reproduce it with 'taskctl simulate"
        + " \(plan.options(seed, canary: nil).commandLine) --worker 0/1'")
    throw SimulationExit.trapped
  }

  private func reportViolation(_ seed: UInt64, _ tally: SeedTally) throws {
    let options = plan.options(seed, canary: nil)
    guard let violation = Simulation(options).run().violation else {
      Output.complain("taskctl: seed \(seed) has a violation in one process but not in another")
      throw SimulationExit.notDeterministic
    }
    Output.complain(
      "taskctl: \(tally.violated.count) of \(plan.seeds.count) seeds have a violation")
    Output.complain(Self.text(options, violation))
    Output.complain("shortening the run …")
    let smallest = Shrinking.shrink(options, violation)
    if let violation = Simulation(smallest).run().violation {
      Output.complain(Self.text(smallest, violation))
    }
    Output.complain("code for Tests/TaskSchedulerSimulationTests/RegressionTests.swift:")
    Output.complain("  " + smallest.swiftText)
    throw SimulationExit.violation
  }

  private static func text(_ options: SimulationOptions, _ violation: Violation) -> String {
    """
    seed \(options.seed): \(violation.checker): \(PrintableText.of(violation.sentence))
      at event \(violation.eventNumber), after \(violation.after)
      reproduce: taskctl simulate \(options.commandLine) --trace
    """
  }
}

/// The summary of a campaign without a violation.
struct SeedSummary {
  var firstSeed: UInt64
  var seeds: Int
  var events: Int
  var recoveries: Int
  var seconds: Double
  var traceHash: UInt64
  var comparedSeeds: Int
  var differing: [UInt64]

  /// The JSON form. Hashes and seeds are strings, because large ones do not fit into a JSON number.
  var json: JSONValue {
    [
      "firstSeed": JSONValue("\(firstSeed)"), "seeds": JSONValue(seeds),
      "events": JSONValue(events), "recoveries": JSONValue(recoveries),
      "seconds": JSONValue(seconds), "traceHash": JSONValue(traceHashText),
      "comparedSeeds": JSONValue(comparedSeeds),
      "differing": JSONValue(differing.map { "\($0)" }),
    ]
  }

  private var traceHashText: String { String(traceHash, radix: 16) }

  var text: String {
    let tenths = Int(seconds * 10)
    let rate = seconds > 0 ? Int(Double(events) / seconds) : 0
    return """
      seeds \(firstSeed)-\(firstSeed + UInt64(seeds) - 1): \(events) events, \
      \(recoveries) restarts of the daemon, no violation
      \(tenths / 10).\(tenths % 10) s, \(rate) events/s, trace hash \(traceHashText)
      \(comparedSeeds - differing.count) of \(comparedSeeds) seeds had the same hash in two \
      processes

      """
  }
}
