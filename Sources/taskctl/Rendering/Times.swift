import Glibc
import LinuxSystem

/// A simultaneous reading of the boot clock and the wall clock, for converting between them.
struct ClockReading {
  /// Microseconds since boot.
  var bootUSec: Int
  /// Microseconds since 1970-01-01 00:00 UTC.
  var wallUSec: Int

  static func now() -> ClockReading {
    ClockReading(bootUSec: Int(BootClock.now() / 1_000), wallUSec: Int(WallClock.now()))
  }

  /// Converts a time since boot to wall-clock time, by the present difference between the clocks.
  func wallUSec(ofBoot usec: Int) -> Int {
    clampedSum(wallUSec, clampedDifference(usec, bootUSec))
  }

  /// Returns the microseconds from a time since boot until now; 0 for a future time.
  func ageUSec(ofBoot usec: Int) -> Int { max(0, clampedDifference(bootUSec, usec)) }

  /// Returns `in 3 min` for a future time since boot, and `now` for a past one.
  func wait(untilBoot usec: Int) -> String {
    let wait = clampedDifference(usec, bootUSec)
    return wait > 0 ? "in \(TimeSpan.text(usec: wait))" : "now"
  }

  /// Returns `2026-11-21 14:03:22 CET (in 3 min)`, or `… (3 min ago)`, for a wall-clock time.
  func moment(ofWall usec: Int) -> String {
    let date = LocalTime(wallUSec: usec).dateAndTime
    let wait = clampedDifference(usec, wallUSec)
    return wait >= 0
      ? "\(date) (in \(TimeSpan.text(usec: wait)))"
      : "\(date) (\(TimeSpan.text(usec: clampedDifference(wallUSec, usec))) ago)"
  }

  /// Returns `2026-11-21 14:03:22 CET (3 min ago)` for a time since boot.
  func moment(ofBoot usec: Int) -> String {
    let date = LocalTime(wallUSec: wallUSec(ofBoot: usec)).dateAndTime
    return "\(date) (\(TimeSpan.text(usec: ageUSec(ofBoot: usec))) ago)"
  }
}

/// Returns the difference, limited to the range of Int. The operands come from the daemon, so they
/// can be any numbers.
private func clampedDifference(_ one: Int, _ other: Int) -> Int {
  let (result, overflow) = one.subtractingReportingOverflow(other)
  return overflow ? (one < other ? Int.min : Int.max) : result
}

private func clampedSum(_ one: Int, _ other: Int) -> Int {
  let (result, overflow) = one.addingReportingOverflow(other)
  return overflow ? (one < 0 ? Int.min : Int.max) : result
}

/// A wall-clock time in the local time zone.
struct LocalTime {
  private var fields = tm()
  private var milliseconds = 0

  init(wallUSec: Int) {
    var seconds = time_t(wallUSec / 1_000_000)
    milliseconds = max(0, wallUSec % 1_000_000 / 1_000)
    // localtime_r fails for a year that does not fit into `tm`; the fields then stay zero.
    _ = localtime_r(&seconds, &fields)
  }

  /// The date and time, like `2026-11-21 14:03:22 CET`.
  var dateAndTime: String {
    "\(padded(Int(fields.tm_year) + 1900, 4))-\(padded(fields.tm_mon + 1, 2))-"
      + "\(padded(fields.tm_mday, 2)) \(time)\(zone)"
  }

  /// The time, like `14:03:22.120`.
  var timeWithMilliseconds: String { "\(time).\(padded(milliseconds, 3))" }

  /// The abbreviation of the time zone at that time, with a leading space; empty if it has none.
  private var zone: String {
    guard let name = fields.tm_zone, name.pointee != 0 else { return "" }
    return " " + PrintableText.of(String(cString: name))
  }

  private var time: String {
    "\(padded(fields.tm_hour, 2)):\(padded(fields.tm_min, 2)):\(padded(fields.tm_sec, 2))"
  }

  private func padded(_ number: some BinaryInteger, _ digits: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }
}

/// Formats durations for users.
enum TimeSpan {
  /// Returns the two largest units: `9 min 54 s`, `3 h`, `2 d 4 h`; below a minute, `1.5 s`.
  static func text(usec: Int) -> String {
    let milliseconds = max(0, usec) / 1_000
    if milliseconds < 1_000 { return "\(milliseconds) ms" }
    let seconds = milliseconds / 1_000
    let tenths = milliseconds % 1_000 / 100
    if seconds < 10, tenths > 0 { return "\(seconds).\(tenths) s" }
    let units = [(seconds / 86_400, "d"), (seconds / 3_600 % 24, "h"), (seconds / 60 % 60, "min")]
    let all = units + [(seconds % 60, "s")]
    let first = all.firstIndex { $0.0 > 0 } ?? all.count - 1
    return all[first...].prefix(2).filter { $0.0 > 0 }
      .map { "\($0.0) \($0.1)" }.joined(separator: " ")
  }
}
