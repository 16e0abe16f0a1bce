import TaskSchedulerCore
import TaskSchedulerEventLog

// The simulated daemon uses the production code of the pump and of the event log. The daemon may
// die at any effect. The next daemon then continues from the event log.
extension Simulation {
  private func pump(_ scheduler: Scheduler, _ eventLog: EventLog) -> Pump {
    let daemon = SimulatedDaemon(self, eventLog)
    let pump = Pump(scheduler: scheduler, store: daemon) { [unowned self] in
      Instant(nanoseconds: now)
    }
    eventLog.state = { [unowned self, unowned pump] in
      (daemonState, pump.scheduler, requestLast: UInt64(max(0, requesters.count - 1)))
    }
    pump.start(daemon)
    return pump
  }

  /// The state of the simulated daemon: the connections of the calls that wait for a reply.
  private var daemonState: DaemonState {
    var daemonState = DaemonState()
    for request in unanswered {
      daemonState.connections[SimulatedCall.cookie(of: request)] = DaemonState.Connection(
        waiting: SimulatedCall.waiting(for: request))
    }
    return daemonState
  }

  /// Starts the first daemon.
  func boot(_ scheduler: Scheduler) -> Pump {
    pump(scheduler, files.begin(scheduler, at: Instant(nanoseconds: now)))
  }

  /// Posts an event to the daemon. While no daemon runs, the event waits.
  func post(_ event: Event) {
    guard isUp else {
      waiting.append(event)
      return
    }
    guard let changed = canary?.event(event) else { return pump.post(event) }
    posted.append(event)
    pump.post(changed)
  }

  // MARK: Handling an event

  func didRecord(_ event: Event, at now: Instant) {
    guard isUp else { return }
    var seen = event
    if canary != nil {
      // The pump itself posts `recovered`, so `posted` does not contain it.
      if case .scheduler(.recovered) = event {} else { seen = posted.removeFirst() }
      canary?.begin(seen)
    }
    if seen.request != nil { call = seen }
    if deathPlanned?.events == 0, deathPlanned?.effects == 0, mayBeLost(seen) {
      var chance = draw(.deaths)
      if chance.happens(500) {
        files.removeLastRecord()
        return die()
      }
    }
    if let request = seen.request { unanswered.insert(request) }
    if case .session(let event) = event { didRecord(event) }
    current = (seen, now)
  }

  private func didRecord(_ event: SessionEvent) {
    switch event {
    case .audio(let user, let snapshot): sessions[user]?.audio.reported(snapshot)
    case .agentAttached(let user):
      // Every attachment posts this event once.
      sessions[user]?.attachmentKnown += 1
      repeatOrders(to: user)
    case .windows, .agentLost, .audioLost, .recordingChosen, .players, .playerCalled,
      .remoteCommand, .modemCalls, .incomingCall, .callAnswered, .locked, .unlocked:
      break
    }
  }

  /// Returns whether the event may be missing from the event log. The next daemon receives such an
  /// event again.
  private func mayBeLost(_ event: Event) -> Bool {
    event.request != nil || event == .scheduler(.deadlineReached)
  }

  func willCarryOut(_ effects: [Effect]) {
    // The effects that a dead daemon did not carry out belong to an event that the checkers have
    // already examined.
    guard isUp, let (event, now) = current else { return }
    current = nil
    var effects = effects
    if canary != nil {
      let planted = effects.map { canary?.mutate($0) ?? [] }
      self.planted = planted[...]
      effects = planted.flatMap(\.self)
    }
    if let planned = deathPlanned {
      deathPlanned = planned.events == 0 ? nil : (planned.events - 1, planned.effects)
      if planned.events == 0 { effectsUntilDeath = planned.effects }
    }
    check(event, effects, at: now)
  }

  private func check(_ event: Event, _ effects: [Effect], at instant: Instant) {
    eventCount += 1
    if let request = event.request {
      store.note(effects, of: request)
      locationStore.note(effects, of: request)
    }
    hash.add(event, at: instant, effects)
    observer?(event, effects, instant)
    if let violatedInvariant = pump.withScheduler({ $0.violatedInvariant }) {
      return report("invariants", violatedInvariant)
    }
    if let found = checkers.check(event, effects, at: now) {
      report(found.checker, found.sentence)
    }
  }

