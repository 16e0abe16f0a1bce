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

  /// Stores a descriptor as one of the three sockets, or closes it if it is none of them.
  mutating func add(_ number: Int32) {
    switch try? NetlinkSocket(number) {
    case .changes where changes == nil: changes = number
    case .routes where routes == nil: routes = number
    case .diagnosis where diagnosis == nil: diagnosis = number
    case .changes, .routes, .diagnosis, nil: FileDescriptor(taking: number).close()
    }
  }

  /// Opens the kernel's report of the machine's sockets. If the service manager did not pass a
  /// socket, the report is about the sockets in the daemon's own network namespace.
  ///
  /// - Throws: EAFNOSUPPORT in a sandbox without AF_NETLINK.
  func openDiagnosis(in proc: ProcFS) throws(SystemError) -> SocketDiagnosis {
    guard let diagnosis else { return try SocketDiagnosis(in: proc) }
    return try SocketDiagnosis(
      taking: FileDescriptor(taking: diagnosis), openedBy: getppid(), in: proc)
  }
}
