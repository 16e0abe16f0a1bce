// After the daemon's absence (contract §15): what the processes and the applications may have
// missed is said again. Every effect here may be repeated without harm.

extension Scheduler {
  mutating func recovered(lastAlive: Instant, in turn: inout Turn) {
    for (id, launch) in launches.sorted(by: { $0.key < $1.key }) {
      turn.emit(.spawn(id, launch.application, reason: launch.plan.reason))
    }
    for id in instances.keys.sorted() {
      with(id, in: &turn) { $0.recovered(lastAlive: lastAlive, in: &$1) }
    }
    recoverNotifications(in: &turn)
    recoverMemory(in: &turn)
  }
}

extension Instance {
  mutating func recovered(lastAlive: Instant, in turn: inout Turn) {
    forgiveAbsence(since: lastAlive, in: &turn)
    if case .asked = tracer { turn.emit(.checkTracer(id)) }
    if isKilled { return turn.emit(.kill(id)) }
    turn.emitLast(.resources(.prioritize(id, ProcessPriority(state))))
    // Whatever was being stopped, or let go, when the daemon died: it is one or the other now.
    if state == .suspended || suspension == .stopping {
      suspension = .stopping
      turn.emit(.suspend(id))
    } else {
      turn.emit(.resume(id))
    }
    if let callback = callbacks.inFlight { deliver(callback, in: &turn) }
    watchUseAnew(in: &turn)
    reconsider(in: &turn)
  }

  /// What passed while the daemon was away has its time again: the application could neither be
  /// warned nor heard. What did not pass goes on as it was.
  private mutating func forgiveAbsence(since lastAlive: Instant, in turn: inout Turn) {
    let now = turn.instant
    let policy = turn.policy
    func passed(_ due: Instant?) -> Bool { due.map { lastAlive < $0 && $0 <= now } ?? false }
    if passed(stint?.nextDue(policy)) { stint?.restartLead(at: now) }
    if passed(callbacks.deadline(policy)) { callbacks.restartLimit(at: now) }
    if passed(handling.nextEnd) {
      handling.extend(until: now.advanced(by: policy.eventTime))
    }
    if passed(launchEnds) { launchEnds = now.advanced(by: policy.launchTime) }
    if case .signalled(let killAt) = termination?.phase, passed(killAt) {
      termination?.phase = .signalled(killAt: now.advanced(by: policy.terminateTimeout))
    }
  }
}
