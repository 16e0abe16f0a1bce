// Remote control (contract §13): media keys and similar commands reach the application that was
// audible last, even when it is suspended.
//
// A session agent sees every call to a media player on the session bus. The call waits in the
// player's socket, so the scheduler only has to resume the player. The player then answers by
// itself. An aware application that is no media player on the bus receives the commands as notices.

extension Scheduler {
  // MARK: Calls to the players of applications

  /// Handles the agent's list of the user's instances that are media players on the session bus.
  mutating func apply(players ids: [InstanceID], of user: UserID, in turn: inout Turn) {
    let own = ids.filter { instances.boxes[$0]?.value.application.owner == user }
    if own.isEmpty, sessions.audio[user] == nil { return }
    let fresh = sessions.audio[user, default: SessionAudio()].players.setOnBus(Set(own))
    // Calls that the agent has not seen may already wait for these players. The scheduler acts as
    // if each player had received a read, so that the players run and answer the calls.
    for id in fresh { playerCalled(.read, of: id, by: user, in: &turn) }
    for id in own where sessions.audio[user]?.players.all[id]?.mustPlay == true {
      sessions.audio[user]?.players.all[id]?.mustPlay = false
      updateInstance(id, in: &turn) { $0.playAgain(in: &$1) }
    }
    presentPlayer(of: user, in: &turn)
    discardAudioIfEmpty(of: user)
  }

  mutating func playerCalled(
    _ call: PlayerCall, of id: InstanceID, by user: UserID, in turn: inout Turn
  ) {
    guard isAffected(by: call, id, of: user, at: turn.instant) else { return }
    if call == .read, isTooEarly(id, of: user, at: turn.instant) {
      sessions.audio[user]?.players.all[id]?.isReadWaiting = true
      return
    }
    if call == .read { sessions.audio[user]?.players.all[id]?.readAt = turn.instant }
    if call == .command { commanded(id, of: user) }
    // The player now runs, and also answers the read that waited.
    sessions.audio[user]?.players.all[id]?.isReadWaiting = false
    updateInstance(id, in: &turn) { $0.playerCalled(call, in: &$1) }
  }

  /// Records that the user controls a media player. If the agent paused the player because of
  /// another application, the player may now interrupt that application.
  private mutating func commanded(_ id: InstanceID, of user: UserID) {
    sessions.audio[user]?.players.all[id]?.mustPlay = false
    if instances.boxes[id]?.value.isPaused == true { sessions.audio[user]?.active[id] = nil }
  }

  /// Returns whether a call to a media player has an effect. In the foreground, only a command to a
  /// player that the agent has paused has an effect. In the background, every command has an
  /// effect, and so does the first read in `RemoteReadInterval`. A further read in this interval
  /// has an effect only if the instance is suspended and no read waits yet.
  public func isAffected(
    by call: PlayerCall, _ id: InstanceID, of user: UserID, at now: Instant
  ) -> Bool {
    guard let instance = instances.boxes[id]?.value, instance.application.owner == user,
      instance.termination == nil, let player = sessions.audio[user]?.players.all[id],
      player.isOnBus
    else { return false }
    if instance.state.isForeground {
      return call == .command && (instance.isPaused || player.mustPlay)
    }
    return call == .command || !isTooEarly(id, of: user, at: now)
      || instance.isSuspendedOrStopping && !player.isReadWaiting
  }

  /// Returns whether less than `RemoteReadInterval` has passed since the scheduler last granted the
  /// instance time to answer a read.
  private func isTooEarly(_ id: InstanceID, of user: UserID, at now: Instant) -> Bool {
    guard let readAt = sessions.audio[user]?.players.all[id]?.readAt else { return false }
    return now < readAt.advanced(by: policy.remoteReadInterval)
  }

  /// Resumes the media players for which a read waits, if their `RemoteReadInterval` has passed.
  mutating func readsDue(in turn: inout Turn) {
    for user in sessions.audio.sortedKeys {
      let players = sessions.audio[user]?.players
      guard let due = players?.nextRead(policy), due <= turn.instant else { continue }
      for id in (players?.all ?? [:]).sortedKeys {
        guard sessions.audio[user]?.players.all[id]?.isReadWaiting == true,
          !isTooEarly(id, of: user, at: turn.instant)
        else { continue }
        sessions.audio[user]?.players.all[id]?.isReadWaiting = false
        playerCalled(.read, of: id, by: user, in: &turn)
      }
    }
  }

  // MARK: Commands to the application that was audible last

