// Audio (contract §13).
//
// A session agent reports all streams of its user's audio server whenever they change, and after it
// has carried out orders. With mode audio, an instance that is audible or records may run in the
// background. Before the scheduler suspends an instance, the agent mutes the streams that are still
// audible; `InstanceAudio` explains how.

extension Scheduler {
  mutating func apply(_ snapshot: AudioSnapshot, of user: UserID, in turn: inout Turn) {
    sessions.audio[user, default: SessionAudio()].agent = .attached
    sessions.audio[user]?.managesRoles = snapshot.managesRoles
    var all: [AudioStreamID: AudioStream] = [:]
    var own: [InstanceID: [AudioStream]] = [:]
    for stream in snapshot.streams.sorted(by: { $0.id < $1.id }) where all[stream.id] == nil {
      all[stream.id] = stream
      guard let id = stream.instance, let instance = instances.boxes[id]?.value,
        instance.application.owner == user
      else { continue }
      own[id, default: []].append(stream)
    }
    var remembered = heldMemories(of: user)
    let isConfirmed = snapshot.confirmed >= lastConfirm(of: user)
    takeRestored(all, isConfirmed: isConfirmed, of: user)
    var again: Set<InstanceID> = []
    for id in Set(instancesWithAudio(of: user)).union(own.keys).sorted() {
      if take(own[id] ?? [], all, isConfirmed: isConfirmed, of: id, in: &turn) { again.insert(id) }
    }
    for (memory, audio) in sessions.audio[user]?.remembered ?? [:] {
      remembered[memory, default: RememberedAudio()].add(audio)
    }
    restoreNewStreams(all, remembered, of: user, in: &turn)
    presentPlayer(of: user, in: &turn)
    takeCallStreams(of: user, in: &turn)
    arbitrateAudio(of: user, again: again, in: &turn)
  }

  /// Takes the streams of an instance. Returns whether the instance is interrupted, but has begun
  /// to play again.
  private mutating func take(
    _ own: [AudioStream], _ all: [AudioStreamID: AudioStream], isConfirmed: Bool,
    of id: InstanceID, in turn: inout Turn
  ) -> Bool {
    guard let user = instances.boxes[id]?.value.application.owner else { return false }
    var ended: [UInt32: RememberedAudio] = [:]
    adopt(own, by: id, of: user, in: &turn)
    let before = instances.boxes[id]?.value.audio
    updateInstance(id, in: &turn) {
      ended = $0.takeAudio(own, all, isConfirmed: isConfirmed, in: &$1)
    }
    remember(ended, of: user)
    let audio = instances.boxes[id]?.value.audio
    if audio?.isAudible ?? false != before?.isAudible ?? false {
      sessions.audio[user]?.players.audibleChanged(id, at: turn.instant)
    }
    guard let audio, let before, let interrupted = before.interrupted,
      instances.boxes[id]?.value.state != .suspended
    else { return false }
    // Streams that the daemon has muted are not audible, even if the instance plays again. The
    // first condition therefore uses `isPlaying`.
    return audio.isPlaying && !before.isPlaying
      || !interrupted.isMuted && audio.isAudible && !before.isAudible
  }

  /// Moves the instance's streams from ``SessionAudio/restoring`` and ``SessionAudio/raising`` to
  /// the instance.
  private mutating func adopt(
    _ own: [AudioStream], by id: InstanceID, of user: UserID, in turn: inout Turn
  ) {
    guard let audio = sessions.audio[user], !audio.restoring.isEmpty || !audio.raising.isEmpty
    else { return }
    let ids = Set(own.map(\.id))
    let restoring = audio.restoring.keys.filter { ids.contains($0) }
    let raising = own.compactMap { audio.raising[$0.id]?.change }
    if restoring.isEmpty, raising.isEmpty { return }
    for id in ids {
      sessions.audio[user]?.restoring[id] = nil
      sessions.audio[user]?.raising[id] = nil
    }
    updateInstance(id, in: &turn) { instance, _ in
      var audio = instance.audio ?? InstanceAudio()
      audio.adopt(restoring: restoring, raising: raising)
      instance.audio = audio
    }
  }

