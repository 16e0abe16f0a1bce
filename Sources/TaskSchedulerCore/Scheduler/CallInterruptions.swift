// Phone calls, and the interruption of audio by them (contract §13).
//
// While a modem has a call, the audio of all users is interrupted; while an application has a call,
// that of its user is. The application with the call is not interrupted. An aware application is
// told. The agent pauses any other application that is a media player on the session bus. The
// streams of all others are muted. The end of the last call ends each interruption in the same way.

extension Scheduler {
  mutating func apply(_ calls: [ModemCall], in turn: inout Turn) {
    self.calls.take(calls)
    callsChanged(in: &turn)
  }

  mutating func beginCall(_ request: RequestID, _ id: InstanceID, in turn: inout Turn) {
    guard let instance = instances[id] else {
      return turn.reply(request, .refused(.invalidState(.notRunning)))
    }
    if let refusal = instance.refusalOfCall {
      turn.reply(request, .refused(refusal))
      return instance.record(.refused(refusal), in: &turn)
    }
    turn.reply(request, .done)
    guard calls.begin(id) else { return }
    instance.record(.callChanged(.began), in: &turn)
    updateInstance(id, in: &turn) { $0.setInCall(true, in: &$1) }
    callsChanged(in: &turn)
    updateInstance(id, in: &turn) { $0.reconsider(in: &$1) }
  }

  /// Ends the call of an instance. Without a call, nothing changes.
  mutating func endCall(_ request: RequestID, _ id: InstanceID, in turn: inout Turn) {
    turn.reply(request, .done)
    guard calls.end(id) else { return }
    instances[id]?.record(.callChanged(.ended), in: &turn)
    updateInstance(id, in: &turn) { $0.setInCall(false, in: &$1) }
    // Another call may interrupt the application, which then has time to react.
    callsChanged(in: &turn)
    updateInstance(id, in: &turn) { $0.reconsider(in: &$1) }
  }

  /// Ends all interruptions, because the daemon stops.
  mutating func forgetCalls(in turn: inout Turn) {
    if calls.isEmpty { return }
    calls = Calls()
    for user in usersWithAudio { interruptAudio(of: user, in: &turn) }
  }

  /// Puts calls on hold, and begins and ends interruptions, after a change of the calls.
  private mutating func callsChanged(in turn: inout Turn) {
    holdCalls(in: &turn)
    for user in usersWithAudio { interruptAudio(of: user, in: &turn) }
  }

  /// The users who have an instance with audio, in order.
  private var usersWithAudio: [UserID] {
    let owners = instances.boxes.values.lazy.filter { $0.value.audio != nil }
      .map(\.value.application.owner)
    return Set(owners).sorted()
  }

  // MARK: Hold

  /// Puts on hold each application's call that is not the newest call of its user.
  private mutating func holdCalls(in turn: inout Turn) {
    var newest: [UserID: Calls.Call] = [:]
    let owners = calls.answered.map { call in
      call.instance.flatMap { instances.boxes[$0]?.value.application.owner }
    }
    let users = Set(owners.compactMap { $0 })
    for (call, owner) in zip(calls.answered, owners) {
      for user in users where owner == nil || owner == user { newest[user] = call }
    }
    for (call, owner) in zip(calls.answered, owners) {
      guard let id = call.instance, let owner else { continue }
      let isHeld = calls.held.contains(id)
      let mustBeHeld = newest[owner] != call
      guard isHeld != mustBeHeld else { continue }
      if mustBeHeld { calls.held.append(id) } else { calls.held.removeAll { $0 == id } }
      updateInstance(id, in: &turn) { instance, turn in
        if instance.termination != nil { return }
        instance.record(.callChanged(mustBeHeld ? .held : .resumed), in: &turn)
        instance.handle({ .call($0, isOnHold: mustBeHeld) }, cause: .call, in: &turn)
      }
    }
  }

  // MARK: Interruptions

  /// Begins and ends the interruptions of a user's audio, as the calls require.
  ///
  /// - Parameter begun: The instances that have become audible with the current event.
  mutating func interruptAudio(
    of user: UserID, begun: Set<InstanceID> = [], in turn: inout Turn
  ) {
    let isCalling = calls.hasModemCall || hasApplicationCall(user)
    let canPause = sessions.audio[user]?.canCommand ?? false
    for id in instancesWithAudio(of: user).sorted() {
      guard let audio = instances.boxes[id]?.value.audio else { continue }
      if !isCalling {
        if audio.interrupted != nil { endAudioInterruption(of: id, in: &turn) }
      } else if audio.isAudible, !audio.isInCall {
        let isPlayer = canPause && sessions.audio[user]?.players.all[id]?.isOnBus == true
        updateInstance(id, in: &turn) {
          $0.interruptAudio(pausing: isPlayer, isAgain: begun.contains(id), in: &$1)
        }
      }
    }
  }

  private func hasApplicationCall(_ user: UserID) -> Bool {
    calls.answered.contains { call in
      call.instance.flatMap { instances.boxes[$0]?.value.application.owner } == user
    }
  }