  /// Sends a command to the user's application that was audible last.
  mutating func remoteControl(
    _ request: RequestID, _ user: UserID, _ command: RemoteCommand, in turn: inout Turn
  ) {
    // Only the agent can call a media player.
    let hasAgent = sessions.audio[user]?.canCommand ?? false
    guard
      let id = lastAudible(
        of: user, where: { $0.isOnBus ? hasAgent : $1.takesRemoteControl }),
      let key = instances[id]?.application
    else { return turn.reply(request, .refused(.nothingPlayed(user))) }
    if sessions.audio[user]?.players.all[id]?.isOnBus == true {
      commanded(id, of: user)
      turn.emit(.remote(.command(user, id, command)))
      updateInstance(id, in: &turn) {
        $0.record(.remoteControlled(command), in: &$1)
        $0.playerCalled(.command, in: &$1)
      }
    } else if let refusal = refusalOfNotice(to: id) {
      return refuse(request, key, refusal, in: &turn)
    } else {
      updateInstance(id, in: &turn) { $0.deliver(command, in: &$1) }
    }
    turn.reply(request, .controlled(key))
  }

  /// Sends a command to the application that the media player `taskschedd` represents.
  mutating func remoteCommand(
    _ command: RemoteCommand, of user: UserID, in turn: inout Turn
  ) {
    guard let id = lastAudible(of: user, where: { !$0.isOnBus && $1.takesRemoteControl }),
      refusalOfNotice(to: id) == nil
    else { return }
    updateInstance(id, in: &turn) { $0.deliver(command, in: &$1) }
  }

  /// Returns a refusal if the instance has `MaxQueuedCallbacks` unacknowledged events; otherwise
  /// nil.
  private func refusalOfNotice(to id: InstanceID) -> Refusal? {
    let limit = policy.queuedCallbacksMax
    guard let count = instances.boxes[id]?.value.handling.unacknowledgedCount, count >= limit
    else { return nil }
    return .quotaExceeded(name: "MaxQueuedCallbacks", limit: limit)
  }

  /// Returns the user's instance that was audible last. An instance that is audible now comes
  /// before all others.
  private func lastAudible(
    of user: UserID, where accepts: (Players.Player, Instance) -> Bool
  ) -> InstanceID? {
    var last: (isAudible: Bool, at: Instant, id: InstanceID)?
    for (id, player) in sessions.audio[user]?.players.all ?? [:] {
      guard let at = player.audibleAt, let instance = instances.boxes[id]?.value,
        instance.termination == nil, accepts(player, instance)
      else { continue }
      let isAudible = instance.audio?.isAudible ?? false
      if let other = last,
        (other.isAudible ? 1 : 0, other.at, other.id) > (isAudible ? 1 : 0, at, id) { continue }
      last = (isAudible, at, id)
    }
    return last?.id
  }

  // MARK: The player `taskschedd`

  /// Shows or removes the media player `taskschedd`, as the audio of the user requires.
  mutating func presentPlayer(of user: UserID, in turn: inout Turn) {
    let id = lastAudible(of: user) { !$0.isOnBus && $1.takesRemoteControl }
    let player = id.flatMap { instances[$0] }.map {
      RemotePlayer($0.application, isPlaying: $0.audio?.isAudible ?? false)
    }
    guard sessions.audio[user]?.players.presented != player else { return }
    sessions.audio[user, default: SessionAudio()].players.presented = player
    turn.emit(.remote(.present(user, player)))
  }

  /// Returns what a new agent of a user must show as the media player `taskschedd`.
  public func remotePlayer(for user: UserID) -> RemotePlayer? {
    sessions.audio[user]?.players.presented
  }

  /// Removes an instance that has ended from the players of its user.
  mutating func forgetPlayer(_ instance: Instance, in turn: inout Turn) {
    let user = instance.application.owner
    guard sessions.audio[user]?.players.all.removeValue(forKey: instance.id) != nil else { return }
    presentPlayer(of: user, in: &turn)
    discardAudioIfEmpty(of: user)
  }
}

extension Instance {
  /// Whether the application can receive commands as notices. The scheduler sends no such notices
  /// to a media player on the session bus.
  var takesRemoteControl: Bool { isAware && backgroundModes.contains(.audio) }

  /// Resumes the instance or keeps it running, so that its media player can answer a call.
  fileprivate mutating func playerCalled(_ call: PlayerCall, in turn: inout Turn) {
    guard termination == nil else { return }
    if call == .command { forgetPause(in: &turn) }
    if state.isForeground { return }
    switch call {
    case .command: runForEvent(turn.policy.eventTime, cause: .remoteControl, in: &turn)
    case .read: runForEvent(turn.policy.remoteReadTime, cause: .remoteRead, in: &turn)
    }
  }

  /// Sends the application a command, which it may handle for `EventTime`.
  fileprivate mutating func deliver(_ command: RemoteCommand, in turn: inout Turn) {
    record(.remoteControlled(command), in: &turn)
    handle({ .remoteControl($0, command) }, cause: .remoteControl, in: &turn)
  }
}
