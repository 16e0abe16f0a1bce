import TaskSchedulerCore

/// Nothing is woken without cause: the suspended resumes when it is activated, when an event comes
/// that it must handle, when its keep-alive handler is called, when it registers or the scheduler
/// stops. Never by a system change (§10), nor by a notification that fires (§9).
struct WakeChecker: Checker {
  static let name = "wake-ups"

  /// Instances that were resumed from the suspended state.
  private var woken: [InstanceID] = []
  private var called: Set<InstanceID> = []
  private var moved: [InstanceID: TransitionCause] = [:]

  mutating func before(_ event: Event, _ ledger: Ledger) throws(Finding) {
    woken = []
    called = []
    moved = [:]
  }

  mutating func see(_ effect: Effect, _ ledger: Ledger) throws(Finding) {
    switch effect {
    case .resume(let id): if ledger[id]?.state == .suspended { woken.append(id) }
    case .record(let record):
      guard let sighting = ledger.byKey[record.application] else { return }
      if case .transition(.suspended, _, let cause) = record.change { moved[sighting.id] = cause }
      if case .keepAliveCalled = record.change { called.insert(sighting.id) }
    case .reply, .deliver, .expire, .notify, .socket, .notification, .memory, .spawn, .manage,
      .suspend, .terminate, .kill, .release, .checkTracer, .resources:
      break
    }
  }

  mutating func after(_ ledger: Ledger) throws(Finding) {
    if case .scheduler(.stop) = ledger.event { return }
    for id in woken {
      let name = ledger[id]?.key.id.name ?? "instance \(id.number)"
      try require(moved[id] != nil, "\(name) is suspended, and its processes are resumed")
    }
    for (id, cause) in moved where cause == .event {
      let name = ledger[id]?.key.id.name ?? "instance \(id.number)"
      try require(hasCause(id, ledger), "\(name) is woken by the event \(ledger.event)")
    }
  }

  private func hasCause(_ id: InstanceID, _ ledger: Ledger) -> Bool {
    if called.contains(id) { return true }
    switch ledger.event {
    case .process(.activityBegan(id, .event)), .socket(.ready(id, _)), .socket(.lost(id, _)):
      return true
    case _: return false
    }
  }
}
