import TaskSchedulerCore
import TaskSchedulerWire

// Translates the scheduler's refusals into the errors of each interface.

extension Refusal {
  /// Returns the error that reports this refusal to an application.
  func failure(toApplication name: String) -> ApplicationInterface.Failure {
    switch self {
    case .alreadyRunning(let pid, let state):
      .alreadyRunning(application: name, pid: Int(pid), state: .init(state))
    case .terminating: .terminating(application: name)
    case .wrongApplication(let registered):
      .wrongApplication(application: name, registeredAs: registered.name)
    case .unknownCallback(let id): .unknownCallback(callback: Int(clamping: id.number))
    case .unknownTask(let id): .unknownTask(task: Int(clamping: id.number))
    case .modeNotDeclared(let mode): .modeNotDeclared(application: name, mode: mode.rawValue)
    case .quotaExceeded(let quota, let limit): .quotaExceeded(quota: quota, limit: limit)
    case .multitaskingNotSupported: .multitaskingNotSupported(application: name)
    case .invalidState(.notRunning), .unknownApplication: .notRegistered
    case .invalidState(let state), .invalidTransition(let state, _):
      .invalidState(application: name, state: .init(state))
    case .cannotBeTold(let state): .invalidState(application: name, state: .init(state))
    case .notLaunchable, .launchFailed, .terminatedByOperator, .nothingPlayed:
      .invalidState(application: name, state: .notRunning)
    case .keepAliveTooShort(let minimum): .keepAliveTooShort(minimumUSec: minimum.microseconds)
    case .noEventStream: .noEventStream
    case .unknownSocket(let id): .unknownSocket(socket: Int(clamping: id.number))
    case .unknownNotification(let id):
      .unknownNotification(notification: Int(clamping: id.number))
    case .notStored(let reason): .notStored(reason: PrintableText.of(reason))
    case .locationUnavailable: .locationUnavailable
    case .locationDenied(let denial): .locationDenied(application: name, reason: .init(denial))
    case .unknownRegion(let id): .unknownRegion(identifier: id.name)
    }
  }

  /// Returns the error that reports this refusal to an operator.
  func failure(toOperator name: String) -> ControlInterface.Failure {
    switch self {
    case .unknownApplication: .unknownApplication(application: name, nearest: nil)
    case .invalidTransition(let state, let cause):
      .invalidTransition(application: name, state: .init(state), cause: cause.name)
    case .alreadyRunning(let pid, let state):
      .alreadyRunning(application: name, pid: Int(pid), state: .init(state))
    case .terminating: .terminating(application: name)
    case .notLaunchable: .notLaunchable(application: name)
    case .launchFailed(let reason):
      .launchFailed(application: name, reason: PrintableText.of(reason))
    case .quotaExceeded(let quota, let limit): .quotaExceeded(quota: quota, limit: limit)
    case .multitaskingNotSupported: .multitaskingNotSupported(application: name)
    case .unknownNotification(let id):
      .unknownNotification(application: name, notification: Int(clamping: id.number))
    case .notStored(let reason): .notStored(reason: PrintableText.of(reason))
    case .terminatedByOperator: .terminatedByOperator(application: name)
    case .nothingPlayed: .nothingPlayed
    case .cannotBeTold(let state): .cannotBeTold(application: name, state: .init(state))
    case .invalidState, .wrongApplication, .unknownCallback, .unknownTask, .modeNotDeclared,
      .keepAliveTooShort, .noEventStream, .unknownSocket, .locationUnavailable, .locationDenied,
      .unknownRegion:
      preconditionFailure("no operator's request is refused with \(self)")
    }
  }
}
