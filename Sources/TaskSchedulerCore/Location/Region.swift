/// The id of a region, unique within its application. Names with different bytes are different ids,
/// as in the store, even if Swift's `String` considers the names equal.
public struct RegionID: Hashable, Comparable, Sendable {
  public let name: String

  /// The maximum length, in bytes.
  public static let bytesMax = 128

  /// Creates an id; nil if the name is empty or longer than ``bytesMax``.
  public init?(_ name: String) {
    guard (1...Self.bytesMax).contains(name.utf8.count) else { return nil }
    self.name = name
  }

  public static func == (lhs: RegionID, rhs: RegionID) -> Bool {
    lhs.name.utf8.elementsEqual(rhs.name.utf8)
  }

  public static func < (lhs: RegionID, rhs: RegionID) -> Bool {
    lhs.name.utf8.lexicographicallyPrecedes(rhs.name.utf8)
  }

  public func hash(into hasher: inout Hasher) {
    for byte in name.utf8 { hasher.combine(byte) }
  }
}

/// A circle on the earth. An application learns when the machine enters and leaves it.
public struct Region: Equatable, Sendable {
  public var id: RegionID
  public var center: Coordinate
  /// The radius in meters; see ``radii``.
  public let radius: Double
  public var notifiesOnEntry: Bool
  public var notifiesOnExit: Bool

  /// The allowed radii, in meters. Source: contract §17; beyond the maximum,
  /// ``Coordinate/distance(to:)`` is not exact.
  public static let radii: ClosedRange<Double> = 100...100_000

  /// Creates a region; nil if the radius is out of bounds.
  public init?(
    _ id: RegionID, center: Coordinate, radius: Double, notifiesOnEntry: Bool = true,
    notifiesOnExit: Bool = true
  ) {
    guard Self.radii.contains(radius) else { return nil }
    self.id = id
    self.center = center
    self.radius = radius
    self.notifiesOnEntry = notifiesOnEntry
    self.notifiesOnExit = notifiesOnExit
  }
}

/// The fact that the machine entered or left a region.
public struct RegionCrossing: Equatable, Sendable {
  public var region: RegionID
  /// Whether the machine is inside now.
  public var isInside: Bool

  public init(_ region: RegionID, isInside: Bool) {
    self.region = region
    self.isInside = isInside
  }
}
