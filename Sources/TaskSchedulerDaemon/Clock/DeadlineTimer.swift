import EventLoop
import LinuxSystem
import TaskSchedulerCore

/// Wakes the daemon at the scheduler's next deadline, and a sleeping machine at its next wake-up.
final class DeadlineTimer {
  private let timer: TimerSource
  private let alarm: WakeAlarm
  private var armed: Instant?

  /// - Parameter expired: called at the deadline, and at the wake-up.
  init(loop: EventLoop, log: Log, expired: @escaping () -> Void) throws(SystemError) {
    var expire: () -> Void = {}
    timer = try loop.timer { expire() }
    timer.setImportantPriority()
    alarm = WakeAlarm(loop: loop, log: log, expired)
    expire = { [weak self] in
      self?.armed = nil
      expired()
    }
  }

  /// Sets both instants; nil for none. A past instant is due at once.
  func set(deadline: Instant?, wakeUp: Instant?) {
    alarm.set(wakeUp)
    guard deadline != armed else { return }
    armed = deadline
    if let deadline { timer.set(deadline.nanoseconds) } else { timer.clear() }
  }
}
