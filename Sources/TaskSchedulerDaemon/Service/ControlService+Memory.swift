import TaskSchedulerCore
import TaskSchedulerWire

// The methods about memory, for operators and users (contract §11).

extension ControlService {
  func getMemory(_: Interface.GetMemory.Input, _ connection: Connection) throws {
    let ids = visible(connection.peer).compactMap { $0.instance?.id }
    let order = pump.scheduler.memoryOrder(memory.sizes(of: ids))
    let status = pump.scheduler.memoryStatus
    let reading = memory.reading
    connection.reply(
      Interface.GetMemory.Output(
        phase: .init(status.phase), pressedAtUSec: status.pressedAt?.microseconds,
        heard: memory.heard.map(\.rawValue), available: Int(clamping: reading.available),
        total: Int(clamping: reading.total), floorPercent: pump.scheduler.policy.memoryFloorPercent,
        applications: order.enumerated().map { .init($1, position: $0 + 1) }))
  }

  func warnMemory(_ input: Interface.WarnMemory.Input, _ connection: Connection) throws {
    if input.application == nil, input.owner != nil {
      throw ParameterError(parameter: "owner", problem: "it requires the name of an application")
    }
    let key = try input.application.map { try self.key($0, input.owner, connection.peer) }
    let owner = isOperator(connection.peer) ? nil : UserID(connection.peer.uid)
    let request = requests.open(connection, application: input.application ?? "")
    post(.memory(.warn(request, key, owner: owner)))
  }
}

extension ControlInterface.MemoryPhase {
  fileprivate init(_ phase: MemoryStatus.Phase) {
    switch phase {
    case .calm: self = .calm
    case .warned: self = .warned
    case .measuring: self = .measuring
    case .ending: self = .ending
    case .reclaiming: self = .reclaiming
    }
  }
}

extension ControlInterface.MemoryUse {
  fileprivate init(_ candidate: MemoryCandidate, position: Int) {
    let isSafe = candidate.state.isForeground
    self.init(
      application: candidate.application.id.name, owner: Int(candidate.application.owner.uid),
      state: .init(candidate.state), dirty: Int(clamping: candidate.size.dirty),
      total: Int(clamping: candidate.size.total), estimate: candidate.size.isEstimate,
      position: isSafe ? nil : position)
  }
}
