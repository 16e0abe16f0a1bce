// The interruptions of audio (contract §13), by phone calls and by other applications.
//
// `AudioArbitration` calls `interruptAudio` for each instance after each change.

extension Scheduler {
  /// Begins or ends the interruption of an instance's audio, or changes its cause. Mutes an
  /// interrupted instance that plays again.
  mutating func interruptAudio(
    of id: InstanceID, isCalling: Bool, again: Set<InstanceID>, in turn: inout Turn
  ) {
    guard let instance = instances.boxes[id]?.value, let audio = instance.audio else { return }
    let wanted = interrupter(of: instance, isCalling: isCalling)
    guard let current = audio.interrupted else {
      guard let wanted, audio.isAudible || audio.isRecording && instance.hasStream else { return }
      let user = instance.application.owner
      let canPause = sessions.audio[user]?.canCommand ?? false
      let isPlayer = canPause && sessions.audio[user]?.players.all[id]?.isOnBus == true
      return updateInstance(id, in: &turn) {
        $0.beginAudioInterruption(by: wanted, pausing: isPlayer, in: &$1)
      }
    }
    switch (wanted, current.by) {
    case (nil, _): endAudioInterruption(of: id, in: &turn)
    case (.application, .phoneCall):
      guard let wanted else { return }
      updateInstance(id, in: &turn) { $0.continueAudioInterruption(by: wanted, in: &$1) }
      activateAfterCall(instance, in: &turn)
    case (.phoneCall?, .application(let other)) where hasCall(other, of: instance):
      // The other application interrupted this instance, for example by its ringing, and now has a
      // phone call. From now on, the call interrupts this instance.
      updateInstance(id, in: &turn) { $0.continueAudioInterruption(by: .phoneCall, in: &$1) }
    case (.phoneCall, _), (.application, .application):
      guard again.contains(id) else { return }
      updateInstance(id, in: &turn) { instance, _ in instance.audio?.interrupted?.isMuted = true }
    }
  }

  /// Returns whether an application of the instance's user has a phone call.
  private func hasCall(_ id: ApplicationID, of instance: Instance) -> Bool {
    let key = ApplicationKey(id, owner: instance.application.owner)
    return applications[key]?.instance.map { calls.hasCall($0) } ?? false
  }

  /// Ends the interruption of an instance's audio.
  private mutating func endAudioInterruption(of id: InstanceID, in turn: inout Turn) {
    guard let before = instances[id], let interrupted = before.audio?.interrupted else { return }
    updateInstance(id, in: &turn) { $0.endAudioInterruption(in: &$1) }
    let user = before.application.owner
    if before.audio?.isSounding == false, sessions.audio[user]?.active[id] != nil {
      sessions.audio[user]?.active[id]?.endsAt = turn.instant.advanced(by: policy.audioGraceTime)
    }
    guard interrupted.by == .phoneCall else { return }
    if interrupted.means == .paused, before.termination == nil { playAgain(before, in: &turn) }
    activateAfterCall(before, in: &turn)
  }

  /// If a phone call made an instance inactive, activates it again, unless something else has
  /// changed its state.
  private mutating func activateAfterCall(_ before: Instance, in turn: inout Turn) {
    guard case .told(wasActive: true) = before.audio?.interrupted?.means,
      before.state == .inactive, !before.isActivating, before.termination == nil,
      before.reasons.cause == .call, !sessions.isLocked(before.seat),
      !seats.foreground(of: before.seat).contains(where: {
        instances[$0]?.isActiveOrActivating ?? false
      })
    else { return }
    activate(nil, before.application, cause: .callEnded, in: &turn)
  }

  /// Orders the agent to start the instance's media player, which the agent paused earlier. If no
  /// agent can do this now, the scheduler gives the order when an agent next reports the player.
  private mutating func playAgain(_ instance: Instance, in turn: inout Turn) {
    let user = instance.application.owner
    if sessions.audio[user]?.canCommand == true {
      updateInstance(instance.id, in: &turn) { $0.playAgain(in: &$1) }
    } else {
      sessions.audio[user, default: SessionAudio()].players
        .all[instance.id, default: Players.Player()].mustPlay = true
    }
  }
}

