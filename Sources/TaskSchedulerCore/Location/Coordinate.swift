/// A place on the earth (WGS 84).
public struct Coordinate: Hashable, Sendable {
  /// The latitude in degrees, -90 to 90; positive north of the equator.
  public let latitude: Double
  /// The longitude in degrees, -180 to 180; positive east of Greenwich.
  public let longitude: Double

  /// Creates a place; nil if a value is not a number or out of its range.
  public init?(latitude: Double, longitude: Double) {
    guard (-90...90).contains(latitude), (-180...180).contains(longitude) else { return nil }
    self.latitude = latitude
    self.longitude = longitude
  }

  /// The mean radius of the earth, in meters (IUGG).
  private static let earthRadius = 6_371_008.8

  /// Returns the straight distance to another place, in meters. Up to 100 km, the distance along
  /// the surface is at most 1.1 m longer.
  public func distance(to other: Coordinate) -> Double {
    let (one, two) = (unitVector, other.unitVector)
    let (x, y, z) = (one.x - two.x, one.y - two.y, one.z - two.z)
    return Self.earthRadius * (x * x + y * y + z * z).squareRoot()
  }

  private var unitVector: (x: Double, y: Double, z: Double) {
    let radius = Self.cosine(latitude)
    return (
      radius * Self.cosine(longitude), radius * Self.sine(longitude), Self.sine(latitude)
    )
  }

  // The standard library has no trigonometry. The results of the C library differ between its
  // versions, but a replay must have the same results with every version.

  /// Returns the sine of an angle in degrees, -450 to 450. The error is below 1e-15.
  static func sine(_ degrees: Double) -> Double {
    // Maps the angle to -90 ... 90 without a change of its sine.
    var angle = degrees.remainder(dividingBy: 360)
    if angle > 90 { angle = 180 - angle } else if angle < -90 { angle = -180 - angle }
    let x = angle * .pi / 180
    // The Taylor series. Its next term is below 1e-16 at 90 degrees.
    var (sum, term, n) = (x, x, 1.0)
    while n < 21 {
      term *= -x * x / ((n + 1) * (n + 2))
      sum += term
      n += 2
    }
    return sum
  }

  private static func cosine(_ degrees: Double) -> Double { sine(degrees + 90) }
}
