/// The options of a run. Equal options produce equal traces.
public struct SimulationOptions: Equatable, Sendable {
  public var seed: UInt64
  /// The number of actions in the safety phase (``Simulation``).
  public var actionCount: Int
  /// The actions that the run skips, as ranges of their numbers.
  public var skipped: [Range<Int>]
  /// The faults that do not happen in the run.
  public var without: Set<Fault>
  /// A planted defect, for tests of the checkers; nil for none.
  public var canary: Canary?

  public init(
    seed: UInt64, actionCount: Int = Self.actionCountDefault, skipped: [Range<Int>] = [],
    without: Set<Fault> = [], canary: Canary? = nil
  ) {
    self.seed = seed
    self.actionCount = actionCount
    self.skipped = skipped
    self.without = without
    self.canary = canary
  }

  /// The default number of actions, which results in a little more than 1000 events.
  public static let actionCountDefault = 1200

  /// The options of `taskctl simulate` that repeat this run.
  public var commandLine: String {
    var words = ["--first \(seed)", "--seeds 1"]
    if actionCount != Self.actionCountDefault { words.append("--actions \(actionCount)") }
    for range in skipped { words.append("--skip \(range.lowerBound)-\(range.upperBound - 1)") }
    for fault in Fault.allCases where without.contains(fault) {
      words.append("--without \(fault.rawValue)")
    }
    if let canary { words.append("--canary \(canary.rawValue)") }
    return words.joined(separator: " ")
  }
}

extension SimulationOptions {
  /// The options as Swift code for a test.
  public var swiftText: String {
    let ranges = skipped.map { "\($0.lowerBound)..<\($0.upperBound)" }.joined(separator: ", ")
    let faults = Fault.allCases.filter { without.contains($0) }.map { ".\($0.rawValue)" }
      .joined(separator: ", ")
    return "SimulationOptions(seed: \(seed), actionCount: \(actionCount), "
      + "skipped: [\(ranges)], without: [\(faults)])"
  }
}

/// The outcome of a run.
public struct SimulationOutcome: Equatable, Sendable {
  /// The number of events that the scheduler handled.
  public var eventCount: Int
  /// The number of restarts of the daemon.
  public var recoveryCount: Int
  /// The hash of every event, instant and effect.
  public var traceHash: UInt64
  public var violation: Violation?
}

/// A violation of the contract.
public struct Violation: Equatable, Sendable, Error {
  /// The checker's name.
  public var checker: String
  public var sentence: String
  /// The number of the event that violated the contract, counted from 1.
  public var eventNumber: Int
  /// The time since the start of the run.
  public var after: Duration
}
