import LinuxSystem

/// What was found, and what was counted.
struct Findings {
  /// What broke, by the sentence without its numbers, in the order in which it was seen.
  private var order: [String] = []
  private var counts: [String: Int] = [:]
  private var examples: [String: [String]] = [:]
  private static let examplesMax = 3

  var isEmpty: Bool { order.isEmpty }
  var count: Int { counts.values.reduce(0, +) }

  /// - Parameter application: the application; nil for a finding of no application.
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

/// When there was no daemon.
struct Absences {
  struct Absence {
    var from: UInt64
    var until: UInt64
  }

  private(set) var all: [Absence] = []
  /// How far the daemon's own idea of its absence may differ from ours: it was there last when it
  /// last did something, and is back some time before it answers.
  private static let margin: UInt64 = 300_000_000

  mutating func add(from: UInt64, until: UInt64) { all.append(Absence(from: from, until: until)) }

  /// How late something was that was due then, in as much as a daemon was there meanwhile.
  func lateness(of at: UInt64, due: UInt64) -> UInt64 {
    guard at > due else { return 0 }
    return all.reduce(at - due) { late, absence in
      let (from, until) = (max(absence.from, due), min(absence.until, at))
      return from < until ? late - (until - from) : late
    }
  }

  /// When an expiration may have come at the latest that was due then: at once after the absence.
  func latestExpiration(due: UInt64) -> UInt64 {
    all.reduce(due) { due, absence in
      absence.from <= due && due <= absence.until ? absence.until : due
    }
  }

  /// When a limit may have struck at the latest that was due then: where the daemon was away for
  /// it, or for the warning before it, the application has its lead again, and so on from there.
  func latestLimit(due: UInt64) -> UInt64 {
    // Near the edge of an absence it cannot be told: it may have been moved, or not.
    var possible = [due]
    for absence in all {
      let (from, until) = (absence.from - Self.margin, absence.until + Self.margin)
      let isIn = { from <= $0 && $0 <= until }
      if possible.contains(where: { isIn($0 - Settings.expirationLead) || isIn($0) }) {
        possible.append(absence.until + Settings.expirationLead)
      }
    }
    return possible.max() ?? due
  }
}
