/// The pace of reports that wake a daemon: some at once after a pause, and then one in each
/// interval.
struct ReportPace {
  /// The average time between two reports, in nanoseconds.
  static let interval: UInt64 = 20_000_000
  /// The number of reports that are sent at once after a pause.
  static let burst: UInt64 = 4

  /// The instant at which the next report would be due if the earlier reports had been sent
  /// ``interval`` apart, in nanoseconds since boot.
  private var due: UInt64 = 0

  /// The instant of the next report.
  var next: UInt64 {
    let credit = Self.interval * (Self.burst - 1)
    return due > credit ? due - credit : 0
  }

  /// Counts a report.
  mutating func count(at now: UInt64) { due = max(due, now) + Self.interval }
}
