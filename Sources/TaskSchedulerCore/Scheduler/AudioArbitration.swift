// The arbitration of audio: which instances are interrupted, and which have a lower volume
// (contract §13).
//
// The problem: several applications of a user want to play. Phone calls come first. Each audio
// session has a rank: exclusive sessions interrupt each other, ducking sessions lower the volume of
// others, and mixing sessions do neither.
//
// The idea: the scheduler remembers nothing about pairs of applications. After each change, it
// determines what should interrupt each instance, and whether the instance should have a lower
// volume. Only the active sessions and the calls decide this. Then the scheduler begins and ends
// interruptions, and changes volumes, accordingly.
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
    for user in sessions.audio.sortedKeys {
      arbitrateAudio(of: user, in: &turn)
      discardAudioIfEmpty(of: user)
    }
  }

  /// Begins and ends interruptions, and lowers and restores volumes, as the calls and the audio
  /// sessions of a user require.
  ///
  /// - Parameter again: The interrupted instances that, according to the current report, have begun
  ///   to play again.
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

  // MARK: Interruptions

  /// Returns whether a phone call interrupts the audio of a user.
  func isInterruptedByCalls(_ user: UserID) -> Bool {
    if calls.hasModemCall { return true }
    let leavesStreams = sessions.audio[user]?.managesRoles ?? false
    let interrupting = leavesStreams ? calls.begun : calls.begun + calls.streaming
    return interrupting.contains { instances.boxes[$0]?.value.application.owner == user }
  }

  /// Returns what should interrupt the audio of an instance.
  func interrupter(of instance: Instance, isCalling: Bool) -> AudioInterrupter? {
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

  // MARK: Active sessions

  /// Begins a session for each instance that has begun to play or record. An instance that does
  /// neither keeps its session for `AudioGraceTime`. During this time, an exclusive session ends as
  /// soon as a newer exclusive session exists.
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
      // Another application interrupted this instance, and the user has started the playback again.
      // The streams may still be muted, so `isSounding` may be false.
      let isRestarted = again.contains(id) && instance.isInterruptedByApplication
      if isRestarted { active[id] = nil }
      // When an agent stops, it ends all mutes. The next agent reports a suspended application as
      // audible until it has muted the application again. But a suspended application does not
      // play.
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

  /// Lowers the volume of the streams that are audible, or restores all volumes.
  fileprivate mutating func duck(_ mustBeLow: Bool, in turn: inout Turn) {
    guard let before = audio?.ducking else { return }
    let audible = audio?.streams.filter { $0.isAudible } ?? []
    let changes =
      mustBeLow
      ? audio?.lower(audible, to: turn.policy.duckLevel) : audio?.ducking.raise()
    guard let changes, !changes.isEmpty else { return }
    turn.order(.setVolume(application.owner, changes), of: application.owner)
    if before.lowered.isEmpty != (audio?.ducking.lowered.isEmpty ?? true) {
      record(.audioDucked(mustBeLow), in: &turn)
    }
  }
}
