import CLinux
import Glibc

/// A system call that failed for a reason of the environment.
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The call's name as its manual page has it, with the path it was about where that helps:
  /// `openat`, `connect /run/taskschedd/socket`.
  public let call: String
  public let errno: Int32

  public init(call: String, errno: Int32) {
    self.call = call
    self.errno = errno
  }

  /// `openat: No such file or directory (ENOENT)`.
  public var description: String {
    "\(call): \(SystemError.describe(errno))"
  }

  /// `No such file or directory (ENOENT)`, in English whatever the locale.
  public static func describe(_ errno: Int32) -> String {
    guard let name = clinux_errno_name(errno), let text = clinux_errno_description(errno) else {
      return "errno \(errno)"
    }
    return "\(String(cString: text)) (\(String(cString: name)))"
  }
}
