import CLinux
import Glibc

/// What has come on a connection.
public struct SocketPollEvents: OptionSet, Hashable, Sendable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// A read would not wait: there are bytes, or with ``hangUp`` perhaps only their end.
  public static let data = SocketPollEvents(rawValue: 1 << 0)
  /// Out-of-band data (MSG_OOB) that was not read yet.
  public static let urgentData = SocketPollEvents(rawValue: 1 << 1)
  /// The peer sends no more, or the connection has ended.
  public static let hangUp = SocketPollEvents(rawValue: 1 << 2)
  /// The connection has failed: the application's next call on it says why.
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

/// Looks at a connection that belongs to others, and does not keep it open: an epoll instance in
/// which the connection stands alone.
///
/// - Nothing of the connection changes: not its flags, not its pending error, not a byte.
/// - As a descriptor, it is ready to read (EPOLLIN) while there is something on the connection, and
///   an ``Epoll`` has an edge of it whenever something comes, though there was something before.
/// - When the last of its owners closes the connection, it is closed, and here nothing is seen any
///   more. A copy of its descriptor would keep it open for its peer.
/// - It may be handed to another process, which sees the same.
public struct SocketWatch: ~Copyable, Sendable {
  private let epoll: Epoll

  /// The epoll instance, borrowed.
  public var rawValue: Int32 { epoll.rawValue }

  /// - Parameter socket: may be closed afterwards.
  /// - Throws: as ``Epoll``.
  public init(of socket: Int32) throws(SystemError) {
    let epoll = try Epoll()
    // EPOLLERR and EPOLLHUP always come.
    let events = EPOLLIN.rawValue | EPOLLPRI.rawValue | EPOLLRDHUP.rawValue
    try epoll.add(socket, events: events, data: 0)
    self.epoll = epoll
  }

  /// Takes over a watch that another process has made.
  public init(adopting descriptor: consuming FileDescriptor) {
    epoll = Epoll(adopting: descriptor)
  }

  /// What is so now, whether it was asked before or not.
  public borrowing func conditions() -> SocketPollEvents {
    epoll.wait(countMax: 1).first.map { SocketPollEvents(epoll: $0.events) } ?? []
  }

  /// Whether anybody has the connection open. False also for a descriptor that is no watch. Takes
  /// a look at /proc: for rare occasions.
  public borrowing func isConnectionOpen() throws(BoundedFileError) -> Bool {
    let info = try BoundedFile(path: "/proc/self/fdinfo/\(rawValue)", bytesMax: 65536)
    return FieldLines(info.bytes).value("tfd") != nil
  }
}
