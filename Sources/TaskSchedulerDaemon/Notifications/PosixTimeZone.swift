/// The rule that applies in a time zone after the last recorded transition: standard time and,
/// optionally, a yearly daylight saving time. The footer of a TZif file contains the rule as a TZ
/// string (RFC 9636, 3.3), such as `CET-1CEST,M3.5.0,M10.5.0/3`.
struct PosixTimeZone: Hashable {
  /// The offset from UTC in seconds, positive to the east.
  let standardOffset: Int
  private let daylightSavingTime: DaylightSavingTime?

  private struct DaylightSavingTime: Hashable {
    let offset: Int
    let begins: YearlyTransition
    let ends: YearlyTransition
  }

  /// The day and time of a yearly transition, in the local time just before the transition.
  private struct YearlyTransition: Hashable {
    enum Day: Hashable {
      /// From 1 (January 1) to 365 (December 31). February 29 is not counted.
      case withoutLeapDay(Int)
      /// From 0 (January 1) to 365. February 29 is counted.
      case ofYear(Int)
      /// Month 1 to 12, `week` 1 to 5 (5: the last), `weekday` 0 to 6 (0: Sunday).
      case ofMonth(Int, week: Int, weekday: Int)
    }

    let day: Day
    /// Seconds since midnight. The range is -167 hours to 167 hours.
    let seconds: Int

    func localSeconds(year: Int) -> Int64 {
      Int64(dayNumber(year: year)) * LocalTime.secondsPerDay + Int64(seconds)
    }

    private func dayNumber(year: Int) -> Int {
      let newYear = LocalDay(year: year, month: 1, day: 1).number
      switch day {
      case .withoutLeapDay(let count):
        return newYear + count - 1 + (LocalDay.isLeap(year) && count > 59 ? 1 : 0)
      case .ofYear(let count): return newYear + count
      case .ofMonth(let month, let week, let weekday):
        let first = LocalDay(year: year, month: month, day: 1).number
        // 1970-01-01 was a Thursday.
        let firstWeekday = ((first + 4) % 7 + 7) % 7
        let firstMatch = first + (weekday - firstWeekday + 7) % 7
        let days = LocalDay.count(month: month, year: year)
        let day = firstMatch + (week - 1) * 7
        return day < first + days ? day : day - 7
      }
    }
  }

  /// A transition: the offset from UTC that applies from a moment on.
  struct Change: Hashable {
    let at: Int64
    let offset: Int
  }

  /// Returns the transitions of a year, in order.
  func changes(inYear year: Int) -> [Change] {
    guard let daylightSavingTime else { return [] }
    let begin = Change(
      at: daylightSavingTime.begins.localSeconds(year: year) - Int64(standardOffset),
      offset: daylightSavingTime.offset)
    let end = Change(
      at: daylightSavingTime.ends.localSeconds(year: year) - Int64(daylightSavingTime.offset),
      offset: standardOffset)
    return begin.at < end.at ? [begin, end] : [end, begin]
  }

  // MARK: Reading

  init?(_ text: some Sequence<UInt8>) {
    var reader = Reader(bytes: Array(text)[...])
    guard reader.skipName(), let west = reader.time(hoursMax: 24) else { return nil }
    standardOffset = -west
    if reader.bytes.isEmpty {
      daylightSavingTime = nil
      return
    }
    guard reader.skipName() else { return nil }
    var offset = standardOffset + 3600
    if reader.bytes.first != UInt8(ascii: ",") {
      guard let west = reader.time(hoursMax: 24) else { return nil }
      offset = -west
    }
    guard reader.skip(","), let begins = reader.moment(), reader.skip(","),
      let ends = reader.moment(), reader.bytes.isEmpty
    else { return nil }
    daylightSavingTime = DaylightSavingTime(offset: offset, begins: begins, ends: ends)
  }

  private struct Reader {
    var bytes: ArraySlice<UInt8>

    mutating func skip(_ mark: Unicode.Scalar) -> Bool {
      guard bytes.first == UInt8(ascii: mark) else { return false }
      bytes.removeFirst()
      return true
    }

    /// Skips an abbreviation: at least three letters, or any text in angle brackets.
    mutating func skipName() -> Bool {
      if skip("<") {
        guard let end = bytes.firstIndex(of: UInt8(ascii: ">")) else { return false }
        bytes = bytes[(end + 1)...]
        return true
      }
      let name = bytes.prefix { byte in
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte & ~0x20)
      }
      bytes = bytes[name.endIndex...]
      return name.count >= 3
    }

    mutating func number(_ range: ClosedRange<Int>) -> Int? {
      let digits = bytes.prefix {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
      }
      guard (1...3).contains(digits.count) else { return nil }
      bytes = bytes[digits.endIndex...]
      let number = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
      return range.contains(number) ? number : nil
    }

    /// Parses `[+-]h[hh][:mm[:ss]]`. Returns seconds.
    mutating func time(hoursMax: Int) -> Int? {
      let isNegative = skip("-")
      if !isNegative { _ = skip("+") }
      guard let hours = number(0...hoursMax) else { return nil }
      var seconds = hours * 3600
      for unit in [60, 1] where skip(":") {
        guard let count = number(0...59) else { return nil }
        seconds += count * unit
      }
      return isNegative ? -seconds : seconds
    }

    mutating func moment() -> YearlyTransition? {
      let day: YearlyTransition.Day
      if skip("M") {
        guard let month = number(1...12), skip("."), let week = number(1...5), skip("."),
          let weekday = number(0...6)
        else { return nil }
        day = .ofMonth(month, week: week, weekday: weekday)
      } else if skip("J") {
        guard let count = number(1...365) else { return nil }
        day = .withoutLeapDay(count)
      } else {
        guard let count = number(0...365) else { return nil }
        day = .ofYear(count)
      }
      guard skip("/") else { return YearlyTransition(day: day, seconds: 2 * 3600) }
      guard let seconds = time(hoursMax: 167) else { return nil }
      return YearlyTransition(day: day, seconds: seconds)
    }
  }
}
