import Glibc
import LinuxSystem

/// A directory under /tmp for a test. It is removed with its contents when the value is destroyed.
public final class TemporaryDirectory: Sendable {
  public let path: String

  /// Creates the directory.
  ///
  /// - Parameter mode: the mode of the directory. If other users open the directory in a test, 0700
  ///   is not enough.
  public init(mode: mode_t = 0o700) {
    var template = Array("/tmp/taskschedd-test-XXXXXX".utf8CString)
    precondition(mkdtemp(&template) != nil, "mkdtemp: \(SystemError.describe(errno))")
    path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    chmod(path, mode)
  }

  deinit { remove(path) }

  /// Returns the path of an entry.
  public func file(_ name: String) -> String { "\(path)/\(name)" }

  /// Writes an entry and returns its path.
  @discardableResult
  public func write(_ name: String, _ text: String, mode: mode_t = 0o644) -> String {
    let path = file(name)
    let number = creat(path, mode)
    precondition(number >= 0, "creat \(path): \(SystemError.describe(errno))")
    var text = text
    let count = text.withUTF8 { Glibc.write(number, $0.baseAddress, $0.count) }
    precondition(count == text.utf8.count, "write \(path): \(SystemError.describe(errno))")
    close(number)
    // The umask may have removed bits of the mode.
    chmod(path, mode)
    return path
  }
}

/// Removes a file, or a directory with its contents. Does not follow links.
private func remove(_ path: String) {
  if unlink(path) == 0 { return }
  guard let folder = opendir(path) else { return }
  while let entry = readdir(folder) {
    let name = withUnsafeBytes(of: &entry.pointee.d_name) {
      String(decoding: $0.prefix(while: { $0 != 0 }), as: UTF8.self)
    }
    if name != ".", name != ".." { remove("\(path)/\(name)") }
  }
  closedir(folder)
  rmdir(path)
}
