import TaskSchedulerCore

/// Checks that the daemon deletes a picture exactly when the application switcher no longer shows
/// it (contract.md#saved-snapshot-kept).
///
/// The switcher no longer shows the picture of an application that sets another snapshot, leaves
/// the switcher, or has ended and cannot be launched again. If a user has too many pictures, the
/// least recently active applications lose theirs.
struct SwitcherChecker: Checker {
  static let name = "switcher"

  private var snapshots: [ApplicationKey: Snapshot] = [:]
  /// For each application in the switcher, the number of its last activation. A later activation
  /// has a larger number.
  private var activations: [ApplicationKey: UInt64] = [:]
  private var activationLast: UInt64 = 0
  private var expected: Set<SnapshotID> = []
  private var dropped: Set<SnapshotID> = []
  private var change: Snapshot??

  mutating func before(_ event: Event, _ observed: ObservedState) throws(Finding) {
    expected = []
    dropped = []
    change = nil
    switch event {
    case .switcher(.setSnapshot(_, let id, let snapshot)):
      set(snapshot, of: observed.isRefused ? nil : observed[id]?.key, observed)
    case .switcher(.remove(_, let key, _)):
      if !observed.isRefused { leave(key) }
    case .switcher(.lost(let ids)):
      snapshots = snapshots.filter { key, snapshot in
        !(snapshot.picture.map { ids.contains($0) } ?? false)
      }
    case .scheduler(.stop):
      for key in snapshots.keys.sorted() { set(nil, of: key) }
    case .application, .operation, .process, .scheduler, .socket, .notification, .systemChanged,
      .session, .memory, .resources, .location:
      break
    }
  }

  private mutating func set(
    _ snapshot: Snapshot?, of key: ApplicationKey?, _ observed: ObservedState
  ) {
    guard let key else {
      if let picture = snapshot?.picture { expected.insert(picture) }
      return
    }
    if snapshots[key] != nil || snapshot != nil { change = .some(snapshot) }
    set(snapshot, of: key)
    let others = snapshots.keys
      .filter { $0 != key && $0.owner == key.owner && snapshots[$0]?.picture != nil }
      .sorted { (activations[$0] ?? 0, $0) < (activations[$1] ?? 0, $1) }
    let count = others.count + (snapshot?.picture == nil ? 0 : 1)
    for other in others.prefix(max(0, count - observed.policy.snapshotsPerUserMax)) {
      set(nil, of: other)
    }
  }

  private mutating func set(_ snapshot: Snapshot?, of key: ApplicationKey) {
    if let picture = snapshots[key]?.picture { expected.insert(picture) }
    snapshots[key] = snapshot
  }

  private mutating func leave(_ key: ApplicationKey) {
    set(nil, of: key)
    activations[key] = nil
  }

  mutating func see(_ effect: Effect, _ observed: ObservedState) throws(Finding) {
    if case .dropPicture(let id) = effect {
      try require(dropped.insert(id).inserted, "picture \(id.number) is deleted twice")
    }
    guard case .record(let record) = effect else { return }
    if case .transition(_, .active, _) = record.change {
      activationLast += 1
      activations[record.application] = activationLast
    }
    if case .snapshotChanged(let snapshot) = record.change, let change {
      // The first record is about the application that has set its snapshot.
      try require(snapshot == change, "a snapshot is set, but the record names another one")
      self.change = nil
    }
  }

  mutating func after(_ observed: ObservedState) throws(Finding) {
    for key in Set(snapshots.keys).union(activations.keys).sorted()
    where !canReturn(key, observed) {
      leave(key)
    }
    let isExact = dropped == expected
    let kept = expected.subtracting(dropped).map(\.number).sorted()
    let lost = dropped.subtracting(expected).map(\.number).sorted()
    try require(
      isExact,
      kept.isEmpty
        ? "the pictures \(lost) are deleted, but the switcher shows them"
        : "the pictures \(kept) are not deleted, but the switcher does not show them any more")
    try require(change == nil, "a snapshot is set without a record")
  }

  private func canReturn(_ key: ApplicationKey, _ observed: ObservedState) -> Bool {
    if observed.byKey[key] != nil { return true }
    if observed.launches.values.contains(where: { $0.key == key }) { return true }
    return observed.manifest(for: key).map { $0.isLaunchable && $0.owner == key.owner } ?? false
  }
}
