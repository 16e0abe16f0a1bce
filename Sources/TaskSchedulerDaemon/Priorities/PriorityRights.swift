import LinuxSystem

/// What this daemon may raise again after it was lowered: nothing else is lowered.
struct PriorityRights {
  /// CAP_SYS_NICE, by which all may be.
  let isPrivileged: Bool

  func mayRestore(nice: Int, of process: Int32) -> Bool {
    isPrivileged || PriorityLimits(of: process).map { $0.niceMin <= nice } ?? false
  }

  /// The class of real time takes it.
  func mayRestore(ioPriority: Int) -> Bool { isPrivileged || ioPriority >> 13 != 1 }

  /// The kernel asks what the writer may, whatever the session's user.
  func mayRestore(autogroup nice: Int) -> Bool { isPrivileged || nice >= 0 }

  func mayRestore(policy: Int, of process: Int32) -> Bool {
    isPrivileged || PriorityLimits(of: process).map { $0.realTimeMax >= policy >> 16 } ?? false
  }
}
