import Glibc
import TaskSchedulerDaemon

/// A temporary root directory for the configuration files of a test.
final class ConfigurationFixture {
  let root: String
  /// The uid of the test process. With the paths ``system``, files of this user are trusted.
  let uid = getuid()

  init() {
    var template = Array("/tmp/taskschedd-configuration-XXXXXX".utf8CString)
    guard let path = mkdtemp(&template) else { fatalError("mkdtemp: errno \(errno)") }
    root = String(cString: path)
  }

  deinit {
    remove(folder: root)
  }

  var system: ConfigurationPaths { .system(root: root, trustedOwners: [uid]) }

  var user: ConfigurationPaths {
    .user(uid: uid, environment: ["HOME": root + "/home"], root: root)
  }

  /// Writes a file below the root, and its parent directories.
  func write(_ path: String, _ text: String) {
    write(path, bytes: Array(text.utf8))
  }

  func write(_ path: String, bytes: [UInt8]) {
    makeFolder(String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]))
    let descriptor = open(root + path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    precondition(descriptor >= 0, "open \(path): errno \(errno)")
    precondition(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
    close(descriptor)
    chmod(path, 0o644)
  }

  func makeFolder(_ path: String) {
    var current = root
    for name in path.split(separator: "/") {
      current += "/\(name)"
      mkdir(current, 0o755)
      Glibc.chmod(current, 0o755)
    }
  }

  func link(_ path: String, to target: String) {
    makeFolder(String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]))
    precondition(symlink(target, root + path) == 0, "symlink \(path): errno \(errno)")
  }

  func makePipe(_ path: String) {
    makeFolder(String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]))
    precondition(mkfifo(root + path, 0o644) == 0, "mkfifo \(path): errno \(errno)")
  }

  func chmod(_ path: String, _ mode: mode_t) {
    precondition(Glibc.chmod(root + path, mode) == 0)
  }

  private func remove(folder: String) {
    guard let stream = opendir(folder) else { return }
    defer { closedir(stream) }
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { field in
        field.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name == "." || name == ".." { continue }
      if unlink("\(folder)/\(name)") != 0 { remove(folder: "\(folder)/\(name)") }
    }
    rmdir(folder)
  }
}
