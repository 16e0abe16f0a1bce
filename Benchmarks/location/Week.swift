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

/// A place, in meters east and north of the home.
struct Place: Equatable {
  var east: Double
  var north: Double

  /// The coordinates of the home.
  private static let home = (latitude: 48.137, longitude: 11.575)
  /// The lengths of a degree of longitude and of a degree of latitude at the home.
  private static let metersPerDegree = (east: 74_206.0, north: 111_195.0)

  var coordinate: Coordinate {
    let coordinate = Coordinate(
      latitude: Place.home.latitude + north / Place.metersPerDegree.north,
      longitude: Place.home.longitude + east / Place.metersPerDegree.east)
    guard let coordinate else { preconditionFailure("the place is not on the earth: \(self)") }
    return coordinate
  }

  func distance(to other: Place) -> Double {
    let (east, north) = (other.east - east, other.north - north)
    return (east * east + north * north).squareRoot()
  }

  func onTheWay(to other: Place, share: Double) -> Place {
    Place(
      east: east + (other.east - east) * share, north: north + (other.north - north) * share)
  }

  /// Returns the place at the given distance in a random direction.
  func moved(by distance: Double, using generator: inout SeededGenerator) -> Place {
    while true {
      let (east, north) = (
        Double.random(in: -1...1, using: &generator), Double.random(in: -1...1, using: &generator)
      )
      let length = (east * east + north * north).squareRoot()
      guard (0.1...1).contains(length) else { continue }
      return Place(
        east: self.east + east / length * distance, north: self.north + north / length * distance)
    }
  }
}

/// A week of a phone: its route, and the regions of its applications. Times are in seconds since
/// Monday, 0:00.
///
/// The phone rests at home, at work and at a lake. On working days, it drives 23 km to work and
/// back, and walks to a restaurant. On two evenings, it walks to a shop. From Saturday to Sunday,
/// it is at the lake, 165 km away.
struct Week {
  /// One region of one application.
  struct Monitored {
    var application: Int
    var region: Region
  }

  static let applicationCount = 10
  static let regionCount = 20

  let seconds: Int
  private(set) var regions: [Monitored] = []
  /// The ends of the straight parts of the route, in order. Between two successive points at the
  /// same place, the phone rests.
  private var points: [(at: Double, place: Place)] = []

  private let home = Place(east: 0, north: 0)
  private let work = Place(east: 21_000, north: 9_000)
  private let restaurant = Place(east: 21_450, north: 8_700)
  private let shop = Place(east: -500, north: 800)
  private let lake = Place(east: -40_000, north: -160_000)

  private static let walk = 1.4
  private static let motorway = 34.0

  init(seed: UInt64, days: Int) {
    seconds = days * 86_400
    var generator = SeededGenerator(seed: seed)
    points = [(0, home)]
    for day in 0..<days { addDay(day, &generator) }
    rest(until: Double(seconds))
    for application in 0..<Week.applicationCount { addRegions(of: application, &generator) }
  }

  // MARK: The route

  private mutating func addDay(_ day: Int, _ generator: inout SeededGenerator) {
    func time(_ hours: Double) -> Double {
      Double(day) * 86_400 + hours * 3600 + Double.random(in: -900...900, using: &generator)
    }
    switch day % 7 {
    case 0..<5:
      drive(to: work, at: time(7.75), &generator)
      go(to: restaurant, at: time(12.25), speed: Week.walk)
      go(to: work, at: time(13), speed: Week.walk)
      drive(to: home, at: time(17.25), &generator)
      guard day % 2 == 1 else { return }
      go(to: shop, at: time(19), speed: Week.walk)
      go(to: home, at: time(19.75), speed: Week.walk)
    case 5: go(to: lake, at: time(9), speed: Week.motorway)
    default:
      let shore = lake.moved(by: 2500, using: &generator)
      go(to: shore, at: time(10), speed: Week.walk)
      go(to: lake, at: time(12), speed: Week.walk)
      go(to: home, at: time(16), speed: Week.motorway)
    }
  }

  private mutating func rest(until time: Double) {
    guard let last = points.last, last.at < time else { return }
    points.append((time, last.place))
  }

  private mutating func go(to place: Place, at time: Double, speed: Double) {
    rest(until: time)
    guard let last = points.last else { return }
    points.append((last.at + last.place.distance(to: place) / speed, place))
  }

  /// Adds a drive that consists of straight parts of about 2 km, with stops after some parts.
  private mutating func drive(
    to place: Place, at time: Double, _ generator: inout SeededGenerator
  ) {
    rest(until: time)
    guard let begin = points.last?.place else { return }
    let count = Int((begin.distance(to: place) / 2000).rounded(.up))
    for part in 1...count {
      let next = begin.onTheWay(to: place, share: Double(part) / Double(count))
      go(to: next, at: 0, speed: Double.random(in: 9...28, using: &generator))
      guard Int.random(in: 0..<3, using: &generator) == 0, let last = points.last else { continue }
      rest(until: last.at + Double.random(in: 15...70, using: &generator))
    }
  }

  /// Returns the true position at a time.
  func place(at time: Double) -> Place {
    let index = part(at: time)
    let (one, other) = (points[index], points[index + 1])
    let share = other.at == one.at ? 0 : (time - one.at) / (other.at - one.at)
    return one.place.onTheWay(to: other.place, share: min(1, share))
  }

  func isMoving(at time: Double) -> Bool {
    let index = part(at: time)
    return points[index].place != points[index + 1].place
  }

  /// Returns the index of the last point that the phone has reached at the given time. The phone is
  /// on the straight part from this point to the next one.
  private func part(at time: Double) -> Int {
    var (low, high) = (0, points.count - 2)
    while low < high {
      let middle = (low + high + 1) / 2
      if points[middle].at <= time { low = middle } else { high = middle - 1 }
    }
    return low
  }

  // MARK: Regions

  /// Adds the regions of an application. The first three regions are at places where the phone
  /// rests. The other regions are near the route, or anywhere within 40 km of the home, as the
  /// regions of shops would be.
  private mutating func addRegions(of application: Int, _ generator: inout SeededGenerator) {
    let own = [home, work, restaurant, shop, lake].shuffled(using: &generator).prefix(3)
    for number in 0..<Week.regionCount {
      let center: Place
      if number < own.count {
        center = own[number].moved(
          by: Double.random(in: 0...30, using: &generator), using: &generator)
      } else if number.isMultiple(of: 3) {
        let distance = Double.random(in: 0...40_000, using: &generator)
        center = home.moved(by: distance, using: &generator)
      } else {
        let time = Double.random(in: 0..<Double(seconds), using: &generator)
        let distance = Double.random(in: 100...5000, using: &generator)
        center = place(at: time).moved(by: distance, using: &generator)
      }
      let radii: [Double] = [100, 150, 200, 500, 1000]
      let radius = radii.randomElement(using: &generator) ?? 100
      guard let id = RegionID("region-\(number)"),
        let region = Region(id, center: center.coordinate, radius: radius)
      else { preconditionFailure("a region is not valid") }
      regions.append(Monitored(application: application, region: region))
    }
  }
}
