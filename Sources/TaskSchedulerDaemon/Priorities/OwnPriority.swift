import Glibc
import LinuxSystem

/// How the daemon itself is favoured: limits are to be kept, and calls answered, also while all
/// that it serves is busy.
enum OwnPriority {
  /// Gives the daemon's session the nice value that it was started with (`Nice=` of its unit).
  ///
  /// Where sessions compete before their threads do (autogroups, sched(7)), the nice value of the
  /// only process of a session means nothing to the others. Without CAP_SYS_NICE, and within 100 ms
  /// of another session, the kernel refuses it; then all stays as it is.
  static func favourSession(in proc: ProcFS) {
    let own = getpid()
    guard getsid(0) == own, proc.usesAutogroups,
      let nice = (try? proc.value(of: .nice, thread: own, process: own, group: nil)) ?? nil,
      nice < 0
    else { return }
    try? proc.set(.autogroup, to: nice, thread: own, process: own, group: nil)
  }
}
