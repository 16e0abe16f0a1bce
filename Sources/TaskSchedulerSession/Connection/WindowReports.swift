/// The next report of the windows, and the pace of these reports.
///
/// The focus can change thousands of times a second, and each report wakes the daemon. After a
/// pause, the agent sends the first few reports at once, because some compositors report one change
/// of the focus in several steps. Then it sends one report in each ``ReportPace/interval``.
struct WindowReports {
  /// The contents of a report.
  enum Report: Equatable {
    case windows(SessionWindows)
    /// Nothing is known about the windows any more.
    case forget
  }

  private var windows = LatestReport<SessionWindows>()
  private var pace = ReportPace()

  /// Stores the windows of the session, for the next report. nil means that nothing is known about
  /// the windows.
  mutating func update(_ windows: SessionWindows?) { self.windows.update(windows) }

  /// Begins a new attachment, in which the daemon has not received any report.
  mutating func attached() { windows.attached() }

  /// The instant of the next report; nil if the daemon knows the newest windows.
  var next: UInt64? {
    windows.isDue ? pace.next : nil
  }

  /// Returns the report that must be sent now, and counts it as sent; nil if there is none.
  mutating func take(at now: UInt64) -> Report? {
    guard let next, next <= now else { return nil }
    pace.count(at: now)
    return windows.take().map { .windows($0) } ?? .forget
  }
}
