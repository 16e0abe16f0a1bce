import TaskSchedulerCore

/// Checks that states change only as in the contract's table, and only for the causes in the table
/// (contract.md#states).
///
/// At each seat, at most one application is active or becomes active. If two applications are in
/// the foreground of a seat, at least one of them has, or had, a window. An aware application that
/// enters the foreground is inactive until it has acknowledged its launch or its entry.
struct TransitionChecker: Checker {
  static let name = "transitions"

  mutating func see(_ effect: Effect, _ observed: ObservedState) throws(Finding) {
    guard case .record(let record) = effect,
      case .transition(let from, let to, let cause) = record.change
    else { return }
    let name = record.application.id.name
    let state = observed.byKey[record.application]?.state ?? .notRunning
    try require(from == state, "\(name) was \(state), but its record says \(from)")
    try require(
      Self.table.contains(Row(from: from, to: to, cause: cause.name)),
      "\(name): the table of transitions has no \(from) -> \(to) (\(cause))")
    if let instance = observed.byKey[record.application] {
      try checkEntry(instance, from, to, cause)
    }
    try require(
      isCaused(cause, record.application, observed),
      "\(name): the event \(observed.event) must not cause \(from) -> \(to) (\(cause))")
  }

  mutating func after(_ observed: ObservedState) throws(Finding) {
    for (index, one) in observed.live.enumerated() where one.state.isForeground && one.ending == nil
    {
      for other in observed.live[(index + 1)...]
      where other.plan.seat == one.plan.seat && other.state.isForeground && other.ending == nil {
        let seat = one.plan.seat.name
        try require(
          one.hadWindow || other.hadWindow,
          "\(one.name) and \(other.name) are both in the foreground of \(seat)")
        try require(
          !one.isActiveOrActivating || !other.isActiveOrActivating,
          "\(one.name) and \(other.name) are both active at \(seat)")
      }
      try require(
        !one.isActivating || one.mustAcknowledgeEntry,
        "\(one.name) is inactive, but has acknowledged its entry into the foreground")
    }
  }

  private func checkEntry(
    _ instance: ObservedInstance, _ from: ApplicationState, _ to: ApplicationState,
    _ cause: TransitionCause
  ) throws(Finding) {
    let name = instance.name
    switch to {
    case .active:
      try require(
        from == .inactive || !instance.isAware, "\(name) is active before its first acknowledgement"
      )
      try require(
        !instance.mustAcknowledgeEntry,
        "\(name) is active, but has not acknowledged \(instance.outstanding)")
    case .inactive:
      try require(
        from == .active || instance.isAware || cause == .shown,
        "\(name) is unaware, but is not active at once")
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
    add(
      [.active], [.inactive],
      ["interruption", "register", "unfocused", "otherActivated", "locked", "call"])
    add([.inactive], [.active], ["activate", "acknowledged", "focused", "unlocked", "callEnded"])
    add([.background, .suspended], [.active, .inactive], ["activate", "focused"])
    add([.background, .suspended], [.inactive], ["shown"])
    add([.active, .inactive], [.background], ["otherActivated", "sendAway", "hidden"])
    add([.background], [.suspended], ["noEntitlement"])
    add(
      [.suspended], [.background],
      [
        "event", "register", "suspensionLost", "closed", "audio", "remoteControl", "remoteRead",
        "location", "call", "callEnded",
      ])
    add(running, [.notRunning], ["leaderExited", "schedulerStopped", "released"])
    return Set(rows)
  }()

  /// Returns whether the current event can lead to a transition with this cause.
  private func isCaused(
    _ cause: TransitionCause, _ key: ApplicationKey, _ observed: ObservedState
  ) -> Bool {
    let event = observed.event
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
      } else if case .session(.recordingChosen(key)) = event {
        true
      } else if case .session(.callAnswered(key)) = event {
        true
      } else if case .notification(.chosen(_, key)) = event {
        true
      } else {
        false
      }
    case .interruption: if case .operation(.deactivate(_, key)) = event { true } else { false }
    case .sendAway: if case .operation(.sendToBackground(_, key)) = event { true } else { false }
    case .acknowledged: if case .application(.acknowledge) = event { true } else { false }
    case .otherActivated(let other): other != key && newcomers(observed).contains(other)
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
    case .audio: isAudioReport(event) || isCall(event)
    // `PlayerCallChecker` checks the cause.
    case .remoteControl, .remoteRead: true
    // `LocationReportChecker` checks the notices that cause these transitions.
    case .location: true
    // `CallChecker` checks the messages that cause these transitions.
    case .call, .callEnded: true
    case .released: if case .process(.released) = event { true } else { false }
    case .terminate: false
    case .focused, .shown: isWindowEvent(event) || isUnlock(event)
    // The daemon enforces the limits of windows only after it has checked for a debugger.
    case .unfocused: isWindowEvent(event) || isUnlock(event) || isTracerCheck(event)
    case .hidden: isTracerCheck(event)
    case .closed: isWindowEvent(event) || event == .scheduler(.deadlineReached)
    case .locked: if case .session(.locked) = event { true } else { false }
    case .unlocked: isUnlock(event)
    }
  }

  private func isWindowEvent(_ event: Event) -> Bool {
    if case .session(.windows) = event { true } else { false }
  }

  private func isTracerCheck(_ event: Event) -> Bool {
    if case .process(.tracerChecked) = event { true } else { false }
  }

  private func isAudioReport(_ event: Event) -> Bool {
    if case .session(.audio) = event { true } else { false }
  }

  /// Returns whether an application reports a phone call. It may have sent the call before its
  /// suspension.
  private func isCall(_ event: Event) -> Bool {
    if case .application(.beginCall) = event { true } else { false }
  }

  private func isUnlock(_ event: Event) -> Bool {
    if case .session(.unlocked) = event { true } else { false }
  }

  /// Returns the applications that the current event activates.
  private func newcomers(_ observed: ObservedState) -> [ApplicationKey] {
    let focused = observed.sessions.mustBeActive.compactMap { observed[$0]?.key }
    return focused + (newcomer(observed).map { [$0] } ?? [])
  }

  /// Returns the application that the current event brings to the foreground; nil for other events.
  private func newcomer(_ observed: ObservedState) -> ApplicationKey? {
    switch observed.event {
    case .operation(.activate(_, let key)), .application(.register(_, let key, _, _, _)),
      .notification(.chosen(_, let key)), .session(.recordingChosen(let key)),
      .session(.callAnswered(let key)):
      key
    case .operation(.adopt(_, let adoption)): adoption.application
    case .process(.spawned(let id, _)): observed.launches[id]?.key
    case .application, .operation, .process, .socket, .notification, .systemChanged, .session,
      .scheduler,
      .memory, .resources, .switcher, .location:
      nil
    }
  }
}
