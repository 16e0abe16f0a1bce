import EventLoop
import Glibc
import LinuxSystem

/// How the daemon itself is favoured: limits are to be kept, and calls answered, also while all
/// that it serves is busy.
///
/// Gives the daemon's session the nice value that the daemon was started with (`Nice=` of its
/// unit). Where sessions compete before their threads do (autogroups, sched(7)), the nice value of
/// the only process of a session means nothing to the others. Without CAP_SYS_NICE all stays as it
/// is.
final class OwnPriority {
  private let proc: ProcFS
  private let nice: Int
  private var timer: TimerSource?

  /// - Returns: nil where there is nothing to be given.
  init?(in proc: ProcFS, loop: EventLoop) throws(SystemError) {
    let own = getpid()
    guard getsid(0) == own, proc.usesAutogroups,
      let nice = try proc.value(of: .nice, thread: own, process: own, group: nil), nice < 0
    else { return nil }
    self.proc = proc
    self.nice = nice
    timer = try loop.timer { [unowned self] in favourSession() }
    favourSession()
  }

  private func favourSession() {
    let own = getpid()
    do throws(SystemError) {
      try proc.set(.autogroup, to: nice, thread: own, process: own, group: nil)
    } catch {
      // Another session of the machine has just been set.
      if error.errno == EAGAIN { timer?.set(BootClock.after(Priorities.autogroupInterval)) }
    }
  }
}
