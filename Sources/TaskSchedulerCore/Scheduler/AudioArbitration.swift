// The arbitration of audio: which instances are interrupted, and which have a lower volume
// (contract §13).
//
// The problem: several applications of a user want to play. Phone calls come first. Each audio
// session has a rank: exclusive sessions interrupt each other, ducking sessions lower the volume of
// others, and mixing sessions do neither.
//
// The idea: the scheduler remembers nothing about pairs of applications. After each change, it
// determines from the active sessions and the calls what should interrupt each instance, and
// whether the volume of the instance should be lowered. Then it begins and ends interruptions
// accordingly.
//
// Why this is right: an interruption ends exactly when its cause ends, because the scheduler
// determines the cause anew after each change.

extension Scheduler {
  mutating func setAudioSession(
    _ request: RequestID, _ id: InstanceID, _ session: AudioSession, in turn: inout Turn
  ) {
    guard let instance = instances.boxes[id]?.value else {
      return turn.reply(request, .refused(.invalidState(.notRunning)))
    }
    if instance.termination != nil { return turn.reply(request, .refused(.terminating)) }
    turn.reply(request, .done)
    updateInstance(id, in: &turn) { instance, _ in
      var audio = instance.audio ?? InstanceAudio()
      audio.declared = session
      instance.audio = audio
    }
    let user = instance.application.owner
    sessions.audio[user]?.active[id]?.rank = session.rank
    if sessions.audio[user] != nil { arbitrateAudio(of: user, in: &turn) }
  }

  /// Ends the audio sessions whose `AudioGraceTime` has passed.
  mutating func audioSessionsDue(in turn: inout Turn) {
    guard let due = sessions.nextAudioEnd, due <= turn.instant else { return }
    for user in sessions.audio.keys.sorted() {
      arbitrateAudio(of: user, in: &turn)
      discardAudioIfEmpty(of: user)
    }
  }

  /// Begins and ends interruptions, and lowers and restores volumes, as the calls and the audio
  /// sessions of a user require.
  ///
  /// - Parameter again: The interrupted instances that have begun to play again with the current
  ///   event.
  mutating func arbitrateAudio(
    of user: UserID, again: Set<InstanceID> = [], in turn: inout Turn
  ) {
    let ids = instancesWithAudio(of: user).sorted()
    updateAudioSessions(of: user, ids, again: again, at: turn.instant)
    let isCalling = isInterruptedByCalls(user)
    for id in ids { interruptAudio(of: id, isCalling: isCalling, again: again, in: &turn) }
    // An interruption that has begun or ended may change which instance lowers the volume of
    // others.
    let isDucking = ids.contains { ducksOthers($0, of: user) }
    for id in ids { duck(id, of: user, isDucking: isDucking, in: &turn) }
  }

  // MARK: Active sessions

  /// Begins the sessions of the instances that have begun to play or record. Ends the sessions of
  /// the instances that stopped playing and recording `AudioGraceTime` ago.
  private mutating func updateAudioSessions(
    of user: UserID, _ ids: [InstanceID], again: Set<InstanceID>, at now: Instant
  ) {
    guard var active = sessions.audio[user]?.active else { return }
    for id in Set(ids).union(active.keys) {
      guard let instance = instances.boxes[id]?.value else {
        active[id] = nil
        continue
      }
      let isInterrupted = instance.audio?.interrupted != nil
      // The user has restarted the playback that another application interrupted. The streams may
      // still be muted, and are then not audible.
      let isRestarted = again.contains(id) && instance.isInterruptedByApplication
      if isRestarted { active[id] = nil }
      // An agent that stops ends all mutes. The next agent reports a suspended application as
      // audible until the agent has muted the application again. A suspended application does not
      // play, whatever the report shows.
      let isSounding = instance.audio?.isSounding == true && instance.state != .suspended
      guard let audio = instance.audio, isSounding || isRestarted else {
        let end = now.advanced(by: policy.audioGraceTime)
        active[id]?.pause(isInterrupted: isInterrupted, until: end)
        if let end = active[id]?.endsAt, end <= now { active[id] = nil }
        continue
      }
      let isOfCall = audio.isInCall || active[id]?.isOfCall == true
      active[id] = ActiveAudioSession(
        begunAt: active[id]?.begunAt ?? now, endsAt: nil, rank: audio.rank, isOfCall: isOfCall)
    }
    let newest = active.values.lazy.filter(\.isExclusive).map(\.begunAt).max()
    sessions.audio[user]?.active = active.filter { _, session in
      guard session.endsAt != nil, session.isExclusive, let newest else { return true }
      return session.begunAt >= newest
    }
  }

  // MARK: Interruptions

  /// Returns whether a phone call interrupts the audio of a user.
  private func isInterruptedByCalls(_ user: UserID) -> Bool {
    if calls.hasModemCall { return true }
    let leavesStreams = sessions.audio[user]?.managesRoles ?? false
    let interrupting = leavesStreams ? calls.begun : calls.begun + calls.streaming
    return interrupting.contains { instances.boxes[$0]?.value.application.owner == user }
  }

