/// A search for the servers to which processes are connected by Unix sockets.
///
/// The kernel names only the server's end of a connection. By sock_diag(7), it also reports the
/// inode of the other end, but only for the sockets of one network namespace. For a process in
/// another namespace, the search reads the table in /proc, which does not show the other end of a
/// connection. The search then assumes that the process is connected to every wanted server in that
/// namespace.
struct ServerSearch {
  private(set) var servers: Set<String> = []
  /// Whether the search examined all sockets.
  private(set) var isComplete = true

  /// - Parameters:
  ///   - isStrict: Whether to find only servers for which the kernel proves a connection.
  ///   - isServer: Returns whether a name belongs to a wanted server.
  init(
    _ sockets: SocketsByNetwork, in proc: ProcFS, _ diagnosis: SocketDiagnosis?,
    isStrict: Bool, _ isServer: (String) -> Bool
  ) {
    // The inodes of all namespaces count, because a process may have inherited sockets from another
    // namespace.
    let inodes = sockets.networks.values.reduce(into: Set()) { $0.formUnion($1.inodes) }
    guard !inodes.isEmpty else { return }
    do throws(SystemError) {
      try diagnosis?.forEachNamedConnection { name, peer in
        if inodes.contains(peer), isServer(name) { servers.insert(name) }
      }
      if isStrict { return }
      for (name, network) in sockets.networks where name != diagnosis?.network {
        let table = SocketTable(path: "\(network.process)/net/unix", proc: proc)
        try table.forEachLine { line in
          if let name = table.connectedName(line), isServer(name) { servers.insert(name) }
          return true
        }
      }
    } catch {
      isComplete = false
    }
  }
}
