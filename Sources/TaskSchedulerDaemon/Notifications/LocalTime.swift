import TaskSchedulerCore

/// What a clock on the wall shows: a day of the Gregorian calendar and a time of that day.
struct LocalTime: Hashable {
  var day: LocalDay
  /// Seconds since the day's beginning, below 86,400.
  var secondOfDay: Int

  /// Seconds from 1970-01-01T00:00:00 on the same wall, as if its clock were never changed.
  var seconds: Int64 { Int64(day.number) * Self.secondsPerDay + Int64(secondOfDay) }

  static let secondsPerDay: Int64 = 86_400
  /// Until then rules of zones are guesses anyway, and nanoseconds since 1970 end in 2262.
  static let yearMax = 2199
  static let yearMin = 1970

  init(day: LocalDay, secondOfDay: Int) {
    self.day = day
    self.secondOfDay = secondOfDay
  }

  /// Reads `YYYY-MM-DDTHH:MM:SS`, nothing else; the error says what is wrong with it.
  init(_ text: String) throws(ScheduleError) {
    let wrong = { (what: String) in
      ScheduleError(field: .date, "\(PrintableText.quoted(text)) is no time: \(what)")
    }
    let bytes = Array(text.utf8.prefix(Self.pattern.count + 1))
    guard bytes.count == Self.pattern.count, zip(bytes, Self.pattern).allSatisfy(Self.fits) else {
      throw wrong("it is to be written YYYY-MM-DDTHH:MM:SS, such as 2026-12-24T18:00:00")
    }
    let number = { (range: Range<Int>) in
      bytes[range].reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }
    let (year, month, day) = (number(0..<4), number(5..<7), number(8..<10))
    let (hour, minute, second) = (number(11..<13), number(14..<16), number(17..<19))
    guard (Self.yearMin...Self.yearMax).contains(year) else {
      throw wrong("years go from \(Self.yearMin) to \(Self.yearMax)")
    }
    guard (1...12).contains(month) else {
      throw wrong("there is no month \(month), months go from 01 to 12")
    }
    let dayMax = LocalDay.count(month: month, year: year)
    guard (1...dayMax).contains(day) else {
      throw wrong("there is no day \(day), that month has \(dayMax) days")
    }
    guard hour < 24 else { throw wrong("there is no hour \(hour), hours go from 00 to 23") }
    guard minute < 60 else {
      throw wrong("there is no minute \(minute), minutes go from 00 to 59")
    }
    guard second < 60 else {
      throw wrong("there is no second \(second), seconds go from 00 to 59")
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

/// A day of the Gregorian calendar, which is taken to have been and to be in force for ever.
struct LocalDay: Hashable {
  var year: Int
  /// From 1.
  var month: Int
  /// From 1.
  var day: Int

  init(year: Int, month: Int, day: Int) {
    self.year = year
    self.month = month
    self.day = day
  }

  /// Days since 1970-01-01.
  ///
  /// Counted in years that begin in March, so that the leap day is a year's last, and in spans of
  /// 400 years, after which the calendar repeats: such a span has 146,097 days, and 1970-01-01 is
  /// the 719,468th since the 1st of March of the year 0.
  var number: Int {
    let marchYear = month > 2 ? year : year - 1
    let (span, yearOfSpan) = Self.divided(marchYear, by: 400)
    // The months from March have 31, 30, 31, 30, 31 days, over and over: 153 in five.
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    let dayOfSpan = yearOfSpan * 365 + yearOfSpan / 4 - yearOfSpan / 100 + dayOfYear
    return span * 146_097 + dayOfSpan - 719_468
  }

  /// The day so many days after 1970-01-01.
  init(number: Int) {
    let (span, dayOfSpan) = Self.divided(number + 719_468, by: 146_097)
    // Less the leap days before it: one after each 1,461 days but for those after 36,524.
    let yearOfSpan =
      (dayOfSpan - dayOfSpan / 1_460 + dayOfSpan / 36_524 - dayOfSpan / 146_096) / 365
    let dayOfYear = dayOfSpan - (365 * yearOfSpan + yearOfSpan / 4 - yearOfSpan / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
    month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    year = yearOfSpan + span * 400 + (month <= 2 ? 1 : 0)
  }

  /// The day of a moment so many seconds after the beginning of 1970-01-01.
  init(atSecond second: Int64) {
    self.init(number: Self.divided(Int(second), by: Int(LocalTime.secondsPerDay)).quotient)
  }

  /// How many days a month has.
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

  /// The same day of the month so many months later; the last one of a month that is too short.
  func adding(months: Int) -> LocalDay {
    let (years, month) = Self.divided(self.month - 1 + months, by: 12)
    let year = self.year + years
    return LocalDay(
      year: year, month: month + 1, day: min(day, Self.count(month: month + 1, year: year)))
  }

  /// Rounded down, with a remainder that is not negative.
  private static func divided(_ number: Int, by divisor: Int) -> (quotient: Int, remainder: Int) {
    let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}