  func run(_ effect: Effect) {
    if effectsUntilDeath == 0 { return die() }
    if case .reply(let request, _) = effect { unanswered.remove(request) }
    if let becomes = planted.popFirst() {
      for effect in becomes { carryOut(effect) }
    } else {
      carryOut(effect)
    }
    guard let left = effectsUntilDeath else { return }
    effectsUntilDeath = left - 1
    guard left == 1 else { return }
    // A daemon that dies here has carried out the effect, but the event log does not count the
    // effect.
    var chance = draw(.deaths)
    if chance.happens(500) { die() }
  }

  func didHandle() {
    planted = []
    if effectsUntilDeath != nil { return die() }
    call = nil
  }

  // MARK: Death and recovery

  private func die() {
    schedulerAtDeath = pump.scheduler
    isUp = false
    pump.stop()
    posted = []
    planted = []
    current = nil
    deathPlanned = nil
    effectsUntilDeath = nil
    sockets.daemonDied()
    store.daemonDied()
    locationDaemonDied()
    disarmTimer()
    var chance = draw(.deaths)
    let delay =
      chance.happens(900)
      ? chance.below(500 * Nanoseconds.millisecond) : chance.below(300 * Nanoseconds.second)
    schedule(after: delay, .daemonStarts)
  }

  /// Starts the next daemon, which replays the event log. Then reports what has changed while the
  /// daemon was down.
  func start() {
    var chance = draw(.deaths)
    let replay: Replay
    do throws(EventLogRefusal) {
      replay = try files.replay(at: Instant(nanoseconds: now))
    } catch {
      return report("replay", "the event log is refused: \(error)")
    }
    if let problem = replay.damage?.description ?? replay.progress.problem {
      return report("replay", "the event log is not usable: \(problem)")
    }
    guard waitingCalls(replay) == unanswered.union(replies(replay.effectsLeft)) else {
      return report("replay", "the calls that wait for a reply are not those at the daemon's death")
    }
    guard
      schedulerAtDeath.map({ StoredWriter.bytes(of: $0) })
        == StoredWriter.bytes(of: replay.scheduler)
    else { return report("replay", "the replayed state is not the state at the daemon's death") }
    let eventLog = files.resume(replay)
    eventLog.setAttempts(replay.progress.attempts + 1)
    pump = pump(replay.scheduler, eventLog)
    isUp = true
    recoveryCount += 1
    checkers.machineWoke(at: now)
    for process in processes { process.restartCounters(at: now) }
    // If the event log has no record of the call, the message of the call is still in the socket.
    if let call, !replay.isCallWritten { waiting.insert(call, at: 0) }
    call = nil
    let keepsConnections = chance.happens(600)
    let arrivals = keepsConnections ? waiting : waiting.filter { $0.request == nil }
    waiting = []
    pump.resume(Array(replay.effectsLeft), of: replay.lastEvent)
    reconcile(keepsConnections, &chance)
    if isUp, !keepsConnections, chance.happens(500) {
      loseSockets()
      if isUp { losePictures() }
    }
    if isUp, !keepsConnections { loseAgents(&chance) }
    for user in sessions.keys.sorted() { repeatOrders(to: user) }
    takeOverLocation()
    if isUp { post(.scheduler(.clockRead(wallClock))) }
    if isUp {
      eventLog.setAttempts(0)
      eventLog.isTakingOver = false
    }
    for event in arrivals { post(event) }
  }

  private func waitingCalls(_ replay: Replay) -> Set<RequestID> {
    Set(
      replay.daemonState.connections.compactMap { cookie, connection in
        connection.waiting.map(\.request).flatMap {
          SimulatedCall.cookie(of: $0) == cookie ? $0 : nil
        }
      })
  }

  private func replies(_ effects: ArraySlice<Effect>) -> Set<RequestID> {
    Set(effects.compactMap { if case .reply(let request, _) = $0 { request } else { nil } })
  }

  /// Reports the leaders and connections that ended while the daemon was down.
  private func reconcile(_ keepsConnections: Bool, _ chance: inout SeededGenerator) {
    for (number, index) in byInstance.enumerated() {
      guard isUp, let index else { continue }
      let id = InstanceID(UInt64(number))
      let process = processes[index]
      if !process.isAlive || process.isUnwatchable {
        post(.process(.leaderExited(id, process.status ?? .unknown)))
      } else if !keepsConnections, process.hasStream {
        process.hasStream = false
        post(.application(.streamClosed(id)))
        schedule(
          after: chance.below(100 * Nanoseconds.millisecond), .reaction(index, .openStream))
      }
    }
  }
}
