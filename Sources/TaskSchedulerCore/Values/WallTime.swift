/// A point in time of the wall clock: nanoseconds of CLOCK_REALTIME since 1970-01-01 00:00:00 UTC.
///
/// Only notifications, locations and logs use wall time, because the wall clock jumps when it is
/// set. Every other time of the contract is an ``Instant``.
public struct WallTime: Hashable, Comparable, Sendable {
  public var nanoseconds: Int64

  public init(nanoseconds: Int64) {
    self.nanoseconds = nanoseconds
  }

  public static func < (lhs: WallTime, rhs: WallTime) -> Bool {
    lhs.nanoseconds < rhs.nanoseconds
  }
}
