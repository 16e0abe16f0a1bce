import Glibc
import LinuxSystem
import TaskSchedulerCore
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

@Suite("The beginning of the next day in a time zone")
struct NextDayTests {
  /// A moment in a time zone, and the expected next date with its first second.
  struct Case: CustomTestStringConvertible {
    var zone: String
    var now: Int64
    var next: Int64
    var date: String
    var testDescription: String { "\(zone) \(date)" }

    /// Creates a case from times in the form `2026-11-21T23:59:59Z`.
    init(_ zone: String, _ now: String, _ next: String, _ date: String) {
      self.zone = zone
      self.now = Self.seconds(now)
      self.next = Self.seconds(next)
      self.date = date
    }

    private static func seconds(_ text: String) -> Int64 {
      guard let time = try? LocalTime(String(text.dropLast())) else {
        preconditionFailure("no time: \(text)")
      }
      return time.seconds
    }
  }

  @Test(
    "The next day begins with its first instant, even if midnight is skipped or occurs twice",
    arguments: [
      Case("Etc/UTC", "2026-11-21T16:00:00Z", "2026-11-22T00:00:00Z", "2026-11-22"),
      Case("Etc/UTC", "2026-11-21T23:59:59Z", "2026-11-22T00:00:00Z", "2026-11-22"),
      Case("Etc/UTC", "2026-11-22T00:00:00Z", "2026-11-23T00:00:00Z", "2026-11-23"),
      Case("Etc/UTC", "2028-02-28T12:00:00Z", "2028-02-29T00:00:00Z", "2028-02-29"),
      Case("Asia/Kathmandu", "2026-11-21T16:00:00Z", "2026-11-21T18:15:00Z", "2026-11-22"),
      Case("America/New_York", "2026-12-31T12:00:00Z", "2027-01-01T05:00:00Z", "2027-01-01"),
      // Days of 23, 25 and 24.5 hours, because the clock changes.
      Case("Europe/Berlin", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z", "2026-03-30"),
      Case("Europe/Berlin", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z", "2026-10-26"),
      Case("Australia/Lord_Howe", "2026-04-04T13:00:00Z", "2026-04-05T13:30:00Z", "2026-04-06"),
      // The clock skips midnight: the day begins at 01:00.
      Case("America/Sao_Paulo", "2018-11-03T12:00:00Z", "2018-11-04T03:00:00Z", "2018-11-04"),
      Case("Asia/Beirut", "2021-03-27T12:00:00Z", "2021-03-27T22:00:00Z", "2021-03-28"),
      Case("Africa/Cairo", "2023-04-27T12:00:00Z", "2023-04-27T22:00:00Z", "2023-04-28"),
      Case("Asia/Beirut", "2036-03-29T12:00:00Z", "2036-03-29T22:00:00Z", "2036-03-30"),
      // At midnight the clock goes back to 23:00: the old day has an additional hour.
      Case("America/Sao_Paulo", "2018-02-17T12:00:00Z", "2018-02-18T03:00:00Z", "2018-02-18"),
      // At one minute past midnight the clock goes back to 23:01: the day begins twice.
      Case("America/Goose_Bay", "2010-11-06T12:00:00Z", "2010-11-07T03:00:00Z", "2010-11-07"),
      Case("America/Goose_Bay", "2010-11-07T03:30:00Z", "2010-11-07T04:00:00Z", "2010-11-07"),
      // The zone skips a whole date.
      Case("Pacific/Apia", "2011-12-29T20:00:00Z", "2011-12-30T10:00:00Z", "2011-12-31"),
    ])
  func table(_ example: Case) throws {
    let etc = SimulatedEtc()
    try etc.setZone(example.zone)
    let zone = MachineZone(etc: etc.path)
    try #require(zone.rules != nil)
    #expect(zone.nextDay(after: example.now) == example.next)
    #expect(zone.day(at: example.next).isoText == example.date)
    #expect(zone.day(at: example.next - 1).isoText < example.date)
  }

  @Test("Without a zone, or with an invalid zone file, the next day is UTC's")
  func noZone() {
    let etc = SimulatedEtc()
    #expect(MachineZone(etc: etc.path).nextDay(after: 86_399) == 86_400)
    etc.folder.write("localtime", "TZif, but not really")
    #expect(MachineZone(etc: etc.path).nextDay(after: -1) == 0)
    #expect(MachineZone(etc: etc.path).day(at: -1).isoText == "1969-12-31")
  }
}

/// Tests with a simulated clock, because a test must not set the machine's clock. The simulated
/// clock continues from the time to which it was set.
@Suite("A new day")
struct DayProviderTests {
  private final class Clock {
    var offset: Int64 = 0

    /// Sets the simulated clock to a wall time, in seconds since 1970 UTC.
    func set(_ second: Double) {
      offset = Int64(second * 1e9) - Int64(BootClock.now())
    }
  }

  private let etc = SimulatedEtc()
  private let clock = Clock()
  private let watcher: ChangeWatcher
  private let provider: DayProvider
  /// The instant 2026-11-22T00:00:00Z, in seconds since 1970.
  private let midnight = 1_795_305_600.0

  init() throws {
    watcher = try ChangeWatcher()
    provider = DayProvider(
      loop: watcher.loop, etc: etc.path, readOffset: { [clock] in clock.offset },
      report: watcher.report)
  }

  @Test("A new day is reported when it begins")
  func midnightComes() throws {
    clock.set(midnight - 7200)
    try provider.start()
    clock.set(midnight - 0.05)
    provider.reconsider()
    #expect(try watcher.next() == SystemChange(kind: .day, value: "2026-11-22"))
    #expect(Int64(BootClock.now()) + clock.offset >= Int64(midnight * 1e9), "not before")
  }

  @Test("A clock that is set past midnight causes one report; the next day follows the new clock")
  func clockSet() throws {
    clock.set(midnight - 7200)
    try provider.start()
    clock.set(midnight + 3 * 86_400 - 7200)
    provider.reconsider()
    #expect(try watcher.next() == SystemChange(kind: .day, value: "2026-11-24"))
    clock.set(midnight + 3 * 86_400 - 0.05)
    provider.reconsider()
    #expect(try watcher.next() == SystemChange(kind: .day, value: "2026-11-25"))
  }

  @Test("A clock that is set within the day causes no new day")
  func sameDay() throws {
    clock.set(midnight + 7200)
    try provider.start()
    for hour in [1.0, 23.9, 0.0] {
      clock.set(midnight + hour * 3600)
      provider.reconsider()
    }
    #expect(watcher.changes.isEmpty)
  }

  @Test("A clock that is set back to the previous day reports that date")
  func setBack() throws {
    clock.set(midnight + 7200)
    try provider.start()
    clock.set(midnight - 7200)
    provider.reconsider()
    #expect(try watcher.next() == SystemChange(kind: .day, value: "2026-11-21"))
  }

  @Test("A change to a time zone with another date causes a report of that date")
  func zoneSet() throws {
    clock.set(midnight + 60)
    try etc.setZone("America/New_York")
    try provider.start()
    try etc.setZone("Etc/UTC")
    provider.reconsider()
    try etc.setZone("Asia/Tokyo")
    provider.reconsider()
    #expect(watcher.changes == [SystemChange(kind: .day, value: "2026-11-22")])
  }
}
