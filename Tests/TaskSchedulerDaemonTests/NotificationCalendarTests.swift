import TaskSchedulerCore
import Testing

@testable import TaskSchedulerDaemon

/// Tests of contract §9: a notification fires at a wall-clock time in a time zone, and may repeat
/// by the calendar, also across daylight saving time.
@Suite("When notifications fire")
struct NotificationCalendarTests {
  private let calendar = NotificationCalendar()

  private static let zones = [
    "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe",
  ]
  /// Ordinary times, ends of months, leap days, and times that a zone's clock skips or shows twice.
  /// Such times are 02:30 in Berlin, 02:30 and 01:30 in New York, and 02:15 and 01:45 on Lord Howe.
  private static let starts = [
    "2026-01-01T00:00:00", "2026-01-31T09:00:00", "2026-03-29T02:30:00", "2026-10-25T02:30:00",
    "2026-03-08T02:30:00", "2026-11-01T01:30:00", "2026-10-04T02:15:00", "2026-04-05T01:45:00",
    "2026-05-29T02:00:00", "2026-08-30T23:59:59", "2028-02-29T12:00:00",
  ]

  // MARK: Comparison with Python's zoneinfo

  private func secondsText(_ time: WallTime?) -> String {
    time.map { "\($0.nanoseconds / 1_000_000_000)" } ?? "none"
  }

  @Test(
    """
    Notifications that repeat daily, weekly, monthly or yearly fire at the times that Python \
    computes
    """,
    arguments: zones, [RepeatInterval.day, .week, .month, .year])
  func calendarRules(zone: String, interval: RepeatInterval) throws {
    let expected = try Oracle.lines(Oracle.program, [zone, interval.rawValue, "2046"] + Self.starts)
    #expect(expected.count == Self.starts.count)
    for (start, line) in zip(Self.starts, expected) {
      let times = line.split(separator: " ").map(String.init)
      #expect(times.count >= 19)
      let schedule = NotificationSchedule(date: start, timeZone: zone, repeats: interval)
      let all = try NotificationCalendar.FiringTimes(schedule, TimeZoneDatabase())
      var time = all.first
      for (index, expected) in times.enumerated() {
        guard secondsText(time) == expected else {
          Issue.record("\(start) \(zone) every \(interval), \(index): \(time), not \(expected)")
          break
        }
        time = try #require(all.next(after: time))
      }
    }
  }

  @Test(
    "Notifications that repeat every minute or hour fire by elapsed time, through 20 years",
    arguments: zones, [RepeatInterval.minute, .hour])
  func elapsed(zone: String, interval: RepeatInterval) throws {
    let expected = try Oracle.lines(Oracle.program, [zone, "none", "2046"] + Self.starts)
    let period: Int64 = interval == .minute ? 60 : 3_600
    let step: Int64 = interval == .minute ? 7_919 : 97
    for (start, line) in zip(Self.starts, expected) {
      let first = try #require(Int64(line))
      let schedule = NotificationSchedule(date: start, timeZone: zone, repeats: interval)
      let all = try NotificationCalendar.FiringTimes(schedule, TimeZoneDatabase())
      #expect(secondsText(all.first) == line)
      // Checks times until the end of 2046, in steps that cover all hours of the day.
      var count: Int64 = 0
      while first + count * period < 2_429_913_600 {
        let before = WallTime(nanoseconds: (first + count * period) * 1_000_000_000)
        let next = WallTime(nanoseconds: (first + (count + 1) * period) * 1_000_000_000)
        let last = WallTime(nanoseconds: next.nanoseconds - 1)
        if all.next(after: before) != next || all.next(after: last) != next {
          Issue.record("\(start) \(zone) every \(interval), \(count)")
          break
        }
        count += step
      }
    }
  }

