/// The environment variables by which a daemon recognizes the processes of the instances that it
/// manages.
public struct EnvironmentMarkers {
  /// The variable with the same value in all processes of an instance.
  public static let markerName = "TASKSCHEDD_INSTANCE"
  /// The variable with the path of the daemon's socket.
  public static let socketName = "TASKSCHEDD_SOCKET"

  private let place: SocketLocation

  /// - Parameter socket: the path of the daemon's socket.
  public init(socket: String) {
    place = SocketLocation(socket)
  }

  /// Returns the marker in the environment of a process. Returns nil if the environment has no
  /// marker or names the socket of another daemon, or if the caller may not read the environment.
  /// If the environment names no socket, the marker counts as one of this daemon.
  public func marker(of pid: Int32, in proc: ProcFS) -> String? {
    let values = try? proc.environmentValues(pid, of: [Self.markerName, Self.socketName])
    guard let values, let marker = values[Self.markerName],
      values[Self.socketName].map({ SocketLocation($0) == place }) ?? true
    else { return nil }
    return marker
  }

  /// The path of a socket. Two paths are equal if they name the same file after the symbolic links
  /// of their directories are resolved. The socket need not exist.
  private struct SocketLocation: Equatable {
    let folder: String
    let name: Substring

    init(_ path: String) {
      let slash = path.lastIndex(of: "/")
      let folder = slash.map { String(path[...$0]) } ?? "."
      self.folder = Directory.resolved(path: folder) ?? folder
      name = slash.map { path[path.index(after: $0)...] } ?? path[...]
    }
  }
}
