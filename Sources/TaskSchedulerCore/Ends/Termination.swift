/// An end under way. The first reason stays, unless a person's order replaces a reason of the
/// daemon's own (contract §14).
struct Termination: Equatable, Sendable {
  var reason: EndReason
  var phase: Phase
  /// The requests that are answered when the leader has exited.
  var waiters: [RequestID] = []
  /// The details of the reason.
  var detail: EndDetail?
  /// Set when SIGKILL follows the stop signal.
  var forced: ForcedEnd?

  /// Whether a person ordered the end. Then a debugger does not hold its limits (contract §3).
  var isOrdered: Bool { reason.isOrdered }

  enum Phase: Equatable {
    /// The application has been told to end, and has not acknowledged willTerminate.
    case callbacks
    /// The stop signal has been sent; SIGKILL follows at the instant given.
    case signalled(killAt: Instant)
    /// SIGKILL has been sent. If it could not be sent to all processes, the next try is at the
    /// instant given.
    case killed(retryAt: Instant?)
  }
}
