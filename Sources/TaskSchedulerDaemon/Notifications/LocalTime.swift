import TaskSchedulerCore

/// A local time: a day of the Gregorian calendar and a time of that day.
struct LocalTime: Hashable {
  var day: LocalDay
  /// Seconds since midnight, from 0 to 86,399.
  var secondOfDay: Int

  /// Seconds since 1970-01-01T00:00:00 in local time, as if no clock change had happened.
  var seconds: Int64 { Int64(day.number) * Self.secondsPerDay + Int64(secondOfDay) }

  static let secondsPerDay: Int64 = 86_400
  /// The range of supported years. A 64-bit number of nanoseconds since 1970 overflows in 2262, and
  /// the rules of time zones are not known so far ahead.
  static let yearMax = 2199
  static let yearMin = 1970

  init(day: LocalDay, secondOfDay: Int) {
    self.day = day
    self.secondOfDay = secondOfDay
  }

  /// Parses `YYYY-MM-DDTHH:MM:SS`. No other format is accepted.
  init(_ text: String) throws(ScheduleError) {
    let wrong = { (what: String) in
      ScheduleError(field: .date, "\(PrintableText.quoted(text)) is not a valid time: \(what)")
    }
    let bytes = Array(text.utf8.prefix(Self.pattern.count + 1))
    guard bytes.count == Self.pattern.count, zip(bytes, Self.pattern).allSatisfy(Self.fits) else {
      throw wrong("the format is YYYY-MM-DDTHH:MM:SS, such as 2026-12-24T18:00:00")
    }
    let number = { (range: Range<Int>) in
      bytes[range].reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }
    let (year, month, day) = (number(0..<4), number(5..<7), number(8..<10))
    let (hour, minute, second) = (number(11..<13), number(14..<16), number(17..<19))
    guard (Self.yearMin...Self.yearMax).contains(year) else {
      throw wrong("the year must be from \(Self.yearMin) to \(Self.yearMax)")
    }
    guard (1...12).contains(month) else {
      throw wrong("month \(month) does not exist; months are from 01 to 12")
    }
    let dayMax = LocalDay.count(month: month, year: year)
    guard (1...dayMax).contains(day) else {
      throw wrong("day \(day) does not exist; that month has \(dayMax) days")
    }
    guard hour < 24 else { throw wrong("hour \(hour) does not exist; hours are from 00 to 23") }
    guard minute < 60 else {
      throw wrong("minute \(minute) does not exist; minutes are from 00 to 59")
    }
    guard second < 60 else {
      throw wrong("second \(second) does not exist; seconds are from 00 to 59")
    }
    self.day = LocalDay(year: year, month: month, day: day)
    secondOfDay = (hour * 60 + minute) * 60 + second
  }

  private static let pattern = Array("0000-00-00T00:00:00".utf8)

  private static func fits(_ byte: UInt8, _ pattern: UInt8) -> Bool {
    pattern == UInt8(ascii: "0")
      ? (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) : byte == pattern
  }
}

/// A day of the proleptic Gregorian calendar.
struct LocalDay: Hashable {
  var year: Int
  /// The month, from 1 to 12.
  var month: Int
  /// The day of the month, from 1.
  var day: Int

  init(year: Int, month: Int, day: Int) {
    self.year = year
    self.month = month
    self.day = day
  }

  /// Days since 1970-01-01.
  ///
  /// Years are counted from March, so that the leap day is the last day of a year. The calendar
  /// repeats every 400 years, which have 146,097 days. 1970-01-01 is 719,468 days after 0000-03-01.
  var number: Int {
    let marchYear = month > 2 ? year : year - 1
    let (span, yearOfSpan) = Self.divided(marchYear, by: 400)
    // From March on, the lengths of the months repeat as 31, 30, 31, 30 and 31 days: 153 days in
    // five months.
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    let dayOfSpan = yearOfSpan * 365 + yearOfSpan / 4 - yearOfSpan / 100 + dayOfYear
    return span * 146_097 + dayOfSpan - 719_468
  }

  /// Creates the day that is `number` days after 1970-01-01.
  init(number: Int) {
    let (span, dayOfSpan) = Self.divided(number + 719_468, by: 146_097)
    // Subtracts the leap days before this day, so that all years have 365 days. Each period of four
    // years (1,461 days) ends with a leap day, but most centuries (36,524 days) do not.
    let yearOfSpan =
      (dayOfSpan - dayOfSpan / 1_460 + dayOfSpan / 36_524 - dayOfSpan / 146_096) / 365
    let dayOfYear = dayOfSpan - (365 * yearOfSpan + yearOfSpan / 4 - yearOfSpan / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
    month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    year = yearOfSpan + span * 400 + (month <= 2 ? 1 : 0)
  }

  /// Creates the day that contains the given second after 1970-01-01T00:00:00.
  init(atSecond second: Int64) {
    self.init(number: Self.divided(Int(second), by: Int(LocalTime.secondsPerDay)).quotient)
  }

  /// Returns the number of days in a month.
  static func count(month: Int, year: Int) -> Int {
    switch month {
    case 2: isLeap(year) ? 29 : 28
    case 4, 6, 9, 11: 30
    case _: 31
    }
  }

  static func isLeap(_ year: Int) -> Bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
  }

  /// Returns the day that is `months` months later: the same day of the month, or the last day of a
  /// shorter month.
  func adding(months: Int) -> LocalDay {
    let (years, month) = Self.divided(self.month - 1 + months, by: 12)
    let year = self.year + years
    return LocalDay(
      year: year, month: month + 1, day: min(day, Self.count(month: month + 1, year: year)))
  }

  /// Returns the quotient rounded down, and the remainder, which is not negative.
  private static func divided(_ number: Int, by divisor: Int) -> (quotient: Int, remainder: Int) {
    let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}
