import Glibc

/// Functions for a descriptor that another process has passed. They determine the kind of its file
/// without a call that could block.
enum ReceivedDescriptor {
  /// O_PATH, which Glibc declares for GNU sources only.
  static let oPath: Int32 = 0o10000000

  /// Returns the kind of the file, determined from its name in /proc. fstat(2) would ask the file
  /// system, which could block without limit.
  static func kind(of number: Int32) -> String {
    var name = [UInt8](repeating: 0, count: 16)
    let count = readlink("/proc/self/fd/\(number)", &name, name.count)
    let start = String(decoding: name.prefix(max(0, count)), as: UTF8.self)
    if start.hasPrefix("/") { return "a file" }
    if start.hasPrefix("pipe:") { return "a pipe" }
    if start.hasPrefix("socket:") { return "a socket" }
    return "a kernel object without a name, such as an eventfd"
  }
}
