import TaskSchedulerCore

/// No keep-alive deadline is missed (§6): each handler is called before its interval ends, counted
/// from the last call. Where it has not answered what it was told before (§3), one call waits until
/// it has. The daemon calls no handler of an application that has set none.
struct KeepAliveChecker: Checker {
  static let name = "keep-alive"
  /// The permitted delay after sleep or a restart of the daemon; otherwise none is permitted.
  let slack: UInt64

  private struct Handler {
    let interval: UInt64
    /// The instant of the last setting, call or waiting call.
    var since: UInt64
  }

  private var handlers: [InstanceID: Handler] = [:]

  init(slack: UInt64) { self.slack = slack }

  mutating func see(_ effect: Effect, _ ledger: Ledger) throws(Finding) {
    guard case .record(let record) = effect, case .keepAliveCalled = record.change else { return }
    let name = record.application.id.name
    guard let sighting = ledger.byKey[record.application], handlers[sighting.id] != nil else {
      return try require(false, "\(name): a keep-alive handler is called, and there is none")
    }
    try require(!sighting.hasCallWaiting, "\(name): two calls of its handler wait")
    handlers[sighting.id]?.since = ledger.now
  }

  mutating func after(_ ledger: Ledger) throws(Finding) {
    if case .application(.setKeepAlive(_, let id, let interval)) = ledger.event, !ledger.isRefused {
      handlers[id] = interval.map { Handler(interval: Self.length($0), since: ledger.now) }
    }
    for (id, handler) in handlers {
      guard let sighting = ledger[id], sighting.ending == nil else {
        handlers[id] = nil
        continue
      }
      if sighting.hasCallWaiting {
        handlers[id]?.since = ledger.now
        continue
      }
      let due = handler.since &+ handler.interval
      let isLate =
        due > handler.since && due < ledger.now && ledger.floor + slack < ledger.now
      try require(!isLate, "\(sighting.key.id.name): its keep-alive handler is not called in time")
    }
  }

  func settled(_ ledger: Ledger) throws(Finding) {
    try require(handlers.isEmpty, "a keep-alive handler is left at last")
  }

  /// In nanoseconds, as far as they reach.
  static func length(_ interval: Duration) -> UInt64 {
    interval > .nanoseconds(Int64.max) ? UInt64(Int64.max) : Nanoseconds.of(interval)
  }
}
