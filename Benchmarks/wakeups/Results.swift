import TaskSchedulerCore

/// A row of the tables: one kind of mix with a number of clients.
struct Row {
  let kind: ClientMix.Kind
  let count: Int

  static let all = [
    Row(kind: .uniform, count: 10), Row(kind: .uniform, count: 50),
    Row(kind: .uniform, count: 200), Row(kind: .uniform, count: 1000),
    Row(kind: .equal, count: 200), Row(kind: .round, count: 200),
    Row(kind: .fewShort, count: 200), Row(kind: .passing, count: 200),
  ]

  /// The results of one scheme for the row: wake-ups and handler runs per hour.
  struct Figures: Encodable {
    let wakeUps: Double
    let runs: Double
    /// The number of missed deadlines over the whole time, not per hour.
    let missed: Int

    init(_ tallies: [Tally], hours: Int) {
      let total = Double(tallies.count * hours)
      wakeUps = Double(tallies.reduce(0) { $0 + $1.wakeUps }) / total
      runs = Double(tallies.reduce(0) { $0 + $1.runs }) / total
      missed = tallies.reduce(0) { $0 + $1.missed }
    }
  }

  /// The results of all schemes for the row, and the lower bounds.
  struct Result: Encodable {
    let mix: String
    let clients: Int
    /// The lower bound of wake-ups per hour for any schedule.
    let leastWakeUps: Double
    let leastRuns: Double
    let schemes: [String: Figures]
    /// The number of the planner's handler runs, divided by the lower bound. This is the highest
    /// quotient of all seeds.
    let worstRuns: Double

    init(_ row: Row, hours: Int, seeds: [UInt64]) {
      let mixes = seeds.map { ClientMix(row.kind, count: row.count, hours: hours, seed: $0) }
      mix = row.kind.rawValue
      clients = row.count
      var schemes: [String: Figures] = [:]
      var planned: [Tally] = []
      for scheme in Scheme.allCases {
        let tallies = mixes.map { scheme.run($0) }
        schemes[scheme.rawValue] = Figures(tallies, hours: hours)
        if scheme == .planner { planned = tallies }
      }
      self.schemes = schemes
      let bounds = mixes.map { $0.leastRuns / Double(hours) }
      leastRuns = bounds.reduce(0, +) / Double(bounds.count)
      leastWakeUps = schemes[Scheme.everybody.rawValue]?.wakeUps ?? 0
      worstRuns = zip(planned, bounds).map { Double($0.runs) / Double(hours) / $1 }.max() ?? 0
    }

    subscript(scheme: Scheme) -> Figures {
      guard let figures = schemes[scheme.rawValue] else { preconditionFailure("no \(scheme)") }
      return figures
    }

    var name: String { "\(clients) of \(mix)" }
  }
}

extension ClientMix {
  /// The number of handler runs if each client is called exactly at its deadlines. A client that
  /// stays contributes the length of the window divided by the client's interval. A client that
  /// leaves contributes the number of its deadlines in the window.
  var leastRuns: Double {
    clients.reduce(0) { sum, client in
      guard client.departure != .never else {
        return sum + window.lowerBound.duration(to: window.upperBound) / client.interval
      }
      let interval = Instant(nanoseconds: 0).advanced(by: client.interval).nanoseconds
      let end = min(client.departure.nanoseconds, window.upperBound.nanoseconds)
      let start = min(max(client.arrival.nanoseconds, window.lowerBound.nanoseconds), end)
      let deadlines = (end - client.arrival.nanoseconds) / interval
      return sum + Double(deadlines - (start - client.arrival.nanoseconds) / interval)
    }
  }
}

/// The results of the planner on a device that also wakes for other reasons.
struct FreeWakeUps: Encodable {
  /// The number of wake-ups per hour for other reasons.
  let perHour: Int
  /// The results of a planner that ignores the wake-ups for other reasons, and of one that uses
  /// them.
  let unused: Row.Figures
  let used: Row.Figures

