import FoundationEssentials
import Glibc
import LinuxSystem

/// A day of the Gregorian calendar.
public struct CalendarDay: Hashable, Sendable, CustomStringConvertible {
  /// The year, from 1 to 9999.
  public var year: Int
  /// The month, from 1 to 12.
  public var month: Int
  /// The day of the month, from 1.
  public var day: Int

  /// Creates a day. The daemon refuses a notification on a day that does not exist.
  public init(year: Int, month: Int, day: Int) {
    self.year = year
    self.month = month
    self.day = day
  }

  /// Creates the day from `YYYY-MM-DD`; nil for any other text.
  init?(_ text: some StringProtocol) {
    guard let numbers = numbers(in: text, separator: "-", digits: [4, 2, 2]) else { return nil }
    self.init(year: numbers[0], month: numbers[1], day: numbers[2])
  }

  /// Creates the day from the number of days since 1970-01-01.
  ///
  /// The calendar repeats every 400 years, which have 146,097 days. The function counts years from
  /// March, so that a leap day is the last day of its year, and all other months have a fixed
  /// length.
  init(daysSince1970: Int) {
    let days = daysSince1970 + 719_468  // since 0000-03-01
    let cycle = Int((Double(days) / 146_097).rounded(.down))
    let dayOfCycle = days - cycle * 146_097
    let yearOfCycle =
      (dayOfCycle - dayOfCycle / 1_460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365
    let dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    year = yearOfCycle + cycle * 400 + (month <= 2 ? 1 : 0)
  }

  /// The day as `YYYY-MM-DD`.
  public var description: String { "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))" }
}

/// A time zone of the tz database, by its name.
///
/// The daemon applies the rules of the zones. An application needs no database of its own, and
/// names the zone as a literal: `"Europe/Berlin"`.
public struct TimeZoneName: Hashable, Sendable, ExpressibleByStringLiteral,
  CustomStringConvertible
{
  /// The name in the tz database.
  public let rawValue: String

  /// Creates the name. The daemon refuses a notification in a zone that it does not know.
  public init(_ rawValue: String) {
    self.rawValue = rawValue
  }

  public init(stringLiteral value: String) {
    self.init(value)
  }

  /// The name itself.
  public var description: String { rawValue }

  /// Coordinated Universal Time.
  public static let utc = TimeZoneName("UTC")

  /// The machine's time zone, from `$TZ` or else from the target of `/etc/localtime`; nil if
  /// neither names a zone.
  public static var current: TimeZoneName? {
    if let variable = getenv("TZ") {
      let text = String(cString: variable)
      let name = text.hasPrefix(":") ? String(text.dropFirst()) : text
      if !name.isEmpty, !name.hasPrefix("/") { return TimeZoneName(name) }
    }
    return SymbolicLink.target(of: "/etc/localtime").flatMap { TimeZoneName(link: $0) }
  }

  /// Creates `Europe/Berlin` from `/usr/share/zoneinfo/Europe/Berlin`; nil for a path without the
  /// directory `zoneinfo`.
  init?(link target: String) {
    let parts = target.split(separator: "/")
    guard let directory = parts.lastIndex(of: "zoneinfo") else { return nil }
    self.init(parts[(directory + 1)...].joined(separator: "/"))
  }
}

/// A time of the Gregorian calendar, to the second, in a time zone.
///
///     CalendarDate(year: 2026, month: 11, day: 22, hour: 16, timeZone: "Europe/Berlin")
///
/// A `Date` is an instant. A calendar date is a wall-clock time: it stays four o'clock when the
/// rules of the zone change, or when daylight saving time begins.
public struct CalendarDate: Hashable, Sendable, CustomStringConvertible {
  /// The day.
  public var day: CalendarDay
  /// The hour, from 0 to 23.
  public var hour: Int
  /// The minute, from 0 to 59.
  public var minute: Int
  /// The second, from 0 to 59.
  public var second: Int
  /// The time zone.
  public var timeZone: TimeZoneName

  /// Creates a date. The daemon refuses a notification at a date that does not exist.
  public init(
    _ day: CalendarDay, hour: Int = 0, minute: Int = 0, second: Int = 0, timeZone: TimeZoneName
  ) {
    self.day = day
    self.hour = hour
    self.minute = minute
    self.second = second
    self.timeZone = timeZone
  }

  /// Creates a date from its parts.
  public init(
    year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0,
    timeZone: TimeZoneName
  ) {
    self.init(
      CalendarDay(year: year, month: month, day: day), hour: hour, minute: minute, second: second,
      timeZone: timeZone)
  }

  /// Creates the date in UTC for an instant, rounded up to a whole second.
  public init(_ date: Date) {
    let seconds = Int(date.timeIntervalSince1970.rounded(.up))
    let days = Int((Double(seconds) / 86_400).rounded(.down))
    let secondOfDay = seconds - days * 86_400
    self.init(
      CalendarDay(daysSince1970: days), hour: secondOfDay / 3_600,
      minute: secondOfDay / 60 % 60, second: secondOfDay % 60, timeZone: .utc)
  }

  /// Creates the date from `YYYY-MM-DDTHH:MM:SS`; nil for any other text.
  init?(_ text: String, timeZone: TimeZoneName) {
    let parts = text.split(separator: "T", omittingEmptySubsequences: false)
    guard parts.count == 2, let day = CalendarDay(parts[0]),
      let time = numbers(in: parts[1], separator: ":", digits: [2, 2, 2])
    else { return nil }
    self.init(day, hour: time[0], minute: time[1], second: time[2], timeZone: timeZone)
  }

  /// The date without its zone, as `YYYY-MM-DDTHH:MM:SS`.
  var textWithoutZone: String {
    "\(day)T\(padded(hour, 2)):\(padded(minute, 2)):\(padded(second, 2))"
  }

  /// The date and its zone, as `2026-11-22T16:00:00 Europe/Berlin`.
  public var description: String { "\(textWithoutZone) \(timeZone)" }
}

/// Returns a number in decimal digits, with leading zeros up to `digits` digits.
private func padded(_ number: Int, _ digits: Int) -> String {
  let text = String(number)
  return String(repeating: "0", count: max(0, digits - text.count)) + text
}

/// Returns the numbers in a text such as `16:00:05`, in which each number has a fixed count of
/// digits; nil for any other text.
private func numbers(
  in text: some StringProtocol, separator: Character, digits: [Int]
) -> [Int]? {
  let parts = text.split(separator: separator, omittingEmptySubsequences: false)
  let digitRange = UInt8(ascii: "0")...UInt8(ascii: "9")
  guard parts.map(\.utf8.count) == digits,
    parts.allSatisfy({ $0.utf8.allSatisfy(digitRange.contains) })
  else { return nil }
  return parts.compactMap { Int($0) }
}
