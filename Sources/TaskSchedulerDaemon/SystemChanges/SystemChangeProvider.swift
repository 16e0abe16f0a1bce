import LinuxSystem
import TaskSchedulerCore

/// A source of one kind of system change (contract §10).
///
/// The state at the start is not a change. A change is a difference from the last report, so a
/// provider reports nothing twice.
protocol SystemChangeProvider: AnyObject {
  /// The subject of the provider's log messages, such as `the time zone`.
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
