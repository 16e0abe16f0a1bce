import LinuxSystem
import TaskSchedulerCore

/// Tells when a new day has begun by the machine's time zone: when the date is another than the one
/// told last. So also once where the machine has slept over several midnights, or where the clock
/// or the zone was set over one, forward or back: who shows the date shows a wrong one then.
///
/// It waits for the next midnight in CLOCK_BOOTTIME, and looks again when the clock or the zone has
/// changed (``reconsider()``).
final class DayProvider: SystemChangeProvider {
  let subject = "the day"
  private let loop: EventLoop
  private let etc: String
  private let readOffset: () -> Int64
  private let report: SystemChangeReport
  private var timer: TimerSource?
  /// The date that was told last; nil before the start.
  private var day: LocalDay?

  /// - Parameter readOffset: see `WallClock.offset()`.
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
    day = lookAndWait()
  }

  /// Looks at the date, and waits for the next by the clock and the zone as they are now.
  func reconsider() {
    guard let last = day else { return }
    let present = lookAndWait()
    guard present != last else { return }
    day = present
    report(SystemChange(kind: .day, value: present.isoText))
  }

  private func lookAndWait() -> LocalDay {
    let zone = MachineZone(etc: etc)
    let offset = readOffset()
    let boot = BootClock.now()
    let second = Self.second(ofBootTime: boot, offset: offset)
    // In nanoseconds since 1970, as far as they go: until 2262.
    let next = zone.nextDay(after: second).multipliedReportingOverflow(by: 1_000_000_000)
    let instant = next.overflow ? Int64.max : next.partialValue &- offset
    timer?.set(UInt64(clamping: instant))
    return zone.day(at: second)
  }

  /// The second since 1970-01-01 00:00 UTC at an instant of CLOCK_BOOTTIME, rounded down.
  private static func second(ofBootTime boot: UInt64, offset: Int64) -> Int64 {
    let wall = Int64(clamping: boot) &+ offset
    let (second, rest) = wall.quotientAndRemainder(dividingBy: 1_000_000_000)
    return rest < 0 ? second - 1 : second
  }
}

extension MachineZone {
  /// The date at a second since 1970-01-01 00:00 UTC.
  func day(at second: Int64) -> LocalDay {
    LocalDay(atSecond: local(at: second))
  }

  /// The first second after `second` at which a later date has begun.
  ///
  /// That need not be midnight: some zones begin daylight saving time then and have no midnight on
  /// that day, and some have left out a whole date.
  func nextDay(after second: Int64) -> Int64 {
    let local = local(at: second)
    let midnight = Int64(day(at: second).number + 1) * LocalTime.secondsPerDay
    guard let rules else { return midnight }
    let first = rules.firstMoment(showing: midnight)
    // Where the clock was put back over midnight, that date has begun before, and begins again.
    return first > second ? first : second + (midnight - local)
  }

  private func local(at second: Int64) -> Int64 {
    rules?.local(at: second) ?? second
  }
}

extension LocalDay {
  /// `YYYY-MM-DD`.
  var isoText: String {
    func padded(_ number: Int, _ width: Int) -> String {
      let digits = String(number)
      return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
    return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
  }
}
