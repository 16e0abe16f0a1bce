import LinuxSystem
import TaskSchedulerCore

/// A process and its pidfd. A signal through the pidfd never reaches another process.
final class ProcessHandle {
  let identity: ProcessIdentity
  let pidfd: PIDFD

  /// Creates the handle of a process from a pidfd.
  ///
  /// - Throws: EINVAL if the descriptor is not a pidfd, ESRCH if the process has been reaped.
  init(_ pidfd: consuming PIDFD, in proc: ProcFS) throws(SystemError) {
    guard let identity = try pidfd.identity(in: proc) else {
      throw SystemError(call: "pidfd", errno: noSuchProcess)
    }
    self.identity = identity
    self.pidfd = pidfd
  }

  /// Opens the process with this identity; nil if the process has ended.
  init?(_ identity: ProcessIdentity, in proc: ProcFS) throws(SystemError) {
    // The process had this pid before and after the pidfd was opened, so the pidfd refers to this
    // process.
    guard let pidfd = try PIDFD.open(identity.pid), try proc.exists(identity)
    else { return nil }
    self.identity = identity
    self.pidfd = pidfd
  }

  /// Creates the handle of a process from the pidfd of a previous daemon. The process may have
  /// ended.
  init(_ identity: ProcessIdentity, held pidfd: consuming PIDFD) {
    self.identity = identity
    self.pidfd = pidfd
  }
}
