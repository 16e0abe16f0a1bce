import TaskSchedulerCore

/// Checks that no suspended application resumes without a cause.
///
/// A resume comes with a transition to another state, except at the stop of the scheduler. This
/// checker examines the transitions with the cause `event`; other checkers examine the other
/// causes. The cause `event` is a ready or lost socket, a call of the keep-alive handler, or a
/// message about a phone call or an interruption. A system change (contract.md#change-no-wake) and
/// a notification that fires (contract.md#notification-fire) are not such causes.
struct WakeChecker: Checker {
  static let name = "wake-ups"

  /// Instances that were resumed from the suspended state.
  private var woken: [InstanceID] = []
  private var called: Set<InstanceID> = []
  private var moved: [InstanceID: TransitionCause] = [:]

  mutating func before(_ event: Event, _ observed: ObservedState) throws(Finding) {
    woken = []
    called = []
    moved = [:]
  }

  mutating func see(_ effect: Effect, _ observed: ObservedState) throws(Finding) {
    switch effect {
    case .resume(let id): if observed[id]?.state == .suspended { woken.append(id) }
    case .record(let record):
      guard let instance = observed.byKey[record.application] else { return }
      if case .transition(.suspended, _, let cause) = record.change { moved[instance.id] = cause }
      if case .keepAliveCalled = record.change { called.insert(instance.id) }
    case .reply, .deliver, .expire, .notify, .socket, .notification, .memory, .spawn, .manage,
      .suspend, .terminate, .kill, .release, .checkTracer, .resources, .dropPicture, .audio,
      .remote, .location:
      break
    }
  }

  mutating func after(_ observed: ObservedState) throws(Finding) {
    if case .scheduler(.stop) = observed.event { return }
    for id in woken {
      let name = observed[id]?.key.id.name ?? "instance \(id.number)"
      try require(moved[id] != nil, "\(name) is suspended, but its processes are resumed")
    }
    for (id, cause) in moved where cause == .event {
      let name = observed[id]?.key.id.name ?? "instance \(id.number)"
      try require(
        hasCause(id, observed),
        "\(name) is resumed by an event that must not resume it: \(observed.event)")
    }
  }

  private func hasCause(_ id: InstanceID, _ observed: ObservedState) -> Bool {
    if called.contains(id) || observed.calls.told.contains(id) { return true }
    switch observed.event {
    case .socket(.ready(id, _)), .socket(.lost(id, _)): return true
    case .application, .operation, .process, .scheduler, .socket, .notification, .systemChanged,
      .session,
      .memory, .resources, .switcher, .location:
      return false
    }
  }
}
