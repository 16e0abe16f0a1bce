import TaskSchedulerEventLog
import TaskSchedulerWire

/// The owner of connections, which handles their calls and learns when a connection closes.
protocol ConnectionOwner: AnyObject {
  var readBuffer: ReadBuffer { get }
  var eventLog: EventLog { get }
  /// The descriptor of the socket that the daemon listens on.
  var listenerNumber: Int32 { get }
  /// Returns whether a connection of the daemon has this cookie.
  func hasConnection(_ cookie: UInt64) -> Bool
  var queuedBytesMax: Int { get }
  /// The number of calls that a connection may answer before it returns to the loop.
  var callsAtOnce: Int { get }
  /// Adds a change to the resources that the daemon holds for a user. Returns the problem if the
  /// resources exceed a limit.
  func keep(_ change: HeldResources, for user: UInt32) -> String?
  /// Returns whether it is the connection's turn. If not, the owner serves the connection later.
  func admits(_ connection: Connection) -> Bool
  /// Reports the time that the daemon has spent on a connection.
  func served(_ connection: Connection, nanoseconds: UInt64)
  /// Carries out a call, and answers it with `reply` or `fail`, now or later.
  func handle(_ call: ReceivedCall, on connection: Connection)
  /// Returns whether a oneway call has no effect, so that the daemon can skip it once the client
  /// has closed its connection.
  func isUseless(_ call: ReceivedCall, on connection: Connection) -> Bool
  /// Stores the connection for the next daemon.
  func save(_ connection: Connection)
  /// Reports the end of a connection.
  ///
  /// - Parameter reason: The problem; nil if the client closed the connection.
  func closed(_ connection: Connection, reason: String?)
}