extension Instance {
  /// Interrupts the audio of the instance.
  ///
  /// - Parameter pausing: Whether the agent can pause the instance's media player.
  fileprivate mutating func beginAudioInterruption(
    by interrupter: AudioInterrupter, pausing: Bool, in turn: inout Turn
  ) {
    // A suspended instance is muted anyway. If it plays after its next resume, the scheduler
    // interrupts it then.
    guard termination == nil, !isSuspendedOrStopping else { return }
    record(.audioInterrupted(by: interrupter), in: &turn)
    if hasStream, handling.unacknowledgedCount < turn.policy.queuedCallbacksMax {
      // Only a phone call makes the application inactive. If another application interrupts it, the
      // user still sees and uses it.
      let wasActive = interrupter == .phoneCall && state == .active
      audio?.interrupted = InterruptedAudio(
        by: interrupter, means: .told(wasActive: wasActive), isMuted: false)
      handle({ .audioInterruption($0, .began) }, cause: interrupter.beginning, in: &turn)
      if wasActive { interrupt(cause: .call, in: &turn) }
    } else if pausing {
      audio?.interrupted = InterruptedAudio(by: interrupter, means: .paused, isMuted: false)
      turn.emit(.remote(.command(application.owner, id, .pause)))
    } else {
      audio?.interrupted = InterruptedAudio(by: interrupter, means: .unnoticed, isMuted: true)
    }
  }

  /// Changes the cause of an interruption: from a phone call to an application, or from an
  /// application to a phone call.
  fileprivate mutating func continueAudioInterruption(
    by interrupter: AudioInterrupter, in turn: inout Turn
  ) {
    audio?.interrupted?.by = interrupter
    if case .told = audio?.interrupted?.means {
      audio?.interrupted?.means = .told(wasActive: false)
    }
    record(.audioInterrupted(by: interrupter), in: &turn)
  }

  /// Ends the interruption of the instance's audio, if there is one. If the scheduler told the
  /// application of the interruption, it also tells the application of the end, and resumes it if
  /// it is suspended. After a phone call, an application that was only muted may run for
  /// `EventTime`, so that it can play again.
  mutating func endAudioInterruption(in turn: inout Turn) {
    guard let interrupted = audio?.interrupted else { return }
    audio?.interrupted = nil
    record(.audioInterrupted(by: nil), in: &turn)
    if termination != nil { return }
    let isCall = interrupted.by == .phoneCall
    switch interrupted.means {
    case .told:
      handle(
        { .audioInterruption($0, .ended(shouldResume: isCall)) },
        cause: isCall ? .callEnded : .event, in: &turn)
    case .paused: break
    case .unnoticed: if isCall { playOn(in: &turn) }
    }
  }

  /// Orders the agent to start the instance's media player, which the agent paused earlier.
  mutating func playAgain(in turn: inout Turn) {
    guard termination == nil else { return }
    turn.emit(.remote(.command(application.owner, id, .play)))
    playOn(in: &turn)
  }

  /// Entitles an instance in the background to run for `EventTime`, so that it can play again.
  /// Resumes the instance if it is suspended.
  private mutating func playOn(in turn: inout Turn) {
    if state.isForeground { return }
    runForEvent(turn.policy.eventTime, cause: .callEnded, in: &turn)
  }

  /// Whether the agent has paused the instance's media player because of an interruption.
  var isPaused: Bool { audio?.interrupted?.means == .paused }

  /// If the agent has paused the instance's media player, ends the interruption without a command
  /// to the player, because the user now controls the player.
  mutating func forgetPause(in turn: inout Turn) {
    guard isPaused else { return }
    audio?.interrupted = nil
    record(.audioInterrupted(by: nil), in: &turn)
  }
}

extension AudioInterrupter {
  /// The cause to record for a transition at the beginning of the interruption.
  fileprivate var beginning: TransitionCause {
    switch self {
    case .phoneCall: .call
    case .application: .event
    }
  }
}
