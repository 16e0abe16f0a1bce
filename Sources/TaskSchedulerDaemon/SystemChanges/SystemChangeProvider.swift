import LinuxSystem
import TaskSchedulerCore

/// Tells of one kind of change of the machine (contract §10).
///
/// What is so when it starts is no change, and nothing is told twice: a change is what differs from
/// what was told last.
protocol SystemChangeProvider: AnyObject {
  /// What it watches, as the log has it: `the time zone`.
  var subject: String { get }

  /// Begins to watch.
  ///
  /// - Throws: why it cannot; then it never reports.
  func start() throws(SystemError)
}

/// How a provider tells of a change.
typealias SystemChangeReport = (SystemChange) -> Void
