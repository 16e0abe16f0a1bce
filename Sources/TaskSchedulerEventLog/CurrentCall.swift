/// The client's method call that the daemon is carrying out, with the properties that the event log
/// needs.
///
/// After a crash, the next daemon must know how far the call had got. The event log therefore
/// stores the connection of the call, and whether the message of the call is still in the socket.
public protocol CurrentCall: AnyObject {
  /// The cookie of the connection on which the call arrived (SO_COOKIE, socket(7)).
  var cookie: UInt64 { get }
  /// The data for a reply to the call; nil if the scheduler does not answer the call.
  var waiting: DaemonState.Waiting? { get }
  /// Removes the message of the call from its socket. Call this method after the event log has
  /// stored the event that the call requests.
  func takeMessage()
}
