// Recovery after the daemon's absence (contract.md#never). The scheduler repeats the effects that
// processes and applications may have missed. Repeating these effects does no harm.

extension Scheduler {
  mutating func recovered(in turn: inout Turn) {
    for (id, launch) in launches.sortedByKey {
      turn.emit(.spawn(id, launch.application, reason: launch.plan.reason))
    }
    for id in instances.keys.sorted() {
      updateInstance(id, in: &turn) { $0.recovered(in: &$1) }
    }
    recoverNotifications(in: &turn)
    recoverMemory(in: &turn)
    recoverSessions(in: &turn)
    recoverLocation(in: &turn)
  }
}

extension Instance {
  fileprivate mutating func recovered(in turn: inout Turn) {
    // During the absence, no daemon could warn the application or receive its answers. The last
    // effects of the previous daemon, such as a stop signal, may also be carried out only now. Only
    // `BackgroundTime` continues.
    restartLimits(in: &turn)
    if case .asked(let heldBefore, _) = tracer {
      tracer = heldBefore ? .present(nextCheck: turn.instant) : .absent
    }
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
}
