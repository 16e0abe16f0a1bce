// The mutes and volumes that audio servers remember because of the daemon
// (contract.md#audio-unmute, contract.md#audio-duck-restored).
//
// A server remembers the mute and the volume of a stream in an entry, whose number is
// `AudioStream.memory`. The next stream with the same entry begins with this mute and this volume.
// The scheduler remembers which mutes and volumes its orders leave in the entries, and undoes them
// for each new stream.

extension Scheduler {
  /// Returns the mutes and volumes that the daemon's orders left in the server's entries for
  /// streams that have not ended. The keys are the numbers of the entries.
  func heldMemories(of user: UserID) -> [UInt32: RememberedAudio] {
    var held: [UInt32: RememberedAudio] = [:]
    for id in instancesWithAudio(of: user).sorted() {
      guard let audio = instances.boxes[id]?.value.audio else { continue }
      for (memory, audio) in audio.heldMemories() {
        held[memory, default: RememberedAudio()].add(audio)
      }
    }
    for memory in (sessions.audio[user]?.restoring ?? [:]).values where memory != 0 {
      held[memory, default: RememberedAudio()].add(RememberedAudio(isMuted: true))
    }
    for (_, returned) in (sessions.audio[user]?.raising ?? [:]).sortedByKey
    where returned.memory != 0 {
      held[returned.memory, default: RememberedAudio()].add(
        RememberedAudio(volume: returned.change))
    }
    return held
  }

  /// Records the mutes and volumes that the daemon's orders left in the server's entries for
  /// streams that have now ended. Ignores new entries beyond a maximum, because any program can
  /// create entries.
  mutating func remember(_ ended: [UInt32: RememberedAudio], of user: UserID) {
    for (memory, audio) in ended.sortedByKey where memory != 0 {
      let count = sessions.audio[user]?.remembered.count ?? 0
      if count >= SessionAudio.rememberedMax, sessions.audio[user]?.remembered[memory] == nil {
        continue
      }
      sessions.audio[user]?.remembered[memory, default: RememberedAudio()].add(audio)
    }
  }

  /// Updates ``SessionAudio/restoring`` and ``SessionAudio/raising`` from a report of all streams.
  /// Removes the streams that have ended. If the report is newer than all orders, also removes the
  /// streams that the agent has restored.
  mutating func takeRestored(
    _ all: [AudioStreamID: AudioStream], isConfirmed: Bool, of user: UserID
  ) {
    for (id, memory) in sessions.audio[user]?.restoring ?? [:] {
      if let stream = all[id] {
        if stream.isMuted || !isConfirmed { continue }
      } else {
        remember([memory: RememberedAudio(isMuted: true)], of: user)
      }
      sessions.audio[user]?.restoring[id] = nil
    }
    let raising = sessions.audio[user]?.raising ?? [:]
    for (id, returned) in raising.sortedByKey {
      if let volume = all[id]?.volume {
        if AudioVolumeChange.isSame(volume, returned.change.from) || !isConfirmed { continue }
      } else {
        remember([returned.memory: RememberedAudio(volume: returned.change)], of: user)
      }
      sessions.audio[user]?.raising[id] = nil
    }
  }

  /// Undoes the remembered mute and volume of each new stream.
  mutating func restoreNewStreams(
    _ all: [AudioStreamID: AudioStream], _ remembered: [UInt32: RememberedAudio],
    of user: UserID, in turn: inout Turn
  ) {
    let known = Set(sessions.audio[user]?.known ?? [])
    let unstarted = sessions.audio[user]?.unstarted ?? [:]
    let playing = all.sortedByKey.map(\.value).filter { $0.direction == .playback }
    sessions.audio[user]?.known = []
    sessions.audio[user]?.unstarted = [:]
    for stream in playing {
      let isKnown = known.contains(stream.id)
      if isKnown || stream.isRunning { sessions.audio[user]?.known.append(stream.id) }
      if isKnown { continue }
      let before = unstarted[stream.id]
      let audio = before ?? remembered[stream.memory] ?? RememberedAudio()
      // PipeWire reports the volume and the mute of a new stream only when the stream runs.
      guard stream.isRunning else {
        sessions.audio[user]?.unstarted[stream.id] = audio
        continue
      }
      // When the agent restores the stream, the server also restores the entry, so the scheduler
      // forgets the values with which the stream began. If the stream ran in its first report, the
      // entry contained no other remembered values, so the scheduler forgets those too.
      forgetMemory(stream.memory, before?.applied(to: stream) ?? audio, of: user)
      if let id = stream.instance, instances.boxes[id]?.value.application.owner == user {
        updateInstance(id, in: &turn) { $0.restore(stream, audio, in: &$1) }
      } else {
        restore(stream, audio, of: user, in: &turn)
      }
    }
  }

  private mutating func forgetMemory(
    _ memory: UInt32, _ undone: RememberedAudio, of user: UserID
  ) {
    sessions.audio[user]?.remembered[memory]?.remove(undone)
    if sessions.audio[user]?.remembered[memory] == RememberedAudio() {
      sessions.audio[user]?.remembered[memory] = nil
    }
  }

  /// Undoes the remembered mute and volume of a new stream that belongs to no instance.
  private mutating func restore(
    _ stream: AudioStream, _ remembered: RememberedAudio, of user: UserID, in turn: inout Turn
  ) {
    if remembered.isMuted, stream.isMuted {
      sessions.audio[user]?.restoring[stream.id] = stream.memory
      turn.order(.unmute(user, [stream.id]), of: user)
    }
    if let volume = remembered.volume, AudioVolumeChange.isSame(stream.volume, volume.from) {
      let change = AudioVolumeChange(stream.id, from: volume.from, to: volume.to)
      sessions.audio[user]?.raising[stream.id] = ReturnedVolume(
        memory: stream.memory, change: change)
      turn.order(.setVolume(user, [change]), of: user)
    }
  }
}

extension Instance {
  /// Undoes the remembered mute and volume of a new stream of the instance. A stream that must be
  /// muted anyway stays muted.
  fileprivate mutating func restore(
    _ stream: AudioStream, _ remembered: RememberedAudio, in turn: inout Turn
  ) {
    guard var next = audio else { return }
    let isUnmuted = next.restore(stream, remembered)
    audio = next
    if isUnmuted, !mustBeMuted {
      turn.order(.unmute(application.owner, [stream.id]), of: application.owner)
    }
  }
}
