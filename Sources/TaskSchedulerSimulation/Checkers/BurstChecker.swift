import TaskSchedulerCore

/// Checks that the device wakes for keep-alive handlers as rarely as their deadlines allow
/// (contract.md#keep-alive-bursts).
///
/// A burst calls the handlers of several applications together. Unless another event has woken the
/// device, a burst comes only when a handler can no longer wait. Since the previous burst, at least
/// the shortest of all intervals has then passed. Every burst calls exactly the handlers that
/// cannot wait for the next burst.
struct BurstChecker: Checker {
  static let name = "bursts"

  private struct Handler {
    let interval: UInt64
    /// The start of the interval: the instant at which the handler was last set or called.
    var since: UInt64
    /// Whether the last call of the handler had to wait for another callback. The checker does not
    /// know to which burst such a call belongs.
    var isUnsure = false
    /// The allowed difference between ``since`` and the instant from which the planner counts the
    /// interval. It depends on the shortest interval of all handlers at the last call.
    var tolerance: UInt64 = 0
    var due: UInt64 { since &+ interval }
  }

  private var handlers: [InstanceID: Handler] = [:]
  /// The earliest instant at which the next burst can be necessary.
  private var nextEarliest: UInt64 = 0
  /// The allowed difference between the instant of the last burst and the planned instant.
  private var lastTolerance: UInt64 = 0
  private var called: [InstanceID] = []
  /// Whether the current event wakes the device for another reason, so that a burst costs no
  /// wake-up.
  private var isFree = false

  mutating func before(_ event: Event, _ observed: ObservedState) throws(Finding) {
    called = []
    isFree =
      switch event {
      case .socket(.ready), .operation(.activate), .notification, .scheduler(.clockRead),
        .session, .location: true
      case .scheduler(.deadlineReached): observed.location.hasLooked
      case .application, .operation, .process, .scheduler, .socket, .systemChanged, .memory,
        .resources, .switcher:
        false
      }
  }

  mutating func see(_ effect: Effect, _ observed: ObservedState) throws(Finding) {
    if case .notification(.fire) = effect { isFree = true }
    // Both causes show that the device is awake: a report of the location has resumed an
    // application, or the end of a phone call has activated or resumed one.
    if let (_, _, cause) = observed.transition(effect), [.location, .callEnded].contains(cause) {
      isFree = true
    }
    if case .record(let record) = effect, case .keepAliveCalled = record.change,
      let instance = observed.byKey[record.application]
    {
      called.append(instance.id)
    }
  }

  mutating func after(_ observed: ObservedState) throws(Finding) {
    forget(observed)
    if !called.isEmpty { try checkBurst(observed) }
    for id in handlers.keys where observed[id]?.hasCallWaiting ?? false {
      handlers[id]?.isUnsure = true
    }
    guard case .application(.setKeepAlive(_, let id, let interval)) = observed.event,
      !observed.isRefused
    else {
      return
    }
    handlers[id] = interval.map {
      Handler(interval: KeepAliveChecker.length($0), since: observed.now)
    }
    if let added = handlers[id] {
      // The deadline of the new handler may require a burst.
      nextEarliest = min(nextEarliest, added.due)
    }
  }

  private mutating func forget(_ observed: ObservedState) {
    for id in handlers.keys where observed[id]?.ending != nil || observed[id] == nil {
      handlers[id] = nil
    }
  }

  private mutating func checkBurst(_ observed: ObservedState) throws(Finding) {
    let now = observed.now
    guard let shortest = handlers.values.map(\.interval).min() else { return }
    // The planner counts intervals from the planned instant of a burst, even if the burst is
    // slightly late. The planned instant is up to 100 ms before a deadline.
    let tolerance = min(observed.limits.wakeTolerance, shortest / 4) + 100 * Nanoseconds.millisecond
    let ran = called.compactMap { handlers[$0] }
    if !isFree {
      try require(
        // If a call of a handler already waits, the checker does not see a second call.
        handlers.values.contains(where: \.isUnsure)
          || ran.contains { $0.due <= now + max(tolerance, $0.tolerance) },
        "a burst comes although all handlers could wait")
      try require(
        nextEarliest <= now + max(tolerance, lastTolerance),
        "a burst comes \(nextEarliest - min(now, nextEarliest)) ns early: after a burst, the next "
          + "one must wait for the shortest keep-alive interval")
    }
    for handler in ran where !handler.isUnsure {
      try require(
        handler.due <= now + shortest + max(tolerance, handler.tolerance),
        "a burst calls a handler that could wait for the next burst")
    }
    for id in called {
      handlers[id]?.since = now
      handlers[id]?.isUnsure = false
      handlers[id]?.tolerance = tolerance
    }
    for handler in handlers.values where !handler.isUnsure {
      try require(
        handler.due + max(tolerance, handler.tolerance) >= now + shortest,
        "a burst does not call a handler that cannot wait for the next burst")
    }
    nextEarliest = now &+ shortest
    lastTolerance = tolerance
  }
}
