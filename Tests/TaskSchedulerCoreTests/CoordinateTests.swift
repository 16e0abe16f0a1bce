import Glibc
import Testing

@testable import TaskSchedulerCore

@Suite("§17 Places and distances")
struct CoordinateTests {
  @Test(
    "A coordinate out of range, or that is no number, does not exist",
    arguments: [
      (90.001, 0.0), (-91, 0), (0, 180.5), (0, -181), (.nan, 0), (0, .nan), (.infinity, 0),
    ])
  func invalid(latitude: Double, longitude: Double) {
    #expect(Coordinate(latitude: latitude, longitude: longitude) == nil)
  }

  @Test("The sine is that of the C library to 15 digits")
  func sine() {
    for degrees in stride(from: -450.0, through: 450, by: 0.37) {
      #expect(abs(Coordinate.sine(degrees) - Glibc.sin(degrees * .pi / 180)) < 2e-15)
    }
  }

  @Test("Distances are right within 1 m up to 100 km, also at the poles and the date line")
  func distances() throws {
    // The expected distance comes from the haversine formula with the same radius.
    func haversine(_ one: Coordinate, _ two: Coordinate) -> Double {
      let radians = Double.pi / 180
      let (a, b) = (one.latitude * radians, two.latitude * radians)
      let (dLat, dLon) = (b - a, (two.longitude - one.longitude) * radians)
      let h =
        Glibc.pow(Glibc.sin(dLat / 2), 2) + Glibc.cos(a) * Glibc.cos(b)
        * Glibc.pow(Glibc.sin(dLon / 2), 2)
      return 2 * 6_371_008.8 * Glibc.asin(h.squareRoot())
    }
    let pairs = [
      (52.52, 13.405, 52.5301, 13.4), (0, 0, 0.5, 0.5), (89.9999, 10, 89.9999, -170),
      (10, 179.9999, 10, -179.9999), (-33.86, 151.2, -33.2, 151.5),
    ]
    for (a, b, c, d) in pairs {
      let one = try #require(Coordinate(latitude: a, longitude: b))
      let two = try #require(Coordinate(latitude: c, longitude: d))
      #expect(abs(one.distance(to: two) - haversine(one, two)) < 1)
      #expect(one.distance(to: two) == two.distance(to: one))
    }
    #expect(home.distance(to: home) == 0)
  }

  @Test("Values of a location that are no numbers or out of range are unknown")
  func values() {
    let location = Location(
      home, accuracy: 0, altitude: .infinity, speed: -1, course: 360,
      time: WallTime(nanoseconds: 0))
    #expect(location.accuracy == nil && location.altitude == nil)
    #expect(location.speed == nil && location.course == nil)
    #expect(Location(home, accuracy: .nan, time: WallTime(nanoseconds: 0)).accuracy == nil)
  }

  @Test("A region has a radius of 100 m to 100 km, and an id of 1 to 128 bytes")
  func regions() throws {
    let id = try #require(RegionID("office"))
    for radius in [99.9, 100_001, .nan, -.infinity, 0] {
      #expect(Region(id, center: home, radius: radius) == nil)
    }
    #expect(Region(id, center: home, radius: 100) != nil)
    #expect(RegionID("") == nil)
    #expect(RegionID(String(repeating: "a", count: 129)) == nil)
  }
}
