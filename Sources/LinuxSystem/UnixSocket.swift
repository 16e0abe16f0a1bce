import CLinux
import Glibc

/// Stream sockets of the AF_UNIX family. Every descriptor that these functions create has
/// FD_CLOEXEC.
public enum UnixSocket {
  /// The maximum length of a path in bytes: sun_path of unix(7) without the terminating NUL.
  public static let pathBytesMax = 107

  /// The maximum number of connections that wait to be accepted. Further clients block in
  /// connect(2). The daemon accepts all waiting connections before it enforces a limit, so the
  /// backlog must not hold thousands of connections of one user.
  public static let backlog: Int32 = 256

  /// Two connected sockets.
  public struct Pair: ~Copyable, Sendable {
    public let first: FileDescriptor
    public let second: FileDescriptor

    /// Returns both sockets and gives up their ownership. The caller must close them.
    public consuming func ends() -> (first: Int32, second: Int32) {
      (first.take(), second.take())
    }
  }

  /// Creates a pair: socketpair(2).
  ///
  /// - Throws: EMFILE.
  public static func pair(nonblocking: Bool = false) throws(SystemError) -> Pair {
    var numbers: (Int32, Int32) = (-1, -1)
    let type = streamType(nonblocking: nonblocking)
    try check("socketpair") {
      withUnsafeMutableBytes(of: &numbers) {
        socketpair(AF_UNIX, type, 0, $0.baseAddress!.assumingMemoryBound(to: Int32.self))
      }
    }
    return Pair(first: FileDescriptor(taking: numbers.0), second: FileDescriptor(taking: numbers.1))
  }

  /// Listens at a path. Replaces a socket file on which no process listens.
  ///
  /// - Parameters:
  ///   - mode: The permissions of the socket file; connecting needs write permission.
  ///   - backlog: The maximum number of connections that wait to be accepted. The kernel reduces it
  ///     to net.core.somaxconn.
  /// - Returns: A non-blocking listening socket. The socket file stays until it is unlinked.
  /// - Throws: EADDRINUSE if a process listens there or the path is not a socket; ENAMETOOLONG
  ///   beyond `pathBytesMax`; ENOENT, EACCES, EROFS for the directory.
  public static func listen(
    path: String, mode: mode_t, backlog: Int32 = UnixSocket.backlog
  ) throws(SystemError) -> FileDescriptor {
    try removeStale(path: path)
    let socket = try open(nonblocking: true)
    let number = socket.rawValue
    // The mode is set before bind, so that the file never has more permissions than requested.
    try check("fchmod") { fchmod(number, mode) }
    try withAddress(path) { address, length throws(SystemError) in
      try check("bind \(path)") { Glibc.bind(number, address, length) }
    }
    // bind has removed the permissions in the umask.
    try check("chmod \(path)") { chmod(path, mode) }
    try check("listen \(path)") { Glibc.listen(number, backlog) }
    return socket
  }

  /// Removes a socket file. A missing file is not an error.
  public static func unlink(path: String) throws(SystemError) {
    try check("unlink \(path)", nilFor: ENOENT) { Glibc.unlink(path) }
  }

