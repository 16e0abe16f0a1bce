import TaskSchedulerCore

/// The store of regions, significant changes and authorizations in the simulated world. Its rows
/// outlive the daemon; its queue of changes dies with the daemon.
final class SimulatedLocationStore {
  // MARK: On the disk
  private(set) var rows: [ApplicationKey: StoredLocationServices] = [:]

  // MARK: In the daemon
  private var queue: [TransactionID: (key: ApplicationKey, change: LocationChange)] = [:]
  private var isWriting = false

  // MARK: For the store's own checks
  private var transactionsOfRequests: [RequestID: TransactionID] = [:]
  private var durable: Set<TransactionID> = []
  private var refused: Set<TransactionID> = []
  /// The first difference between the daemon's replies and the disk, as a sentence; nil if there is
  /// none.
  private(set) var violatedInvariant: String?

  /// The contents, ordered by application.
  var stored: [StoredLocationServices] { rows.keys.sorted().compactMap { rows[$0] } }

  func load(_ stored: [StoredLocationServices]) {
    for services in stored { rows[services.application] = services }
  }

  func carryOut(
    _ id: TransactionID, _ key: ApplicationKey, _ change: LocationChange,
    in simulation: Simulation
  ) {
    queue[id] = (key, change)
    scheduleWriting(in: simulation)
  }

  func daemonDied() {
    queue = [:]
    isWriting = false
  }

  // MARK: Writing

  private func scheduleWriting(in simulation: Simulation) {
    guard !queue.isEmpty, !isWriting else { return }
    isWriting = true
    var chance = simulation.drawLocation()
    simulation.schedule(
      after: delay(&chance, simulation),
      .location(.storeWrites(generation: simulation.recoveryCount)))
  }

  /// Makes some changes durable, in the order of their ids. The daemon receives the results later.
  func write(in simulation: Simulation) {
    var chance = simulation.drawLocation()
    let answerDelay = delay(&chance, simulation)
    let group = queue.keys.sorted().prefix(chance.happens(500) ? 1 : 1 + chance.below(8))
    for id in group {
      guard let (key, change) = queue.removeValue(forKey: id) else { continue }
      // The daemon may repeat a change that is already durable. The repetition does not fail.
      let fails = !durable.contains(id) && chance.happens(simulation.faults[.storeFails])
      if !fails { write(id, key, change) }
      simulation.schedule(
        after: answerDelay,
        .location(
          .storeAnswers(
            fails ? .storeFailed(id, reason: "ENOSPC") : .stored(id),
            generation: simulation.recoveryCount)))
    }
    simulation.schedule(
      after: answerDelay, .location(.storeRests(generation: simulation.recoveryCount)))
  }

  /// Records that the daemon has received all results of the last write.
  func rest(in simulation: Simulation) {
    isWriting = false
    scheduleWriting(in: simulation)
  }

  private func delay(_ chance: inout SeededGenerator, _ simulation: Simulation) -> UInt64 {
    if chance.happens(simulation.faults[.storeIsSlow]) {
      return chance.below(30 * Nanoseconds.second)
    }
    return chance.happens(500) ? 0 : chance.below(50 * Nanoseconds.millisecond)
  }

  private func write(_ id: TransactionID, _ key: ApplicationKey, _ change: LocationChange) {
    if refused.contains(id) { violate("change \(id.number) was refused, but is stored") }
    durable.insert(id)
    var row = rows[key] ?? StoredLocationServices(application: key)
    switch change {
    case .monitor(let region):
      row.regions.removeAll { $0.region.id == region.id }
      row.regions.append(.init(region, isInside: nil))
    case .stopMonitoring(let id): row.regions.removeAll { $0.region.id == id }
    case .monitorSignificantChanges(let isMonitoring):
      row.monitorsSignificantChanges = isMonitoring
    case .authorize(let authorization, let wasAsked):
      (row.authorization, row.wasAsked) = (authorization, wasAsked)
    case .report(let crossing):
      for index in row.regions.indices where row.regions[index].region.id == crossing.region {
        row.regions[index].isInside = crossing.isInside
      }
    }
    rows[key] = row == StoredLocationServices(application: key) ? nil : row
  }

  // MARK: Replies of the daemon

  /// Records the change that a request waits for. If there are several, the last one counts.
  /// Ignores questions and reports, because no request waits until they are stored.
  func note(_ effects: [Effect], of request: RequestID) {
    for case .location(.store(let id, _, let change)) in effects {
      switch change {
      case .report, .authorize(.notDetermined, wasAsked: true): break
      case .monitor, .stopMonitoring, .monitorSignificantChanges, .authorize:
        transactionsOfRequests[request] = id
      }
    }
  }

  /// Checks that the disk has the acknowledged changes and none of the refused ones.
  func check(_ request: RequestID, _ reply: Reply) {
    guard let id = transactionsOfRequests[request] else { return }
    if case .refused = reply {
      refused.insert(id)
      if durable.contains(id) { violate("change \(id.number) is refused, but was stored") }
    } else if !durable.contains(id) {
      violate("change \(id.number) has a reply, but is not stored")
    }
  }

  /// Checks that the scheduler monitors exactly the stored regions. A new scheduler that reads the
  /// store after a reboot must also monitor exactly these regions.
  func checkRegions(_ scheduler: Scheduler, at now: Instant) {
    var rebooted = Scheduler(policy: scheduler.policy.value)
    _ = rebooted.handle(.location(.loaded(stored)), at: now)
    for key in Set(rows.keys).union(scheduler.locationStatus.uses.map(\.application)).sorted() {
      let onDisk = rows[key]?.regions.map(\.region).sorted { $0.id < $1.id } ?? []
      for (one, name) in [(scheduler, "the scheduler"), (rebooted, "a scheduler after a reboot")] {
        let monitored = one.monitoredRegions(of: key).map(\.region).sorted { $0.id < $1.id }
        if monitored == onDisk { continue }
        violate(
          "\(name) monitors \(monitored.count) regions of \(key.id.name), but \(onDisk.count) are "
            + "stored")
      }
    }
  }

  private func violate(_ sentence: String) {
    if violatedInvariant == nil { violatedInvariant = sentence }
  }
}