  /// Returns what should interrupt the audio of an instance.
  private func interrupter(of instance: Instance, isCalling: Bool) -> AudioInterrupter? {
    if instance.audio?.isInCall == true { return nil }
    if isCalling { return .phoneCall }
    guard let audio = sessions.audio[instance.application.owner], !audio.managesRoles,
      let own = audio.active[instance.id], own.isExclusive
    else { return nil }
    let later = audio.active.filter { $0.value.isExclusive && $0.value.begunAt > own.begunAt }
    let newest = later.max { ($0.value.begunAt, $0.key) < ($1.value.begunAt, $1.key) }
    return newest.flatMap { instances.boxes[$0.key]?.value.application.id }
      .map(AudioInterrupter.application)
  }

  /// Begins or ends the interruption of an instance's audio.
  private mutating func interruptAudio(
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
      // The other application may have rung before its call began. The ringing interrupted this
      // instance as other playback does. From now on, the call interrupts it.
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

  /// Has the agent play the media player of an instance again, after the agent has paused it. If no
  /// agent can do this now, the next agent does it.
  private mutating func playAgain(_ instance: Instance, in turn: inout Turn) {
    let user = instance.application.owner
    if sessions.audio[user]?.canCommand == true {
      updateInstance(instance.id, in: &turn) { $0.playAgain(in: &$1) }
    } else {
      sessions.audio[user, default: SessionAudio()].players
        .all[instance.id, default: Players.Player()].mustPlay = true
    }
  }

  // MARK: Ducking

  /// Returns whether an instance plays and lowers the volume of others.
  private func ducksOthers(_ id: InstanceID, of user: UserID) -> Bool {
    guard sessions.audio[user]?.managesRoles == false,
      sessions.audio[user]?.active[id]?.isDucking == true,
      let audio = instances.boxes[id]?.value.audio
    else { return false }
    return audio.isAudible && audio.interrupted == nil
  }

  /// Returns the application that lowers the volume of a user's other applications; the one that
  /// began last, if there are several.
  func ducker(of user: UserID) -> ApplicationID? {
    let active = sessions.audio[user]?.active.filter { ducksOthers($0.key, of: user) } ?? [:]
    let newest = active.max { ($0.value.begunAt, $0.key) < ($1.value.begunAt, $1.key) }
    return newest.flatMap { instances.boxes[$0.key]?.value.application.id }
  }

  /// Lowers or restores the volume of an instance.
  private mutating func duck(
    _ id: InstanceID, of user: UserID, isDucking: Bool, in turn: inout Turn
  ) {
    guard let audio = instances.boxes[id]?.value.audio,
      isDucking || audio.ducking != AudioDucking()
    else { return }
    let session = sessions.audio[user]?.active[id]
    let mustBeLow =
      isDucking && audio.isAudible && session?.isOfCall != true && session?.isDucking != true
    updateInstance(id, in: &turn) { $0.duck(mustBeLow, in: &$1) }
  }
}

extension Instance {
  fileprivate var isInterruptedByApplication: Bool {
    if case .application = audio?.interrupted?.by { true } else { false }
  }

  /// Interrupts the audio of the instance.
  ///
  /// - Parameter pausing: Whether the agent can pause the instance's media player.
  fileprivate mutating func beginAudioInterruption(
    by interrupter: AudioInterrupter, pausing: Bool, in turn: inout Turn
  ) {
    // A suspended instance is muted anyway. It is interrupted if it plays after it is resumed.
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

  /// Replaces the cause of an interruption: a phone call by an application, or an application by a
  /// phone call.
  fileprivate mutating func continueAudioInterruption(
    by interrupter: AudioInterrupter, in turn: inout Turn
  ) {
    audio?.interrupted?.by = interrupter
    if case .told = audio?.interrupted?.means {
      audio?.interrupted?.means = .told(wasActive: false)
    }
    record(.audioInterrupted(by: interrupter), in: &turn)
  }

  /// Ends the interruption of the instance's audio, if there is one. After a phone call, the
  /// application may play again. If it is suspended, it is resumed for this.
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

  /// Has the agent play the instance's media player again, after the agent has paused it.
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

  /// Whether the agent has paused the instance's media player because of an interruption.
  var isPaused: Bool { audio?.interrupted?.means == .paused }

  /// Forgets that the agent has paused the instance's media player, because the user now controls
  /// the player.
  mutating func forgetPause(in turn: inout Turn) {
    guard isPaused else { return }
    audio?.interrupted = nil
    record(.audioInterrupted(by: nil), in: &turn)
  }

  /// Lowers the volume of the streams that are audible, or restores all volumes.
  fileprivate mutating func duck(_ mustBeLow: Bool, in turn: inout Turn) {
    guard let before = audio?.ducking else { return }
    let audible = audio?.streams.filter { $0.isAudible } ?? []
    let changes =
      mustBeLow
      ? audio?.lower(audible, to: turn.policy.duckLevel) : audio?.ducking.raise()
    guard let changes, !changes.isEmpty else { return }
    turn.emit(.audio(.setVolume(application.owner, changes)))
    if before.lowered.isEmpty != (audio?.ducking.lowered.isEmpty ?? true) {
      record(.audioDucked(mustBeLow), in: &turn)
    }
  }
}

extension AudioInterrupter {
  /// The cause of a transition when the interruption begins.
  fileprivate var beginning: TransitionCause {
    switch self {
    case .phoneCall: .call
    case .application: .event
    }
  }
}