  /// Checks that the file at a path is a socket to which this process may connect, without
  /// connecting. The check also passes if no process listens there.
  ///
  /// - Throws: ENOENT and ENOTDIR if there is no file, ENOTSOCK if it is not a socket, EACCES.
  public static func checkFile(path: String) throws(SystemError) {
    var status = stat()
    try check("stat \(path)") { stat(path, &status) }
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      throw SystemError(call: "connect \(path)", errno: ENOTSOCK)
    }
    try check("connect \(path)") { access(path, W_OK) }
  }

  /// Connects. Blocks until the listener's backlog has room.
  ///
  /// - Throws: ENOENT and ECONNREFUSED if no process listens, EACCES, ENAMETOOLONG.
  public static func connect(
    path: String, nonblocking: Bool = false
  ) throws(SystemError) -> FileDescriptor {
    let socket = try open(nonblocking: false)
    try connect(socket, to: path)
    if nonblocking { try socket.setNonblocking(true) }
    return socket
  }

  /// Connects without waiting for anything. The returned socket is non-blocking.
  ///
  /// - Throws: EAGAIN if the listener's backlog is full; and the errors of `connect`.
  public static func connectAtOnce(path: String) throws(SystemError) -> FileDescriptor {
    let socket = try open(nonblocking: true)
    try connect(socket, to: path)
    return socket
  }

  private static func connect(
    _ socket: borrowing FileDescriptor, to path: String
  ) throws(SystemError) {
    let number = socket.rawValue
    try withAddress(path) { address, length throws(SystemError) in
      try check("connect \(path)") { Glibc.connect(number, address, length) }
    }
  }

  /// Accepts a connection as a non-blocking socket (accept4(2)).
  ///
  /// - Returns: nil if no connection is waiting (EAGAIN, ECONNABORTED).
  /// - Throws: EMFILE, ENFILE, ENOMEM. The connection then stays in the backlog.
  public static func accept(_ listener: Int32) throws(SystemError) -> FileDescriptor? {
    let number = try check("accept4", nilFor: EAGAIN, ECONNABORTED) { clinux_accept(listener) }
    guard let number else { return nil }
    return FileDescriptor(taking: number)
  }

  /// Shuts down one direction or both: SHUT_RD, SHUT_WR, SHUT_RDWR. A disconnected peer is not an
  /// error.
  public static func shutdown(_ number: Int32, _ how: Int) throws(SystemError) {
    try check("shutdown", nilFor: ENOTCONN) { Glibc.shutdown(number, Int32(how)) }
  }

  /// Shuts down both directions. A disconnected peer is not an error.
  public static func shutdown(_ number: Int32) throws(SystemError) {
    try shutdown(number, Int(SHUT_RDWR))
  }

  private static func removeStale(path: String) throws(SystemError) {
    let socket = try open(nonblocking: true)
    do {
      try connect(socket, to: path)
    } catch {
      switch error.errno {
      case ENOENT: return
      case ECONNREFUSED where isSocket(path): return try unlink(path: path)
      // EAGAIN means that a process listens and its backlog is full.
      case ECONNREFUSED, ENOTSOCK, EPROTOTYPE, EAGAIN:
        throw SystemError(call: "bind \(path)", errno: EADDRINUSE)
      default: throw error
      }
    }
    guard try isLeftover(socket) else {
      throw SystemError(call: "bind \(path)", errno: EADDRINUSE)
    }
    try unlink(path: path)
  }

  /// The time that a child may take to close its inherited descriptors.
  private static let closingTime: Duration = .seconds(2)

  /// Returns whether connect(2) succeeded although no process serves the socket. This happens if
  /// the listening process died while it started a child, and the child still has a copy of the
  /// listener. When the child closes its copy, the kernel closes the connection.
  private static func isLeftover(
    _ connected: borrowing FileDescriptor
  ) throws(SystemError) -> Bool {
    let listener = try credentials(connected.rawValue).pid
    guard listener > 0, try PIDFD.open(listener) == nil else { return false }
    return try Readiness.wait(for: 0, on: connected.rawValue, timeout: closingTime) != 0
  }

  private static func isSocket(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
  }

  private static func streamType(nonblocking: Bool) -> Int32 {
    let flags = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue
    return Int32(nonblocking ? flags | SOCK_NONBLOCK.rawValue : flags)
  }

  private static func open(nonblocking: Bool) throws(SystemError) -> FileDescriptor {
    let type = streamType(nonblocking: nonblocking)
    return FileDescriptor(taking: try check("socket") { socket(AF_UNIX, type, 0) })
  }

  private static func withAddress(
    _ path: String,
    _ body: (UnsafePointer<sockaddr>, socklen_t) throws(SystemError) -> Void
  ) throws(SystemError) {
    let bytes = Array(path.utf8)
    guard bytes.count <= pathBytesMax else {
      throw SystemError(call: "bind or connect \(path)", errno: ENAMETOOLONG)
    }
    guard !bytes.isEmpty, !bytes.contains(0) else {
      throw SystemError(call: "bind or connect \(path)", errno: EINVAL)
    }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let copy = address
    try withUnsafeBytes(of: copy) { (raw) throws(SystemError) in
      try body(
        raw.baseAddress!.assumingMemoryBound(to: sockaddr.self),
        socklen_t(MemoryLayout<sockaddr_un>.size))
    }
  }
}
