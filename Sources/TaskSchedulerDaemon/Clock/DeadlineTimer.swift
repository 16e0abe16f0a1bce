import EventLoop
import LinuxSystem
import TaskSchedulerCore

/// A timer that wakes the daemon at the scheduler's next deadline. Its alarm also wakes a sleeping
/// machine at the instant that the scheduler requests.
final class DeadlineTimer {
  private let timer: TimerSource
  private let alarm: WakeAlarm
  private var armed: Instant?

  /// - Parameter expired: Called at the deadline, and at the instant of the wake-up.
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

  /// Sets the deadline and the wake-up; nil for none. An instant in the past is due at once.
  func set(deadline: Instant?, wakeUp: Instant?) {
    alarm.set(wakeUp)
    guard deadline != armed else { return }
    armed = deadline
    if let deadline { timer.set(deadline.nanoseconds) } else { timer.clear() }
  }
}
