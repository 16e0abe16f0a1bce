import TaskSchedulerCore

/// The changes of the daemon that an audio server remembers for the next stream: a mute and a
/// lowered volume.
struct ObservedMemory {
  var isMuted = false
  var volume: LoweredVolume?

  mutating func add(_ other: ObservedMemory) {
    isMuted = isMuted || other.isMuted
    volume = other.volume ?? volume
  }

  /// Returns the part of this memory that the server has applied to a stream.
  func applied(to stream: AudioStream) -> ObservedMemory {
    let isLow = volume.map { LoweredVolume.isSame(stream.volume, $0.low) } ?? false
    return ObservedMemory(isMuted: isMuted && stream.isMuted, volume: isLow ? volume : nil)
  }

  /// Removes the mute if `other` has one, and the volume if `other` has one, because these changes
  /// were undone.
  mutating func remove(_ other: ObservedMemory) {
    if other.isMuted { isMuted = false }
    if other.volume != nil { volume = nil }
  }
}

// What audio servers remember (contract.md#audio-unmute, contract.md#audio-duck-restored).
extension ObservedState {
  /// Returns the daemon's changes to streams that have not ended, by the number of the entry in
  /// which the server remembers them.
  func heldMemories(of user: UserID) -> [UInt32: ObservedMemory] {
    var held: [UInt32: ObservedMemory] = [:]
    func add(_ memory: ObservedMemory, of id: AudioStreamID) {
      guard let number = audio.memories[id], number != 0 else { return }
      held[number, default: ObservedMemory()].add(memory)
    }
    for instance in instancesOwned(by: user) {
      for id in instance.audio.muted { add(ObservedMemory(isMuted: true), of: id) }
      for (id, volume) in instance.audio.volumes.all.sorted(by: { $0.key < $1.key }) {
        add(ObservedMemory(volume: volume), of: id)
      }
    }
    for (id, owner) in audio.unmuting where owner == user {
      add(ObservedMemory(isMuted: true), of: id)
    }
    for (id, entry) in audio.returning.sorted(by: { $0.key < $1.key }) where entry.user == user {
      add(ObservedMemory(volume: entry.volume), of: id)
    }
    return held
  }

  /// Records what the server remembers of a stream that has ended.
  func remember(_ memory: ObservedMemory, of id: AudioStreamID, _ user: UserID) {
    guard let number = audio.memories[id], number != 0 else { return }
    audio.remembered[user, default: [:]][number, default: ObservedMemory()].add(memory)
  }

  /// Removes a user's streams from `audio.unmuting` if they have ended, or if a report that is
  /// newer than all orders shows them unmuted.
  func takeUnmuted(
    _ all: [AudioStreamID: AudioStream], isConfirmed: Bool, of user: UserID
  ) {
    for (id, owner) in audio.unmuting where owner == user && all[id]?.isMuted != true {
      if all[id] != nil, !isConfirmed { continue }
      audio.unmuting[id] = nil
      if all[id] == nil { remember(ObservedMemory(isMuted: true), of: id, user) }
    }
  }

  /// Determines which new streams the daemon must unmute, and for which of them it must restore the
  /// volume.
  func restoreNewStreams(
    _ all: [AudioStreamID: AudioStream], _ held: [UInt32: ObservedMemory], of user: UserID
  ) {
    let playing = all.values.filter { $0.direction == .playback }.sorted { $0.id < $1.id }
    let known = audio.known[user] ?? []
    audio.known[user] = Set(
      playing.filter { $0.isRunning || known.contains($0.id) }.map(\.id))
    // Two streams may share an entry of the server, even if only one of them has ended. The
    // daemon's changes to both count.
    let remembered = held.merging(audio.remembered[user] ?? [:]) { one, other in
      var both = one
      both.add(other)
      return both
    }
    let unstarted = audio.unstarted[user] ?? [:]
    audio.unstarted[user] = [:]
    for stream in playing where !known.contains(stream.id) {
      let before = unstarted[stream.id]
      let memory = before ?? remembered[stream.memory] ?? ObservedMemory()
      if !stream.isRunning {
        audio.unstarted[user]?[stream.id] = memory
        continue
      }
      audio.remembered[user]?[stream.memory]?.remove(before?.applied(to: stream) ?? memory)
      let owner = stream.instance.flatMap { self[$0] }.flatMap { $0.key.owner == user ? $0 : nil }
      if memory.isMuted, stream.isMuted { audio.mustUnmute.append(stream.id) }
      guard let volume = memory.volume, LoweredVolume.isSame(stream.volume, volume.low) else {
        continue
      }
      if let owner {
        if owner.audio.volumes.all[stream.id] == nil {
          owner.audio.volumes.lowered[stream.id] = volume
        }
      } else {
        audio.returning[stream.id] = (user, volume)
        audio.mustReturn.insert(stream.id)
      }
    }
  }
}
