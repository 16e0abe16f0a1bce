import CLinux
import Glibc

/// A file that is mapped into memory. A store to the memory changes the file at once, even if the
/// process dies immediately afterwards.
public struct FileMapping: ~Copyable {
  /// The file's bytes, valid as long as the mapping exists.
  public let bytes: UnsafeMutableRawBufferPointer

  private init(_ file: borrowing FileDescriptor, bytesCount: Int) throws(SystemError) {
    let number = file.rawValue
    let address = mmap(nil, bytesCount, PROT_READ | PROT_WRITE, MAP_SHARED, number, 0)
    guard let address, address != MAP_FAILED else { throw SystemError(call: "mmap", errno: errno) }
    bytes = UnsafeMutableRawBufferPointer(start: address, count: bytesCount)
  }

  deinit {
    munmap(bytes.baseAddress, bytes.count)
  }

  /// Creates a file of zeros that only its owner may open. Allocates its space, so that no store
  /// fails later.
  ///
  /// - Throws: ENOSPC, EDQUOT, EEXIST, EACCES and others. After an error, no new file exists.
  public static func create(path: String, bytesCount: Int) throws(SystemError) -> FileMapping {
    let file = FileDescriptor(
      taking: try check("open \(path)") { clinux_create(path, O_RDWR | O_EXCL, 0o600) })
    do throws(SystemError) {
      try allocateSpace(of: file, path, bytesCount)
      return try FileMapping(file, bytesCount: bytesCount)
    } catch {
      Glibc.unlink(path)
      throw error
    }
  }

  /// Reuses a file: truncates it to at most `bytesMax` bytes, and fills it with zeros.
  ///
  /// - Throws: ENOENT and others; ENOSPC if the file has holes and there is no space to fill the
  ///   holes.
  public static func reuse(path: String, bytesMax: Int) throws(SystemError) -> FileMapping {
    let file = try openFile(path)
    let length = try status(of: file).st_size
    let number = file.rawValue
    let count = min(Int(length), bytesMax)
    if count < length { try check("ftruncate \(path)") { ftruncate(number, count) } }
    try allocateSpace(of: file, path, count)
    let mapping = try FileMapping(file, bytesCount: count)
    mapping.bytes.initializeMemory(as: UInt8.self, repeating: 0)
    return mapping
  }

  /// Maps an existing file, and allocates space for its holes. Otherwise, an access to a hole would
  /// end the process with SIGBUS if the file system were full.
  ///
  /// - Throws: ENOENT, EACCES and others; EINVAL for an empty file; ENOSPC if there is no space for
  ///   the holes; EFBIG for holes in a file of more than 16 MiB.
  public static func open(path: String) throws(SystemError) -> FileMapping {
    let file = try openFile(path)
    let status = try status(of: file)
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw SystemError(call: "open \(path): not a regular file", errno: EINVAL)
    }
    let count = Int(status.st_size)
    guard count > 0 else { throw SystemError(call: "open \(path): an empty file", errno: EINVAL) }
    if Int(status.st_blocks) * 512 < count {
      guard count <= holesMax else {
        throw SystemError(call: "open \(path): a file with holes", errno: EFBIG)
      }
      try allocateSpace(of: file, path, count)
    }
    return try FileMapping(file, bytesCount: count)
  }

  /// The maximum length of a file whose holes are filled.
  private static let holesMax = 16 << 20

  private static func openFile(_ path: String) throws(SystemError) -> FileDescriptor {
    FileDescriptor(
      taking: try check("open \(path)") { clinux_open_at(AT_FDCWD, path, O_RDWR | O_NOFOLLOW) })
  }

  private static func status(of file: borrowing FileDescriptor) throws(SystemError) -> stat {
    var status = stat()
    let number = file.rawValue
    try check("fstat") { fstat(number, &status) }
    return status
  }

  private static func allocateSpace(
    of file: borrowing FileDescriptor, _ path: String, _ bytesCount: Int
  ) throws(SystemError) {
    let code = posix_fallocate(file.rawValue, 0, bytesCount)
    guard code == 0 else { throw SystemError(call: "fallocate \(path)", errno: code) }
  }
}

extension Directory {
  /// Creates a directory that only its owner may enter. Does not change an existing directory.
  public static func make(path: String) throws(SystemError) {
    try check("mkdir \(path)", nilFor: EEXIST) { mkdir(path, 0o700) }
  }

  /// Renames a file. Replaces an existing file at the new path.
  public static func rename(_ path: String, to other: String) throws(SystemError) {
    try check("rename \(path)") { Glibc.rename(path, other) }
  }

  /// Removes a file. A missing file is not an error.
  public static func remove(path: String) throws(SystemError) {
    try check("unlink \(path)", nilFor: ENOENT) { Glibc.unlink(path) }
  }

  /// Locks a file, and creates it if it is missing. The kernel releases the lock when this process
  /// ends, or closes any descriptor of the file.
  ///
  /// - Parameter waits: Returns whether to wait until the process with the pid `holder` releases
  ///   the lock.
  /// - Returns: nil if another process has the lock.
  /// - Throws: ELOOP if the path is a symbolic link. The function does not create or lock the
  ///   target of a link.
  public static func lock(
    path: String, waitingFor waits: (_ holder: Int32) -> Bool = { _ in false }
  ) throws(SystemError) -> FileDescriptor? {
    let file = FileDescriptor(
      taking: try check("open \(path)") { clinux_create(path, O_RDWR | O_NOFOLLOW, 0o600) })
    let number = file.rawValue
    let result = try check("fcntl F_SETLK", nilFor: EAGAIN, EACCES) { clinux_lock(number) }
    if result != nil { return file }
    let holder = try check("fcntl F_GETLK") { clinux_lock_holder(number) }
    guard holder == 0 || waits(holder) else { return nil }
    try check("fcntl F_SETLKW") { clinux_lock_wait(number) }
    return file
  }
}
