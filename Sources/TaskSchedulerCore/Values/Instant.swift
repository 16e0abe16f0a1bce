/// A point in time: nanoseconds of CLOCK_BOOTTIME, which includes the time that the machine sleeps.
///
/// The core reads no clock. The caller passes the current instant to it.
public struct Instant: Equatable, Comparable, Sendable {
  public var nanoseconds: UInt64

  public init(nanoseconds: UInt64) {
    self.nanoseconds = nanoseconds
  }

  public static func < (lhs: Instant, rhs: Instant) -> Bool {
    lhs.nanoseconds < rhs.nanoseconds
  }

  /// Returns the instant that is `duration` after this instant. If the type cannot represent that
  /// instant, returns the last instant of the type. `duration` must not be negative.
  public func advanced(by duration: Duration) -> Instant {
    let (seconds, attoseconds) = duration.components
    precondition(seconds >= 0 && attoseconds >= 0, "a duration is negative")
    let (whole, isTooLong) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    let (added, isTooFar) = nanoseconds.addingReportingOverflow(whole)
    let (sum, isTooFarByParts) = added.addingReportingOverflow(
      UInt64(attoseconds / 1_000_000_000))
    return Instant(nanoseconds: isTooLong || isTooFar || isTooFarByParts ? .max : sum)
  }

  /// Returns the instant that is `duration` before this instant. If that would be before instant 0,
  /// returns instant 0. `duration` must not be negative.
  public func earlier(by duration: Duration) -> Instant {
    let time = Instant(nanoseconds: 0).advanced(by: duration).nanoseconds
    return Instant(nanoseconds: nanoseconds - min(time, nanoseconds))
  }

  /// Returns the duration from this instant to `later`; zero if `later` is not after this instant.
  public func duration(to later: Instant) -> Duration {
    later <= self ? .zero : .nanoseconds(Int64(clamping: later.nanoseconds - nanoseconds))
  }
}
