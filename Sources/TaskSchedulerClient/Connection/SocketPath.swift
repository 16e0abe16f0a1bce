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
  public static var user: SocketPath { user(environment) }

  /// Where the library, the examples and taskctl find the daemon: `$TASKSCHEDD_SOCKET` where it is
  /// set, else the user's socket where it exists, else the system's.
  public static var standard: SocketPath { standard(environment) }

  static func user(_ environment: (_ variable: String) -> String?) -> SocketPath {
    let directory = environment("XDG_RUNTIME_DIR") ?? "/run/user/\(getuid())"
    return SocketPath("\(directory)/taskschedd/socket")
  }

  static func standard(_ environment: (_ variable: String) -> String?) -> SocketPath {
    if let path = environment("TASKSCHEDD_SOCKET") { return SocketPath(path) }
    let user = user(environment)
    return access(user.path, F_OK) == 0 ? user : .system
  }

  /// The variable; nil where it is unset or empty.
  private static func environment(_ variable: String) -> String? {
    guard let value = getenv(variable), value.pointee != 0 else { return nil }
    return String(cString: value)
  }
}
