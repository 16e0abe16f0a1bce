import LinuxSystem
import TaskSchedulerCore

/// Tells of one kind of change of the machine (contract §10).
///
/// What is so when it starts is no change, and nothing is told twice: a change is what differs from
/// what was told last.
protocol SystemChangeProvider: AnyObject {
  /// What it watches, as the log has it: `the time zone`.
  var subject: String { get }

  /// What it watches by, where the kernel takes long to close that; nil is nothing.
  var slowToClose: Int32? { get }

  /// Begins to watch.
  ///
  /// - Throws: why it cannot; then it never reports.
  func start() throws(SystemError)
}

extension SystemChangeProvider {
  var slowToClose: Int32? { nil }
}

/// How a provider tells of a change.
typealias SystemChangeReport = (SystemChange) -> Void
