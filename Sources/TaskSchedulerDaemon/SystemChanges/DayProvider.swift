import EventLoop
import LinuxSystem
import TaskSchedulerCore

/// A provider that reports when the date in the machine's time zone differs from the last reported
/// date.
///
/// After a sleep across several midnights, the provider sends one report. It also sends a report if
/// the date changes, forwards or backwards, because the user sets the clock or the zone. The
/// provider sets a timer on CLOCK_BOOTTIME for the next midnight. When the clock or the zone has
/// changed, it compares the date and sets the timer again (``reconsider()``).
final class DayProvider: SystemChangeProvider {
  let subject = "the day"
  private let loop: EventLoop
  private let etc: String
  private let readOffset: () -> Int64
  private let report: SystemChangeReport
  private var timer: TimerSource?
  /// The date in the last report, or at the start; nil before the start.
  private var day: LocalDay?

  /// - Parameter readOffset: Returns the present offset; see `WallClock.offset()`.
  init(
    loop: EventLoop, etc: String, readOffset: @escaping () -> Int64 = { WallClock.offset() },
    report: @escaping SystemChangeReport
  ) {
    self.loop = loop
    self.etc = etc
    self.readOffset = readOffset
    self.report = report
  }

  func start() throws(SystemError) {
    timer = try loop.timer { [weak self] in self?.reconsider() }
    day = readDayAndWait()
  }

  /// Reports the date if it differs from the last reported date. Waits for the next day according
  /// to the present clock and zone.
  func reconsider() {
    guard let last = day else { return }
    let present = readDayAndWait()
    guard present != last else { return }
    day = present
    report(SystemChange(kind: .day, value: present.isoText))
  }

  private func readDayAndWait() -> LocalDay {
    let zone = MachineZone(etc: etc)
    let offset = readOffset()
    let boot = BootClock.now()
    let second = Self.second(ofBootTime: boot, offset: offset)
    // Nanoseconds since 1970 fit into 64 bits until the year 2262.
    let next = zone.nextDay(after: second).multipliedReportingOverflow(by: 1_000_000_000)
    let instant = next.overflow ? Int64.max : next.partialValue &- offset
    timer?.set(UInt64(clamping: instant))
    return zone.day(at: second)
  }

  /// Converts a time since boot to seconds since 1970-01-01 00:00 UTC, rounded down.
  private static func second(ofBootTime boot: UInt64, offset: Int64) -> Int64 {
    let wall = Int64(clamping: boot) &+ offset
    let (second, rest) = wall.quotientAndRemainder(dividingBy: 1_000_000_000)
    return rest < 0 ? second - 1 : second
  }
}

extension MachineZone {
  /// Returns the date at a second since 1970-01-01 00:00 UTC.
  func day(at second: Int64) -> LocalDay {
    LocalDay(atSecond: local(at: second))
  }

  /// Returns the first second after `second` at which a later date has begun.
  ///
  /// This second need not be midnight. In some zones, daylight saving time begins at midnight, so
  /// that the day has no midnight. Some zones have skipped a whole date.
  func nextDay(after second: Int64) -> Int64 {
    let local = local(at: second)
    let midnight = Int64(day(at: second).number + 1) * LocalTime.secondsPerDay
    guard let rules else { return midnight }
    let first = rules.firstMoment(showing: midnight)
    // At the end of daylight saving time, the clock may go back across midnight. Midnight then
    // comes a second time.
    return first > second ? first : second + (midnight - local)
  }

  private func local(at second: Int64) -> Int64 {
    rules?.local(at: second) ?? second
  }
}

extension LocalDay {
  /// The date as `YYYY-MM-DD`.
  var isoText: String {
    func padded(_ number: Int, _ width: Int) -> String {
      let digits = String(number)
      return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
    return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
  }
}
