import TaskSchedulerCore

/// The notification store of the simulated world. Its rows outlive the daemon; its queue of
/// transactions dies with the daemon.
final class SimulatedStore {
  private struct Row {
    let application: ApplicationKey
    var firesAt: Int64
    let repeats: RepeatInterval?
  }

  // MARK: On the disk
  private var rows: [NotificationID: Row] = [:]
  private var badges: [ApplicationKey: Int] = [:]

  // MARK: In the daemon
  private var queue: [TransactionID: NotificationTransaction] = [:]
  private var isWriting = false

  // MARK: For the store's own checks
  private var transactionsOfRequests: [RequestID: TransactionID] = [:]
  private var durable: [TransactionID: NotificationTransaction] = [:]
  private var refused: Set<TransactionID> = []

  /// The notifications that have fired and that the user can choose.
  private(set) var shown: [(id: NotificationID, application: ApplicationKey)] = []
  /// The first difference between the daemon's replies and the disk, as a sentence; nil if there is
  /// none.
  private(set) var violatedInvariant: String?

  private static let shownMax = 16

  /// A notification counts as shown when this number of other notifications has fired after it.
  private static let unshownMax = 4

  /// Returns the number of a user's notifications that have fired and were not shown yet.
  func unshownCount(of user: UserID) -> Int {
    shown.suffix(Self.unshownMax).count { $0.application.owner == user }
  }

  /// Returns the ids of an application's stored notifications. With an `id`, returns only this id,
  /// or no id if the notification is not stored.
  func ids(of key: ApplicationKey, _ id: NotificationID?) -> [NotificationID] {
    rows.filter { $0.value.application == key && (id == nil || $0.key == id) }.map(\.key).sorted()
  }

  func carryOut(_ effect: NotificationEffect, in simulation: Simulation) {
    switch effect {
    case .store(let id, let transaction):
      queue[id] = transaction
      scheduleWriting(in: simulation)
    case .fire(let id, let key, _, let receiver):
      guard receiver == nil else { return }
      shown.append((id, key))
      if shown.count > Self.shownMax { shown.removeFirst() }
    case .findNext(let id, let time): findNext(id, after: time, in: simulation)
    }
  }

  func daemonDied() {
    queue = [:]
    isWriting = false
  }

  // MARK: Writing

  private func scheduleWriting(in simulation: Simulation) {
    guard !queue.isEmpty, !isWriting else { return }
    isWriting = true
    var chance = simulation.draw(.effects)
    simulation.schedule(
      after: delay(&chance, simulation), .storeWrites(generation: simulation.recoveryCount))
  }

  /// Makes some transactions durable, in the order of their ids. The daemon receives the results
  /// later.
  func write(in simulation: Simulation) {
    var chance = simulation.draw(.effects)
    // The store reports the results of a group of transactions together, and then writes the next
    // group.
    let answerDelay = delay(&chance, simulation)
    let group = queue.keys.sorted().prefix(chance.happens(500) ? 1 : 1 + chance.below(8))
    for id in group {
      guard let transaction = queue.removeValue(forKey: id) else { continue }
      let fails = durable[id] == nil && chance.happens(simulation.faults[.storeFails])
      if !fails { write(id, transaction, in: simulation) }
      answer(
        fails ? .storeFailed(id, reason: "ENOSPC") : .stored(id), after: answerDelay, simulation)
    }
    simulation.schedule(
      after: answerDelay, .storeRests(generation: simulation.recoveryCount))
  }

  /// Records that the daemon has received all results of the last write.
  func rest(in simulation: Simulation) {
    isWriting = false
    scheduleWriting(in: simulation)
  }

  private func write(
    _ id: TransactionID, _ transaction: NotificationTransaction, in simulation: Simulation
  ) {
    if refused.contains(id) { violate("transaction \(id.number) was refused, but is stored") }
    durable[id] = transaction
    switch transaction {
    case .schedule(let id, let key, let draft):
      rows[id] = Row(
        application: key, firesAt: draft.firesAt?.nanoseconds ?? simulation.wallClock.nanoseconds,
        repeats: draft.schedule?.repeats)
    case .cancel(let ids, _): for id in ids { rows[id] = nil }
    case .setBadge(let key, let badge): badges[key] = badge
    case .fire(let id, _, _, _): if rows[id]?.repeats == nil { rows[id] = nil }
    }
  }

  private func delay(_ chance: inout SeededGenerator, _ simulation: Simulation) -> UInt64 {
    if chance.happens(simulation.faults[.storeIsSlow]) {
      return chance.below(30 * Nanoseconds.second)
    }
    return chance.happens(500) ? 0 : chance.below(50 * Nanoseconds.millisecond)
  }

  // MARK: Replies of the daemon

  /// Records the transaction of a request.
  func note(_ effects: [Effect], of request: RequestID) {
    for case .notification(.store(let id, _)) in effects { transactionsOfRequests[request] = id }
  }

  /// Checks that the disk has the acknowledged transactions and none of the refused ones.
  func check(_ request: RequestID, _ reply: Reply) {
    guard let id = transactionsOfRequests[request] else { return }
    if case .refused = reply {
      refused.insert(id)
      if durable[id] != nil { violate("transaction \(id.number) is refused, but was stored") }
    } else if durable[id] == nil {
      violate("transaction \(id.number) has a reply, but is not stored")
    }
  }

  /// Checks that the badge of each application is the last stored one, although transactions may be
  /// repeated.
  func checkBadges() {
    var expected: [ApplicationKey: Int] = [:]
    for (_, transaction) in durable.sorted(by: { $0.key < $1.key }) {
      if case .setBadge(let key, let badge) = transaction { expected[key] = badge }
    }
    if expected != badges { violate("an earlier badge replaced a later one") }
  }

  private func violate(_ sentence: String) {
    if violatedInvariant == nil { violatedInvariant = sentence }
  }

  // MARK: The calendar

  private func findNext(
    _ id: NotificationID, after time: WallTime, in simulation: Simulation
  ) {
    var chance = simulation.draw(.effects)
    let delay = chance.happens(500) ? 0 : chance.below(50 * Nanoseconds.millisecond)
    guard var row = rows[id], let repeats = row.repeats else {
      return answer(.nextFound(id, nil), after: delay, simulation)
    }
    let step = repeats.nanoseconds
    let latest = max(simulation.wallClock.nanoseconds, time.nanoseconds)
    if row.firesAt <= latest { row.firesAt += ((latest - row.firesAt) / step + 1) * step }
    if chance.happens(20) {
      // The notification does not fire again.
      rows[id] = nil
      return answer(.nextFound(id, nil), after: delay, simulation)
    }
    rows[id] = row
    answer(.nextFound(id, WallTime(nanoseconds: row.firesAt)), after: delay, simulation)
  }

  private func answer(
    _ event: NotificationEvent, after delay: UInt64, _ simulation: Simulation
  ) {
    simulation.schedule(
      after: delay, .storeAnswers(event, generation: simulation.recoveryCount))
  }
}

extension RepeatInterval {
  /// The approximate length of the interval, without a calendar.
  var nanoseconds: Int64 {
    let minutes: Int64 =
      switch self {
      case .minute: 1
      case .hour: 60
      case .day: 1440
      case .week: 10_080
      case .month: 43_200
      case .year: 525_600
      }
    return minutes * 60 * Int64(Nanoseconds.second)
  }
}
