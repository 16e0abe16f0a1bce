import TaskSchedulerCore

/// A running application hears of system changes as they come; for the others they are held, one
/// per kind, the newest, and come in order as one burst with the next resume (§10).
struct SystemChangeChecker: Checker {
  static let name = "system changes"

  /// The changes that an instance has missed, in order.
  private var missed: [InstanceID: [SystemChange]] = [:]
  /// Instances without any change so far, for which names need not be kept.
  private var unheard: Set<InstanceID> = []

  mutating func see(_ effect: Effect, _ ledger: Ledger) throws(Finding) {
    switch effect {
    case .manage(let id, _, _):
      missed[id] = []
      unheard.insert(id)
    case .release(let id, _):
      missed[id] = nil
      unheard.remove(id)
    case .reply(_, .done): note(ledger)
    case .notify(let id, .systemChanges(let changes)):
      note(ledger)
      guard let sighting = ledger[id] else { return }
      let name = sighting.key.id.name
      try require(
        sighting.hasStream && sighting.state != .suspended,
        "\(name) is told of system changes without an event stream or while suspended")
      try require(
        all(changes, sighting) == all(missed[id] ?? [], sighting),
        "\(name) hears of \(changes.map(\.kind)), and has missed \((missed[id] ?? []).map(\.kind))")
      missed[id] = []
      unheard.remove(id)
    case .reply, .deliver, .expire, .notify, .socket, .notification, .memory, .spawn, .suspend,
      .resume, .terminate, .kill, .checkTracer, .record, .resources:
      break
    }
  }

  /// Returns the changes that the scheduler must keep.
  private func all(_ changes: [SystemChange], _ sighting: Sighting) -> [SystemChange] {
    unheard.contains(sighting.id) ? changes.filter { !$0.isNamed } : changes
  }

  /// Whether the current event was noted.
  private var isNoted = false

  mutating func before(_ event: Event, _ ledger: Ledger) throws(Finding) { isNoted = false }

  private mutating func note(_ ledger: Ledger) {
    guard !isNoted, !ledger.isRefused,
      case .systemChanged(_, let change, let owner) = ledger.event
    else { return }
    isNoted = true
    for sighting in ledger.live where owner == nil || sighting.key.owner == owner {
      missed[sighting.id]?.removeAll { $0.kind == change.kind }
      missed[sighting.id]?.append(change)
    }
  }

  mutating func after(_ ledger: Ledger) throws(Finding) {
    note(ledger)
    for sighting in ledger.live where sighting.hasStream && sighting.state != .suspended {
      try require(
        all(missed[sighting.id] ?? [], sighting).isEmpty,
        "\(sighting.key.id.name) runs, and is not told of system changes")
      missed[sighting.id] = []
      unheard.remove(sighting.id)
    }
  }
}

extension SystemChange {
  var isNamed: Bool {
    switch kind {
    case .custom: true
    case .timeZone, .clock, .day, .locale, .network, .powerSource: false
    }
  }
}
