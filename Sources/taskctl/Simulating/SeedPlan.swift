import ArgumentParser
import TaskSchedulerSimulation

/// The seeds and options of a campaign.
struct SeedPlan {
  var seeds: Range<UInt64>
  var actionCount: Int
  var skipped: [Range<Int>]
  var without: Set<Fault>

  func options(_ seed: UInt64, canary: Canary?) -> SimulationOptions {
    SimulationOptions(
      seed: seed, actionCount: actionCount, skipped: skipped, without: without, canary: canary)
  }

  /// Returns the command-line arguments that pass the plan to a worker.
  func arguments(_ share: WorkerShare, canary: Canary?) -> [String] {
    var words = [
      "simulate", "--first", "\(seeds.lowerBound)", "--seeds", "\(seeds.count)",
      "--actions", "\(actionCount)", "--worker", "\(share.index)/\(share.count)",
    ]
    for range in skipped { words += ["--skip", "\(range.lowerBound)-\(range.upperBound - 1)"] }
    for fault in Fault.allCases where without.contains(fault) {
      words += ["--without", fault.rawValue]
    }
    if let canary { words += ["--canary", canary.rawValue] }
    return words
  }
}

/// A worker's share of the seeds: `2/4` is the third of four shares.
struct WorkerShare: ExpressibleByArgument {
  let index: UInt64
  let count: UInt64

  init(index: UInt64, count: UInt64) {
    self.index = index
    self.count = count
  }

  init?(argument: String) {
    let parts = argument.split(separator: "/").map { UInt64($0) }
    guard parts.count == 2, let index = parts[0], let count = parts[1], index < count else {
      return nil
    }
    self.init(index: index, count: count)
  }
}

/// A worker's report about a seed, as one line of text.
enum WorkerReport: Equatable {
  /// The worker starts the seed. If the worker dies, this seed is the cause.
  case began(UInt64)
  case ended(UInt64, events: Int, recoveries: Int, hash: UInt64, isViolated: Bool)

  var line: String {
    switch self {
    case .began(let seed): "b \(seed)\n"
    case .ended(let seed, let events, let recoveries, let hash, let isViolated):
      "e \(seed) \(events) \(recoveries) \(hash) \(isViolated ? 1 : 0)\n"
    }
  }

  init?(line: Substring) {
    let words = line.split(separator: " ")
    let numbers = words.dropFirst().compactMap { UInt64($0) }
    switch (words.first, numbers.count) {
    case ("b", 1): self = .began(numbers[0])
    case ("e", 5):
      self = .ended(
        numbers[0], events: Int(clamping: numbers[1]), recoveries: Int(clamping: numbers[2]),
        hash: numbers[3], isViolated: numbers[4] == 1)
    case _: return nil
    }
  }
}

/// A worker: runs its share of the seeds in this process, and reports each seed on standard output.
struct SeedWorker {
  let plan: SeedPlan
  let share: WorkerShare
  let canary: Canary?

  func run() throws {
    for seed in plan.seeds where (seed - plan.seeds.lowerBound) % share.count == share.index {
      try Output.write(WorkerReport.began(seed).line)
      let outcome = Simulation(plan.options(seed, canary: canary)).run()
      let report = WorkerReport.ended(
        seed, events: outcome.eventCount, recoveries: outcome.recoveryCount,
        hash: outcome.traceHash, isViolated: outcome.violation != nil)
      try Output.write(report.line)
    }
  }
}
