import Glibc

/// The path of a daemon's socket.
public struct SocketPath: Hashable, Sendable, CustomStringConvertible {
  /// The path in the file system.
  public let path: String

  /// Creates the path of a socket other than the standard sockets.
  public init(_ path: String) {
    self.path = path
  }

  /// The path itself.
  public var description: String { path }

  /// The socket of the system's daemon, `/run/taskschedd/socket`.
  public static let system = SocketPath("/run/taskschedd/socket")

  /// The socket of the user's own daemon, `$XDG_RUNTIME_DIR/taskschedd/socket`. Without the
  /// variable, the path is `/run/user/UID/taskschedd/socket`.
  public static var user: SocketPath { user(environment) }

  /// The default socket: `$TASKSCHEDD_SOCKET` if the variable is set, otherwise the user's socket
  /// if it exists, otherwise the system's socket.
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

  /// Returns a variable of the environment; nil if it is unset or empty.
  private static func environment(_ variable: String) -> String? {
    guard let value = getenv(variable), value.pointee != 0 else { return nil }
    return String(cString: value)
  }
}