  /// Returns a user's instances whose audio is known, in no particular order.
  func instancesWithAudio(of user: UserID) -> [InstanceID] {
    instances.boxes.values.lazy
      .filter { $0.value.audio != nil && $0.value.application.owner == user }.map(\.value.id)
  }

  mutating func loseAudio(of user: UserID, in turn: inout Turn) {
    if sessions.audio[user]?.agent == .attached {
      sessions.audio[user]?.agent = .lost(at: turn.instant)
      sessions.audio[user]?.players.isStale = true
    }
  }

  /// Discards the reports of an agent whose connection ended `SessionGraceTime` ago.
  mutating func forgetAudio(of user: UserID, in turn: inout Turn) {
    sessions.audio[user]?.agent = nil
    let ids = instancesWithAudio(of: user).sorted()
    for id in ids { updateInstance(id, in: &turn) { $0.forgetAudio(in: &$1) } }
    sessions.audio[user]?.managesRoles = false
    // The audio sessions end before the calls. Otherwise, a session could interrupt other
    // applications when the last call has ended.
    sessions.audio[user]?.active = [:]
    takeCallStreams(of: user, in: &turn)
    arbitrateAudio(of: user, in: &turn)
    // The entitlements come last, because the end of an interruption may entitle an application to
    // run, so that it can play again. In the other order, the scheduler would first suspend the
    // application.
    for id in ids { updateInstance(id, in: &turn) { $0.reconsider(in: &$1) } }
    _ = sessions.audio[user]?.players.setOnBus([])
    presentPlayer(of: user, in: &turn)
    discardAudioIfEmpty(of: user)
  }

  mutating func discardAudioIfEmpty(of user: UserID) {
    if sessions.audio[user]?.isEmpty == true { sessions.audio[user] = nil }
  }

  /// Ends the measurements, the notice, the mutes and the lowered volumes of an instance that has
  /// ended. This is necessary because processes of the instance may continue to run, and because
  /// the server remembers the mutes and volumes of ended streams.
  mutating func restoreAudio(of instance: Instance, in turn: inout Turn) {
    if let measured = instance.audio?.silence.measured, !measured.isEmpty {
      turn.emit(.audio(.stopMeasuring(instance.application.owner, measured)))
    }
    if instance.audio?.noticedAt != nil {
      turn.emit(.audio(.hideRecording(instance.id, instance.application)))
    }
    let owner = instance.application.owner
    if let returned = instance.audio?.ducking.returned, !returned.isEmpty {
      for change in returned {
        sessions.audio[owner, default: SessionAudio()].raising[change.stream] = ReturnedVolume(
          memory: instance.audio?.memories[change.stream] ?? 0, change: change)
      }
      turn.order(.setVolume(owner, returned), of: owner)
    }
    guard let changed = instance.audio?.changed, !changed.isEmpty else { return }
    for id in changed {
      sessions.audio[owner, default: SessionAudio()].restoring[id] =
        instance.audio?.memories[id] ?? 0
    }
    turn.order(.unmute(owner, changed), of: owner)
  }

  /// Asks the agents that receive orders in this turn for reports that are newer than these orders.
  mutating func confirmAudioOrders(in turn: inout Turn) {
    for user in turn.confirmers.sorted() {
      sessions.confirmsLast[user, default: 0] += 1
      turn.emit(.audio(.confirm(user, lastConfirm(of: user))))
    }
  }

  /// The number of the last ``AudioEffect/confirm(_:_:)`` to the agent of a user; 0 if there was
  /// none. A new agent must receive this number after ``audioOrders(for:)``.
  public func lastConfirm(of user: UserID) -> UInt64 { sessions.confirmsLast[user] ?? 0 }

