import TaskSchedulerCore

/// A place in the simulated world, in meters east and north of its middle.
struct SimulatedPlace: Equatable {
  var east: Double
  var north: Double

  /// The middle of the simulated world, and the lengths of a degree there.
  private static let middle = (latitude: 48.137, longitude: 11.575)
  private static let metersPerDegree = (east: 74_206.0, north: 111_195.0)

  var coordinate: Coordinate {
    let coordinate = Coordinate(
      latitude: Self.middle.latitude + north / Self.metersPerDegree.north,
      longitude: Self.middle.longitude + east / Self.metersPerDegree.east)
    guard let coordinate else { preconditionFailure("the place is not on the earth: \(self)") }
    return coordinate
  }

  func moved(east: Double, north: Double) -> SimulatedPlace {
    SimulatedPlace(east: self.east + east, north: self.north + north)
  }

  /// Returns a place at a distance, in a direction drawn at random.
  func moved(by distance: Double, _ chance: inout SeededGenerator) -> SimulatedPlace {
    // A point within a circle, so that all directions are equally probable.
    while true {
      let (east, north) = (chance.share() * 2 - 1, chance.share() * 2 - 1)
      let length = (east * east + north * north).squareRoot()
      guard (0.1...1).contains(length) else { continue }
      return moved(east: east / length * distance, north: north / length * distance)
    }
  }

  /// Returns the place on the straight line to another place, after a share of the line.
  func onTheWay(to other: SimulatedPlace, share: Double) -> SimulatedPlace {
    moved(east: (other.east - east) * share, north: (other.north - north) * share)
  }

  func distance(to other: SimulatedPlace) -> Double {
    let (east, north) = (other.east - east, other.north - north)
    return (east * east + north * north).squareRoot()
  }
}

extension SeededGenerator {
  /// Returns a number from 0 to less than 1.
  mutating func share() -> Double { Double(below(UInt64(1) << 32)) / Double(UInt64(1) << 32) }

  /// Returns a number within a range.
  mutating func between(_ low: Double, _ high: Double) -> Double { low + share() * (high - low) }
}

/// The journey of the simulated machine: rests, walks and drives between a few places.
///
/// The true position depends only on the seed and the time. If shrinking skips an action, the
/// journey stays the same.
struct SimulatedJourney {
  /// A part of the journey: a rest at a place, or the way to another one.
  private struct Leg {
    var begins: UInt64
    var ends: UInt64
    var from: SimulatedPlace
    var to: SimulatedPlace
    /// The time without sight of the sky, in which no source finds the position.
    var tunnel: Range<UInt64>
  }

  private let seed: UInt64
  /// The places at which the machine rests.
  let places: [SimulatedPlace]
  private var leg: Leg
  private var legCount: UInt64 = 0

  /// The highest speed of the machine, in meters per second. It is below the speed for which the
  /// scheduler plans its looks.
  static let speedMax = 36.0

  init(seed: UInt64, at now: UInt64) {
    self.seed = seed
    var chance = SeededGenerator(seed: seed, .journey)
    let home = SimulatedPlace(east: 0, north: 0)
    places = (0..<5).reduce(into: [home]) { places, _ in
      let distance = chance.pick([400, 900, 2500, 6000]) * chance.between(0.7, 1.3)
      places.append(chance.pick(places).moved(by: distance, &chance))
    }
    leg = Leg(begins: now, ends: now, from: home, to: home, tunnel: now..<now)
  }

  /// Returns the true position at `now`, which must not be before the last call.
  mutating func place(at now: UInt64) -> SimulatedPlace {
    advance(to: now)
    let length = max(1, leg.ends - leg.begins)
    return leg.from.onTheWay(to: leg.to, share: Double(now - leg.begins) / Double(length))
  }

  /// Returns whether the machine is in a tunnel at `now`, which must not be before the last call.
  mutating func isInTunnel(at now: UInt64) -> Bool {
    advance(to: now)
    return leg.tunnel.contains(now)
  }

  private mutating func advance(to now: UInt64) {
    while leg.ends <= now {
      legCount += 1
      var chance = SeededGenerator(seed: seed, .journey, legCount)
      leg = legCount.isMultiple(of: 2) ? way(&chance) : rest(&chance)
    }
  }

  private func rest(_ chance: inout SeededGenerator) -> Leg {
    let length = chance.pick([60, 200, 600, 1500]) * chance.between(0.5, 1.5)
    let ends = leg.ends + UInt64(length * Double(Nanoseconds.second))
    return Leg(
      begins: leg.ends, ends: ends, from: leg.to, to: leg.to, tunnel: leg.ends..<leg.ends)
  }

  private func way(_ chance: inout SeededGenerator) -> Leg {
    let from = leg.to
    let to = chance.pick(places.filter { $0 != from })
    let distance = from.distance(to: to)
    let isWalk = distance < 1500 && chance.happens(700)
    let speed = isWalk ? chance.between(0.8, 2) : chance.between(7, Self.speedMax)
    let length = UInt64(max(1, distance / speed) * Double(Nanoseconds.second))
    var tunnel = leg.ends..<leg.ends
    if !isWalk, chance.happens(300) {
      let begins = leg.ends + chance.below(length)
      tunnel = begins..<min(begins + chance.below(200 * Nanoseconds.second), leg.ends + length)
    }
    return Leg(begins: leg.ends, ends: leg.ends + length, from: from, to: to, tunnel: tunnel)
  }
}
