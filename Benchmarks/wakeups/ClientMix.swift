import TaskSchedulerCore

/// The random number generator SplitMix64 (Steele, Lea, Flood 2014). The seed determines all
/// numbers.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// One application with a keep-alive handler.
struct Client {
  let interval: Duration
  let arrival: Instant
  /// The time at which the client leaves; `Instant.never` if it stays.
  let departure: Instant
}

extension Instant {
  static let never = Instant(nanoseconds: .max)

  /// The start of virtual time. It is not 0, because sd-event uses 0 for "no time".
  static let beginning = Instant(nanoseconds: 1_000_000_000_000)

  static func - (later: Instant, earlier: Instant) -> Duration { earlier.duration(to: later) }
}

extension Duration {
  static func minutes(_ count: Int) -> Duration { .seconds(60 * count) }
  static func hours(_ count: Int) -> Duration { .seconds(3600 * count) }

  var inHours: Double {
    (Double(components.seconds) + Double(components.attoseconds) / 1e18) / 3600
  }
}

/// A group of clients, and the period of the measurement.
struct ClientMix {
  /// The kinds of mixes, named by the intervals of their clients.
  enum Kind: String, CaseIterable {
    case uniform = "10–60 min"
    case equal = "15 min"
    case round = "10, 15, 20, 30, 60 min"
    case fewShort = "45–60 min, some 10–15"
    case passing = "10–60 min, come and go"
  }

  let clients: [Client]
  /// The period of the measurement. It begins after two hours, because the first clients take up to
  /// an hour to arrive, and their first intervals take up to an hour to end.
  let window: Range<Instant>

  init(_ kind: Kind, count: Int, hours: Int, seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let from = Instant.beginning.advanced(by: .hours(2))
    let end = from.advanced(by: .hours(hours))
    window = from..<end
    func chance(_ range: ClosedRange<Int64>) -> Duration {
      .nanoseconds(Int64.random(in: range, using: &generator))
    }
    func between(_ least: Int64, _ most: Int64) -> Duration {
      chance(least * 60_000_000_000...most * 60_000_000_000)
    }
    func interval(of index: Int) -> Duration {
      switch kind {
      case .uniform, .passing: between(10, 60)
      case .equal: .minutes(15)
      case .round: .minutes([10, 15, 20, 30, 60].randomElement(using: &generator) ?? 10)
      case .fewShort: index % 20 == 0 ? between(10, 15) : between(45, 60)
      }
    }
    guard kind == .passing else {
      clients = (0..<count).map {
        Client(
          interval: interval(of: $0), arrival: Instant.beginning.advanced(by: between(0, 60)),
          departure: .never)
      }
      return
    }
    // There are `count` places. A client takes a place for up to four hours. Up to ten minutes
    // later, the next client takes the place.
    var passing: [Client] = []
    for index in 0..<count {
      var arrival = Instant.beginning.advanced(by: between(0, 60))
      while arrival < end {
        let departure = arrival.advanced(by: between(1, 240))
        passing.append(
          Client(interval: interval(of: index), arrival: arrival, departure: departure))
        arrival = departure.advanced(by: between(0, 10))
      }
    }
    clients = passing
  }

  /// The arrivals and departures of all clients, in order of time.
  var changes: [(at: Instant, client: Int, arrives: Bool)] {
    var changes: [(at: Instant, client: Int, arrives: Bool)] = []
    for (index, client) in clients.enumerated() {
      changes.append((client.arrival, index, true))
      if client.departure != .never { changes.append((client.departure, index, false)) }
    }
    return changes.sorted { ($0.at, $0.client) < ($1.at, $1.client) }
  }
}
