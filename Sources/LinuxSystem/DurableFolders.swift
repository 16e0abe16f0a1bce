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

  /// Waits until the names in a folder are on the disk.
  public static func sync(path: String) throws(SystemError) {
    let folder = try FileDescriptor.open(reading: path, flags: O_DIRECTORY)
    let number = folder.rawValue
    try check("fsync \(path)") { fsync(number) }
  }
}
