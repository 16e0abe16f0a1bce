/// The pace of reports that wake a daemon. After a pause, the agent sends the first reports at
/// once. Then it sends one report in each interval.
struct ReportPace {
  /// The default for the average time between two reports, in nanoseconds.
  static let interval: UInt64 = 20_000_000
  /// The default for the number of reports that the agent sends at once after a pause.
  static let burst: UInt64 = 4

  private let interval: UInt64
  private let burst: UInt64

  /// The instant at which the next report would be due if reports came strictly ``interval`` apart,
  /// in nanoseconds since boot.
  private var due: UInt64 = 0

  /// - Parameters:
  ///   - interval: the average time between two reports, in nanoseconds.
  ///   - burst: the number of reports that the agent sends at once after a pause, at least 1.
  init(interval: UInt64 = ReportPace.interval, burst: UInt64 = ReportPace.burst) {
    self.interval = interval
    self.burst = burst
  }

  /// The earliest instant of the next report, in nanoseconds since boot.
  var next: UInt64 {
    let credit = interval * (burst - 1)
    return due > credit ? due - credit : 0
  }

  /// Counts a report.
  mutating func count(at now: UInt64) { due = max(due, now) + interval }
}
