/// A termination in progress. Its first reason stays, except that the order of a person replaces a
/// reason of the daemon (contract §14).
struct Termination: Equatable, Sendable {
  var reason: EndReason
  var phase: Phase
  /// The requests that receive their replies when the leader has exited.
  var waiters: [RequestID] = []
  /// The details of the reason.
  var detail: EndDetail?
  /// The stop signal and its limit, if SIGKILL follows the stop signal.
  var forced: ForcedEnd?

  /// Whether a person ordered the end. If so, a debugger does not stop the limits of the
  /// termination (contract §3).
  var isOrdered: Bool { reason.isOrdered }

  enum Phase: Equatable {
    /// The daemon has sent willTerminate, and the application has not acknowledged it.
    case callbacks
    /// The daemon has sent the stop signal. SIGKILL follows at this instant.
    case signalled(killAt: Instant)
    /// The daemon has sent SIGKILL. If it could not reach all processes, it tries again at this
    /// instant.
    case killed(retryAt: Instant?)
  }
}
