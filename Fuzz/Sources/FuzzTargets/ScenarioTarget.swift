import TaskSchedulerSimulation

/// A scenario of `taskctl simulate`. Either the parser must refuse the scenario with the position
/// of the mistake, or the scenario must run to its end with the same result each time.
enum ScenarioTarget {
  /// The maximum number of instants in a run: a scenario with keep-alives and without `until` would
  /// take seconds under the sanitizers.
  private static let turnsMax = 10_000

  static func run(_ input: UnsafeRawBufferPointer) throws {
    let text = String(decoding: input, as: UTF8.self)
    let scenario: Scenario
    do throws(ScenarioProblem) {
      scenario = try Scenario(text)
    } catch {
      return try check(error, of: text)
    }
    let timeline = ScenarioRunner.timeline(of: scenario, turnsMax: turnsMax)
    try require(timeline.entries.count <= Timeline.entriesMax + 1000, "the timeline has no end")
    var last = Duration.zero
    for entry in timeline.entries {
      try require(entry.at >= last, "the timeline goes back from \(last) to \(entry.at)")
      last = entry.at
    }
    if timeline.entries.count < 1000, !timeline.isCut {
      try require(
        ScenarioRunner.timeline(of: scenario, turnsMax: turnsMax) == timeline,
        "a second run gives another timeline")
    }
  }

  private static func check(_ problem: ScenarioProblem, of text: String) throws {
    let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
    try require(!problem.message.isEmpty, "the mistake has no message")
    try require(lines.indices.contains(problem.line - 1), "line \(problem.line) of \(lines.count)")
    let columns = lines[problem.line - 1].count
    try require(
      (1...columns + 1).contains(problem.column), "column \(problem.column) of \(columns)")
    try require(
      ProblemCheck.isPrintable(problem.message),
      "the message contains unprintable characters: \(String(reflecting: problem.message))")
  }
}
