import CLinux
import Glibc

/// An epoll instance of edge-triggered entries: epoll(7).
///
/// An entry's edge waits in the kernel until it is collected. It is dropped there when what came is
/// no longer so by then; collected once, it comes again only with something new.
public struct Epoll: ~Copyable, Sendable {
  private let descriptor: FileDescriptor

  /// Borrowed. Ready to read (EPOLLIN) while there is an edge to collect, so that it may be watched
  /// itself.
  public var rawValue: Int32 { descriptor.rawValue }

  /// epoll_create1(2), with FD_CLOEXEC. Errors: EMFILE, ENFILE, ENOMEM.
  public init() throws(SystemError) {
    descriptor = FileDescriptor(
      taking: try check("epoll_create1") { epoll_create1(Int32(EPOLL_CLOEXEC)) })
  }

  init(adopting descriptor: consuming FileDescriptor) {
    self.descriptor = descriptor
  }

  /// Adds an entry for input. That it is readable already counts as an edge.
  ///
  /// - Parameter data: what names it when it is collected.
  /// - Throws: EPERM where it cannot be waited for; EEXIST; ENOSPC beyond
  ///   /proc/sys/fs/epoll/max_user_watches; ENOMEM; EINVAL and ELOOP where too many epoll instances
  ///   watch it by way of each other.
  public borrowing func add(_ number: Int32, data: UInt64) throws(SystemError) {
    try add(number, events: EPOLLIN.rawValue | EPOLLET.rawValue, data: data)
  }

  borrowing func add(_ number: Int32, events: UInt32, data: UInt64) throws(SystemError) {
    let epoll = rawValue
    var event = epoll_event(events: events, data: epoll_data_t(u64: data))
    try check("epoll_ctl") { epoll_ctl(epoll, EPOLL_CTL_ADD, number, &event) }
  }

  /// Removes an entry by the descriptor with which it was added. Errors: ENOENT, ENOMEM.
  public borrowing func remove(_ number: Int32) throws(SystemError) {
    let epoll = rawValue
    var event = epoll_event()
    try check("epoll_ctl") { epoll_ctl(epoll, EPOLL_CTL_DEL, number, &event) }
  }

  /// The data of the entries that had an edge, each once, without waiting.
  ///
  /// - Parameter countMax: at least 1; what is beyond it waits on.
  public borrowing func collect(countMax: Int) -> [UInt64] {
    wait(countMax: countMax).map(\.data.u64)
  }

  borrowing func wait(countMax: Int) -> [epoll_event] {
    let epoll = rawValue
    return withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: countMax) { events in
      let result = attempt("epoll_wait") {
        epoll_wait(epoll, events.baseAddress, Int32(clamping: countMax), 0)
      }
      // EINTR apart, its errors are mistakes of ours.
      guard case .success(let count) = result else { preconditionFailure("epoll_wait: \(result)") }
      return Array(events[..<Int(count)])
    }
  }
}
