import TaskSchedulerCore

extension TransitionCause {
  /// Whether an instance that becomes inactive for this cause is only on its way to active.
  var leadsToActive: Bool {
    switch self {
    case .interruption, .otherActivated, .shown, .unfocused, .locked, .call: false
    case .launch, .register, .adopt, .activate, .acknowledged, .sendAway, .terminate,
      .noEntitlement, .event, .suspensionLost, .leaderExited, .schedulerStopped, .focused, .hidden,
      .closed, .unlocked, .audio, .remoteControl, .remoteRead, .location, .callEnded, .released:
      true
    }
  }
}

extension ObservedState {
  /// Returns the instance, the new state and the cause of a transition; nil for another effect.
  func transition(
    _ effect: Effect
  ) -> (ObservedInstance, to: ApplicationState, TransitionCause)? {
    guard case .record(let record) = effect,
      case .transition(_, let to, let cause) = record.change,
      let instance = byKey[record.application]
    else { return nil }
    return (instance, to, cause)
  }
}
