import LinuxSystem

/// An object that reports the windows of a session: a connection to one compositor or X server.
///
/// A source reports from the loop only, never from within the call that creates the source. A
/// released source closes the connection, and reports nothing afterwards.
protocol WindowSource: AnyObject {}

/// A report of a window source.
enum SourceReport {
  /// The windows have changed.
  case windows(SessionWindows)
  /// Nothing is known about the windows: no window manager runs, for example.
  case unknown
  /// The connection has ended. The source reports nothing more.
  case ended(SourceEnd)
}

/// The reason why the connection to a compositor or X server ended.
package enum SourceEnd: Error, Hashable, Sendable, CustomStringConvertible {
  /// The compositor or X server exited or closed the connection.
  case closed
  /// The connection failed, or could not be made.
  case failed(SystemError)
  /// sway violated the protocol of its IPC.
  case sway(SwayViolation)
  /// The connection to the X server could not be made, or the server lacks an extension.
  case x(XFailure)

  package var description: String {
    switch self {
    case .closed: "the compositor or X server closed the connection"
    case .failed(let error): error.description
    case .sway(let violation): "sway's IPC: \(violation)"
    case .x(let failure): "X11: \(failure)"
    }
  }
}

/// Returns the process that has a pid now; nil if there is none.
typealias ProcessLookup = (_ pid: Int32) -> ProcessIdentity?
