/// Reduces the options of a failing run as long as the run still fails in the same way.
public struct Shrinking {
  private let fails: (SimulationOptions) -> Violation?
  private let checker: String
  private var smallest: SimulationOptions
  private var attemptsLeft: Int

  /// Returns the smallest options found for which the same checker reports a violation.
  ///
  /// - Parameters:
  ///   - violation: The violation in the run of `options`.
  ///   - attemptsMax: The maximum number of runs.
  ///   - fails: Runs the simulation.
  public static func shrink(
    _ options: SimulationOptions, _ violation: Violation, attemptsMax: Int = 2000,
    fails: (SimulationOptions) -> Violation? = { Simulation($0).run().violation }
  ) -> SimulationOptions {
    withoutActuallyEscaping(fails) { fails in
      var shrinking = Shrinking(
        fails: fails, checker: violation.checker, smallest: options, attemptsLeft: attemptsMax)
      shrinking.run()
      return shrinking.smallest
    }
  }

  /// Keeps `options` if their run fails in the same way. Returns whether it kept them.
  private mutating func attempt(_ options: SimulationOptions) -> Bool {
    guard attemptsLeft > 0 else { return false }
    attemptsLeft -= 1
    guard fails(options)?.checker == checker else { return false }
    smallest = options
    return true
  }

  private mutating func run() {
    shorten()
    for fault in Fault.allCases where !smallest.without.contains(fault) {
      var options = smallest
      options.without.insert(fault)
      _ = attempt(options)
    }
    shorten()
    // When some actions are skipped, the failure may no longer need some of the remaining actions.
    // A further pass can skip these, too.
    var before: SimulationOptions
    repeat {
      before = smallest
      var size = max(1, smallest.actionCount / 2)
      while size > 0 {
        leaveOut(size)
        size /= 2
      }
    } while smallest != before && attemptsLeft > 0
  }

  /// Reduces the number of actions to the smallest number with which the run still fails.
  private mutating func shorten() {
    var low = 0
    var high = smallest.actionCount
    while low < high {
      var options = smallest
      options.actionCount = (low + high) / 2
      if attempt(options) { high = options.actionCount } else { low = options.actionCount + 1 }
      if attemptsLeft == 0 { return }
    }
  }

  /// Tries to skip each range of `size` actions, the last range first.
  private mutating func leaveOut(_ size: Int) {
    var end = smallest.actionCount
    while end > 0 {
      let range = max(0, end - size)..<end
      end = range.lowerBound
      if smallest.skipped.contains(where: { $0.lowerBound <= range.lowerBound
        && range.upperBound <= $0.upperBound }) { continue }
      var options = smallest
      options.skipped = Self.merged(options.skipped + [range])
      _ = attempt(options)
    }
  }

  private static func merged(_ ranges: [Range<Int>]) -> [Range<Int>] {
    var merged: [Range<Int>] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = merged.last, range.lowerBound <= last.upperBound {
        merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        merged.append(range)
      }
    }
    return merged
  }
}
