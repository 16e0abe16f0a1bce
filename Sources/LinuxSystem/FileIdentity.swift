import CLinux
import Glibc

/// The identity of a file, independent of its path.
public struct FileIdentity: Hashable, Sendable {
  public let device: UInt64
  public let inode: UInt64

  public init(device: UInt64, inode: UInt64) {
    self.device = device
    self.inode = inode
  }

  /// Creates the identity of the file at a path; nil if the file does not exist.
  public init?(path: String) { self.init(AT_FDCWD, path) }

  fileprivate init?(_ directory: Int32, _ path: String) {
    var (device, inode): (UInt64, UInt64) = (0, 0)
    guard clinux_file_identity(directory, path, &device, &inode) == 0 else { return nil }
    self.init(device: device, inode: inode)
  }
}

extension ProcFS {
  /// Returns the files at these paths in two mount namespaces: that of this process, and that of
  /// pid 1. A sandbox may hide users' directories in the namespace of this process.
  ///
  /// Resolves absolute targets of symbolic links in the namespace of this process, even for a path
  /// in the namespace of pid 1. openat2(2) could resolve the targets in the namespace of pid 1, but
  /// systemd's RestrictSUIDSGID= denies openat2(2).
  func files(at paths: [String]) -> [FileIdentity: String] {
    var found: [FileIdentity: String] = [:]
    for path in paths { if let file = FileIdentity(path: path) { found[file] = path } }
    guard let root = (try? open("1/root", O_RDONLY | O_DIRECTORY)) ?? nil else { return found }
    for path in paths {
      let relative = String(path.drop { $0 == "/" })
      if let file = FileIdentity(root.rawValue, relative) { found[file] = path }
    }
    return found
  }
}
