/// A termination in progress. Its first reason stays, with two exceptions. An order of a user or an
/// operator replaces a reason of the daemon (contract §14). A missing acknowledgement replaces any
/// reason that is not an order.
struct Termination: Equatable, Sendable {
  var reason: EndReason
  var phase: Phase
  /// The requests that receive their replies when the leader has exited.
  var waiters: [RequestID] = []
  /// The details of the end; nil if there are none.
  var detail: EndDetail?
  /// The stop signal and its limit, if the daemon has sent SIGKILL after the stop signal; otherwise
  /// nil.
  var forced: ForcedEnd?

  /// Whether a user or an operator ordered the end. If so, the limits of the termination apply even
  /// while a debugger traces the application (contract §3).
  var isOrdered: Bool { reason.isOrdered }

  enum Phase: Equatable {
    /// The application has not acknowledged willTerminate, which may wait behind other callbacks.
    case callbacks
    /// The daemon has sent the stop signal. SIGKILL follows at this instant.
    case signalled(killAt: Instant)
    /// The daemon has sent SIGKILL. If it could not send the signal to all processes, the scheduler
    /// repeats the kill at `retryAt`.
    case killed(retryAt: Instant?)
  }
}
