import Glibc
import LinuxSystem
import TaskSchedulerCore

/// Wakes the machine from its sleep when something of the contract is due that nobody else would
/// bring about (CLOCK_BOOTTIME_ALARM). Where that may not be had, the machine sleeps on, and what
/// has become due comes at once when it wakes.
final class WakeAlarm {
  private var timer: TimerSource?
  private var armed: Instant?

  init(loop: EventLoop, log: Log, _ handler: @escaping () -> Void) {
    do throws(SystemError) {
      timer = try loop.timer(CLOCK_BOOTTIME_ALARM) { [weak self] in
        self?.armed = nil
        handler()
      }
    } catch {
      log.write(
        .notice,
        "the machine will not be woken from its sleep: keep-alive handlers and notifications that "
          + "become due meanwhile come when it wakes. CLOCK_BOOTTIME_ALARM: \(error)")
    }
  }

  /// nil wakes it for nothing.
  func set(_ instant: Instant?) {
    guard let timer, instant != armed else { return }
    armed = instant
    if let instant { timer.set(instant.nanoseconds) } else { timer.clear() }
  }
}
