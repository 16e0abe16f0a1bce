import CLinux
import Glibc

/// An open file descriptor, closed exactly once: by `close()`, or when the value is destroyed.
///
/// System calls take the number, which a caller borrows through `rawValue` for the duration of the
/// call. This type always owns the descriptor.
public struct FileDescriptor: ~Copyable, Sendable {
  public let rawValue: Int32
  private let closesElsewhere: Bool

  /// Takes ownership of a file descriptor.
  ///
  /// - Parameter closesElsewhere: Whether to close the descriptor on a thread of its own. Use this
  ///   for a descriptor that another process opened, because that process can make close(2) block.
  ///   Closing a socket with SO_LINGER waits until its peer reads, and closing a FUSE file waits
  ///   until its server answers. Use it also for a descriptor that takes 10 to 20 ms to close.
  public init(taking rawValue: Int32, closesElsewhere: Bool = false) {
    precondition(rawValue >= 0, "a file descriptor must not be negative")
    self.rawValue = rawValue
    self.closesElsewhere = closesElsewhere
  }

  deinit {
    // Linux frees the descriptor even if close(2) fails. A second call could close a descriptor
    // that another thread has opened since, and that has the same number.
    if closesElsewhere { clinux_close_elsewhere(rawValue) } else { _ = Glibc.close(rawValue) }
  }

  /// Closes the descriptor now.
  public consuming func close() {}

  /// Returns the descriptor and gives up its ownership. The caller must close it.
  public consuming func take() -> Int32 {
    let number = rawValue
    discard self
    return number
  }

  /// Returns another file descriptor for the same open file, with FD_CLOEXEC.
  public borrowing func duplicate() throws(SystemError) -> FileDescriptor {
    try FileDescriptor.duplicate(of: rawValue)
  }

  /// Duplicates a descriptor that this type does not own, with FD_CLOEXEC.
  ///
  /// - Throws: EMFILE.
  public static func duplicate(of number: Int32) throws(SystemError) -> FileDescriptor {
    FileDescriptor(taking: try check("fcntl") { fcntl(number, F_DUPFD_CLOEXEC, 0) })
  }
}

extension FileDescriptor {
  /// The two ends of a pipe, with FD_CLOEXEC.
  public struct Pipe: ~Copyable, Sendable {
    public let reading: FileDescriptor
    public let writing: FileDescriptor

    /// Returns both ends and gives up their ownership. The caller must close them.
    public consuming func ends() -> (reading: Int32, writing: Int32) {
      (reading.take(), writing.take())
    }
  }

  /// Creates a pipe: pipe2(2).
  ///
  /// - Throws: EMFILE, ENFILE.
  public static func pipe() throws(SystemError) -> Pipe {
    var numbers: (Int32, Int32) = (-1, -1)
    try check("pipe2") {
      withUnsafeMutableBytes(of: &numbers) {
        clinux_pipe($0.baseAddress!.assumingMemoryBound(to: Int32.self))
      }
    }
    return Pipe(
      reading: FileDescriptor(taking: numbers.0), writing: FileDescriptor(taking: numbers.1))
  }

  /// Creates a counter that can wake poll(2): eventfd(2). It is non-blocking, with FD_CLOEXEC.
  ///
  /// - Throws: EMFILE.
  public static func event(initialValue: UInt32 = 0) throws(SystemError) -> FileDescriptor {
    FileDescriptor(taking: try check("eventfd") { clinux_eventfd(initialValue) })
  }

  /// Opens a path for reading, with FD_CLOEXEC. Errors such as ENOENT and EACCES contain the path.
  public static func open(
    reading path: String, flags: Int32 = 0
  ) throws(SystemError) -> FileDescriptor {
    FileDescriptor(
      taking: try check("open \(path)") { clinux_open_at(AT_FDCWD, path, O_RDONLY | flags) })
  }

