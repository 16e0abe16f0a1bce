/// The keep-alive handler of one application (contract §6).
public struct KeepAlive: Equatable, Sendable {
  /// The interval. The scheduler calls the handler at least once before each interval ends.
  public let interval: Duration
  /// The start of the current interval: the instant when the handler was set, or the instant of the
  /// burst that last called the handler. If that burst was slightly late, the interval starts at
  /// the planned instant of the burst.
  public internal(set) var countedFrom: Instant
  /// The instant of the last call of the handler; nil before the first call.
  public internal(set) var lastRun: Instant?

  /// The end of the current interval, by which the scheduler must have called the handler.
  public var deadline: Instant { countedFrom.advanced(by: interval) }

  /// The instant at which the scheduler calls the handler, so that the call arrives before the
  /// deadline. This instant precedes the deadline by a lead: a twentieth of the interval, at most
  /// 100 ms.
  ///
  /// A call takes about 0.1 ms from the scheduler to the application. Under load, the call takes 5
  /// ms, because it passes a timer, the event loop and a socket. Without the lead, each call would
  /// miss the deadline. A lead of 100 ms is a six-thousandth of 10 min, the default minimum
  /// interval.
  public var due: Instant { countedFrom.advanced(by: period) }

  /// The longest planned time between two calls: the interval without its lead.
  var period: Duration {
    // The division is in whole nanoseconds, so the shortest intervals have no lead.
    let lead = Duration.nanoseconds(Instant(nanoseconds: 0).advanced(by: interval).nanoseconds / 20)
    return interval - min(lead, Self.leadMax)
  }

  private static let leadMax: Duration = .milliseconds(100)

  /// The longest interval. It is longer than the life of any machine, and short enough that the
  /// arithmetic does not overflow.
  static let intervalMax: Duration = .nanoseconds(Int64.max)
}
