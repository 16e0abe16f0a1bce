import TaskSchedulerCore
import TaskSchedulerEventLog

/// Stores the events and carries out the effects of a simulated daemon's pump. Each daemon of a run
/// has an object of its own.
final class SimulatedDaemon: EventStore, EffectHandler {
  private unowned let simulation: Simulation
  let eventLog: EventLog

  init(_ simulation: Simulation, _ eventLog: EventLog) {
    self.simulation = simulation
    self.eventLog = eventLog
  }

  func record(_ event: Event, at now: Instant) {
    if let request = event.request {
      eventLog.beginCall(SimulatedCall(request), bytes: 1, phase: .peeked)
    }
    eventLog.record(event, at: now)
    simulation.didRecord(event, at: now)
  }

  func willHandle(_ event: Event) {
    // A dead daemon receives no message from its socket.
    if event.request != nil, simulation.isUp { eventLog.setCallPhase(.taken) }
  }

  func willCarryOut(_ effects: [Effect]) {
    eventLog.willCarryOut(effects)
    simulation.willCarryOut(effects)
  }

  func run(_ effect: Effect, at now: Instant) { simulation.run(effect) }

  func effectDone() { eventLog.effectDone() }

  func didHandle(_ event: Event) {
    simulation.didHandle()
    if event.request != nil, simulation.isUp { eventLog.endCall() }
  }

  func didHandleAll(deadline: Instant?, wakeUp: Instant?) { simulation.armTimer(deadline) }
}

/// A call of a client in the simulated world. Each call has a connection of its own.
final class SimulatedCall: CurrentCall {
  private let request: RequestID

  init(_ request: RequestID) { self.request = request }

  var cookie: UInt64 { Self.cookie(of: request) }
  var waiting: DaemonState.Waiting? { Self.waiting(for: request) }

  func takeMessage() {}

  static func cookie(of request: RequestID) -> UInt64 { request.number + 1 }

  static func waiting(for request: RequestID) -> DaemonState.Waiting {
    DaemonState.Waiting(
      request: request, method: "call", application: "", takesMore: false, isOneway: false)
  }
}
