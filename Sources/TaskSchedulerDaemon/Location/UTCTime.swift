import TaskSchedulerCore

extension WallTime {
  /// Reads a time such as `2026-12-24T18:00:00.250Z` or `2026-12-24T19:00:00+01:00` (RFC 3339).
  ///
  /// - Returns: nil if the text is not such a time, or the year is not from 1970 to 2199.
  init?(rfc3339 text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count > Self.localCount,
      let local = try? LocalTime(String(decoding: bytes[..<Self.localCount], as: UTF8.self))
    else { return nil }
    var rest = bytes[Self.localCount...]
    guard let fraction = Self.takeFraction(&rest), let offset = Self.offset(rest) else {
      return nil
    }
    self.init(nanoseconds: (local.seconds - offset) * 1_000_000_000 + fraction)
  }

  /// The length of `2026-12-24T18:00:00`.
  private static let localCount = 19

  /// Removes a fraction of a second such as `.25`, and returns its nanoseconds. Returns 0 if there
  /// is no dot, and nil if no digit follows the dot.
  private static func takeFraction(_ rest: inout ArraySlice<UInt8>) -> Int64? {
    guard rest.first == UInt8(ascii: ".") else { return 0 }
    let digits = rest.dropFirst().prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard !digits.isEmpty else { return nil }
    rest = rest[digits.endIndex...]
    // Digits beyond the nanoseconds are dropped.
    return (0..<9).reduce(0) { sum, place in
      let index = digits.startIndex + place
      return sum * 10 + (index < digits.endIndex ? Int64(digits[index] - UInt8(ascii: "0")) : 0)
    }
  }

  /// Returns the seconds by which a local time is ahead of UTC: 0 for `Z`, 3600 for `+01:00`.
  private static func offset(_ text: ArraySlice<UInt8>) -> Int64? {
    let text = Array(text)
    if text == [UInt8(ascii: "Z")] || text == [UInt8(ascii: "z")] { return 0 }
    guard text.count == 6, text[3] == UInt8(ascii: ":"),
      text[0] == UInt8(ascii: "+") || text[0] == UInt8(ascii: "-")
    else { return nil }
    var numbers: [Int64] = []
    for place in [1, 2, 4, 5] {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(text[place]) else { return nil }
      numbers.append(Int64(text[place] - UInt8(ascii: "0")))
    }
    let (hours, minutes) = (numbers[0] * 10 + numbers[1], numbers[2] * 10 + numbers[3])
    guard hours < 24, minutes < 60 else { return nil }
    let seconds = hours * 3600 + minutes * 60
    return text[0] == UInt8(ascii: "-") ? -seconds : seconds
  }
}
