import Glibc

/// A watch that reports each entry that is created, replaced, written or removed in some
/// directories (inotify(7)).
public struct DirectoryWatch: ~Copyable, Sendable {
  /// A watched directory.
  public struct WatchedDirectory: Hashable, Sendable {
    fileprivate let number: Int32
  }

  /// A change in a watched directory.
  public struct Change: Hashable, Sendable {
    /// The directory; nil if the kernel lost events, so that any directory may have changed.
    public var folder: WatchedDirectory?
    /// The entry's name; empty for the directory itself.
    public var name: String
    /// Whether the watch ended because the directory was removed or unmounted.
    public var isEnd: Bool
  }

  /// The descriptor, which is readable while there are events.
  public let descriptor: FileDescriptor

  /// Creates a watch without directories.
  ///
  /// - Throws: EMFILE (also if fs.inotify.max_user_instances is reached), ENFILE.
  public init() throws(SystemError) {
    descriptor = FileDescriptor(
      taking: try check("inotify_init1") {
        inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
      })
  }

  /// Starts watching a directory. Returns the same value for a directory that is already watched.
  ///
  /// - Throws: ENOENT, ENOTDIR, EACCES, ENOSPC (fs.inotify.max_user_watches is reached).
  public borrowing func add(_ path: String) throws(SystemError) -> WatchedDirectory {
    try add(
      path, Int32(IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE))
  }

  /// Starts watching for processes that open files in a directory.
  public borrowing func addOpenings(_ path: String) throws(SystemError) -> WatchedDirectory {
    try add(path, Int32(IN_OPEN))
  }

  private borrowing func add(_ path: String, _ events: Int32) throws(SystemError)
    -> WatchedDirectory
  {
    let number = descriptor.rawValue
    let mask = events | Int32(IN_ONLYDIR)
    return WatchedDirectory(
      number: try check("inotify_add_watch \(path)") {
        inotify_add_watch(number, path, UInt32(bitPattern: mask))
      })
  }

  /// Returns the next changes, at most as many as one read(2) returns; empty if there are none.
  public borrowing func takeChanges() throws(SystemError) -> [Change] {
    let number = descriptor.rawValue
    var bytes = [UInt8](repeating: 0, count: 16384)
    let count = try check("read inotify", nilFor: EAGAIN) {
      Glibc.read(number, &bytes, bytes.count)
    }
    return Self.changes(in: bytes[..<(count ?? 0)])
  }

  /// Parses events (struct inotify_event): wd, mask, cookie, len, and a name that is padded with
  /// NULs to `len` bytes.
  private static func changes(in bytes: ArraySlice<UInt8>) -> [Change] {
    bytes.withUnsafeBytes { buffer in
      var changes: [Change] = []
      var start = 0
      let headerCount = MemoryLayout<inotify_event>.size
      while start + headerCount <= buffer.count {
        func field(_ index: Int) -> UInt32 {
          buffer.loadUnaligned(fromByteOffset: start + index * 4, as: UInt32.self)
        }
        let name = buffer[(start + headerCount)...].prefix(Int(field(3)))
        let mask = Int(field(1))
        let folder = WatchedDirectory(number: Int32(bitPattern: field(0)))
        changes.append(
          Change(
            folder: mask & Int(IN_Q_OVERFLOW) != 0 ? nil : folder,
            name: String(decoding: name.prefix { $0 != 0 }, as: UTF8.self),
            isEnd: mask & Int(IN_IGNORED) != 0))
        start += headerCount + Int(field(3))
      }
      return changes
    }
  }
}

/// Symbolic links.
public enum SymbolicLink {
  /// Returns the target of a link; nil if the path is not a link.
  public static func target(of path: String) -> String? {
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink(path, &bytes, bytes.count)
    guard count > 0 else { return nil }
    return String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
