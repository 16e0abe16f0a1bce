/// The call that the daemon carries out now, as the event log sees it.
///
/// After a crash the next daemon must know how far the call had come. The event log stores the
/// connection of the call, and whether its message is still in the socket.
public protocol LoggedCall: AnyObject {
  /// The number by which the kernel knows the connection of the call (SO_COOKIE).
  var cookie: UInt64 { get }
  /// Takes the message of the call off its socket. The event that the call asks for is in the event
  /// log.
  func takeMessage()
}
