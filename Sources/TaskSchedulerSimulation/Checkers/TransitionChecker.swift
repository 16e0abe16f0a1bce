import TaskSchedulerCore

/// States change by the contract's table (§2) only, each for its cause, and one application is
/// active at each seat.
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
      Self.table.contains(Row(from: from, to: to, cause: cause)),
      "\(name): the table has no \(from) -> \(to) (\(cause))")
    try require(
      isCaused(cause, record.application, ledger),
      "\(name): \(from) -> \(to) (\(cause)) by the event \(ledger.event)")
  }

  mutating func after(_ ledger: Ledger) throws(Finding) {
    for (index, one) in ledger.live.enumerated() where one.state == .active && one.ending == nil {
      for other in ledger.live[(index + 1)...] where other.plan.seat == one.plan.seat {
        try require(
          other.state != .active || other.ending != nil,
          "\(one.key.id.name) and \(other.key.id.name) are both active at \(one.plan.seat.name)")
      }
    }
  }

  private struct Row: Hashable {
    let from: ApplicationState
    let to: ApplicationState
    let cause: TransitionCause
  }

  private static let table: Set<Row> = {
    var rows: [Row] = []
    func add(_ from: [ApplicationState], _ to: [ApplicationState], _ causes: [TransitionCause]) {
      for one in from {
        for other in to { rows += causes.map { Row(from: one, to: other, cause: $0) } }
      }
    }
    let running: [ApplicationState] = [.active, .inactive, .background, .suspended]
    add([.notRunning], [.active, .background], [.launch, .register, .adopt])
    add([.active], [.inactive], [.interruption])
    add([.inactive, .background, .suspended], [.active], [.activate])
    add([.active], [.background], [.otherActivated, .sendAway])
    add([.inactive], [.background], [.sendAway])
    add([.background], [.suspended], [.noEntitlement])
    add([.suspended], [.background], [.event, .register, .suspensionLost])
    add(running, [.notRunning], [.leaderExited, .schedulerStopped])
    return Set(rows)
  }()

  /// Whether the event that is handled may bring such a transition about.
  private func isCaused(
    _ cause: TransitionCause, _ key: ApplicationKey, _ ledger: Ledger
  ) -> Bool {
    let event = ledger.event
    return switch cause {
    case .launch: if case .spawned = event { true } else { false }
    case .register:
      if case .register(_, key, _, _, _) = event { true }
      else if case .openStream = event { true } else { false }
    case .adopt:
      if case .adopt(_, let adoption) = event { adoption.application == key } else { false }
    case .activate:
      if case .activate(_, key) = event { true }
      else if case .notification(.chosen(_, key)) = event { true } else { false }
    case .interruption: if case .deactivate(_, key) = event { true } else { false }
    case .sendAway: if case .sendToBackground(_, key) = event { true } else { false }
    case .otherActivated: isNewcomer(event, besides: key)
    case .noEntitlement: if case .suspensionCompleted = event { true } else { false }
    case .suspensionLost:
      if case .suspensionFailed = event { true }
      else if case .suspensionLost = event { true } else { false }
    case .event: true  // The wake-ups' checker looks closer.
    case .leaderExited: if case .leaderExited = event { true } else { false }
    case .schedulerStopped: event == .stop
    case .terminate: false
    }
  }

  /// Whether another application takes a seat.
  private func isNewcomer(_ event: Event, besides key: ApplicationKey) -> Bool {
    switch event {
    case .activate(_, let other), .register(_, let other, _, _, _),
      .notification(.chosen(_, let other)):
      other != key
    case .adopt(_, let adoption): adoption.application != key
    case .spawned: true
    case .openStream, .streamClosed, .acknowledge, .beginBackgroundTask, .endBackgroundTask,
      .setKeepAlive, .socket, .notification, .systemChanged, .launch, .deactivate,
      .sendToBackground, .terminate, .spawnFailed, .leaderExited, .suspensionCompleted,
      .stillSuspended, .suspensionFailed, .suspensionLost, .signalFailed, .tracerChecked,
      .activityBegan, .activityEnded, .deadlineReached, .clockRead, .policyChanged,
      .manifestsChanged, .started, .stop, .recovered, .memory, .resources:
      false
    }
  }
}
