import Glibc
import LinuxSystem

/// unshare(2), which Swift's Glibc module does not declare.
@_silgen_name("unshare")
private func unshare(_ flags: Int32) -> Int32

/// Functions that mount a small disk and fill it.
enum SmallDisk {
  /// Mounts a tmpfs that only this process sees. Call this function only in an exit test, which has
  /// a process of its own.
  static func mount(_ path: String, bytes: Int) {
    let newMounts: Int32 = 0x0002_0000  // CLONE_NEWNS
    precondition(unshare(newMounts) == 0, "unshare: \(SystemError.describe(errno))")
    precondition(Glibc.mount(nil, "/", nil, UInt(MS_REC | MS_PRIVATE), nil) == 0, "mount")
    precondition(Glibc.mount("tmpfs", path, "tmpfs", 0, "size=\(bytes)") == 0, "mount tmpfs")
  }

  /// Fills a disk except for the given number of bytes.
  static func fill(_ ballast: String, leaving bytes: Int, in path: String) {
    var facts = statvfs()
    precondition(statvfs(path, &facts) == 0, "statvfs")
    let free = Int(facts.f_bavail) * Int(facts.f_frsize)
    guard free - bytes >= Int(facts.f_frsize) else { return }
    let number = open(ballast, O_WRONLY | O_CREAT, 0o600)
    precondition(posix_fallocate(number, 0, free - bytes) == 0, "fallocate")
    close(number)
  }

  static func makeReadOnly(_ path: String) {
    precondition(
      Glibc.mount(nil, path, nil, UInt(MS_REMOUNT | MS_RDONLY), nil) == 0,
      "mount: \(SystemError.describe(errno))")
  }
}