  static func all(hours: Int, seeds: [UInt64]) -> [FreeWakeUps] {
    [2, 4, 12, 30, 120].map { FreeWakeUps(perHour: $0, hours: hours, seeds: seeds) }
  }

  private init(perHour: Int, hours: Int, seeds: [UInt64]) {
    self.perHour = perHour
    var (unused, used): ([Tally], [Tally]) = ([], [])
    for seed in seeds {
      let mix = ClientMix(.uniform, count: 200, hours: hours, seed: seed)
      var generator = SeededGenerator(seed: seed)
      let span = mix.window.upperBound.nanoseconds - Instant.beginning.nanoseconds
      let count = UInt64(perHour) * span / 3_600_000_000_000
      let moments = (0..<count).map { _ in
        Instant.beginning.nanoseconds + UInt64.random(in: 0..<span, using: &generator)
      }
      let free = moments.sorted().map { Instant(nanoseconds: $0) }
      unused.append(Scheme.run(mix, with: PlannerDevice(usesWakeUps: false), freeWakeUps: free))
      used.append(Scheme.run(mix, with: PlannerDevice(), freeWakeUps: free))
    }
    self.unused = Row.Figures(unused, hours: hours)
    self.used = Row.Figures(used, hours: hours)
  }
}

/// A target, and whether the planner reaches it.
struct Verdict: Encodable {
  let name: String
  let value: Double
  let limit: Double
  let isReached: Bool

  private init(_ name: String, _ value: Double, atMost limit: Double) {
    self.name = name
    self.value = value
    self.limit = limit
    isReached = value <= limit
  }

  /// The targets of the planner. Benchmarks/README.md explains them.
  static func all(_ rows: [Row.Result], _ free: [FreeWakeUps], hours: Int) -> [Verdict] {
    var verdicts: [Verdict] = []
    for row in rows {
      // Wake-ups precede deadlines by 100 ms (1/6000 of ten minutes), so the window may contain one
      // more wake-up. In the mix `passing`, a client may leave before the next wake-up. The device
      // still wakes, because other clients have waited for this wake-up.
      let edge = 1 / (row.leastWakeUps * Double(hours))
      let limit = row.mix == ClientMix.Kind.passing.rawValue ? 1.02 : 1.0004 + edge
      verdicts.append(
        Verdict(
          "wake-ups, \(row.name)", row[.planner].wakeUps / row.leastWakeUps, atMost: limit))
    }
    for row in rows where row.mix == ClientMix.Kind.uniform.rawValue {
      verdicts.append(
        Verdict("handler runs, \(row.name)", row[.planner].runs / row.leastRuns, atMost: 1.3))
    }
    for figures in free {
      let saved = figures.used.wakeUps / figures.unused.wakeUps
      verdicts.append(
        Verdict("wake-ups, \(figures.perHour)/h used beside unused", saved, atMost: 1))
      verdicts.append(
        Verdict(
          "handler runs, \(figures.perHour)/h used beside unused",
          figures.used.runs / figures.unused.runs, atMost: 4.0 / 3))
    }
    verdicts.append(
      Verdict("an exact sd-event beside a timer each", exactSystemd(), atMost: 1.001))
    let missed = rows.reduce(0) { $0 + $1[.planner].missed }
      + free.reduce(0) { $0 + $1.used.missed + $1.unused.missed }
    verdicts.append(Verdict("deadlines missed", Double(missed), atMost: 0))
    return verdicts
  }
  /// Checks the measurement of systemd. With an accuracy of 1 µs, sd-event must wake as often as
  /// the scheme `timers`. Returns the ratio of the two numbers of wake-ups.
  private static func exactSystemd() -> Double {
    let mix = ClientMix(.passing, count: 50, hours: 48, seed: 1)
    let exact = SystemdDevice.run(mix) { _ in .microseconds(1) }
    let timers = Scheme.timers.run(mix)
    let (more, less) = (max(exact.wakeUps, timers.wakeUps), min(exact.wakeUps, timers.wakeUps))
    return Double(more) / Double(less)
  }
}
