// Audio (contract §13).
//
// A session agent reports all streams of its user's audio server whenever they change. With mode
// audio, an instance that is audible or records may run in the background. The streams of every
// other instance are muted before the instance is suspended; `InstanceAudio` explains how.

extension Scheduler {
  mutating func apply(_ snapshot: AudioSnapshot, of user: UserID, in turn: inout Turn) {
    sessions.audio[user, default: SessionAudio()].agent = .attached
    var all: [AudioStreamID: AudioStream] = [:]
    var own: [InstanceID: [AudioStream]] = [:]
    for stream in snapshot.streams.sorted(by: { $0.id < $1.id }) where all[stream.id] == nil {
      all[stream.id] = stream
      guard let id = stream.instance, let instance = instances.boxes[id]?.value,
        instance.application.owner == user
      else { continue }
      own[id, default: []].append(stream)
    }
    takeRestored(all, of: user)
    var begun: Set<InstanceID> = []
    for id in Set(instancesWithAudio(of: user)).union(own.keys).sorted() {
      if take(own[id] ?? [], all, of: id, in: &turn) { begun.insert(id) }
    }
    presentPlayer(of: user, in: &turn)
    if !calls.isEmpty { interruptAudio(of: user, begun: begun, in: &turn) }
  }

  /// Takes the streams of an instance. Returns whether the instance has become audible.
  private mutating func take(
    _ own: [AudioStream], _ all: [AudioStreamID: AudioStream], of id: InstanceID,
    in turn: inout Turn
  ) -> Bool {
    guard let key = instances.boxes[id]?.value.application else { return false }
    var restoresNext = applications[key]?.restoresAudio ?? false
    let before = restoresNext
    let wasAudible = instances.boxes[id]?.value.audio?.isAudible ?? false
    updateInstance(id, in: &turn) {
      $0.takeAudio(own, all, restoresNext: &restoresNext, in: &$1)
    }
    if restoresNext != before { applications.change(key) { $0.restoresAudio = restoresNext } }
    let isAudible = instances.boxes[id]?.value.audio?.isAudible ?? false
    if isAudible != wasAudible {
      sessions.audio[key.owner]?.players.audibleChanged(id, at: turn.instant)
    }
    return isAudible && !wasAudible
  }

  /// Removes the streams of ended instances that the agent has unmuted, or that have ended.
  private mutating func takeRestored(_ all: [AudioStreamID: AudioStream], of user: UserID) {
    for (id, key) in sessions.audio[user]?.restoring ?? [:] where all[id]?.isMuted != true {
      sessions.audio[user]?.restoring[id] = nil
      // The server remembers the mute of a stream that ended muted.
      if all[id] == nil { applications.change(key) { $0.restoresAudio = true } }
    }
  }

  /// Returns the instances of a user whose audio is known, in no order.
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

  /// Discards the reports of an agent that was lost `SessionGraceTime` ago.
  mutating func forgetAudio(of user: UserID, in turn: inout Turn) {
    sessions.audio[user]?.agent = nil
    for id in instancesWithAudio(of: user).sorted() {
      updateInstance(id, in: &turn) { $0.forgetAudio(in: &$1) }
    }
    _ = sessions.audio[user]?.players.setOnBus([])
    presentPlayer(of: user, in: &turn)
    discardAudioIfEmpty(of: user)
  }

  mutating func discardAudioIfEmpty(of user: UserID) {
    if sessions.audio[user]?.isEmpty == true { sessions.audio[user] = nil }
  }

  /// Ends all orders about an instance that has ended. Its processes may continue to run, and the
  /// server remembers the mutes of ended streams.
  mutating func restoreAudio(of instance: Instance, in turn: inout Turn) {
    if let measured = instance.audio?.silence.measured, !measured.isEmpty {
      turn.emit(.audio(.stopMeasuring(instance.application.owner, measured)))
    }
    if instance.audio?.noticedAt != nil {
      turn.emit(.audio(.hideRecording(instance.id, instance.application)))
    }
    guard let changed = instance.audio?.changed, !changed.isEmpty else { return }
    let owner = instance.application.owner
    for id in changed {
      sessions.audio[owner, default: SessionAudio()].restoring[id] = instance.application
    }
    turn.emit(.audio(.unmute(owner, changed)))
  }

  mutating func recordingChosen(_ key: ApplicationKey, in turn: inout Turn) {
    guard let id = applications[key]?.instance, instances[id]?.state != .active else { return }
    activate(nil, key, in: &turn)
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
    orders.unmuted = sessions.audio[user].map { Array($0.restoring.keys) } ?? []
    for id in instancesWithAudio(of: user) {
      guard let audio = instances.boxes[id]?.value.audio else { continue }
      orders.muted += audio.muted
      orders.unmuted += audio.restoring
      orders.measured += audio.silence.measured
    }
    orders.sort()
    return orders
  }
}

/// The streams of a user that must be muted, unmuted and measured, ordered by their ids.
public struct AudioOrders: Equatable, Sendable {
  public var muted: [AudioStreamID] = []
  public var unmuted: [AudioStreamID] = []
  public var measured: [AudioStreamID] = []

  fileprivate mutating func sort() {
    muted.sort()
    unmuted.sort()
    measured.sort()
  }
}

extension Instance {
  var isEntitledByAudio: Bool {
    guard let audio, mayPlay else { return false }
    return audio.isInUse || audio.graceEnds != nil
  }

  /// Whether audio entitles the instance to run: it has mode audio, or a phone call.
  private var mayPlay: Bool {
    backgroundModes.contains(.audio) || audio?.isInCall == true
  }

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

