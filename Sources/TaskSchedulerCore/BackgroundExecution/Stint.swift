/// One stay of an instance in the background state, with the values that exist only during the
/// stay (contract §4, §5).
struct Stint: Equatable, Sendable {
  var time: BackgroundTime
  var suspension = Suspension.none
  /// The deadline by which an instance that was launched or adopted in the background must open its
  /// event stream; nil if no such deadline is pending.
  var launchEnds: Instant?
  /// The measurement of the instance's resource use; nil until the measurement begins.
  var use: UseMeasurement?

  /// The progress of the daemon in stopping the processes.
  enum Suspension: Equatable {
    case none
    /// The agent is muting the audio of the instance. The scheduler suspends the instance when the
    /// agent reports the mute, or at this instant at the latest.
    case muting(until: Instant)
    /// The daemon is stopping the processes.
    case stopping
    /// The daemon could not stop all processes. The scheduler tries to suspend the instance again
    /// at this instant.
    case failed(retryAt: Instant)
  }
}

extension Stint {
  init(at now: Instant) {
    time = BackgroundTime(at: now)
  }
}
