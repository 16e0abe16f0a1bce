import TaskSchedulerCore

/// Checks that no keep-alive deadline is missed (contract.md#keep-alive-deadline).
///
/// The daemon calls each handler before its interval ends, counted from the last call. If an
/// earlier callback is outstanding (contract.md#callback-order), the call waits until that callback
/// is acknowledged. At most one call of a handler waits. The daemon calls only handlers that are
/// set.
struct KeepAliveChecker: Checker {
  static let name = "keep-alive"
  /// The permitted delay after sleep or a restart of the daemon, in nanoseconds. At any other time,
  /// no delay is permitted.
  let slack: UInt64

  private struct Handler {
    let interval: UInt64
    /// The instant at which the handler was last set or called, or at which a call began to wait.
    var since: UInt64
  }

  private var handlers: [InstanceID: Handler] = [:]

  init(slack: UInt64) { self.slack = slack }

  mutating func see(_ effect: Effect, _ observed: ObservedState) throws(Finding) {
    guard case .record(let record) = effect, case .keepAliveCalled = record.change else { return }
    let name = record.application.id.name
    guard let instance = observed.byKey[record.application], handlers[instance.id] != nil else {
      return try require(false, "\(name): the daemon calls a keep-alive handler, but none is set")
    }
    try require(!instance.hasCallWaiting, "\(name): two calls of the keep-alive handler wait")
    handlers[instance.id]?.since = observed.now
  }

  mutating func after(_ observed: ObservedState) throws(Finding) {
    if case .application(.setKeepAlive(_, let id, let interval)) = observed.event,
      !observed.isRefused
    {
      handlers[id] = interval.map { Handler(interval: Self.length($0), since: observed.now) }
    }
    for (id, handler) in handlers {
      guard let instance = observed[id], instance.ending == nil else {
        handlers[id] = nil
        continue
      }
      if instance.hasCallWaiting {
        handlers[id]?.since = observed.now
        continue
      }
      let due = handler.since &+ handler.interval
      let isLate =
        due > handler.since && due < observed.now && observed.floor + slack < observed.now
      try require(!isLate, "\(instance.name): the keep-alive handler is not called in time")
    }
  }

  func checkFinalState(_ observed: ObservedState) throws(Finding) {
    try require(handlers.isEmpty, "a keep-alive handler is left at the end of the run")
  }

  /// Returns an interval in nanoseconds, at most `Int64.max`.
  static func length(_ interval: Duration) -> UInt64 {
    interval > .nanoseconds(Int64.max) ? UInt64(Int64.max) : Nanoseconds.of(interval)
  }
}
