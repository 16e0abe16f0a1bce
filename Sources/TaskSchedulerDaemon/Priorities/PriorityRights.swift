import LinuxSystem

/// The kernel's permission to restore priorities. The daemon lowers only priorities that the kernel
/// permits it to restore.
struct PriorityRights {
  /// Whether the daemon has CAP_SYS_NICE. With this capability, it may restore all priorities.
  let isPrivileged: Bool

  func mayRestore(nice: Int, of process: Int32) -> Bool {
    isPrivileged || PriorityLimits(of: process).map { $0.niceMin <= nice } ?? false
  }

  /// Returns whether the daemon may restore an I/O priority. The real-time class requires
  /// CAP_SYS_NICE.
  func mayRestore(ioPriority: Int) -> Bool { isPrivileged || ioPriority >> 13 != 1 }

  /// Returns whether the daemon may restore the nice value of a session. The kernel checks the
  /// capabilities of the process that sets the value. The user of the session does not matter.
  func mayRestore(autogroup nice: Int) -> Bool { isPrivileged || nice >= 0 }

  func mayRestore(policy: Int, of process: Int32) -> Bool {
    isPrivileged || PriorityLimits(of: process).map { $0.realTimeMax >= policy >> 16 } ?? false
  }
}
