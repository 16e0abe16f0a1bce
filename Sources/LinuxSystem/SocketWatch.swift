import CLinux
import Glibc

/// The events of a connection.
public struct SocketPollEvents: OptionSet, Hashable, Sendable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// A read would not block. With ``hangUp``, it may return the end of the stream.
  public static let data = SocketPollEvents(rawValue: 1 << 0)
  /// The socket has unread out-of-band data (MSG_OOB).
  public static let urgentData = SocketPollEvents(rawValue: 1 << 1)
  /// The peer sends no more data, or the connection has ended.
  public static let hangUp = SocketPollEvents(rawValue: 1 << 2)
  /// The connection has failed. The application's next system call on the connection returns the
  /// error.
  public static let error = SocketPollEvents(rawValue: 1 << 3)

  init(epoll events: UInt32) {
    var conditions: SocketPollEvents = []
    if events & EPOLLIN.rawValue != 0 { conditions.insert(.data) }
    if events & EPOLLPRI.rawValue != 0 { conditions.insert(.urgentData) }
    if events & (EPOLLRDHUP.rawValue | EPOLLHUP.rawValue) != 0 { conditions.insert(.hangUp) }
    if events & EPOLLERR.rawValue != 0 { conditions.insert(.error) }
    self = conditions
  }
}

/// A watch that reports the events of another process's connection without keeping the connection
/// open. It is an epoll instance with the connection as its only entry.
///
/// - The watch does not change the connection, its flags, its pending error or its bytes.
/// - The descriptor of the watch is readable (EPOLLIN) while the connection has an event. An
///   ``Epoll`` reports an edge for each new event, even while the descriptor is already readable.
/// - After the last owner has closed the connection, the watch reports nothing. A duplicate of the
///   connection's descriptor, in contrast, would keep the connection open for the peer.
/// - A process that receives the watch from another process gets the same events.
public struct SocketWatch: ~Copyable, Sendable {
  private let epoll: Epoll

  /// The epoll instance, borrowed.
  public var rawValue: Int32 { epoll.rawValue }

  /// - Parameter socket: The connection. The caller may close it afterwards.
  /// - Throws: The errors of ``Epoll``.
  public init(of socket: Int32) throws(SystemError) {
    let epoll = try Epoll()
    // The kernel always reports EPOLLERR and EPOLLHUP.
    let events = EPOLLIN.rawValue | EPOLLPRI.rawValue | EPOLLRDHUP.rawValue
    try epoll.add(socket, events: events, data: 0)
    self.epoll = epoll
  }

  /// Adopts a watch that another process has created.
  public init(adopting descriptor: consuming FileDescriptor) {
    epoll = Epoll(adopting: descriptor)
  }

  /// Returns the present events of the connection. Earlier calls do not change the result.
  public borrowing func conditions() -> SocketPollEvents {
    epoll.wait(countMax: 1).first.map { SocketPollEvents(epoll: $0.events) } ?? []
  }

  /// Returns whether any process has the connection open. Returns false for a descriptor that is
  /// not a watch. Reads /proc, so call it rarely.
  public borrowing func isConnectionOpen() throws(BoundedFileError) -> Bool {
    let info = try BoundedFile(path: "/proc/self/fdinfo/\(rawValue)", bytesMax: 65536)
    return KeyValueLines(info.bytes).value("tfd") != nil
  }
}
