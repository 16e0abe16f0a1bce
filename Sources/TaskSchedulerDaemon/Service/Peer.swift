import Glibc
import LinuxSystem

/// The process at the other end of a connection, as the kernel recorded it when the client
/// connected. The client cannot influence this record.
///
/// The daemon reads the properties of the process only when it needs them, because after a takeover
/// of thousands of connections, few of them send calls.
final class Peer {
  let credentials: PeerCredentials
  private let socket: Int32
  private let proc: ProcFS
  private var knownIdentity: ProcessIdentity??
  private var knownOperator: Bool?
  private var knownGroups: [UInt32]?
  /// The instance that the process belongs to.
  var instance: InstanceProcesses?
  /// The last known ``InstanceMembership/generation`` in which the process belonged to no instance.
  /// It is 0 at first, because generation 0 has no instances.
  var unmanagedSince: UInt64 = 0

  var uid: UInt32 { credentials.uid }

  /// - Parameters:
  ///   - socket: The connection's socket. It must stay open while the peer is used.
  ///   - kernelHasPeerPIDFD: Whether the kernel has SO_PEERPIDFD. Without it, the daemon reads the
  ///     start time of the process that has the pid now, and compares the start time later.
  init(
    _ socket: Int32, credentials: PeerCredentials, kernelHasPeerPIDFD: Bool, proc: ProcFS
  ) throws(SystemError) {
    self.socket = socket
    self.credentials = credentials
    self.proc = proc
    if !kernelHasPeerPIDFD { knownIdentity = .some(try proc.identity(credentials.pid)) }
  }

  /// Returns the process that connected; nil if it has ended.
  func identity() throws(SystemError) -> ProcessIdentity? {
    if let knownIdentity { return knownIdentity }
    let identity = try findIdentity()
    knownIdentity = .some(identity)
    return identity
  }

  private func findIdentity() throws(SystemError) -> ProcessIdentity? {
    guard let descriptor = try UnixSocket.peerPIDFD(socket) else { return nil }
    do throws(SystemError) {
      return try PIDFD(adopting: descriptor).identity(in: proc)
    } catch {
      // The process has ended, or is in a PID namespace that the daemon cannot see. Such a process
      // belongs to no application.
      guard error.errno == ESRCH || error.errno == EINVAL else { throw error }
      return nil
    }
  }

  /// Returns the supplementary groups.
  func groups() throws(SystemError) -> [UInt32] {
    if let knownGroups { return knownGroups }
    let groups = try UnixSocket.peerGroups(socket)
    knownGroups = groups
    return groups
  }

  func isOperator(_ find: () -> Bool) -> Bool {
    if let knownOperator { return knownOperator }
    let found = find()
    knownOperator = found
    return found
  }

  /// Forgets whether the user is an operator, because the operators' group may have changed.
  func forgetOperator() {
    knownOperator = nil
  }
}
