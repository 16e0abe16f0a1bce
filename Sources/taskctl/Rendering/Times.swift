import Glibc
import LinuxSystem

/// What both clocks showed at one moment, to tell the wall clock's time of an instant since boot.
struct ClockReading {
  /// Microseconds since boot.
  var bootUSec: Int
  /// Microseconds since 1970-01-01 00:00 UTC.
  var wallUSec: Int

  static func now() -> ClockReading {
    ClockReading(bootUSec: Int(BootClock.now() / 1_000), wallUSec: Int(WallClock.now()))
  }

  /// The wall clock's time of an instant since boot, by the present difference of the clocks.
  func wallUSec(ofBoot usec: Int) -> Int {
    clampedSum(wallUSec, clampedDifference(usec, bootUSec))
  }

  /// Microseconds from an instant since boot until now; 0 for one to come.
  func ageUSec(ofBoot usec: Int) -> Int { max(0, clampedDifference(bootUSec, usec)) }

  /// `in 3 min`, or `now` for an instant since boot that has come.
  func wait(untilBoot usec: Int) -> String {
    let wait = clampedDifference(usec, bootUSec)
    return wait > 0 ? "in \(TimeSpan.text(usec: wait))" : "now"
  }

  /// `2026-11-21 14:03:22 CET (in 3 min)`, or `(3 min ago)`, of a time of the wall clock.
  func moment(ofWall usec: Int) -> String {
    let date = LocalTime(wallUSec: usec).dateAndTime
    let wait = clampedDifference(usec, wallUSec)
    return wait >= 0
      ? "\(date) (in \(TimeSpan.text(usec: wait)))"
      : "\(date) (\(TimeSpan.text(usec: clampedDifference(wallUSec, usec))) ago)"
  }

  /// `2026-11-21 14:03:22 CET (3 min ago)`.
  func moment(ofBoot usec: Int) -> String {
    let date = LocalTime(wallUSec: wallUSec(ofBoot: usec)).dateAndTime
    return "\(date) (\(TimeSpan.text(usec: ageUSec(ofBoot: usec))) ago)"
  }
}

/// Numbers come from a peer: at the ends of the range they stay there.
private func clampedDifference(_ one: Int, _ other: Int) -> Int {
  let (result, overflow) = one.subtractingReportingOverflow(other)
  return overflow ? (one < other ? Int.min : Int.max) : result
}

private func clampedSum(_ one: Int, _ other: Int) -> Int {
  let (result, overflow) = one.addingReportingOverflow(other)
  return overflow ? (one < 0 ? Int.min : Int.max) : result
}

/// A time of the wall clock in the local time zone.
struct LocalTime {
  private var fields = tm()
  private var milliseconds = 0

  init(wallUSec: Int) {
    var seconds = time_t(wallUSec / 1_000_000)
    milliseconds = max(0, wallUSec % 1_000_000 / 1_000)
    // A year that no calendar has leaves the fields at zero.
    _ = localtime_r(&seconds, &fields)
  }

  /// `2026-11-21 14:03:22 CET`.
  var dateAndTime: String {
    "\(padded(Int(fields.tm_year) + 1900, 4))-\(padded(fields.tm_mon + 1, 2))-"
      + "\(padded(fields.tm_mday, 2)) \(time)\(zone)"
  }

  /// `14:03:22.120`.
  var timeWithMilliseconds: String { "\(time).\(padded(milliseconds, 3))" }

  /// The abbreviation that the zone has at that time; empty where it has none.
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

/// A length of time for people.
enum TimeSpan {
  /// The two largest units: `9 min 54 s`, `3 h`, `2 d 4 h`; `1.5 s` and `20 ms` below a minute.
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
