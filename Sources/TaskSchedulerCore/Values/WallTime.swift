/// A point in time by the wall clock: nanoseconds of CLOCK_REALTIME since 1970-01-01 00:00:00 UTC.
///
/// Used for notifications and logs only; the clock may be set, and then it jumps. Nothing of the
/// contract but notifications depends on it.
public struct WallTime: Hashable, Comparable, Sendable {
  public var nanoseconds: Int64

  public init(nanoseconds: Int64) {
    self.nanoseconds = nanoseconds
  }

  public static func < (lhs: WallTime, rhs: WallTime) -> Bool {
    lhs.nanoseconds < rhs.nanoseconds
  }
}
