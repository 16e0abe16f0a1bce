import TaskSchedulerCore

/// The store of notifications in the made-up world, which outlives the daemon. What it is told it
/// may be told once more, after a death.
final class SimulatedStore {
  private struct Row {
    let application: ApplicationKey
    var firesAt: Int64
    let repeats: RepeatInterval?
  }

  private var rows: [NotificationID: Row] = [:]
  /// Those that have fired, and whose user may choose them.
  private(set) var shown: [(id: NotificationID, application: ApplicationKey)] = []
  /// What cannot be, and was.
  private(set) var violatedInvariant: String?

  private static let shownMax = 16

  /// The user sees what has fired when so many others have since.
  private static let unshownMax = 4

  /// How many of a user's have fired and were not shown yet.
  func unshownCount(of user: UserID) -> Int {
    shown.suffix(Self.unshownMax).count { $0.application.owner == user }
  }

  func carryOut(_ effect: NotificationEffect, in simulation: Simulation) {
    switch effect {
    case .store(let id, let key, let draft): keep(id, key, draft, in: simulation)
    case .remove(let ids): for id in ids { rows[id] = nil }
    case .fire(let id, let key, let receiver):
      // It is not in the store where that was told before a death.
      if rows[id]?.repeats == nil { rows[id] = nil }
      if receiver == nil {
        shown.append((id, key))
        if shown.count > Self.shownMax { shown.removeFirst() }
      }
    case .findNext(let id): findNext(id, in: simulation)
    case .storeBadge: break
    }
  }

  private func keep(
    _ id: NotificationID, _ key: ApplicationKey, _ draft: NotificationDraft,
    in simulation: Simulation
  ) {
    var chance = simulation.draw(.effects)
    if rows[id] == nil, chance.happens(simulation.faults[.storeFails]) {
      return answer(.notStored(id, reason: "ENOSPC"), &chance, simulation)
    }
    rows[id] = Row(
      application: key, firesAt: draft.firesAt?.nanoseconds ?? simulation.wallClock.nanoseconds,
      repeats: draft.schedule?.repeats)
    answer(.stored(id), &chance, simulation)
  }

  private func findNext(_ id: NotificationID, in simulation: Simulation) {
    var chance = simulation.draw(.effects)
    guard var row = rows[id], let repeats = row.repeats else {
      return answer(.nextFound(id, nil), &chance, simulation)
    }
    let step = Self.length(of: repeats)
    let now = simulation.wallClock.nanoseconds
    if row.firesAt <= now { row.firesAt += ((now - row.firesAt) / step + 1) * step }
    if chance.happens(20) {
      // The calendar ends.
      rows[id] = nil
      return answer(.nextFound(id, nil), &chance, simulation)
    }
    rows[id] = row
    answer(.nextFound(id, WallTime(nanoseconds: row.firesAt)), &chance, simulation)
  }

  /// As good as any calendar's for the policy.
  private static func length(of repeats: RepeatInterval) -> Int64 {
    let minutes: Int64 =
      switch repeats {
      case .minute: 1
      case .hour: 60
      case .day: 1440
      case .week: 10_080
      case .month: 43_200
      case .year: 525_600
      }
    return minutes * 60 * Int64(Nanoseconds.second)
  }

  private func answer(
    _ event: NotificationEvent, _ chance: inout Chance, _ simulation: Simulation
  ) {
    let delay = chance.happens(500) ? 0 : chance.below(50 * Nanoseconds.millisecond)
    simulation.schedule(
      after: delay, .storeAnswers(event, generation: simulation.recoveryCount))
  }
}
