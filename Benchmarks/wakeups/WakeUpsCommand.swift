import ArgumentParser
import FoundationEssentials
import Glibc
import TaskSchedulerCore

/// The command of `make wakeups`. Over days of virtual time, it counts the runs of keep-alive
/// handlers and the wake-ups for these runs, with taskschedd's planner and with other schemes.
@main
struct WakeUpsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "wakeups",
    abstract: "Compare keep-alive's wake-ups and handler runs with lower bounds and other schemes.",
    discussion: """
      Runs in virtual time. The exit code is 0 if all targets are reached, and 1 if one is missed.
      """)

  @Option(help: "The measured hours of virtual time, after a warm-up of two hours.")
  var hours = 48
  @Option(help: "The number of client groups of each mix. A figure is the mean of the groups.")
  var samples = 20
  @Option(help: "The seed of all random decisions.")
  var seed: UInt64 = 1
  @Flag(help: "Print the numbers as JSON.")
  var json = false
  @Option(help: "Write the chart to this file as SVG.")
  var picture: String?

  func validate() throws {
    guard (1...10_000).contains(hours) else { throw ValidationError("--hours must be 1 to 10000") }
    guard (1...1000).contains(samples) else { throw ValidationError("--samples must be 1 to 1000") }
  }

  func run() throws {
    let rows = Row.all.map { row in
      Row.Result(row, hours: hours, seeds: (0..<UInt64(samples)).map { seed &+ $0 })
    }
    let free = FreeWakeUps.all(hours: hours, seeds: (0..<UInt64(samples)).map { seed &+ $0 })
    let verdicts = Verdict.all(rows, free, hours: hours)
    if let picture { try write(Chart(rows).text, to: picture) }
    if json {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      let document = Document(
        hours: hours, samples: samples, seed: seed, mixes: rows, freeWakeUps: free,
        targets: verdicts)
      print(String(decoding: try encoder.encode(document), as: UTF8.self))
    } else {
      print("\(hours) h of virtual time, \(samples) groups of clients of each mix, seed \(seed)")
      print(Report(rows, free, verdicts).text)
    }
    if !verdicts.allSatisfy(\.isReached) { throw ExitCode(1) }
  }

  private func write(_ text: String, to path: String) throws {
    guard let file = fopen(path, "w") else {
      throw ValidationError("\(path) cannot be written: \(String(cString: strerror(errno)))")
    }
    let isWritten = fputs(text, file) >= 0
    guard fclose(file) == 0, isWritten else {
      throw ValidationError("\(path) cannot be written: \(String(cString: strerror(errno)))")
    }
  }
}

/// The output of `--json`.
private struct Document: Encodable {
  let hours: Int
  let samples: Int
  let seed: UInt64
  let mixes: [Row.Result]
  let freeWakeUps: [FreeWakeUps]
  let targets: [Verdict]
}