  mutating func recordingChosen(_ key: ApplicationKey, in turn: inout Turn) {
    // The instance may have ended since the user saw the notice.
    if applications[key]?.instance != nil { bringToFront(key, in: &turn) }
  }

  /// Returns the notices that the agent of a user must show.
  public func recordingNotices(for user: UserID) -> [RecordingNotice] {
    instancesWithAudio(of: user).sorted().compactMap { id in
      guard let instance = instances[id], let since = instance.audio?.noticedAt else { return nil }
      return RecordingNotice(id, instance.application, since: since)
    }
  }

  /// Returns the orders that a new agent of a user must receive.
  public func audioOrders(for user: UserID) -> AudioOrders {
    var orders = AudioOrders()
    for id in instancesWithAudio(of: user) {
      guard let audio = instances.boxes[id]?.value.audio else { continue }
      orders.muted += audio.muted
      orders.unmuted += audio.restoring
      orders.measured += audio.silence.measured
      orders.volumes += audio.ducking.lowered + audio.ducking.raising
    }
    orders.unmuted += (sessions.audio[user]?.restoring ?? [:]).keys
    orders.volumes += (sessions.audio[user]?.raising ?? [:]).values.map(\.change)
    orders.sort()
    return orders
  }
}

/// A user's streams that must be muted, unmuted or measured, and the changes of volumes. All are
/// ordered by the ids of the streams.
public struct AudioOrders: Equatable, Sendable {
  public var muted: [AudioStreamID] = []
  public var unmuted: [AudioStreamID] = []
  public var measured: [AudioStreamID] = []
  public var volumes: [AudioVolumeChange] = []

  fileprivate mutating func sort() {
    muted.sort()
    unmuted.sort()
    measured.sort()
    volumes.sortByStream()
  }
}

extension Instance {
  /// Whether the instance is suspended, or about to be suspended.
  var isSuspendedOrStopping: Bool {
    switch phase {
    case .active, .inactive: return false
    case .suspended: return true
    case .background(let stint):
      switch stint.suspension {
      case .none, .failed: return false
      case .muting, .stopping: return true
      }
    }
  }

  /// Adjusts the mutes, the measurements and the recording notice of an instance to its state. Call
  /// this after every change of the instance.
  mutating func adjustAudio(in turn: inout Turn) {
    guard audio != nil else { return }
    adjustMutes(in: &turn)
    adjustMeasuring(in: &turn)
    adjustNotice(in: &turn)
    if audio?.isEmpty == true { audio = nil }
  }

  /// Shows the user that the instance records in the background, or ends the notice.
  private mutating func adjustNotice(in turn: inout Turn) {
    let isNoticed = audio?.noticedAt != nil
    let isWanted = turn.policy.audioRecordingNotice && recordsInBackground(turn)
    guard isNoticed != isWanted else { return }
    audio?.noticedAt = isWanted ? turn.instant : nil
    if isWanted {
      turn.emit(.audio(.showRecording(RecordingNotice(id, application, since: turn.instant))))
    } else {
      turn.emit(.audio(.hideRecording(id, application)))
    }
  }

  /// Returns whether the agent must show the user that the instance records in the background.
  /// If audio does not entitle the instance to run, the agent shows no notice while a callback is
  /// unacknowledged. The scheduler may suspend the instance right after the acknowledgement.
  private func recordsInBackground(_ turn: borrowing Turn) -> Bool {
    guard state == .background, termination == nil, audio?.isRecording == true else {
      return false
    }
    return isEntitledByAudio
      || callbacks.isEmpty && isEntitled(turn.policy, at: turn.instant, byAudio: false)
  }

