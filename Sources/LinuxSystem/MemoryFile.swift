import CLinux
import Glibc

/// A file in memory that another process can receive.
public enum MemoryFile {
  /// Creates a file in memory that contains the bytes (memfd_create(2), with FD_CLOEXEC). Reading
  /// begins at the start of the file.
  ///
  /// - Parameter name: the name in /proc/PID/fd.
  /// - Throws: EMFILE, ENOMEM.
  public static func make(
    named name: String, holding bytes: [UInt8]
  ) throws(SystemError) -> FileDescriptor {
    let file = FileDescriptor(taking: try check("memfd_create") { clinux_memfd(name) })
    let number = file.rawValue
    var written = 0
    while written < bytes.count {
      written += try check("pwrite") {
        bytes.withUnsafeBytes {
          pwrite(number, $0.baseAddress! + written, $0.count - written, off_t(written))
        }
      }
    }
    return file
  }
}
