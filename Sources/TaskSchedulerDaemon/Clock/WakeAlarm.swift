import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerCore

/// An alarm (CLOCK_BOOTTIME_ALARM) that wakes a sleeping machine when a keep-alive handler or a
/// notification is due, or when the daemon must determine the location. Without permission for the
/// alarm, this work waits until the machine wakes for another reason.
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
        "the daemon cannot wake the machine from sleep (CLOCK_BOOTTIME_ALARM: \(error)). A "
          + "keep-alive handler, notification or location that is due during sleep waits until the "
          + "machine wakes for another reason")
    }
  }

  /// Sets the alarm; nil disables it.
  func set(_ instant: Instant?) {
    guard let timer, instant != armed else { return }
    armed = instant
    if let instant { timer.set(instant.nanoseconds) } else { timer.clear() }
  }
}
