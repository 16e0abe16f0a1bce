import TaskSchedulerCore

/// Checks that the device wakes for keep-alive handlers as rarely as their deadlines allow (§6).
///
/// A burst comes only when a handler cannot wait, one shortest interval after the previous burst.
/// It calls the handlers that cannot wait for the next burst.
struct BurstChecker: Checker {
  static let name = "bursts"

  private struct Handler {
    let interval: UInt64
    /// The start of its interval: the last setting or call.
    var since: UInt64
    /// Whether a call waits, or waited, for another callback. The burst of that call is unknown.
    var isUnsure = false
    /// The possible delay of its last call, from the shortest interval at that time.
    var tolerance: UInt64 = 0
    var due: UInt64 { since &+ interval }
  }

  private var handlers: [InstanceID: Handler] = [:]
  /// The earliest instant at which a burst may be necessary.
  private var nextEarliest: UInt64 = 0
  /// The possible delay of the last burst.
  private var lastTolerance: UInt64 = 0
  private var called: [InstanceID] = []
  /// Whether the device is awake for something else.
  private var isFree = false

  mutating func before(_ event: Event, _ ledger: Ledger) throws(Finding) {
    called = []
    isFree =
      switch event {
      case .socket(.ready), .operation(.activate), .notification, .scheduler(.clockRead): true
      case _: false
      }
  }

  mutating func see(_ effect: Effect, _ ledger: Ledger) throws(Finding) {
    if case .notification(.fire) = effect { isFree = true }
    if case .record(let record) = effect, case .keepAliveCalled = record.change,
      let sighting = ledger.byKey[record.application] {
      called.append(sighting.id)
    }
  }

  mutating func after(_ ledger: Ledger) throws(Finding) {
    forget(ledger)
    if !called.isEmpty { try checkBurst(ledger) }
    for id in handlers.keys where ledger[id]?.hasCallWaiting ?? false {
      handlers[id]?.isUnsure = true
    }
    guard case .application(.setKeepAlive(_, let id, let interval)) = ledger.event,
      !ledger.isRefused
    else {
      return
    }
    handlers[id] = interval.map {
      Handler(interval: KeepAliveChecker.length($0), since: ledger.now)
    }
    if let added = handlers[id] {
      // A newcomer's own deadline may force a burst.
      nextEarliest = min(nextEarliest, added.due)
    }
  }

  private mutating func forget(_ ledger: Ledger) {
    for id in handlers.keys where ledger[id]?.ending != nil || ledger[id] == nil {
      handlers[id] = nil
    }
  }

  private mutating func checkBurst(_ ledger: Ledger) throws(Finding) {
    let now = ledger.now
    guard let shortest = handlers.values.map(\.interval).min() else { return }
    /// A burst counts from the moment for which it was planned, though the machine was late; and
    /// that is up to 100 ms before a deadline.
    let tolerance = min(ledger.limits.wakeTolerance, shortest / 4) + 100 * Nanoseconds.millisecond
    let ran = called.compactMap { handlers[$0] }
    if !isFree {
      try require(
        // A second call for a handler with a waiting call is not visible.
        handlers.values.contains(where: \.isUnsure)
          || ran.contains { $0.due <= now + max(tolerance, $0.tolerance) },
        "a burst comes though all handlers could wait")
      try require(
        nextEarliest <= now + max(tolerance, lastTolerance),
        "a burst comes \(nextEarliest - min(now, nextEarliest)) ns early: bursts are one shortest "
          + "interval apart")
    }
    for handler in ran where !handler.isUnsure {
      try require(
        handler.due <= now + shortest + max(tolerance, handler.tolerance),
        "a handler is called that could wait for the next burst")
    }
    for id in called {
      handlers[id]?.since = now
      handlers[id]?.isUnsure = false
      handlers[id]?.tolerance = tolerance
    }
    for handler in handlers.values where !handler.isUnsure {
      try require(
        handler.due + max(tolerance, handler.tolerance) >= now + shortest,
        "a handler is not called that cannot wait for the next burst")
    }
    nextEarliest = now &+ shortest
    lastTolerance = tolerance
  }
}
