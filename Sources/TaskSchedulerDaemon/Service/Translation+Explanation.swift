import TaskSchedulerCore
import TaskSchedulerWire

// Why an application is as it is, from the policy's types to those on the wire.

extension ControlInterface.Explanation {
  init(_ explanation: TaskSchedulerCore.Explanation) {
    self.init(
      cause: explanation.cause?.rawValue,
      lastEntitlement: explanation.lastEntitlement.map { .init($0) },
      traced: explanation.isTraced, limits: explanation.limits.map { .init($0) })
  }
}

extension ControlInterface.EndedEntitlement {
  init(_ ended: TaskSchedulerCore.EndedEntitlement) {
    self.init(kind: .task, atUSec: ended.at.microseconds)
    switch ended.kind {
    case .task(let id, let name): (task, taskName) = (Int(clamping: id.number), name)
    case .callback(let callback): (kind, self.callback) = (.callback, .init(callback))
    case .activity(.audio): kind = .audio
    case .activity(.location): kind = .location
    case .activity(.event), .eventHandled: kind = .event
    case .eventTime: kind = .eventTime
    case .launchTime: kind = .launchTime
    }
  }
}

extension ControlInterface.Limit {
  init(_ limit: TaskSchedulerCore.Limit) {
    self.init(kind: .callback, atUSec: limit.at.microseconds)
    switch limit.kind {
    case .callback(let callback): self.callback = .init(callback)
    case .expiration: kind = .expiration
    case .backgroundTime: kind = .backgroundTime
    case .launch: kind = .launch
    case .event: kind = .event
    case .suspension: kind = .suspension
    case .kill: kind = .kill
    case .killRetry: kind = .killRetry
    case .keepAlive: kind = .keepAlive
    case .relaunch: kind = .relaunch
    }
  }
}
