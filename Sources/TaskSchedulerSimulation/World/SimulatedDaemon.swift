import TaskSchedulerCore
import TaskSchedulerEventLog

/// The event log and the effects of a simulated daemon's pump. It ends with the daemon.
final class SimulatedDaemon: EventStore, EffectHandler {
  private unowned let simulation: Simulation
  let eventLog: EventLog

  init(_ simulation: Simulation, _ eventLog: EventLog) {
    self.simulation = simulation
    self.eventLog = eventLog
  }

  func record(_ event: Event, at now: Instant) {
    eventLog.record(event, at: now)
    simulation.didRecord(event, at: now)
  }

  func willHandle(_ event: Event) {}

  func willCarryOut(_ effects: [Effect]) {
    eventLog.willCarryOut(effects)
    simulation.willCarryOut(effects)
  }

  func run(_ effect: Effect, at now: Instant) { simulation.run(effect) }

  func effectDone() { eventLog.effectDone() }

  func didHandle(_ event: Event) { simulation.didHandle() }

  func didHandleAll(deadline: Instant?, wakeUp: Instant?) { simulation.armTimer(deadline) }
}
