import Glibc
import LinuxSystem

/// A time of the wall clock in whole seconds, the resolution of notification schedules.
struct WallClockTime {
  /// Microseconds since 1970, the form in which the daemon reports the time of a notification.
  let microseconds: Int

  /// - Parameter seconds: the minimum distance from now. The time is rounded up to a whole second.
  init(in seconds: Int) {
    microseconds = (Int(WallClock.now()) / 1_000_000 + seconds + 1) * 1_000_000
  }

  /// YYYY-MM-DDTHH:MM:SS in UTC.
  var date: String {
    var time = time_t(microseconds / 1_000_000)
    var fields = tm()
    gmtime_r(&time, &fields)
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(fields.tm_year + 1900)-\(two(fields.tm_mon + 1))-\(two(fields.tm_mday))"
      + "T\(two(fields.tm_hour)):\(two(fields.tm_min)):\(two(fields.tm_sec))"
  }

  /// The present day of the year in the machine's time zone.
  static func localDay() -> Int32 {
    var time = time_t(WallClock.now() / 1_000_000)
    var fields = tm()
    localtime_r(&time, &fields)
    return fields.tm_yday
  }

  var hasPassed: Bool { Int(WallClock.now()) > microseconds }

  /// Whether the other time, in microseconds since 1970, is later by a whole number of hours.
  func isHours(from other: Int) -> Bool {
    other > microseconds && (other - microseconds).isMultiple(of: 3_600_000_000)
  }
}
