/// One stretch in the background state: what begins and ends with it (contract §4, §5).
struct Stint: Equatable, Sendable {
  var time: BackgroundTime
  var suspension = Suspension.none
  /// When the time to open the event stream ends, for an instance that started in the background.
  var launchEnds: Instant?
  /// The measurement of its use of resources; nil until it begins.
  var use: UseMeasurement?

  /// The progress of stopping the processes.
  enum Suspension: Equatable {
    case none
    /// The daemon is stopping the processes.
    case stopping
    /// The processes could not all be stopped; the daemon tries again at the instant given.
    case failed(retryAt: Instant)
  }
}

extension Stint {
  init(at now: Instant) {
    time = BackgroundTime(at: now)
  }
}
