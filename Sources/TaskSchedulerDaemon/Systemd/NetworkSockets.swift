import Glibc
import LinuxSystem

/// The sockets of taskschedd-network.socket, which the service manager opened in the machine's
/// network namespace. The daemon's own network namespace is empty.
struct NetworkSockets {
  /// Receives changes of links, addresses and routes.
  private(set) var changes: Int32?
  /// Answers requests for addresses and routes.
  private(set) var routes: Int32?
  /// Answers requests for the sockets of the machine.
  private(set) var diagnosis: Int32?

  /// Takes a socket, or closes it if it has none of these purposes.
  mutating func add(_ number: Int32) {
    switch try? NetlinkSocket(number) {
    case .changes where changes == nil: changes = number
    case .routes where routes == nil: routes = number
    case .diagnosis where diagnosis == nil: diagnosis = number
    case .changes, .routes, .diagnosis, nil: FileDescriptor(taking: number).close()
    }
  }

  /// Returns the report of the machine's sockets, or of those in the daemon's own network namespace
  /// if the service manager did not pass a socket.
  ///
  /// - Throws: EAFNOSUPPORT in a sandbox without AF_NETLINK.
  func openDiagnosis(in proc: ProcFS) throws(SystemError) -> SocketDiagnosis {
    guard let diagnosis else { return try SocketDiagnosis(in: proc) }
    return try SocketDiagnosis(
      taking: FileDescriptor(taking: diagnosis), openedBy: getppid(), in: proc)
  }
}
