import CLinux
import Glibc

/// An epoll instance with edge-triggered entries (epoll(7)).
///
/// The kernel keeps an edge of an entry until ``collect(countMax:)`` returns the entry. If the
/// entry is no longer ready by then, the kernel drops the edge. After that, only a new event causes
/// another edge.
public struct Epoll: ~Copyable, Sendable {
  private let descriptor: FileDescriptor

  /// The descriptor, borrowed. It is readable (EPOLLIN) while there is an edge to collect, so that
  /// another poller can watch it.
  public var rawValue: Int32 { descriptor.rawValue }

  /// Creates an epoll instance with FD_CLOEXEC: epoll_create1(2).
  ///
  /// - Throws: EMFILE, ENFILE, ENOMEM.
  public init() throws(SystemError) {
    descriptor = FileDescriptor(
      taking: try check("epoll_create1") { epoll_create1(Int32(EPOLL_CLOEXEC)) })
  }

  init(adopting descriptor: consuming FileDescriptor) {
    self.descriptor = descriptor
  }

  /// Adds an entry for input. If the descriptor is already readable, the entry has an edge at once.
  ///
  /// - Parameter data: The value that ``collect`` returns for the entry.
  /// - Throws: EPERM if the file cannot be polled; EEXIST; ENOSPC beyond
  ///   /proc/sys/fs/epoll/max_user_watches; ENOMEM; EINVAL and ELOOP if epoll instances are nested
  ///   too deeply.
  public borrowing func add(_ number: Int32, data: UInt64) throws(SystemError) {
    try add(number, events: EPOLLIN.rawValue | EPOLLET.rawValue, data: data)
  }

  borrowing func add(_ number: Int32, events: UInt32, data: UInt64) throws(SystemError) {
    let epoll = rawValue
    var event = epoll_event(events: events, data: epoll_data_t(u64: data))
    try check("epoll_ctl") { epoll_ctl(epoll, EPOLL_CTL_ADD, number, &event) }
  }

  /// Removes an entry by the descriptor with which it was added.
  ///
  /// - Throws: ENOENT, ENOMEM.
  public borrowing func remove(_ number: Int32) throws(SystemError) {
    let epoll = rawValue
    var event = epoll_event()
    try check("epoll_ctl") { epoll_ctl(epoll, EPOLL_CTL_DEL, number, &event) }
  }

  /// Returns the data of the entries that had an edge, each once. Does not block.
  ///
  /// - Parameter countMax: the maximum number of entries, at least 1. The kernel keeps the edges of
  ///   the others.
  public borrowing func collect(countMax: Int) -> [UInt64] {
    wait(countMax: countMax).map(\.data.u64)
  }

  borrowing func wait(countMax: Int) -> [epoll_event] {
    let epoll = rawValue
    return withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: countMax) { events in
      let result = attempt("epoll_wait") {
        epoll_wait(epoll, events.baseAddress, Int32(clamping: countMax), 0)
      }
      // All errors of epoll_wait except EINTR are programming errors.
      guard case .success(let count) = result else { preconditionFailure("epoll_wait: \(result)") }
      return Array(events[..<Int(count)])
    }
  }
}