  /// Opens an existing path for writing, with FD_CLOEXEC.
  public static func open(writing path: String) throws(SystemError) -> FileDescriptor {
    FileDescriptor(
      taking: try check("open \(path)") { clinux_open_at(AT_FDCWD, path, O_WRONLY) })
  }

  /// Opens an existing path with these flags and FD_CLOEXEC.
  static func open(path: String, flags: Int32) throws(SystemError) -> FileDescriptor {
    FileDescriptor(taking: try check("open \(path)") { clinux_open_at(AT_FDCWD, path, flags) })
  }

  /// Sets or clears O_NONBLOCK.
  public borrowing func setNonblocking(_ nonblocking: Bool) throws(SystemError) {
    let number = rawValue
    let flags = try check("fcntl") { fcntl(number, F_GETFL) }
    let wanted = nonblocking ? flags | O_NONBLOCK : flags & ~O_NONBLOCK
    try check("fcntl") { fcntl(number, F_SETFL, wanted) }
  }

  /// Calls read(2). Returns the number of bytes; 0 at the end of the file; nil if the call would
  /// block.
  public borrowing func read(
    into buffer: UnsafeMutableRawBufferPointer
  ) throws(SystemError) -> Int? {
    let number = rawValue
    return try check("read", nilFor: EAGAIN) {
      Glibc.read(number, buffer.baseAddress, buffer.count)
    }
  }

  /// Calls write(2). Returns the number of bytes; nil if the call would block. A broken pipe raises
  /// SIGPIPE unless the process ignores SIGPIPE.
  public borrowing func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int? {
    let number = rawValue
    return try check("write", nilFor: EAGAIN) {
      Glibc.write(number, bytes.baseAddress, bytes.count)
    }
  }

  /// Reads the rest of a small file.
  public borrowing func readToEnd() throws(SystemError) -> [UInt8] {
    try readAll(rawValue)
  }
}

/// Reads the rest of a blocking file descriptor.
func readAll(_ number: Int32) throws(SystemError) -> [UInt8] {
  var bytes = [UInt8](repeating: 0, count: 4096)
  var count = 0
  while true {
    if count == bytes.count {
      bytes.append(contentsOf: repeatElement(0, count: bytes.count))
    }
    let got = try check("read") {
      bytes.withUnsafeMutableBytes {
        Glibc.read(number, $0.baseAddress! + count, $0.count - count)
      }
    }
    if got == 0 { break }
    count += got
  }
  bytes.removeLast(bytes.count - count)
  return bytes
}

/// Functions that wait until a file descriptor is ready.
public enum Readiness {
  /// Waits with poll(2) until a descriptor has one of the events, an error or a hang-up.
  ///
  /// - Parameters:
  ///   - events: A set of POLLIN, POLLPRI and so on; 0 waits for POLLERR and POLLHUP only.
  ///   - timeout: The timeout, rounded up to whole milliseconds; nil waits without limit.
  /// - Returns: The events that happened; 0 after the timeout.
  public static func wait(
    for events: Int16, on number: Int32, timeout: Duration? = nil
  ) throws(SystemError) -> Int16 {
    let deadline = timeout.map { BootClock.now() &+ $0.nanosecondsClamped }
    while true {
      var entry = pollfd(fd: number, events: events, revents: 0)
      var milliseconds: Int32 = -1
      if let deadline {
        let now = BootClock.now()
        let left = deadline > now ? deadline - now : 0
        milliseconds = Int32(clamping: (left + 999_999) / 1_000_000)
      }
      // Do not use `check` here: it would repeat an interrupted call with the whole timeout.
      let count = poll(&entry, 1, milliseconds)
      if count >= 0 { return entry.revents }
      let code = errno
      if code != EINTR { throw SystemError(call: "poll", errno: code) }
    }
  }
}

extension Duration {
  /// The duration in nanoseconds, 0 for a negative duration; at most 146 years.
  var nanosecondsClamped: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    return UInt64(min(seconds, Int64.max / 2_000_000_000)) * 1_000_000_000
      + UInt64(attoseconds / 1_000_000_000)
  }
}
