import ArgumentParser
import FoundationEssentials
import TaskSchedulerCore

/// The command of `make bench-location`. It simulates a week of a phone in virtual time, and
/// measures for how long the scheduler runs the receiver to detect when the phone enters or leaves
/// regions.
@main
struct LocationWeekCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "location-week",
    abstract: "Measure how long a receiver runs to monitor regions, with several schemes.",
    discussion: """
      Runs in virtual time. The exit code is 0 if all targets are reached, and 1 if one is missed.
      """)

  @Option(help: "The seed of all random decisions.")
  var seed: UInt64 = 1
  @Option(help: "The number of days.")
  var days = 7
  @Flag(help: "Print the numbers as JSON.")
  var json = false

  func validate() throws {
    guard (1...7).contains(days) else { throw ValidationError("--days must be 1 to 7") }
  }

  func run() throws {
    let week = Week(seed: seed, days: days)
    let expected = Crossing.expected(on: week)
    let results = Scheme.allCases.map { scheme in
      Result(scheme, Phone(week, scheme, seed: seed).run(), expected, week)
    }
    let verdicts = Verdict.all(results)
    if json {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      let document = Document(
        days: days, seed: seed, crossings: expected.count, schemes: results, targets: verdicts)
      print(String(decoding: try encoder.encode(document), as: UTF8.self))
    } else {
      print(Report(week, results, verdicts, crossingCount: expected.count).text)
    }
    if !verdicts.allSatisfy(\.isReached) { throw ExitCode(1) }
  }
}

/// The output of `--json`.
private struct Document: Encodable {
  let days: Int
  let seed: UInt64
  let crossings: Int
  let schemes: [Result]
  let targets: [Verdict]
}