  /// Orders the agent to measure whether the audible streams play only silence, if these streams
  /// alone entitle the instance to run. Otherwise orders the agent to stop measuring.
  private mutating func adjustMeasuring(in turn: inout Turn) {
    guard let streams = audio?.streams else { return }
    let audible = mayBeMeasured(at: turn.instant, turn.policy) ? streams.filter(\.isAudible) : []
    let change = audio?.silence.measure(
      audible.map(\.id), areSilent: audible.allSatisfy(\.isSilent), at: turn.instant)
    guard let change else { return }
    let owner = application.owner
    if !change.begin.isEmpty { turn.emit(.audio(.measure(owner, change.begin))) }
    if !change.end.isEmpty { turn.emit(.audio(.stopMeasuring(owner, change.end))) }
  }

  private func mayBeMeasured(at now: Instant, _ policy: SharedPolicy) -> Bool {
    guard state == .background, termination == nil, backgroundModes.contains(.audio),
      let audio, audio.isAudible, !audio.isRecording, !audio.silence.isLong
    else { return false }
    return !isEntitled(policy, at: now, byAudio: false)
  }

  /// Mutes the audible streams if the instance is suspended or about to be suspended, or if an
  /// interruption requires the mutes. Otherwise ends the mutes.
  mutating func adjustMutes(in turn: inout Turn) {
    let owner = application.owner
    if mustBeMuted {
      let streams = audio?.mute() ?? []
      if !streams.isEmpty {
        turn.order(.mute(owner, streams), of: owner)
        record(.audioMuted(true), in: &turn)
      }
    } else if let streams = audio?.unmute(), !streams.isEmpty {
      turn.order(.unmute(owner, streams), of: owner)
      record(.audioMuted(false), in: &turn)
    }
  }

  /// Makes a change that may affect whether audio or location updates entitle the instance to run.
  /// Then adapts the priority of the instance.
  mutating func changeAudio(
    in turn: inout Turn, _ change: (inout Instance) -> Void
  ) {
    let before = priority(in: state)
    change(&self)
    prioritize(from: before, to: priority(in: state), in: &turn)
  }

  /// Takes a report of all streams of the user.
  ///
  /// - Parameter isConfirmed: Whether the report is newer than all orders.
  /// - Returns: The mutes and volumes that the daemon's orders left in the server's entries for
  ///   streams that have now ended. The keys are the numbers of the entries
  ///   (``AudioStream/memory``).
  fileprivate mutating func takeAudio(
    _ own: [AudioStream], _ all: [AudioStreamID: AudioStream], isConfirmed: Bool,
    in turn: inout Turn
  ) -> [UInt32: RememberedAudio] {
    var next = audio ?? InstanceAudio()
    let before = next
    let ended = next.take(own, all, isConfirmed: isConfirmed)
    setGrace(of: &next, before: before, in: turn)
    changeAudio(in: &turn) { $0.audio = next }
    if next.ducking.lowered.isEmpty, !before.ducking.lowered.isEmpty {
      record(.audioDucked(false), in: &turn)
    }
    if next.isAudible != before.isAudible || next.isRecording != before.isRecording {
      let use = next.use
      record(
        .audioChanged(isAudible: use.isAudible, isRecording: use.isRecording), in: &turn)
    }
    if termination == nil, next.isInUse != before.isInUse || isMuting {
      reconsiderAudio(in: &turn)
    }
    return ended
  }

  /// Whether all streams of the instance must be muted.
  var mustBeMuted: Bool {
    isSuspendedOrStopping || audio?.interrupted?.isMuted == true
  }

  private var isMuting: Bool {
    if case .muting = stint?.suspension { true } else { false }
  }

  fileprivate mutating func forgetAudio(in turn: inout Turn) {
    guard let before = audio else { return }
    let wasEntitled = isEntitledByAudio
    changeAudio(in: &turn) { $0.audio?.forgetReports() }
    if before.isAudible || before.isRecording {
      record(.audioChanged(isAudible: false, isRecording: false), in: &turn)
    }
    if wasEntitled { reasons.entitlementEnded(.audioLost, at: turn.instant) }
  }
}
