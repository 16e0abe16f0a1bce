/// Time spans in systemd's notation (systemd.time(7), "PARSING TIME SPANS").
public enum TimeSpan {
  /// The longest span, in nanoseconds: about 292 years. systemd's maximum is 2^64 µs.
  public static let nanosecondsMax = Int64.max

  /// The units, each with systemd's spellings and its length in nanoseconds. A month is 30.44 days
  /// and a year 365.25 days, as in systemd.
  private static let units: [(spellings: [String], nanoseconds: Int64)] = [
    (["nsec", "ns"], 1),
    (["usec", "us", "µs", "μs"], 1_000),
    (["msec", "ms"], 1_000_000),
    (["seconds", "second", "sec", "s", ""], 1_000_000_000),
    (["minutes", "minute", "min", "m"], 60_000_000_000),
    (["hours", "hour", "hr", "h"], 3_600_000_000_000),
    (["days", "day", "d"], 86_400_000_000_000),
    (["weeks", "week", "w"], 604_800_000_000_000),
    (["months", "month", "M"], 2_629_800_000_000_000),
    (["years", "year", "y"], 31_557_600_000_000_000),
  ]

  /// Returns the span that a text such as `10min`, `1min 30s`, `500ms` or `1.5h` states. A number
  /// without a unit is in seconds.
  ///
  /// - Returns: nil if the text is empty, has a sign or an unknown unit, is `infinity`, exceeds
  ///   ``nanosecondsMax``, or has a fraction finer than a nanosecond.
  public static func parse(_ text: String) -> Duration? {
    var rest = text.unicodeScalars[...]
    var total: Int64 = 0
    var termCount = 0
    while true {
      rest = rest.drop { isSpace($0) }
      if rest.isEmpty { break }
      guard let term = parseTerm(&rest) else { return nil }
      let (sum, overflow) = total.addingReportingOverflow(term)
      if overflow { return nil }
      total = sum
      termCount += 1
    }
    return termCount > 0 ? .nanoseconds(total) : nil
  }

  /// Returns the span in systemd's notation, with the largest unit first, and exact to the
  /// nanosecond: `1min 30s`. A negative span begins with a minus sign.
  public static func format(_ span: Duration) -> String {
    let (seconds, attoseconds) = span.components
    if seconds < 0 || attoseconds < 0 { return "-" + format(.zero - span) }
    var parts: [String] = []
    var rest = seconds
    let largeUnits: [(Int64, String)] = [(86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")]
    for (length, unit) in largeUnits {
      if rest >= length { parts.append("\(rest / length)\(unit)") }
      rest %= length
    }
    var nanoseconds = attoseconds / 1_000_000_000
    for (length, unit) in [(1_000_000, "ms"), (1_000, "us"), (1, "ns")] as [(Int64, String)] {
      if nanoseconds >= length { parts.append("\(nanoseconds / length)\(unit)") }
      nanoseconds %= length
    }
    return parts.isEmpty ? "0s" : parts.joined(separator: " ")
  }

  /// Parses one number with its unit. Returns nanoseconds, or nil if the text is invalid.
  private static func parseTerm(_ rest: inout Substring.UnicodeScalarView) -> Int64? {
    let whole = takeDigits(&rest)
    var fraction = Substring.UnicodeScalarView()
    if rest.first == "." {
      rest.removeFirst()
      fraction = takeDigits(&rest)
      if fraction.isEmpty { return nil }
    }
    if whole.isEmpty && fraction.isEmpty { return nil }
    rest = rest.drop { isSpace($0) }
    let unitEnd = rest.firstIndex { isSpace($0) || isDigit($0) || $0 == "." } ?? rest.endIndex
    let unitName = String(rest[..<unitEnd])
    guard let unit = units.first(where: { $0.spellings.contains(unitName) })?.nanoseconds else {
      return nil
    }
    rest = rest[unitEnd...]
    return nanoseconds(whole: whole, fraction: fraction, unit: unit)
  }

  private static func nanoseconds(
    whole: Substring.UnicodeScalarView, fraction: Substring.UnicodeScalarView, unit: Int64
  ) -> Int64? {
    guard let count = whole.isEmpty ? 0 : Int64(String(whole)) else { return nil }
    let (wholePart, overflow) = count.multipliedReportingOverflow(by: unit)
    if overflow { return nil }
    // The first digit counts tenths of the unit, the second digit hundredths, and so on. A fraction
    // finer than a nanosecond is invalid.
    var fractionPart: Int64 = 0
    var place = unit
    for digit in fraction {
      let value = Int64(digit.value - 0x30)
      if value != 0 && place % 10 != 0 { return nil }
      place /= 10
      fractionPart += value * place
    }
    let (sum, sumOverflow) = wholePart.addingReportingOverflow(fractionPart)
    return sumOverflow ? nil : sum
  }

  private static func takeDigits(
    _ rest: inout Substring.UnicodeScalarView
  ) -> Substring.UnicodeScalarView {
    let digits = rest.prefix { isDigit($0) }
    rest = rest[digits.endIndex...]
    return digits
  }

  private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

  private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
    scalar == " " || scalar == "\t"
  }
}