  @Test(
    "Every time zone of the machine is read as Python reads it",
    arguments: [1970, 1999, 2026, 2037, 2038, 2100, 2199])
  func allZones(year: Int) throws {
    for line in try Oracle.lines(Oracle.allZones, ["\(year)"]) {
      let fields = line.split(separator: " ").map(String.init)
      let schedule = NotificationSchedule(date: fields[1], timeZone: fields[0])
      #expect(try secondsText(calendar.first(schedule)) == fields[2], "\(line)")
    }
  }

  // MARK: Rules

  private func time(
    _ date: String, _ zone: String, _ repeats: RepeatInterval? = nil, after: String? = nil
  ) throws -> Int64? {
    let schedule = NotificationSchedule(date: date, timeZone: zone, repeats: repeats)
    guard let after else { return try calendar.first(schedule).nanoseconds / 1_000_000_000 }
    return try calendar.next(schedule, after: utc(after))
      .map { $0.nanoseconds / 1_000_000_000 }
  }

  private func utc(_ date: String) throws -> WallTime {
    try calendar.first(NotificationSchedule(date: date, timeZone: "UTC"))
  }

  private func seconds(_ date: String) throws -> Int64 {
    try utc(date).nanoseconds / 1_000_000_000
  }

  @Test(
    "A notification at a local time that the clock skips fires at the instant of the change",
    arguments: [
      ("2026-03-29T02:00:00", "Europe/Berlin", "2026-03-29T01:00:00"),
      ("2026-03-29T02:30:00", "Europe/Berlin", "2026-03-29T01:00:00"),
      ("2026-03-29T02:59:59", "Europe/Berlin", "2026-03-29T01:00:00"),
      ("2026-03-29T03:00:00", "Europe/Berlin", "2026-03-29T01:00:00"),
      ("2026-03-08T02:30:00", "America/New_York", "2026-03-08T07:00:00"),
      ("2026-10-04T02:15:00", "Australia/Lord_Howe", "2026-10-03T15:30:00"),
    ])
  func gap(local: String, zone: String, expected: String) throws {
    #expect(try time(local, zone) == seconds(expected))
  }

  @Test(
    "A notification at a local time that occurs twice fires at the first of the two instants",
    arguments: [
      ("2026-10-25T02:30:00", "Europe/Berlin", "2026-10-25T00:30:00"),
      ("2026-11-01T01:30:00", "America/New_York", "2026-11-01T05:30:00"),
      ("2026-04-05T01:45:00", "Australia/Lord_Howe", "2026-04-04T14:45:00"),
      // 03:00 occurs only after the clock was put back to 02:00.
      ("2026-10-25T03:00:00", "Europe/Berlin", "2026-10-25T02:00:00"),
    ])
  func overlap(local: String, zone: String, expected: String) throws {
    #expect(try time(local, zone) == seconds(expected))
  }

