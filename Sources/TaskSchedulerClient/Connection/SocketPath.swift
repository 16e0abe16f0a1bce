import Glibc

/// Where a taskschedd listens.
public struct SocketPath: Hashable, Sendable, CustomStringConvertible {
  public let path: String

  /// A socket at a path of one's own.
  public init(_ path: String) {
    self.path = path
  }

  public var description: String { path }

  /// The system's daemon: `/run/taskschedd/socket`.
  public static let system = SocketPath("/run/taskschedd/socket")

  /// The user's own daemon: `$XDG_RUNTIME_DIR/taskschedd/socket`, and `/run/user/UID` in place of
  /// an unset variable.
  public static var user: SocketPath {
    user(runtimeDirectory: environment("XDG_RUNTIME_DIR") ?? "/run/user/\(getuid())")
  }

  /// `$TASKSCHEDD_SOCKET` where it is set, else the user's socket where it is there, else the
  /// system's.
  public static var standard: SocketPath {
    if let path = environment("TASKSCHEDD_SOCKET") { return SocketPath(path) }
    if let directory = environment("XDG_RUNTIME_DIR") {
      let user = user(runtimeDirectory: directory)
      if access(user.path, F_OK) == 0 { return user }
    }
    return .system
  }

  private static func user(runtimeDirectory: String) -> SocketPath {
    SocketPath("\(runtimeDirectory)/taskschedd/socket")
  }

  /// The variable; nil where it is unset or empty.
  private static func environment(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(cString: value)
  }
}
