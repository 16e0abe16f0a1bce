// Recovery after the daemon's absence (contract.md#never). The scheduler repeats the effects that
// processes and applications may have missed. Repeating these effects does no harm.

extension Scheduler {
  mutating func recovered(lastAlive: Instant, in turn: inout Turn) {
    for (id, launch) in launches.sortedByKey {
      turn.emit(.spawn(id, launch.application, reason: launch.plan.reason))
    }
    for id in instances.keys.sorted() {
      updateInstance(id, in: &turn) { $0.recovered(lastAlive: lastAlive, in: &$1) }
    }
    recoverNotifications(in: &turn)
    recoverMemory(in: &turn)
    recoverSessions(in: &turn)
    recoverLocation(in: &turn)
  }
}

extension Instance {
  mutating func recovered(lastAlive: Instant, in turn: inout Turn) {
    restartLimits(since: lastAlive, in: &turn)
    if case .asked = tracer { turn.emit(.checkTracer(id)) }
    if isKilled { return turn.emit(.kill(id)) }
    turn.emitLast(.resources(.prioritize(id, priority(in: state))))
    // The previous daemon may have died while it stopped or resumed the processes. This daemon
    // therefore stops or resumes all processes again.
    if state == .suspended || isStopping {
      if state == .suspended { phase = .suspended(isStopping: true) }
      turn.emit(.suspend(id))
    } else {
      turn.emit(.resume(id))
    }
    if let callback = callbacks.inFlight { deliver(callback, in: &turn) }
    restartMeasuringUse(in: &turn)
    reconsider(in: &turn)
  }

  /// Restarts the limits that the daemon's absence has affected. During the absence, no daemon
  /// could warn the application or receive its answers. If the limit of a callback had not passed
  /// before the absence, it restarts, because the scheduler sends the callback again. Every other
  /// limit restarts only if it passed during the absence. `BackgroundTime` does not restart, only
  /// `ExpirationLead` does.
  private mutating func restartLimits(since lastAlive: Instant, in turn: inout Turn) {
    let now = turn.instant
    let policy = turn.policy
    func passed(_ due: Instant?) -> Bool { due.map { lastAlive < $0 && $0 <= now } ?? false }
    if passed(stint?.time.nextDue(policy)) { stint?.time.restartLead(at: now) }
    if let due = callbacks.deadline(policy), lastAlive < due { callbacks.restartLimit(at: now) }
    if passed(handling.nextEnd) {
      handling.extend(until: now.advanced(by: policy.eventTime))
    }
    if passed(stint?.launchEnds) {
      stint?.launchEnds = now.advanced(by: policy.launchTime)
    }
    if passed(audio?.graceEnds) {
      audio?.setGrace(until: now.advanced(by: policy.audioGraceTime))
    }
    if passed(audio?.silence.due(policy)) { audio?.silence.restart(at: now) }
    if passed(window?.nextDue(policy)) { window?.restart(at: now) }
    if case .signalled(let killAt) = termination?.phase, passed(killAt) {
      termination?.phase = .signalled(killAt: now.advanced(by: policy.terminateTimeout))
    }
  }
}
