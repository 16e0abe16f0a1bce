import EventLoop
import Glibc
import LinuxSystem

/// The daemon's own priority. It lets the daemon enforce limits and answer calls even while all
/// applications are busy.
///
/// With autogroups (sched(7)), the kernel first divides CPU time between sessions, and then divides
/// the time of each session between its threads. The daemon is alone in its session, so the nice
/// value of its process has no effect on other sessions. The daemon therefore sets the nice value
/// of its session to the nice value of its process (`Nice=` of its unit). Without CAP_SYS_NICE, the
/// daemon does not change the nice value of its session.
final class DaemonPriority {
  private let proc: ProcFS
  private let nice: Int
  private var timer: TimerSource?

  /// Sets the nice value of the daemon's session.
  ///
  /// - Returns: nil if the kernel uses no autogroups, the daemon does not lead its session, or the
  ///   daemon's nice value is not negative.
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
      // On the whole machine, the kernel permits only one change of a session's nice value in each
      // ``Priorities/autogroupInterval``.
      if error.errno == EAGAIN { timer?.set(BootClock.after(Priorities.autogroupInterval)) }
    }
  }
}
