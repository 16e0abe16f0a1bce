import TaskSchedulerWire

/// The conditions of a managed socket.
public struct SocketConditions: OptionSet, Hashable, Sendable {
  public let rawValue: Int

  public init(rawValue: Int) { self.rawValue = rawValue }

  /// The socket has data to read.
  public static let data = SocketConditions(rawValue: 1)
  /// The socket has urgent (out-of-band) data.
  public static let urgentData = SocketConditions(rawValue: 2)
  /// The peer has closed the connection, or its sending half.
  public static let hangUp = SocketConditions(rawValue: 4)
  /// The socket has an error.
  public static let error = SocketConditions(rawValue: 8)
  /// The daemon could not watch the socket for a time. Data may have arrived during that time, so
  /// read the socket without blocking.
  public static let unwatched = SocketConditions(rawValue: 16)
  /// The daemon no longer manages the socket, and has refused to manage it again.
  public static let lost = SocketConditions(rawValue: 32)

  init(_ readiness: ApplicationInterface.SocketReadiness) {
    self = []
    if readiness.data { insert(.data) }
    if readiness.urgentData { insert(.urgentData) }
    if readiness.hangUp { insert(.hangUp) }
    if readiness.error { insert(.error) }
    if readiness.unwatched { insert(.unwatched) }
  }
}

/// A managed socket that is ready.
public struct ReadySocket: Hashable, Sendable {
  /// The socket.
  public let socket: ManagedSocket
  /// The conditions of the socket.
  public let conditions: SocketConditions
}

/// A socket that the daemon watches while the application is suspended.
///
/// Neither the daemon nor the library keeps the connection open. The application closes the
/// connection by closing its descriptor. After that, the socket is no longer managed.
public final class ManagedSocket: Hashable, Sendable {
  /// The descriptor that the application passed to ``ScheduledApplication/manage(socket:)``.
  public let fileDescriptor: Int32

  /// The kernel's identity of the socket (`SO_COOKIE`). If the application closes the socket and
  /// opens another one with the same descriptor, the cookies differ.
  let cookie: UInt64?
  private let application: ScheduledApplication
  /// The number that the daemon gave the socket; nil if the daemon no longer manages the socket.
  let number: Locked<Int?>

  init(
    _ fileDescriptor: Int32, cookie: UInt64?, number: Int?, of application: ScheduledApplication
  ) {
    self.fileDescriptor = fileDescriptor
    self.cookie = cookie
    self.application = application
    self.number = Locked(number)
  }

  /// Whether the daemon manages the socket, as far as the library knows.
  public var isManaged: Bool { number.withLock { $0 != nil } }

  /// Ends the management: data on the socket no longer resumes the application.
  ///
  /// An application need not release a socket that it closes. A second call does nothing.
  ///
  /// - Throws: An error of the connection if the daemon is away for more than 2.3 s. The socket is
  ///   then still managed.
  public func release() async throws(ApplicationError) {
    try await blocking { () throws(ApplicationError) in try self.releaseAndWait() }
  }

  /// Ends the management: data on the socket no longer resumes the application. Blocks. Otherwise
  /// like ``release()``.
  public func releaseAndWait() throws(ApplicationError) {
    try application.release(self)
  }

  /// Returns whether both arguments are the same object.
  public static func == (lhs: ManagedSocket, rhs: ManagedSocket) -> Bool { lhs === rhs }

  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
