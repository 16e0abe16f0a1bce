import CLinux
import Glibc

/// Which file a path leads to, whatever the path.
public struct FileIdentity: Hashable, Sendable {
  public let device: UInt64
  public let inode: UInt64

  public init(device: UInt64, inode: UInt64) {
    self.device = device
    self.inode = inode
  }

  /// The file at this path; nil where there is none.
  public init?(path: String) { self.init(AT_FDCWD, path) }

  fileprivate init?(_ directory: Int32, _ path: String) {
    var (device, inode): (UInt64, UInt64) = (0, 0)
    guard clinux_file_identity(directory, path, &device, &inode) == 0 else { return nil }
    self.init(device: device, inode: inode)
  }
}

extension ProcFS {
  /// The files at these paths, as we see them and as the machine's first process does: a sandbox
  /// may hide users' folders from us. A link with an absolute target is followed in ours alone:
  /// openat2(2), which could do better, is barred by systemd's RestrictSUIDSGID=.
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
