// The application that the setting `CallApplication` names (contract §13).
//
// The daemon knows the modems' calls and the setting. For an incoming call, it chooses the users,
// and sends the scheduler one event for each user's application.

extension Scheduler {
  /// Entitles an application to run for `EventTime` because of an incoming call. If the application
  /// does not run, launches it in the background, if possible. An application in the foreground
  /// runs anyway.
  mutating func incomingCall(for key: ApplicationKey, in turn: inout Turn) {
    guard let application = applications[key] else { return }
    if let id = application.instance {
      return updateInstance(id, in: &turn) { $0.runForIncomingCall(in: &$1) }
    }
    guard application.launching == nil, application.isLaunchable else { return }
    launch(nil, key, target: .background, reason: .call, in: &turn)
  }

  /// Brings an application to the foreground because the user has answered a call. If the
  /// application does not run, launches it if possible.
  mutating func callAnswered(by key: ApplicationKey, in turn: inout Turn) {
    guard let application = applications[key],
      application.instance != nil || application.launching != nil || application.isLaunchable
    else { return }
    bringToFront(key, in: &turn)
  }
}

extension Instance {
  fileprivate mutating func runForIncomingCall(in turn: inout Turn) {
    guard termination == nil, !state.isForeground else { return }
    runForEvent(turn.policy.eventTime, cause: .call, in: &turn)
  }
}
