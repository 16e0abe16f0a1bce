import LinuxSystem

/// The findings of a campaign. Findings that differ only in their numbers are counted together.
struct Findings {
  /// The texts of the findings without their numbers, in the order of their first occurrence.
  private var order: [String] = []
  private var counts: [String: Int] = [:]
  private var examples: [String: [String]] = [:]
  private static let examplesMax = 3

  var isEmpty: Bool { order.isEmpty }
  var count: Int { counts.values.reduce(0, +) }

  /// - Parameter application: The application; nil if the finding concerns none.
  mutating func add(_ text: String, _ application: Int?, at time: UInt64, afterKill kill: Int) {
    let kind = String(text.map { $0.isNumber ? "#" : $0 }).replacingRuns(of: "#")
    if counts[kind] == nil { order.append(kind) }
    counts[kind, default: 0] += 1
    if examples[kind, default: []].count < Self.examplesMax {
      let who = application.map { " client \($0):" } ?? ""
      examples[kind, default: []].append(
        "after kill \(kill), at \(time / 1_000_000) ms:\(who) \(text)")
    }
  }

  var text: String {
    order.map { kind in
      (["\(counts[kind] ?? 0) × \(kind)"] + (examples[kind] ?? []).map { "    " + $0 })
        .joined(separator: "\n")
    }.joined(separator: "\n")
  }
}

extension String {
  fileprivate func replacingRuns(of character: Character) -> String {
    var result = ""
    for next in self where next != character || result.last != character { result.append(next) }
    return result
  }
}

/// The intervals in which no daemon ran.
struct Outages {
  struct Outage {
    var from: UInt64
    var until: UInt64
  }

  private(set) var all: [Outage] = []
  /// The tolerance at both ends of an outage. The campaign and the daemon measure an outage
  /// differently: for the daemon, it lasts from the last activity of the old daemon until shortly
  /// before the first answer of the new one.
  private static let margin: UInt64 = 300_000_000

  mutating func add(from: UInt64, until: UInt64) { all.append(Outage(from: from, until: until)) }

  /// Returns how late an event was, not counting the time in which no daemon ran.
  func lateness(of at: UInt64, due: UInt64) -> UInt64 {
    guard at > due else { return 0 }
    return all.reduce(at - due) { late, outage in
      let (from, until) = (max(outage.from, due), min(outage.until, at))
      return from < until ? late - (until - from) : late
    }
  }

  /// Returns the latest time at which an expiration may arrive: its due time, or the end of the
  /// outage that contains the due time.
  func latestExpiration(due: UInt64) -> UInt64 {
    all.reduce(due) { due, outage in
      outage.from <= due && due <= outage.until ? outage.until : due
    }
  }

  /// Returns the latest time at which the daemon may enforce a limit that is due at the given time.
  /// After an outage in which the warning or the limit was due, the application again has the full
  /// time from the warning to the limit.
  func latestLimit(due: UInt64) -> UInt64 {
    // If the warning or the limit was due near the beginning or end of an outage, the daemon may or
    // may not have postponed it. This function therefore considers all possible times.
    var possible = [due]
    for outage in all {
      let (from, until) = (outage.from - Self.margin, outage.until + Self.margin)
      let isIn = { from <= $0 && $0 <= until }
      if possible.contains(where: { isIn($0 - Settings.expirationLead) || isIn($0) }) {
        possible.append(outage.until + Settings.expirationLead)
      }
    }
    return possible.max() ?? due
  }
}
