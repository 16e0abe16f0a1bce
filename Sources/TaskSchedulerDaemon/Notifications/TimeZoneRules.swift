/// The offsets of one time zone from UTC, parsed from a TZif file (RFC 9636): the recorded
/// transitions, and a rule for the time after the last of them.
struct TimeZoneRules: Hashable {
  private typealias Change = PosixTimeZone.Change

  private let offsetFirst: Int
  private let changes: [PosixTimeZone.Change]
  /// The rule that applies after the last recorded transition; nil if the offset then stays the
  /// same.
  private let rule: PosixTimeZone?

  /// The valid range of offsets from UTC, in seconds (RFC 9636, 3.2).
  private static let offsets = -89_999...93_599

  /// Returns the first moment at which the local time is `local` or later. The result is in seconds
  /// since 1970-01-01T00:00:00 UTC.
  ///
  /// If a clock change skips `local`, the result is the moment of the change.
  func firstMoment(showing local: Int64) -> Int64 {
    var at = local - Int64(Self.offsets.upperBound)
    let end = local - Int64(Self.offsets.lowerBound)
    var offset = offset(at: at)
    for change in changes(after: at, through: end) {
      let moment = max(at, local - Int64(offset))
      if moment < change.at { return moment }
      (at, offset) = (change.at, change.offset)
    }
    return max(at, local - Int64(offset))
  }

  /// Returns the local time of a moment, in seconds since 1970-01-01T00:00:00 local time.
  func local(at moment: Int64) -> Int64 {
    moment + Int64(offset(at: moment))
  }

  private func offset(at moment: Int64) -> Int {
    guard let last = changes.last else { return ruled(at: moment) ?? offsetFirst }
    if moment >= last.at { return ruled(at: moment) ?? last.offset }
    let index = indexOfFirstChange(after: moment)
    return index == 0 ? offsetFirst : changes[index - 1].offset
  }

  /// Returns the offset that the rule gives for a moment; nil if there is no rule.
  private func ruled(at moment: Int64) -> Int? {
    guard let rule else { return nil }
    return yearly(rule, around: moment).last { $0.at <= moment }?.offset ?? rule.standardOffset
  }

  /// Returns the rule's transitions in the year of a moment, the year before and the year after.
  private func yearly(_ rule: PosixTimeZone, around moment: Int64) -> [Change] {
    // Outside this range, the arithmetic below could overflow. The range extends over thousands of
    // years, and all schedules end in 2199.
    guard abs(moment) < 1 << 40 else { return [] }
    let year = LocalDay(atSecond: moment).year
    return (year - 1...year + 1).flatMap { rule.changes(inYear: $0) }
  }

  private func changes(after start: Int64, through end: Int64) -> [Change] {
    var found: [Change] = []
    var index = indexOfFirstChange(after: start)
    while index < changes.count, changes[index].at <= end {
      found.append(changes[index])
      index += 1
    }
    guard index == changes.count, let rule else { return found }
    let ruleStart = max(start, changes.last?.at ?? .min)
    return found + yearly(rule, around: start).filter { $0.at > ruleStart && $0.at <= end }
  }

  private func indexOfFirstChange(after moment: Int64) -> Int {
    var (low, high) = (0, changes.count)
    while low < high {
      let middle = (low + high) / 2
      if changes[middle].at <= moment { low = middle + 1 } else { high = middle }
    }
    return low
  }

  // MARK: Reading

  /// Parses a TZif file.
  ///
  /// - Returns: nil if the file is malformed, has version 1, or counts leap seconds.
  init?(_ bytes: [UInt8]) {
    var reader = Reader(bytes: bytes)
    // The first data block has 32-bit times. This code uses only the second block, which has the
    // same transitions with 64-bit times.
    guard let short = reader.header(), short.version >= UInt8(ascii: "2"),
      reader.skip(short.bodyCount(timeSize: 4)), let header = reader.header(),
      header.types > 0, header.leapSeconds == 0,
      header.bodyCount(timeSize: 8) <= reader.left
    else { return nil }
    let times = (0..<header.times).map { _ in reader.integer(size: 8) }
    let kinds = (0..<header.times).map { _ in reader.integer(size: 1) & 0xff }
    let offsets = (0..<header.types).map { _ in
      let offset = Int(reader.integer(size: 4))
      _ = reader.skip(2)
      return offset
    }
    guard offsets.allSatisfy(Self.offsets.contains), kinds.allSatisfy({ $0 < header.types }),
      zip(times, times.dropFirst()).allSatisfy({ $0 < $1 }),
      reader.skip(header.names + header.markers), let footer = reader.footer()
    else { return nil }
    offsetFirst = offsets[0]
    changes = zip(times, kinds).map { Change(at: $0, offset: offsets[Int($1)]) }
    rule = PosixTimeZone(footer)
    if rule == nil, !footer.isEmpty { return nil }
  }

  private struct Header {
    let version: UInt8
    let markers: Int
    let leapSeconds: Int
    let times: Int
    let types: Int
    let names: Int

    func bodyCount(timeSize: Int) -> Int {
      times * (timeSize + 1) + types * 6 + names + leapSeconds * (timeSize + 4) + markers
    }
  }

  private struct Reader {
    let bytes: [UInt8]
    var index = 0
    var left: Int { bytes.count - index }

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func skip(_ count: Int) -> Bool {
      guard count <= left else { return false }
      index += count
      return true
    }

    /// Reads a signed big-endian integer. The caller checks that enough bytes are left.
    mutating func integer(size: Int) -> Int64 {
      var number: Int64 = bytes[index] < 0x80 ? 0 : -1
      for byte in bytes[index..<index + size] { number = number << 8 | Int64(byte) }
      index += size
      return number
    }

    mutating func header() -> Header? {
      guard left >= 44, bytes[index..<index + 4].elementsEqual("TZif".utf8) else { return nil }
      let version = bytes[index + 4]
      index += 20
      let counts = (0..<6).map { _ in Int(integer(size: 4)) }
      guard counts.allSatisfy({ $0 >= 0 && $0 <= bytes.count }) else { return nil }
      return Header(
        version: version, markers: counts[0] + counts[1], leapSeconds: counts[2], times: counts[3],
        types: counts[4], names: counts[5])
    }

    /// Reads the footer: the text between two newlines after the data blocks.
    mutating func footer() -> ArraySlice<UInt8>? {
      let newline = UInt8(ascii: "\n")
      guard left > 0, bytes[index] == newline else { return nil }
      let rest = bytes[(index + 1)...]
      return rest.firstIndex(of: newline).map { rest[..<$0] }
    }
  }
}
