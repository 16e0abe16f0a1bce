import CLinux
import Glibc

extension Folder {
  /// Makes a folder and those on the way to it where they are missing; each is there after a loss
  /// of power too. Only its owner may enter a new one.
  public static func makeAll(path: String) throws(SystemError) {
    guard !path.isEmpty, FileFacts(path: path)?.isFolder != true else { return }
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    let parent = parts.joined(separator: "/")
    try makeAll(path: parent)
    try make(path: path)
    try sync(path: parent.isEmpty ? path.hasPrefix("/") ? "/" : "." : parent)
  }

  /// Makes an empty file that only its owner may read and write; one that is there stays as it is.
  ///
  /// - Throws: also where this process may not write the one that is there: EACCES, EROFS.
  public static func makeFile(path: String) throws(SystemError) {
    // Not opened where it is there: closing would give up locks of this process (see `lock`).
    let number = try check("open \(path)", nilFor: EEXIST) {
      clinux_create(path, O_RDWR | O_EXCL, 0o600)
    }
    if let number { return FileDescriptor(taking: number).close() }
    try check("access \(path)") { access(path, W_OK) }
  }

  /// Makes a file that takes up so much space of its file system, in place of one that is there.
  /// Only its owner may read and write it.
  ///
  /// - Throws: ENOSPC, EDQUOT where there is not so much; the file is there then, and shorter.
  public static func makeFile(path: String, bytesCount: Int) throws(SystemError) {
    try remove(path: path)
    let file = FileDescriptor(
      taking: try check("open \(path)") { clinux_create(path, O_RDWR | O_EXCL, 0o600) })
    let code = posix_fallocate(file.rawValue, 0, bytesCount)
    guard code == 0 else { throw SystemError(call: "fallocate \(path)", errno: code) }
  }

  /// How much space a regular file takes up; 0 where there is none.
  public static func allocatedBytes(path: String) -> Int {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return 0 }
    return Int(status.st_blocks) * 512
  }

  /// How much space the file system of a file that may be missing has for this process.
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

  /// Waits until the names in a folder are on the disk.
  public static func sync(path: String) throws(SystemError) {
    let folder = try FileDescriptor.open(reading: path, flags: O_DIRECTORY)
    let number = folder.rawValue
    try check("fsync \(path)") { fsync(number) }
  }
}
