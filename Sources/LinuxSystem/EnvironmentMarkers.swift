/// The marks of a daemon in the environment of processes.
public struct EnvironmentMarkers {
  /// The variable with the same value in all processes of an instance.
  public static let markerName = "TASKSCHEDD_INSTANCE"
  /// The variable that names the daemon.
  public static let socketName = "TASKSCHEDD_SOCKET"

  private let place: SocketLocation

  /// - Parameter socket: the path of the daemon's socket.
  public init(socket: String) {
    place = SocketLocation(socket)
  }

  /// Returns the mark of a process. Returns nil if it has none, if it has the mark of another
  /// daemon, or if this process may not read it. A process that names no daemon may belong to this
  /// daemon.
  public func marker(of pid: Int32, in proc: ProcFS) -> String? {
    let values = try? proc.environmentValues(pid, of: [Self.markerName, Self.socketName])
    guard let values, let marker = values[Self.markerName],
      values[Self.socketName].map({ SocketLocation($0) == place }) ?? true
    else { return nil }
    return marker
  }

  /// A path, compared after resolving the links of its directory. The socket need not exist.
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
