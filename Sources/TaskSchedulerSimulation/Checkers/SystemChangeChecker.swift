import TaskSchedulerCore

/// Checks that a running application receives each system change at once, and a suspended one at
/// its next resume (contract.md#changes).
///
/// The scheduler holds the newest change of each kind for a suspended application. At the resume,
/// the application receives the held changes together and in order.
struct SystemChangeChecker: Checker {
  static let name = "system changes"

  /// The changes that an instance has missed, in order.
  private var missed: [InstanceID: [SystemChange]] = [:]
  /// The instances that have received no change so far. The scheduler may discard custom changes
  /// before such an instance receives them.
  private var withoutChange: Set<InstanceID> = []

  mutating func see(_ effect: Effect, _ observed: ObservedState) throws(Finding) {
    switch effect {
    case .manage(let id, _, _):
      missed[id] = []
      withoutChange.insert(id)
    case .release(let id, _):
      missed[id] = nil
      withoutChange.remove(id)
    case .reply(_, .done): note(observed)
    case .notify(let id, .systemChanges(let changes)):
      note(observed)
      guard let instance = observed[id] else { return }
      let name = instance.name
      try require(
        instance.hasStream && instance.state != .suspended,
        "\(name) receives system changes without an event stream or while suspended")
      try require(
        all(changes, instance) == all(missed[id] ?? [], instance),
        "\(name) receives \(changes.map(\.kind)), but has missed \((missed[id] ?? []).map(\.kind))")
      missed[id] = []
      withoutChange.remove(id)
    case .reply, .deliver, .expire, .notify, .socket, .notification, .memory, .spawn, .suspend,
      .resume, .terminate, .kill, .checkTracer, .record, .resources, .dropPicture, .audio,
      .remote, .location:
      break
    }
  }

  /// Returns those of the changes that the scheduler must keep for an instance.
  private func all(_ changes: [SystemChange], _ instance: ObservedInstance) -> [SystemChange] {
    withoutChange.contains(instance.id) ? changes.filter { !$0.isNamed } : changes
  }

  /// Whether `missed` includes the change of the current event.
  private var isNoted = false

  mutating func before(_ event: Event, _ observed: ObservedState) throws(Finding) {
    isNoted = false
  }

  private mutating func note(_ observed: ObservedState) {
    guard !isNoted, !observed.isRefused,
      case .systemChanged(_, let change, let owner) = observed.event
    else { return }
    isNoted = true
    for instance in observed.live where owner == nil || instance.key.owner == owner {
      missed[instance.id]?.removeAll { $0.kind == change.kind }
      missed[instance.id]?.append(change)
    }
  }

  mutating func after(_ observed: ObservedState) throws(Finding) {
    note(observed)
    for instance in observed.live where instance.hasStream && instance.state != .suspended {
      try require(
        all(missed[instance.id] ?? [], instance).isEmpty,
        "\(instance.name) runs, but does not receive its system changes")
      missed[instance.id] = []
      withoutChange.remove(instance.id)
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
