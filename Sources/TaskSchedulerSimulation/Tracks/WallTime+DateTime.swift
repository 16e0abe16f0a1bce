import TaskSchedulerCore

extension WallTime {
  /// Creates a time from a `dateTime` of XML Schema, like `2026-11-21T14:03:22.5+01:00`. Without a
  /// time zone, it is a time in UTC, as GPX requires.
  ///
  /// - Returns: nil if the text has another form, names no date of the calendar, or is not between
  ///   the years 1970 and 2261.
  init?(dateTime text: some StringProtocol) {
    var rest = Array(text.utf8)[...]
    guard let year = Self.number(&rest, digits: 4), (1970...2261).contains(year),
      Self.take(&rest, "-"),
      let month = Self.number(&rest, digits: 2), (1...12).contains(month), Self.take(&rest, "-"),
      let day = Self.number(&rest, digits: 2),
      (1...Self.days(inMonth: month, of: year)).contains(day), Self.take(&rest, "T"),
      let hour = Self.number(&rest, digits: 2), hour < 24, Self.take(&rest, ":"),
      let minute = Self.number(&rest, digits: 2), minute < 60, Self.take(&rest, ":"),
      // A leap second counts as the first second of the next minute.
      let second = Self.number(&rest, digits: 2), second <= 60,
      let nanoseconds = Self.fraction(&rest), let offset = Self.offset(&rest), rest.isEmpty
    else { return nil }
    let days = Self.days(before: year) + Self.days(before: month, of: year) + day - 1
    let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset
    guard seconds >= 0 else { return nil }
    self.init(nanoseconds: Int64(seconds) * 1_000_000_000 + Int64(nanoseconds))
  }

  // MARK: The calendar

  private static func isLeap(_ year: Int) -> Bool {
    year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
  }

  private static func days(inMonth month: Int, of year: Int) -> Int {
    switch month {
    case 2: isLeap(year) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// Returns the days from 1970-01-01 until the year begins.
  private static func days(before year: Int) -> Int {
    let last = year - 1
    // 477 leap years were before 1970.
    return (year - 1970) * 365 + last / 4 - last / 100 + last / 400 - 477
  }

  /// Returns the days of a year before a month begins.
  private static func days(before month: Int, of year: Int) -> Int {
    (1..<month).reduce(0) { $0 + days(inMonth: $1, of: year) }
  }

  // MARK: Parts of the text

  private static func take(_ rest: inout ArraySlice<UInt8>, _ mark: Unicode.Scalar) -> Bool {
    guard rest.first == UInt8(ascii: mark) else { return false }
    rest.removeFirst()
    return true
  }

  private static func digit(_ rest: inout ArraySlice<UInt8>) -> Int? {
    guard let first = rest.first, (0x30...0x39).contains(first) else { return nil }
    rest.removeFirst()
    return Int(first - 0x30)
  }

  private static func number(_ rest: inout ArraySlice<UInt8>, digits: Int) -> Int? {
    var number = 0
    for _ in 0..<digits {
      guard let digit = digit(&rest) else { return nil }
      number = number * 10 + digit
    }
    return number
  }

  /// Returns the nanoseconds of the fraction of a second; 0 without a fraction. Ignores digits
  /// after the ninth.
  private static func fraction(_ rest: inout ArraySlice<UInt8>) -> Int? {
    guard take(&rest, ".") else { return 0 }
    var (nanoseconds, unit) = (0, 100_000_000)
    guard rest.first.map({ (0x30...0x39).contains($0) }) == true else { return nil }
    while let digit = digit(&rest) {
      nanoseconds += digit * unit
      unit /= 10
    }
    return nanoseconds
  }

  /// Returns the seconds by which the time zone is ahead of UTC.
  private static func offset(_ rest: inout ArraySlice<UInt8>) -> Int? {
    if rest.isEmpty || take(&rest, "Z") { return 0 }
    let isAhead = take(&rest, "+")
    guard isAhead || take(&rest, "-"), let hours = number(&rest, digits: 2), hours <= 14,
      take(&rest, ":"), let minutes = number(&rest, digits: 2), minutes < 60
    else { return nil }
    let seconds = hours * 3600 + minutes * 60
    return isAhead ? seconds : -seconds
  }
}
