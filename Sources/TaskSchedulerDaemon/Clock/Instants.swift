import LinuxSystem
import TaskSchedulerCore

extension BootClock {
  /// Returns the instant that is `duration` after the current instant, in nanoseconds since boot.
  static func after(_ duration: Duration) -> UInt64 {
    Instant(nanoseconds: now()).advanced(by: duration).nanoseconds
  }
}

extension Instant {
  /// Returns the current instant.
  static func sinceBoot() -> Instant { Instant(nanoseconds: BootClock.now()) }

  /// The microseconds since boot, the unit of the interfaces.
  var microseconds: Int { Int(clamping: nanoseconds / 1000) }
}