  /// Ends the interruption of an instance's audio. If the instance was active, activates it again,
  /// unless something else has changed its state.
  private mutating func endAudioInterruption(of id: InstanceID, in turn: inout Turn) {
    guard let before = instances[id], let means = before.audio?.interrupted?.means else { return }
    updateInstance(id, in: &turn) { $0.endAudioInterruption(in: &$1) }
    if means == .paused, before.termination == nil { playAgain(before, in: &turn) }
    guard case .told(wasActive: true) = means, before.state == .inactive, !before.isActivating,
      before.termination == nil, before.reasons.cause == .call, !sessions.isLocked(before.seat),
      !seats.foreground(of: before.seat).contains(where: {
        instances[$0]?.isActiveOrActivating ?? false
      })
    else { return }
    activate(nil, before.application, cause: .callEnded, in: &turn)
  }

  /// Has the agent play the media player of an instance, which it paused, now or when an agent can.
  private mutating func playAgain(_ instance: Instance, in turn: inout Turn) {
    let user = instance.application.owner
    if sessions.audio[user]?.canCommand == true {
      updateInstance(instance.id, in: &turn) { $0.playAgain(in: &$1) }
    } else {
      sessions.audio[user, default: SessionAudio()].players
        .all[instance.id, default: Players.Player()].mustPlay = true
    }
  }

  /// Ends the call of an instance that has ended.
  mutating func callOwnerEnded(_ instance: Instance, in turn: inout Turn) {
    if calls.end(instance.id) { callsChanged(in: &turn) }
  }
}

extension Instance {
  fileprivate var refusalOfCall: Refusal? {
    if termination != nil { return .terminating }
    if !backgroundModes.contains(.voip) { return .modeNotDeclared(.voip) }
    return isAware ? nil : .noEventStream
  }

  fileprivate mutating func setInCall(_ isInCall: Bool, in turn: inout Turn) {
    if isInCall { endAudioInterruption(in: &turn) }
    var next = audio ?? InstanceAudio()
    next.isInCall = isInCall
    if !isInCall, !backgroundModes.contains(.audio) { next.setGrace(until: nil) }
    changeAudio(in: &turn) { $0.audio = next }
  }

  /// Interrupts the audio of the instance.
  ///
  /// - Parameters:
  ///   - pausing: Whether the agent can pause the instance's media player.
  ///   - isAgain: Whether the instance has just become audible. If it does so during an
  ///     interruption, it is muted.
  fileprivate mutating func interruptAudio(pausing: Bool, isAgain: Bool, in turn: inout Turn) {
    // A suspended instance is muted anyway. It is interrupted if it plays after it is resumed.
    guard termination == nil, !isSuspendedOrStopping else { return }
    if audio?.interrupted != nil {
      if isAgain { audio?.interrupted?.isMuted = true }
      return
    }
    record(.audioInterrupted(true), in: &turn)
    if hasStream, handling.entries.count < turn.policy.queuedCallbacksMax {
      let wasActive = state == .active
      audio?.interrupted = InterruptedAudio(means: .told(wasActive: wasActive), isMuted: false)
      handle({ .audioInterruption($0, .began) }, cause: .call, in: &turn)
      if wasActive { interrupt(cause: .call, in: &turn) }
    } else if pausing {
      audio?.interrupted = InterruptedAudio(means: .paused, isMuted: false)
      turn.emit(.remote(.command(application.owner, id, .pause)))
    } else {
      audio?.interrupted = InterruptedAudio(means: .unnoticed, isMuted: true)
    }
  }

  /// Ends the interruption of the instance's audio, if there is one. The instance played when the
  /// interruption began, so it may play again, and is resumed for that if it is suspended.
  fileprivate mutating func endAudioInterruption(in turn: inout Turn) {
    guard let interrupted = audio?.interrupted else { return }
    audio?.interrupted = nil
    record(.audioInterrupted(false), in: &turn)
    if termination != nil { return }
    switch interrupted.means {
    case .told:
      handle(
        { .audioInterruption($0, .ended(shouldResume: true)) }, cause: .callEnded, in: &turn)
    case .paused: break
    case .unnoticed: playOn(in: &turn)
    }
  }

  /// Has the agent play the instance's media player, which it paused.
  mutating func playAgain(in turn: inout Turn) {
    guard termination == nil else { return }
    turn.emit(.remote(.command(application.owner, id, .play)))
    playOn(in: &turn)
  }

  /// Lets an instance in the background run until the agent reports that it plays again.
  private mutating func playOn(in turn: inout Turn) {
    if state.isForeground { return }
    runForEvent(turn.policy.eventTime, cause: .callEnded, in: &turn)
  }

  /// Whether the agent has paused the instance's media player because of a phone call.
  var isPaused: Bool { audio?.interrupted?.means == .paused }

  /// Forgets that the agent has paused the instance's media player, because the user now controls
  /// the player.
  mutating func forgetPause(in turn: inout Turn) {
    guard isPaused else { return }
    audio?.interrupted = nil
    record(.audioInterrupted(false), in: &turn)
  }
}
