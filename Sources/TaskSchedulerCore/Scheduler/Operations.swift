// Requests of users and operators (contract §2), and the end of an instance.
//
// The reply "done" comes after the transition. If the application is already in the requested
// state, the reply is "done", too, and nothing changes.

/// A request of a user, of an operator or of the daemon itself.
public enum OperationEvent: Equatable, Sendable {
  case launch(RequestID?, ApplicationKey, target: LaunchTarget, reason: LaunchReason)
  case adopt(RequestID, Adoption)
  case activate(RequestID?, ApplicationKey)
  case deactivate(RequestID?, ApplicationKey)
  case sendToBackground(RequestID?, ApplicationKey)
  case terminate(RequestID?, ApplicationKey, byUser: Bool)
  /// Sends a command to the user's application that was audible last.
  case remoteControl(RequestID, UserID, RemoteCommand)

  var request: RequestID? {
    switch self {
    case .launch(let request, _, _, _), .activate(let request, _), .deactivate(let request, _),
      .sendToBackground(let request, _), .terminate(let request, _, _):
      request
    case .adopt(let request, _), .remoteControl(let request, _, _): request
    }
  }
}

/// A running process that the scheduler is to manage.
public struct Adoption: Equatable, Sendable {
  public var application: ApplicationKey
  public var leader: Leader
  public var target: LaunchTarget
  public var seat: SeatID
  /// The name of a background task that begins with the adoption; nil if none begins.
  public var backgroundTask: String?
  /// The background modes; empty to use the modes of the manifest.
  public var backgroundModes: [BackgroundMode]
  /// The reason for the start of the program: `operator`, or `user` if the daemon adopts the
  /// program because of its window.
  public var reason: LaunchReason

  public init(
    application: ApplicationKey, leader: Leader, target: LaunchTarget, seat: SeatID,
    backgroundTask: String? = nil, backgroundModes: [BackgroundMode] = [],
    reason: LaunchReason = .operator
  ) {
    self.application = application
    self.leader = leader
    self.target = target
    self.seat = seat
    self.backgroundTask = backgroundTask
    self.backgroundModes = backgroundModes
    self.reason = reason
  }
}

extension Scheduler {
  mutating func handle(_ event: OperationEvent, in turn: inout Turn) {
    switch event {
    case .launch(let request, let key, let target, let reason):
      launch(request, key, target: target, reason: reason, in: &turn)
    case .adopt(let request, let adoption):
      adopt(request, adoption, in: &turn)
    case .activate(let request, let key):
      activate(request, key, in: &turn)
    case .deactivate(let request, let key):
      deactivate(request, key, in: &turn)
    case .sendToBackground(let request, let key):
      sendToBackground(request, key, in: &turn)
    case .terminate(let request, let key, let byUser):
      terminate(request, key, byUser: byUser, in: &turn)
    case .remoteControl(let request, let user, let command):
      remoteControl(request, user, command, in: &turn)
    }
  }

  /// Brings an application to the foreground. If the application does not run, launches it.
  mutating func activate(
    _ request: RequestID?, _ key: ApplicationKey, cause: TransitionCause = .activate,
    in turn: inout Turn
  ) {
    guard let application = applications[key] else {
      return refuse(request, key, .unknownApplication(key), in: &turn)
    }
    guard let id = application.instance else {
      return launch(request, key, target: .foreground, reason: .user, in: &turn)
    }
    guard let instance = instances[id] else { preconditionFailure("an instance is missing") }
    if isDone(request, instance, [.active], in: &turn) { return }
    let others: [ApplicationState] = [.inactive, .background, .suspended]
    if let refusal = refusal(of: .activate, for: instance, from: others) {
      return refuse(request, key, refusal, in: &turn)
    }
    vacate(instance.seat, for: key, isByFocus: cause == .focused, in: &turn)
    updateInstance(id, in: &turn) { $0.activate(cause: cause, in: &$1) }
    turn.reply(request, .done)
    useWakeUp(in: &turn)
  }

  /// Makes an application inactive. The application stays in the foreground of its seat.
  mutating func deactivate(_ request: RequestID?, _ key: ApplicationKey, in turn: inout Turn) {
    // An application that is coming to the foreground is inactive already, and must stay inactive.
    let isActivating =
      applications[key]?.instance.flatMap { instances[$0] }?.isActivating ?? false
    guard
      let id = runningInstance(
        request, key, cause: .interruption, from: [.active, .inactive],
        to: isActivating ? [] : [.inactive], in: &turn)
    else { return }
    updateInstance(id, in: &turn) {
      $0.window?.hold()
      $0.interrupt(cause: .interruption, in: &$1)
    }
    turn.reply(request, .done)
  }

  mutating func sendToBackground(
    _ request: RequestID?, _ key: ApplicationKey, in turn: inout Turn
  ) {
    guard
      let id = runningInstance(
        request, key, cause: .sendAway, from: [.active, .inactive],
        to: [.background, .suspended], in: &turn)
    else { return }
    updateInstance(id, in: &turn) { $0.enterBackground(cause: .sendAway, in: &$1) }
    turn.reply(request, .done)
  }

