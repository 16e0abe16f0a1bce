/// The call that the daemon is carrying out, with the properties that the event log needs.
///
/// After a crash the next daemon must know the phase of the call. The event log stores the
/// connection of the call, and whether its message is still in the socket.
public protocol CurrentCall: AnyObject {
  /// The kernel's number of the connection of the call (SO_COOKIE).
  var cookie: UInt64 { get }
  /// The data for a reply to the call; nil if the scheduler does not answer the call.
  var waiting: DaemonState.Waiting? { get }
  /// Removes the message of the call from its socket, once the event log contains the event that
  /// the call requests.
  func takeMessage()
}
