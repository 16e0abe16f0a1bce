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
    for id in Set(instancesWithAudio(of: user)).union(own.keys).sorted() {
      take(own[id] ?? [], all, of: id, in: &turn)
    }
  }

  private mutating func take(
    _ own: [AudioStream], _ all: [AudioStreamID: AudioStream], of id: InstanceID,
    in turn: inout Turn
  ) {
    guard let key = instances.boxes[id]?.value.application else { return }
    var restoresNext = applications[key]?.restoresAudio ?? false
    let before = restoresNext
    updateInstance(id, in: &turn) {
      $0.takeAudio(own, all, restoresNext: &restoresNext, in: &$1)
    }
    if restoresNext != before { applications.change(key) { $0.restoresAudio = restoresNext } }
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
  private func instancesWithAudio(of user: UserID) -> [InstanceID] {
    instances.boxes.values.lazy
      .filter { $0.value.audio != nil && $0.value.application.owner == user }.map(\.value.id)
  }

  mutating func loseAudio(of user: UserID, in turn: inout Turn) {
    if sessions.audio[user]?.agent == .attached {
      sessions.audio[user]?.agent = .lost(at: turn.instant)
    }
  }

  /// Discards the reports of an agent that was lost `SessionGraceTime` ago.
  mutating func forgetAudio(of user: UserID, in turn: inout Turn) {
    sessions.audio[user]?.agent = nil
    if sessions.audio[user]?.restoring.isEmpty == true { sessions.audio[user] = nil }
    for id in instancesWithAudio(of: user).sorted() {
      updateInstance(id, in: &turn) { $0.forgetAudio(in: &$1) }
    }
  }

  /// Ends the mutes of an instance that has ended. Its processes may continue to run, and the
  /// server remembers the mutes of ended streams.
  mutating func restoreAudio(of instance: Instance, in turn: inout Turn) {
    guard let changed = instance.audio?.changed, !changed.isEmpty else { return }
    let owner = instance.application.owner
    for id in changed {
      sessions.audio[owner, default: SessionAudio()].restoring[id] = instance.application
    }
    turn.emit(.audio(.unmute(owner, changed)))
  }

  /// Returns the streams of a user that must be muted, and those that must be unmuted.
  public func audioOrders(for user: UserID) -> (muted: [AudioStreamID], unmuted: [AudioStreamID]) {
    var orders: (muted: [AudioStreamID], unmuted: [AudioStreamID]) = ([], [])
    orders.unmuted = sessions.audio[user].map { Array($0.restoring.keys) } ?? []
    for id in instancesWithAudio(of: user) {
      guard let audio = instances.boxes[id]?.value.audio else { continue }
      orders.muted += audio.muted
      orders.unmuted += audio.restoring
    }
    return (orders.muted.sorted(), orders.unmuted.sorted())
  }
}

extension Instance {
  var isEntitledByAudio: Bool {
    guard let audio, backgroundModes.contains(.audio) else { return false }
    return audio.isInUse || audio.graceEnds != nil
  }

  /// Whether the instance is suspended, or about to be suspended.
  private var isSilenced: Bool {
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

  /// Mutes the streams of an instance that is about to be suspended, and unmutes those of an
  /// instance that runs. Call this after every change of the instance.
  mutating func adjustMutes(in turn: inout Turn) {
    guard audio != nil else { return }
    let owner = application.owner
    if isSilenced {
      let streams = audio?.mute() ?? []
      if !streams.isEmpty {
        turn.emit(.audio(.mute(owner, streams)))
        record(.audioMuted(true), in: &turn)
      }
    } else if let streams = audio?.unmute(), !streams.isEmpty {
      turn.emit(.audio(.unmute(owner, streams)))
      record(.audioMuted(false), in: &turn)
    }
    if audio?.isEmpty == true { audio = nil }
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
    audio = next
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
    if next.isInUse || !backgroundModes.contains(.audio) { return next.setGrace(until: nil) }
    guard before.isInUse, state != .suspended else { return }
    next.setGrace(until: turn.instant.advanced(by: turn.policy.audioGraceTime))
  }

  fileprivate mutating func forgetAudio(in turn: inout Turn) {
    guard let before = audio else { return }
    let wasEntitled = isEntitledByAudio
    audio?.forgetReports()
    if before.isInUse {
      record(.audioChanged(isAudible: false, isRecording: false), in: &turn)
    }
    if wasEntitled { reasons.entitlementEnded(.audio, at: turn.instant) }
    reconsider(in: &turn)
  }

  /// Ends the entitlement of an instance whose `AudioGraceTime` has passed.
  mutating func endAudioGraceIfDue(at now: Instant) {
    guard let due = audio?.graceEnds, due <= now else { return }
    audio?.setGrace(until: nil)
    reasons.entitlementEnded(.audio, at: now)
  }
}
