import TaskSchedulerCore

/// States change by the contract's table (§2) only, each for its cause, and one application is in
/// front of each seat. An aware one is inactive until it has acknowledged that it was launched or
/// enters the foreground, and no longer.
struct TransitionChecker: Checker {
  static let name = "transitions"

  mutating func see(_ effect: Effect, _ ledger: Ledger) throws(Finding) {
    guard case .record(let record) = effect,
      case .transition(let from, let to, let cause) = record.change
    else { return }
    let name = record.application.id.name
    let state = ledger.byKey[record.application]?.state ?? .notRunning
    try require(from == state, "\(name) was \(state), and is said to leave \(from)")
    try require(
      Self.table.contains(Row(from: from, to: to, cause: cause.name)),
      "\(name): the table has no \(from) -> \(to) (\(cause))")
    if let sighting = ledger.byKey[record.application] { try checkEntry(sighting, from, to) }
    try require(
      isCaused(cause, record.application, ledger),
      "\(name): \(from) -> \(to) (\(cause)) by the event \(ledger.event)")
  }

  mutating func after(_ ledger: Ledger) throws(Finding) {
    for (index, one) in ledger.live.enumerated() where one.state.isForeground && one.ending == nil {
      for other in ledger.live[(index + 1)...] where other.plan.seat == one.plan.seat {
        try require(
          !other.state.isForeground || other.ending != nil,
          "\(one.key.id.name) and \(other.key.id.name) are both in front of \(one.plan.seat.name)")
      }
      try require(
        !one.isRising || one.owesEntry,
        "\(one.key.id.name) is inactive, and has acknowledged all that it was told on its way up")
    }
  }

  private func checkEntry(
    _ sighting: Sighting, _ from: ApplicationState, _ to: ApplicationState
  ) throws(Finding) {
    let name = sighting.key.id.name
    switch to {
    case .active:
      try require(
        from == .inactive || !sighting.isAware, "\(name) is active before it acknowledges anything")
      try require(
        !sighting.owesEntry, "\(name) is active, and has not acknowledged \(sighting.owed)")
    case .inactive:
      try require(
        from == .active || sighting.isAware, "\(name) is unaware, and is not active at once")
    case .background, .suspended, .notRunning: break
    }
  }

  private struct Row: Hashable {
    let from: ApplicationState
    let to: ApplicationState
    let cause: String
  }

  private static let table: Set<Row> = {
    var rows: [Row] = []
    func add(_ from: [ApplicationState], _ to: [ApplicationState], _ causes: [String]) {
      for one in from {
        for other in to { rows += causes.map { Row(from: one, to: other, cause: $0) } }
      }
    }
    let running: [ApplicationState] = [.active, .inactive, .background, .suspended]
    add([.notRunning], [.active, .inactive, .background], ["launch", "register", "adopt"])
    add([.active], [.inactive], ["interruption", "register"])
    add([.inactive], [.active], ["activate", "acknowledged"])
    add([.background, .suspended], [.active, .inactive], ["activate"])
    add([.active, .inactive], [.background], ["otherActivated", "sendAway"])
    add([.background], [.suspended], ["noEntitlement"])
    add([.suspended], [.background], ["event", "register", "suspensionLost"])
    add(running, [.notRunning], ["leaderExited", "schedulerStopped"])
    return Set(rows)
  }()

  /// Whether the event that is handled may bring such a transition about.
  private func isCaused(
    _ cause: TransitionCause, _ key: ApplicationKey, _ ledger: Ledger
  ) -> Bool {
    let event = ledger.event
    return switch cause {
    case .launch: if case .process(.spawned) = event { true } else { false }
    case .register:
      if case .application(.register(_, key, _, _, _)) = event {
        true
      } else if case .application(.openStream) = event {
        true
      } else {
        false
      }
    case .adopt:
      if case .operation(.adopt(_, let adoption)) = event {
        adoption.application == key
      } else {
        false
      }
    case .activate:
      if case .operation(.activate(_, key)) = event {
        true
      }
      else if case .notification(.chosen(_, key)) = event { true } else { false }
    case .interruption: if case .operation(.deactivate(_, key)) = event { true } else { false }
    case .sendAway: if case .operation(.sendToBackground(_, key)) = event { true } else { false }
    case .acknowledged: if case .application(.acknowledge) = event { true } else { false }
    case .otherActivated(let other): other != key && newcomer(ledger) == other
    case .noEntitlement: if case .process(.suspensionCompleted) = event { true } else { false }
    case .suspensionLost:
      if case .process(.suspensionFailed) = event {
        true
      } else if case .process(.suspensionLost) = event {
        true
      } else {
        false
      }
    case .event: true  // `WakeChecker` checks the cause.
    case .leaderExited: if case .process(.leaderExited) = event { true } else { false }
    case .schedulerStopped: event == .scheduler(.stop)
    case .terminate: false
    }
  }

  /// The application that takes a seat.
  private func newcomer(_ ledger: Ledger) -> ApplicationKey? {
    switch ledger.event {
    case .operation(.activate(_, let key)), .application(.register(_, let key, _, _, _)),
      .notification(.chosen(_, let key)):
      key
    case .operation(.adopt(_, let adoption)): adoption.application
    case .process(.spawned(let id, _)): ledger.launches[id]?.key
    case .application(.openStream), .application(.streamClosed), .application(.acknowledge),
      .application(.beginBackgroundTask), .application(.endBackgroundTask),
      .application(.setKeepAlive), .socket, .notification, .systemChanged, .operation(.launch),
      .operation(.deactivate), .operation(.sendToBackground), .operation(.terminate),
      .process(.spawnFailed), .process(.leaderExited), .process(.suspensionCompleted),
      .process(.stillSuspended), .process(.suspensionFailed), .process(.suspensionLost),
      .process(.signalFailed), .process(.tracerChecked), .process(.activityBegan),
      .process(.activityEnded), .scheduler, .memory, .resources:
      nil
    }
  }
}
