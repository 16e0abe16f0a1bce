/// A point in time: nanoseconds of CLOCK_BOOTTIME, which goes on while the machine sleeps.
///
/// The core is handed its instants; it reads no clock.
public struct Instant: Hashable, Comparable, Sendable {
  public var nanoseconds: UInt64

  public init(nanoseconds: UInt64) {
    self.nanoseconds = nanoseconds
  }

  public static func < (lhs: Instant, rhs: Instant) -> Bool {
    lhs.nanoseconds < rhs.nanoseconds
  }

  /// The instant `duration` (not negative) after this one; saturates at the end of time.
  public func advanced(by duration: Duration) -> Instant {
    let (seconds, attoseconds) = duration.components
    precondition(seconds >= 0 && attoseconds >= 0, "time only goes forward")
    let (whole, isTooLong) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    let (added, isTooFar) = nanoseconds.addingReportingOverflow(whole)
    let (sum, isTooFarByParts) = added.addingReportingOverflow(
      UInt64(attoseconds / 1_000_000_000))
    return Instant(nanoseconds: isTooLong || isTooFar || isTooFarByParts ? .max : sum)
  }

  /// The instant `duration` (not negative) before this one; saturates at the beginning of time.
  public func earlier(by duration: Duration) -> Instant {
    let time = Instant(nanoseconds: 0).advanced(by: duration).nanoseconds
    return Instant(nanoseconds: nanoseconds - min(time, nanoseconds))
  }

  /// How long it is from this instant to `later`; zero if `later` is past.
  public func duration(to later: Instant) -> Duration {
    later <= self ? .zero : .nanoseconds(Int64(clamping: later.nanoseconds - nanoseconds))
  }
}
