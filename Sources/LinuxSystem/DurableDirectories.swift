import CLinux
import Glibc

extension Directory {
  /// Creates a directory and its missing parents, and waits until they are on the disk. Only the
  /// owner may enter the new directories.
  public static func makeAll(path: String) throws(SystemError) {
    guard !path.isEmpty, FileStatus(path: path)?.isDirectory != true else { return }
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    let parent = parts.joined(separator: "/")
    try makeAll(path: parent)
    try make(path: path)
    try sync(path: parent.isEmpty ? path.hasPrefix("/") ? "/" : "." : parent)
  }

  /// Creates an empty file that only its owner may read and write. Does not change an existing
  /// file.
  ///
  /// - Throws: EACCES or EROFS if this process may not create the file, or may not write to an
  ///   existing file.
  public static func makeFile(path: String) throws(SystemError) {
    // The function does not open an existing file, because closing it would release this process's
    // locks on the file (see `lock`).
    let number = try check("open \(path)", nilFor: EEXIST) {
      clinux_create(path, O_RDWR | O_EXCL, 0o600)
    }
    if let number { return FileDescriptor(taking: number).close() }
    try check("access \(path)") { access(path, W_OK) }
  }

  /// Creates a file with `bytesCount` bytes of allocated space. Replaces an existing file. Only its
  /// owner may read and write the file.
  ///
  /// - Throws: ENOSPC or EDQUOT if there is not enough space. The file then exists, but is shorter
  ///   than requested.
  public static func makeFile(path: String, bytesCount: Int) throws(SystemError) {
    try remove(path: path)
    let file = FileDescriptor(
      taking: try check("open \(path)") { clinux_create(path, O_RDWR | O_EXCL, 0o600) })
    let code = posix_fallocate(file.rawValue, 0, bytesCount)
    guard code == 0 else { throw SystemError(call: "fallocate \(path)", errno: code) }
  }

  /// Returns the space that a regular file occupies, in bytes; 0 if it does not exist.
  public static func allocatedBytes(path: String) -> Int {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return 0 }
    return Int(status.st_blocks) * 512
  }

  /// Returns the space that this process may still use in the file system of a file, in bytes. The
  /// file need not exist.
  public static func freeBytes(path: String) throws(SystemError) -> Int {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    let folder = parts.joined(separator: "/")
    var facts = statvfs()
    try check("statvfs \(folder)") {
      statvfs(folder.isEmpty ? path.hasPrefix("/") ? "/" : "." : folder, &facts)
    }
    return Int(clamping: UInt64(facts.f_bavail)).multipliedReportingOverflow(
      by: Int(clamping: UInt64(facts.f_frsize))
    ).partialValue
  }

  /// Waits until the entries of a directory are on the disk.
  public static func sync(path: String) throws(SystemError) {
    let folder = try FileDescriptor.open(reading: path, flags: O_DIRECTORY)
    let number = folder.rawValue
    try check("fsync \(path)") { fsync(number) }
  }
}