  @Test("A notification that repeats monthly from the 31st fires on the last day of shorter months")
  func endsOfMonths() throws {
    for (after, expected) in [
      ("2027-01-31T09:00:00", "2027-02-28T09:00:00"),
      ("2027-02-28T09:00:00", "2027-03-31T09:00:00"),
      ("2028-02-01T00:00:00", "2028-02-29T09:00:00"),
      ("2028-04-01T00:00:00", "2028-04-30T09:00:00"),
    ] {
      #expect(
        try time("2026-01-31T09:00:00", "UTC", .month, after: after) == seconds(expected))
    }
  }

  @Test("A notification that repeats yearly from 29 February fires on 28 February in other years")
  func leapDays() throws {
    for (after, expected) in [
      ("2028-02-29T09:00:00", "2029-02-28T09:00:00"),
      ("2031-06-01T00:00:00", "2032-02-29T09:00:00"),
      ("2099-06-01T00:00:00", "2100-02-28T09:00:00"),
    ] {
      #expect(try time("2028-02-29T09:00:00", "UTC", .year, after: after) == seconds(expected))
    }
  }

  @Test("The next time is the earliest time of the notification after the given instant")
  func order() throws {
    let at = "2026-06-01T10:00:00"
    #expect(try time(at, "UTC", .day, after: at) == seconds("2026-06-02T10:00:00"))
    #expect(try time(at, "UTC", .day, after: "2026-06-01T09:59:59") == seconds(at))
    #expect(try time(at, "UTC", .year, after: "1970-01-01T00:00:00") == seconds(at))
    #expect(try time(at, "UTC", after: "2026-06-01T09:59:59") == seconds(at))
    #expect(try time(at, "UTC", after: at) == nil, "the notification does not repeat")
  }

  @Test("Even after two centuries without power, the next time is found at once")
  func farBehind() throws {
    for interval in RepeatInterval.allCases {
      let schedule = NotificationSchedule(
        date: "1970-01-01T00:00:00", timeZone: "Europe/Berlin", repeats: interval)
      // Measures a near and a far instant alternately, so that the load of the machine affects both
      // alike.
      var soon: [Duration] = []
      var late: [Duration] = []
      for _ in 0..<100 {
        soon.append(try timeOfNext(schedule, after: "1970-01-02T00:00:00"))
        late.append(try timeOfNext(schedule, after: "2170-07-07T07:07:07"))
      }
      #expect(
        late.sorted()[50] < soon.sorted()[50] * 100, "the search does not visit each \(interval)")
    }
  }

  private func timeOfNext(_ schedule: NotificationSchedule, after text: String) throws -> Duration {
    let moment = try utc(text)
    let clock = ContinuousClock()
    let start = clock.now
    let next = try calendar.next(schedule, after: moment)
    let time = start.duration(to: clock.now)
    #expect(try #require(next) > moment)
    return time
  }

  @Test(
    "The next time can be computed for the first and for the last possible instant",
    arguments: RepeatInterval.allCases)
  func extremes(interval: RepeatInterval) throws {
    let schedule = NotificationSchedule(
      date: "2199-12-31T23:59:59", timeZone: "America/New_York", repeats: interval)
    #expect(try calendar.next(schedule, after: WallTime(nanoseconds: .max)) == nil)
    let first = try calendar.first(schedule)
    #expect(try calendar.next(schedule, after: WallTime(nanoseconds: .min)) == first)
    let next = try calendar.next(schedule, after: first)
    #expect(next == nil || next! > first)
  }

  // MARK: Bad input

  @Test(
    "Dates that do not exist are refused with the reason",
    arguments: [
      ("2026-13-01T00:00:00", "month 13"), ("2026-00-01T00:00:00", "month 0"),
      ("2027-02-29T00:00:00", "that month has 28 days"), ("2028-02-30T00:00:00", "29 days"),
      ("2026-04-31T00:00:00", "30 days"), ("2026-04-00T00:00:00", "day 0"),
      ("2026-01-01T24:00:00", "hour 24"), ("2026-01-01T00:60:00", "minute 60"),
      ("2026-06-30T23:59:60", "second 60"), ("1969-12-31T23:59:59", "1970 to 2199"),
      ("2200-01-01T00:00:00", "1970 to 2199"), ("9999-99-99T99:99:99", "1970 to 2199"),
      ("2026-01-01 00:00:00", "YYYY-MM-DDTHH:MM:SS"), ("2026-01-01T00:00:00Z", "YYYY-MM-DD"),
      ("2026-01-01T00:00", "YYYY-MM-DD"), ("", "YYYY-MM-DD"), ("２０２６-01-01T00:00:00", "YYYY"),
      ("-026-01-01T00:00:00", "YYYY-MM-DD"), ("2026-01-01T00:00:0\u{0}", "YYYY-MM-DD"),
    ])
  func dates(date: String, part: String) throws {
    let error = #expect(throws: ScheduleError.self) {
      try calendar.first(NotificationSchedule(date: date, timeZone: "UTC"))
    }
    #expect(error?.field == .date)
    #expect(error?.message.contains(part) == true, "\(String(describing: error))")
  }

  @Test(
    "Unknown time zones are refused, and the error suggests the nearest name",
    arguments: [
      ("Europe/Berln", "Europe/Berlin"), ("europe/berlin", "Europe/Berlin"),
      ("Berlin", "Europe/Berlin"), ("New York", "America/New_York"),
      ("America/New York", "America/New_York"), ("utc", "UTC"), ("Mars/Olympus", "tz database"),
      ("", "tz database"), ("../../../etc/passwd", "not a time zone"),
      ("/etc/localtime", "not a time zone"),
      ("Europe/../Europe/Berlin", "not a time zone"), ("Europe", "not a time zone"),
      ("./UTC", "not a time zone"), ("Europe/", "not a time zone"), ("zone.tab", "not a time zone"),
      ("tzdata.zi", "not a time zone"), ("Europe/Berlin\u{0}", "not a time zone"),
      ("CET-1", "not a time zone"),
      ("right/Europe/Berlin", "not a time zone"), (String(repeating: "A", count: 100_000), "…"),
    ])
  func zoneNames(zone: String, part: String) throws {
    let error = #expect(throws: ScheduleError.self) {
      try calendar.first(NotificationSchedule(date: "2026-01-01T00:00:00", timeZone: zone))
    }
    #expect(error?.field == .timeZone)
    #expect(error?.message.contains(part) == true, "\(String(describing: error))")
  }

  @Test("Without a tz database, the error names the missing directory")
  func noDatabase() throws {
    let calendar = NotificationCalendar(TimeZoneDatabase(path: "/nonexistent"))
    let error = #expect(throws: ScheduleError.self) {
      try calendar.first(NotificationSchedule(date: "2026-01-01T00:00:00", timeZone: "UTC"))
    }
    #expect(error?.message.contains("no tz database at /nonexistent") == true)
  }

  @Test("A truncated zone file is refused, and a changed byte causes no trap")
  func damagedFiles() throws {
    for zone in Self.zones {
      let bytes = try BoundedFileBytes.of("/usr/share/zoneinfo/\(zone)")
      for count in 0..<bytes.count - 1 { #expect(TimeZoneRules(Array(bytes[..<count])) == nil) }
      for index in bytes.indices {
        for byte: UInt8 in [0, 0x7f, 0xff, bytes[index] ^ 1] {
          var changed = bytes
          changed[index] = byte
          _ = TimeZoneRules(changed)?.firstMoment(showing: 1_774_749_600)
        }
      }
    }
  }

  @Test(
    "The rule at the end of a zone file is applied",
    arguments: [
      ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", 1_796_083_200, 1_796_083_200 - 39_600),
      ("EST5EDT,0/0,J365/25", 1_796_083_200, 1_796_083_200 + 14_400),
      ("IST-1GMT0,M10.5.0,M3.5.0/1", 1_796_083_200, 1_796_083_200),
      ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", 1_796_083_200, 1_796_083_200 + 7_200),
      ("UTC0", 1_796_083_200, 1_796_083_200),
    ] as [(String, Int64, Int64)])
  func rules(text: String, local: Int64, moment: Int64) throws {
    let rules = try #require(TimeZoneRules(ZoneFile.bytes(footer: text)))
    #expect(rules.firstMoment(showing: local) == moment)
  }

  @Test(
    "A malformed rule is refused",
    arguments: [
      "X1", "UTC", "UTC25", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0",
      "CET-1CEST,M3.6.0,M10.5.0", "CET-1CEST,M3.5.7,M10.5.0", "CET-1CEST,M3.5.0,M10.5.0/168",
      "CET-1CEST,M3.5.0,M10.5.0,", "CET-1CEST,J0,J366", "<CET-1", "UTC99999999999999999999",
    ])
  func badRules(text: String) {
    #expect(TimeZoneRules(ZoneFile.bytes(footer: text)) == nil)
  }
}
