// The delivery of system changes to applications (contract §10).

extension Scheduler {
  mutating func systemChanged(
    _ request: RequestID?, _ change: SystemChange, for owner: UserID?, in turn: inout Turn
  ) {
    let customMax = policy.customChangesMax
    if !changes.hasRoom(for: change, for: owner, customMax: customMax) {
      changes.forgetNames(of: owner, upTo: changesDelivered(toAllOf: owner))
      guard changes.hasRoom(for: change, for: owner, customMax: customMax) else {
        let refusal = Refusal.quotaExceeded(name: "MaxCustomChanges", limit: customMax)
        return turn.reply(request, .refused(refusal))
      }
    }
    changes.note(change, for: owner)
    turn.changes = changes
    turn.reply(request, .done)
    for id in instances.keys.sorted() {
      guard owner == nil || instances[id]?.application.owner == owner else { continue }
      updateInstance(id, in: &turn) { instance, turn in
        if instance.state != .suspended { instance.deliverChanges(in: &turn) }
      }
    }
  }
}

extension Scheduler {
  /// Returns the number of the newest change that every aware instance of `owner` has received. If
  /// `owner` is nil, considers the instances of all users.
  private func changesDelivered(toAllOf owner: UserID?) -> UInt64 {
    let receivers = instances.values.filter {
      $0.isAware && (owner == nil || $0.application.owner == owner)
    }
    return receivers.map(\.inbox.changesDelivered).min() ?? changes.numberLast
  }
}

extension Instance {
  /// Sends the application the changes that it has not received yet.
  mutating func deliverChanges(in turn: inout Turn) {
    guard hasStream else { return }
    let missed = heldChanges(turn.changes)
    inbox.changesDelivered = turn.changes.numberLast
    if !missed.isEmpty { turn.emit(.notify(id, .systemChanges(missed))) }
  }

  /// Returns the changes that the application has not received yet.
  func heldChanges(_ changes: SystemChanges) -> [SystemChange] {
    isAware ? changes.since(inbox.changesDelivered, for: application.owner) : []
  }
}