  /// Terminates an application. The reply comes when the leader has exited, or at once if the
  /// application does not run. Refuses the request while the application is being launched.
  mutating func terminate(
    _ request: RequestID?, _ key: ApplicationKey, byUser: Bool, in turn: inout Turn
  ) {
    guard let application = applications[key] else {
      return refuse(request, key, .unknownApplication(key), in: &turn)
    }
    guard let id = application.instance else {
      return terminateNotRunning(request, application, in: &turn)
    }
    updateInstance(id, in: &turn) {
      $0.terminate(
        byUser ? .terminatedByUser : .terminatedByOperator, waiter: request, in: &$1)
    }
  }

  mutating func leaderExited(_ id: InstanceID, _ status: ExitStatus, in turn: inout Turn) {
    guard let instance = instances.removeValue(forKey: id) else { return }
    deadlines.set(id, to: nil)
    seats.leave(instance.seat, id)
    applications.taskCountChanged(by: -instance.tasks.count, of: instance.application.owner)
    keepAlives.remove(id)
    // The memory procedure must know of the end before the instance's remaining processes are
    // released.
    instanceOfMemoryEnded(id, in: &turn)
    let end = instance.finish(status, in: &turn)
    restoreAudio(of: instance, in: &turn)
    forgetPlayer(instance, in: &turn)
    audioOwnerEnded(instance, in: &turn)
    forgetUpdates(of: instance)
    applications.ended(instance.application, end, keeping: policy.endedApplicationsMax)
    leaveSwitcherIfGone(instance.application, in: &turn)
    relaunchIfCalledFor(instance, end, in: &turn)
  }

  // MARK: Seats

  /// Deactivates the other applications of a seat, because the application `key` enters the
  /// foreground of the seat. The application `key` does not wait for the transitions of the others.
  ///
  /// An application whose windows are known becomes inactive, because the user may still see it. An
  /// application without known windows goes to the background.
  mutating func vacate(
    _ seat: SeatID, for key: ApplicationKey, isByFocus: Bool = false, in turn: inout Turn
  ) {
    for id in seats.foreground(of: seat) {
      guard let other = instances[id], other.application != key else { continue }
      let cause: TransitionCause = isByFocus ? .unfocused : .otherActivated(by: key)
      if other.window?.visibility == nil {
        updateInstance(id, in: &turn) {
          $0.enterBackground(cause: .otherActivated(by: key), in: &$1)
        }
      } else if other.isActiveOrActivating {
        updateInstance(id, in: &turn) { $0.interrupt(cause: cause, in: &$1) }
      }
    }
  }

  // MARK: Refusals

  mutating func refuse(
    _ request: RequestID?, _ key: ApplicationKey, _ refusal: Refusal, in turn: inout Turn
  ) {
    turn.reply(request, .refused(refusal))
    let leader = applications[key]?.instance.flatMap { instances[$0]?.leader }
    turn.emit(.record(Record(application: key, leader: leader, change: .refused(refusal))))
  }

  /// Replies "done" if the instance is in one of the requested states. Returns whether it replied.
  private func isDone(
    _ request: RequestID?, _ instance: Instance, _ states: [ApplicationState],
    in turn: inout Turn
  ) -> Bool {
    guard states.contains(instance.state), instance.termination == nil else { return false }
    turn.reply(request, .done)
    return true
  }

  /// Returns the instance of `key`, or replies to the request and returns nil.
  ///
  /// The reply is "done" if the instance is in one of the requested states, and a refusal if the
  /// instance cannot make the transition.
  private mutating func runningInstance(
    _ request: RequestID?, _ key: ApplicationKey, cause: TransitionCause,
    from states: [ApplicationState], to wanted: [ApplicationState], in turn: inout Turn
  ) -> InstanceID? {
    guard let application = applications[key] else {
      refuse(request, key, .unknownApplication(key), in: &turn)
      return nil
    }
    guard let id = application.instance, let instance = instances[id] else {
      refuse(request, key, .invalidTransition(from: .notRunning, cause: cause), in: &turn)
      return nil
    }
    if isDone(request, instance, wanted, in: &turn) { return nil }
    if let refusal = refusal(of: cause, for: instance, from: states) {
      refuse(request, key, refusal, in: &turn)
      return nil
    }
    return id
  }

  private func refusal(
    of cause: TransitionCause, for instance: Instance, from states: [ApplicationState]
  ) -> Refusal? {
    if instance.termination != nil { return .terminating }
    guard states.contains(instance.state) else {
      return .invalidTransition(from: instance.state, cause: cause)
    }
    guard instance.callbacks.count < policy.queuedCallbacksMax else {
      return .quotaExceeded(name: "MaxQueuedCallbacks", limit: policy.queuedCallbacksMax)
    }
    return nil
  }
}
