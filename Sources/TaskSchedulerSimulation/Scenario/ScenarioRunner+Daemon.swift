import TaskSchedulerCore
import TaskSchedulerEventLog

// The simulated daemon uses the production code of the pump and of the event log.
extension ScenarioRunner {
  private func pump(_ scheduler: Scheduler, _ eventLog: EventLog) -> Pump {
    let pump = Pump(scheduler: scheduler, store: eventLog) { [unowned self] in
      Instant(nanoseconds: now)
    }
    eventLog.state = { [unowned self, unowned pump] in
      (DaemonState(), pump.scheduler, requestLast: UInt64(max(0, requests.count - 1)))
    }
    pump.start(ScenarioDaemon(self))
    return pump
  }

  func boot() -> Pump {
    let scheduler = Scheduler(policy: scenario.policy)
    return pump(scheduler, files.begin(scheduler, at: Instant(nanoseconds: now)))
  }

  /// Posts an event to the daemon. While no daemon runs, the event waits.
  func post(_ event: Event) {
    if isAway { waiting.append(event) } else { pump.post(event) }
  }

  func daemonDies(for length: Duration) {
    guard !isAway else { return }
    isAway = true
    pump.stop()
    for index in actors.indices { actors[index].isWatched = false }
    turnReceiver(on: false)
    schedule(after: length, .daemonReturns)
  }

  /// Starts the next daemon from the event log.
  func daemonReturns() {
    guard isAway else { return }
    let replay: Replay
    do throws(EventLogRefusal) {
      replay = try files.replay(at: Instant(nanoseconds: now))
    } catch {
      preconditionFailure("the event log of a scenario is refused: \(error)")
    }
    isAway = false
    note(nil, .daemonReturned)
    let arrivals = waiting
    waiting = []
    let eventLog = files.resume(replay)
    pump = pump(replay.scheduler, eventLog)
    pump.resume(Array(replay.effectsLeft), of: replay.lastEvent)
    eventLog.isTakingOver = false
    post(.scheduler(.clockRead(wallClock)))
    turnReceiver(on: pump.scheduler.locationNeeds.accuracy != nil)
    for event in arrivals { post(event) }
  }
}

/// Carries out the effects of a scenario's daemon.
private final class ScenarioDaemon: EffectHandler {
  private unowned let play: ScenarioRunner

  init(_ play: ScenarioRunner) { self.play = play }

  func willHandle(_ event: Event) {}
  func run(_ effect: Effect, at now: Instant) { play.carryOut(effect) }
  func didHandle(_ event: Event) {}
  func didHandleAll(deadline: Instant?, wakeUp: Instant?) { play.deadline = deadline }
}
