// System changes (contract §10). A running application receives each change as it happens. A
// suspended application receives the newest change of each kind when it resumes.

/// The newest change of each kind for each user, in order.
struct SystemChanges: Equatable, Sendable {
  struct Entry: Equatable {
    var change: SystemChange
    /// The user whose applications receive the change; nil means all users.
    var owner: UserID?
    var number: UInt64
  }

  /// The changes, ordered by number.
  private(set) var entries: [Entry] = []
  /// The number of the newest change.
  private(set) var numberLast: UInt64 = 0

  /// Returns the number of stored custom changes that were posted for `owner`. If `owner` is nil,
  /// counts the changes that were posted for all users.
  private func customCount(of owner: UserID?) -> Int {
    entries.count { $0.change.isCustom && $0.owner == owner }
  }

  private func index(of change: SystemChange, for owner: UserID?) -> Int? {
    entries.firstIndex { $0.change.kind == change.kind && $0.owner == owner }
  }

  /// Returns whether the change can be stored. The quota counts the custom changes of each user
  /// separately, so that no user can exhaust the quota of another.
  func hasRoom(for change: SystemChange, for owner: UserID?, customMax: Int) -> Bool {
    !change.isCustom || index(of: change, for: owner) != nil || customCount(of: owner) < customMax
  }

  /// Removes the custom changes up to `number` that were posted for `owner`. If `owner` is nil,
  /// removes those that were posted for all users. Call this only if all receivers of these changes
  /// have received them.
  mutating func forgetNames(of owner: UserID?, upTo number: UInt64) {
    entries.removeAll { $0.change.isCustom && $0.owner == owner && $0.number <= number }
  }

  mutating func note(_ change: SystemChange, for owner: UserID?) {
    if let known = index(of: change, for: owner) { entries.remove(at: known) }
    numberLast += 1
    entries.append(Entry(change: change, owner: owner, number: numberLast))
  }

  /// Returns the changes that have a higher number than `number`, and that the applications of
  /// `owner` receive.
  func since(_ number: UInt64, for owner: UserID) -> [SystemChange] {
    if number == numberLast { return [] }
    let missed = entries.filter { $0.number > number && ($0.owner == nil || $0.owner == owner) }
    // There may be a change for this user and one of the same kind for all users. Only the newer
    // one counts.
    return missed.filter { entry in
      !missed.contains { $0.change.kind == entry.change.kind && $0.number > entry.number }
    }.map(\.change)
  }

  func check() throws(InvariantViolation) {
    try require(
      numberLast < InvariantViolation.countMax,
      "the number of the last system change is too high")
    try require(
      zip(entries, entries.dropFirst()).allSatisfy { $0.number < $1.number }
        && entries.last.map { $0.number <= numberLast } ?? true, "system changes are out of order")
  }
}

extension SystemChange {
  fileprivate var isCustom: Bool {
    switch kind {
    case .custom: true
    case .timeZone, .clock, .day, .locale, .network, .powerSource: false
    }
  }
}