  /// Mutes, measures and shows the streams of an instance as its state requires. Call this after
  /// every change of the instance.
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

  /// An instance that has only callbacks to acknowledge is suspended soon, so nothing is shown.
  private func recordsInBackground(_ turn: borrowing Turn) -> Bool {
    guard state == .background, termination == nil, audio?.isRecording == true else {
      return false
    }
    return isEntitledByAudio
      || callbacks.isEmpty && isEntitled(turn.policy, at: turn.instant, byAudio: false)
  }

  /// Has the agent measure the streams of an instance that nothing but its audible streams entitles
  /// to run.
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

  /// Mutes the streams of an instance that is about to be suspended, and unmutes those of an
  /// instance that runs.
  mutating func adjustMutes(in turn: inout Turn) {
    let owner = application.owner
    if isSuspendedOrStopping || audio?.interrupted?.isMuted == true {
      let streams = audio?.mute() ?? []
      if !streams.isEmpty {
        turn.emit(.audio(.mute(owner, streams)))
        record(.audioMuted(true), in: &turn)
      }
    } else if let streams = audio?.unmute(), !streams.isEmpty {
      turn.emit(.audio(.unmute(owner, streams)))
      record(.audioMuted(false), in: &turn)
    }
  }

  /// Changes the audio of the instance. If audio begins or ceases to entitle the instance to run,
  /// its priority changes.
  mutating func changeAudio(
    in turn: inout Turn, _ change: (inout Instance) -> Void
  ) {
    let before = priority(in: state)
    change(&self)
    prioritize(from: before, to: priority(in: state), in: &turn)
  }

  /// Takes a report of all streams of the user.
  ///
  /// - Parameter restoresNext: Whether the next stream of the application must be unmuted.
  fileprivate mutating func takeAudio(
    _ own: [AudioStream], _ all: [AudioStreamID: AudioStream], restoresNext: inout Bool,
    in turn: inout Turn
  ) {
    var next = audio ?? InstanceAudio()
    let before = next
    if next.take(own, all) { restoresNext = true }
    if restoresNext {
      let known = Set(before.streams.map(\.id))
      for stream in own where stream.direction == .playback && !known.contains(stream.id) {
        restoresNext = false
        guard stream.isMuted, termination == nil else { continue }
        next.restore(stream.id)
        turn.emit(.audio(.unmute(application.owner, [stream.id])))
      }
    }
    setGrace(of: &next, before: before, in: turn)
    changeAudio(in: &turn) { $0.audio = next }
    if next.isAudible != before.isAudible || next.isRecording != before.isRecording {
      let use = next.use
      record(
        .audioChanged(isAudible: use.isAudible, isRecording: use.isRecording), in: &turn)
    }
    guard termination == nil, next.isInUse != before.isInUse || isMuting else { return }
    if state == .suspended, next.isInUse, isEntitledByAudio {
      leaveSuspended(to: .background(Stint(at: turn.instant)), cause: .audio, in: &turn)
    }
    reconsider(in: &turn)
  }

  private var isMuting: Bool {
    if case .muting = stint?.suspension { true } else { false }
  }

  /// Starts `AudioGraceTime` when the last stream has ended, been paused or muted.
  private func setGrace(
    of next: inout InstanceAudio, before: InstanceAudio, in turn: borrowing Turn
  ) {
    if next.isInUse || !mayPlay { return next.setGrace(until: nil) }
    guard before.isInUse, state != .suspended else { return }
    next.setGrace(until: turn.instant.advanced(by: turn.policy.audioGraceTime))
  }

  fileprivate mutating func forgetAudio(in turn: inout Turn) {
    guard let before = audio else { return }
    let wasEntitled = isEntitledByAudio
    changeAudio(in: &turn) { $0.audio?.forgetReports() }
    if before.isAudible || before.isRecording {
      record(.audioChanged(isAudible: false, isRecording: false), in: &turn)
    }
    if wasEntitled { reasons.entitlementEnded(.audio, at: turn.instant) }
    reconsider(in: &turn)
  }

  /// Lets an instance in the background run for `AudioGraceTime`, because it may have begun to play
  /// and the agent has not reported this yet.
  mutating func waitForAudio(in turn: inout Turn) {
    guard state == .background, termination == nil, mayPlay else { return }
    let end = turn.instant.advanced(by: turn.policy.audioGraceTime)
    if !handling.extendUnacknowledged(until: end) {
      handling.begin(callbacks.nextID(), nil, until: end)
    }
  }

  /// Ends the entitlement of an instance whose `AudioGraceTime` has passed.
  mutating func endAudioGraceIfDue(in turn: inout Turn) {
    guard let due = audio?.graceEnds, due <= turn.instant else { return }
    changeAudio(in: &turn) { $0.audio?.setGrace(until: nil) }
    reasons.entitlementEnded(.audio, at: turn.instant)
  }

  /// Ends a silence that has lasted for `AudioSilenceTime`, because the instance may have begun to
  /// play since.
  mutating func endSilence(in turn: inout Turn) {
    guard audio?.silence.isLong == true else { return }
    changeAudio(in: &turn) { $0.audio?.silence.end() }
  }

  /// Starts `AudioGraceTime` for an instance that has been silent for `AudioSilenceTime`.
  mutating func endSilenceIfDue(in turn: borrowing Turn) {
    guard let due = audio?.silence.due(turn.policy), due <= turn.instant, let before = audio
    else { return }
    audio?.silence.becomeLong()
    guard var next = audio else { return }
    setGrace(of: &next, before: before, in: turn)
    audio = next
  }
}
