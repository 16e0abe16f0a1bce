import LinuxSystem
import TaskSchedulerCore

/// A source of one kind of system change (contract §10).
///
/// The state at the start is not a change, and nothing is reported twice: a change is a difference
/// from the last report.
protocol SystemChangeProvider: AnyObject {
  /// What the provider watches, as the log names it: `the time zone`.
  var subject: String { get }

  /// A descriptor that the kernel takes a long time to close; nil if there is none.
  var slowToClose: Int32? { get }

  /// Starts watching.
  ///
  /// - Throws: The reason why the provider cannot watch; it then reports nothing.
  func start() throws(SystemError)
}

extension SystemChangeProvider {
  var slowToClose: Int32? { nil }
}

/// Reports a change.
typealias SystemChangeReport = (SystemChange) -> Void
