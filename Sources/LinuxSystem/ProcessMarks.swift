/// By what processes are known in whose environment a daemon has written.
public struct ProcessMarks {
  /// The entry whose value the processes of one instance have in common.
  public static let markerName = "TASKSCHEDD_INSTANCE"
  /// The one that says whose they are.
  public static let socketName = "TASKSCHEDD_SOCKET"

  private let place: SocketPlace

  /// - Parameter socket: of the daemon.
  public init(socket: String) {
    place = SocketPlace(socket)
  }

  /// What a process is marked with; nil where it is another daemon's, nobody's, or may not be
  /// looked at. Whoever does not say whose it is may be ours.
  public func marker(of pid: Int32, in proc: ProcFS) -> String? {
    let values = try? proc.environmentValues(pid, of: [Self.markerName, Self.socketName])
    guard let values, let marker = values[Self.markerName],
      values[Self.socketName].map({ SocketPlace($0) == place }) ?? true
    else { return nil }
    return marker
  }

  /// A path, whichever links lead to its folder. The socket need not be there.
  private struct SocketPlace: Equatable {
    let folder: String
    let name: Substring

    init(_ path: String) {
      let slash = path.lastIndex(of: "/")
      let folder = slash.map { String(path[...$0]) } ?? "."
      self.folder = Folder.resolved(path: folder) ?? folder
      name = slash.map { path[path.index(after: $0)...] } ?? path[...]
    }
  }
}
