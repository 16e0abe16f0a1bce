import CLinux
import Glibc

/// The failure of a system call.
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The name of the call's manual page, with the path if there is one: `openat`, `connect
  /// /run/taskschedd/socket`.
  public let call: String
  public let errno: Int32

  public init(call: String, errno: Int32) {
    self.call = call
    self.errno = errno
  }

  /// A description such as `openat: No such file or directory (ENOENT)`.
  public var description: String {
    "\(call): \(SystemError.describe(errno))"
  }

  /// Returns a description such as `No such file or directory (ENOENT)`, in English in every
  /// locale.
  public static func describe(_ errno: Int32) -> String {
    guard let name = clinux_errno_name(errno), let text = clinux_errno_description(errno) else {
      return "errno \(errno)"
    }
    return "\(String(cString: text)) (\(String(cString: name)))"
  }
}
