import CLinux
import Glibc

/// The process at the other end of a socket, as the kernel recorded it at connect(2). Since then,
/// the process may have changed its ids, ended, or passed the socket to another process.
public struct PeerCredentials: Hashable, Sendable {
  /// The pid; 0 if the process is not visible in this pid namespace.
  public var pid: Int32
  public var uid: UInt32
  public var gid: UInt32

  public init(pid: Int32, uid: UInt32, gid: UInt32) {
    self.pid = pid
    self.uid = uid
    self.gid = gid
  }
}

extension UnixSocket {
  /// Returns the credentials of the peer (SO_PEERCRED). For a listening socket, returns the
  /// credentials of the listener itself.
  public static func credentials(_ number: Int32) throws(SystemError) -> PeerCredentials {
    var peer = clinux_peer()
    try check("getsockopt SO_PEERCRED") { clinux_peer_credentials(number, &peer) }
    return PeerCredentials(pid: peer.pid, uid: peer.uid, gid: peer.gid)
  }

  /// Returns a pidfd of the process that connected (SO_PEERPIDFD, Linux 6.5). The pidfd never
  /// refers to another process.
  ///
  /// - Returns: nil if the kernel has no pidfd (ENOPROTOOPT, EINVAL before 6.5; ENODATA for a
  ///   socket without a peer), or if the peer has been reaped (ESRCH, or EINVAL on some kernels).
  ///   In these cases, use `credentials` and the start time in /proc.
  public static func peerPIDFD(_ number: Int32) throws(SystemError) -> FileDescriptor? {
    var pidfd: Int32 = -1
    var length = socklen_t(MemoryLayout<Int32>.size)
    let result = try check(
      "getsockopt SO_PEERPIDFD", nilFor: ENOPROTOOPT, EINVAL, ENODATA, ESRCH
    ) {
      getsockopt(number, SOL_SOCKET, Int32(CLINUX_SO_PEERPIDFD), &pidfd, &length)
    }
    guard result != nil, pidfd >= 0 else { return nil }
    return FileDescriptor(taking: pidfd)
  }

  /// Returns the supplementary groups of the peer when it connected (SO_PEERGROUPS, Linux 4.13).
  /// The groups need not contain the primary group of the peer. Returns no groups if the kernel has
  /// recorded none (ENODATA).
  public static func peerGroups(_ number: Int32) throws(SystemError) -> [UInt32] {
    var groups = [UInt32](repeating: 0, count: 64)
    while true {
      var length = socklen_t(groups.count * MemoryLayout<UInt32>.size)
      let result = try check("getsockopt SO_PEERGROUPS", nilFor: ERANGE, ENODATA) {
        getsockopt(number, SOL_SOCKET, Int32(CLINUX_SO_PEERGROUPS), &groups, &length)
      }
      let count = Int(length) / MemoryLayout<UInt32>.size
      if result != nil { return Array(groups.prefix(count)) }
      // With ERANGE the kernel wrote the required length; with ENODATA it wrote nothing.
      guard count > groups.count else { return [] }
      groups = [UInt32](repeating: 0, count: count)
    }
  }
}
