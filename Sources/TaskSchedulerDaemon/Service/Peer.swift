import Glibc
import LinuxSystem

/// Who speaks on a connection, as the kernel recorded it when it was made; never what it says.
///
/// What the socket tells at any time is asked when it is needed: of thousands of connections that
/// are taken over at once, few speak.
final class Peer {
  let credentials: PeerCredentials
  private let socket: Int32
  private let proc: ProcFS
  private var knownIdentity: ProcessIdentity??
  private var knownGroups: [UInt32]?
  /// The instance that it was found to belong to.
  var instance: InstanceProcesses?
  /// The ``Membership/generation`` at which it was found to belong to none.
  var strangerSince: UInt64?
  private var knownOperator: Bool?

  var uid: UInt32 { credentials.uid }

  /// - Parameters:
  ///   - socket: open for as long as the peer is asked.
  ///   - kernelHasPeerPIDFD: else the process is the one that has its pid now: its start time is
  ///     what is compared later.
  init(
    _ socket: Int32, credentials: PeerCredentials, kernelHasPeerPIDFD: Bool, proc: ProcFS
  ) throws(SystemError) {
    self.socket = socket
    self.credentials = credentials
    self.proc = proc
    if !kernelHasPeerPIDFD { knownIdentity = .some(try proc.identity(credentials.pid)) }
  }

  /// The process that connected; nil where it has ended.
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
      // Reaped, or in a process namespace that we cannot see: no application's process.
      guard error.errno == ESRCH || error.errno == EINVAL else { throw error }
      return nil
    }
  }

  /// Supplementary groups.
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

  /// The operators' group may have changed.
  func forgetOperator() {
    knownOperator = nil
  }
}
