import EventLoop
import Glibc
import LinuxSystem

/// The daemon's own priority. The daemon keeps limits and answers calls also while all applications
/// are busy.
///
/// It gives its session the nice value that it was started with (`Nice=` of its unit). If sessions
/// compete before their threads do (autogroups, sched(7)), the nice value of the only process in a
/// session has no effect on other sessions. Without CAP_SYS_NICE nothing changes.
final class DaemonPriority {
  private let proc: ProcFS
  private let nice: Int
  private var timer: TimerSource?

  /// - Returns: nil if there is nothing to change.
  init?(in proc: ProcFS, loop: EventLoop) throws(SystemError) {
    let own = getpid()
    guard getsid(0) == own, proc.usesAutogroups,
      let nice = try proc.value(of: .nice, thread: own, process: own, group: nil), nice < 0
    else { return nil }
    self.proc = proc
    self.nice = nice
    timer = try loop.timer { [unowned self] in raiseSessionPriority() }
    raiseSessionPriority()
  }

  private func raiseSessionPriority() {
    let own = getpid()
    do throws(SystemError) {
      try proc.set(.autogroup, to: nice, thread: own, process: own, group: nil)
    } catch {
      // The kernel permits one such change at a time, and another session was just changed.
      if error.errno == EAGAIN { timer?.set(BootClock.after(Priorities.autogroupInterval)) }
    }
  }
}
