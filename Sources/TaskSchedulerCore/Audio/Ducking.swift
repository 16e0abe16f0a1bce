/// The volumes that the daemon lowers while another application plays (contract.md#audio-duck).
///
/// This works like the mutes of ``InstanceAudio``: a stream is in ``lowered`` or in ``raising``. A
/// stream leaves ``raising`` when a report that is newer than all orders shows another volume than
/// the lowered one. Each entry contains the original volume, so that the event log contains this
/// volume before the daemon changes it.
struct AudioDucking: Equatable, Sendable {
  /// The streams with a lowered volume, ordered by their ids. Each entry is the change that lowers
  /// the volume.
  private(set) var lowered: [AudioVolumeChange] = []
  /// The streams whose volume the daemon is restoring, ordered by their ids. Each entry is the
  /// change that restores the volume.
  private(set) var raising: [AudioVolumeChange] = []
  /// The streams whose lowered volume the user has changed, ordered by their ids. The daemon does
  /// not change their volumes until the next call of ``raise()``.
  private(set) var left: [AudioStreamID] = []

  /// The changes that restore all lowered volumes.
  var returned: [AudioVolumeChange] {
    var changes = lowered.map(\.reversed) + raising
    changes.sortByStream()
    return changes
  }

  /// Takes a report of all streams of the user. Removes the streams that have ended, and those
  /// whose volume the daemon has restored or the user has changed.
  mutating func take(_ all: [AudioStreamID: AudioStream], isConfirmed: Bool) {
    left.removeAll { all[$0] == nil }
    let changed = lowered.map(\.stream).filter { id in
      guard let volume = all[id]?.volume, let change = lowered.first(where: { $0.stream == id })
      else { return false }
      return !AudioVolumeChange.isSame(volume, change.from)
        && !AudioVolumeChange.isSame(volume, change.to)
    }
    left = (left + changed).sorted()
    lowered.removeAll { all[$0.stream] == nil || changed.contains($0.stream) }
    raising.removeAll { change in
      guard let volume = all[change.stream]?.volume else { return true }
      return isConfirmed && !AudioVolumeChange.isSame(volume, change.from)
    }
  }

  /// Adds a stream that began with a lowered volume because the server remembered the volume of an
  /// earlier stream.
  mutating func add(_ stream: AudioStreamID, lowered volume: Int, from original: Int) {
    guard !returned.contains(where: { $0.stream == stream }) else { return }
    insert(AudioVolumeChange(stream, from: original, to: volume), into: &lowered)
  }

  /// Adds a stream whose volume is being restored.
  mutating func addRaising(_ change: AudioVolumeChange) {
    guard !returned.contains(where: { $0.stream == change.stream }) else { return }
    insert(change, into: &raising)
  }

  /// Adds streams to ``lowered``. Returns the changes that lower each volume to a percentage of the
  /// original volume.
  mutating func lower(_ streams: [AudioStream], to percent: Int) -> [AudioVolumeChange] {
    var changes: [AudioVolumeChange] = []
    for stream in streams
    where !left.contains(stream.id) && !lowered.contains(where: { $0.stream == stream.id }) {
      let raised = raising.firstIndex { $0.stream == stream.id }.map { raising.remove(at: $0) }
      let volume = raised?.to ?? stream.volume
      let target = max(1, volume * percent / 100)
      guard !AudioVolumeChange.isSame(target, volume) else { continue }
      let change = raised?.reversed ?? AudioVolumeChange(stream.id, from: volume, to: target)
      insert(change, into: &lowered)
      changes.append(change)
    }
    return changes
  }

  /// Moves all streams from ``lowered`` to ``raising``. Returns the changes that restore their
  /// volumes.
  mutating func raise() -> [AudioVolumeChange] {
    let changes = lowered.map(\.reversed)
    for change in changes { insert(change, into: &raising) }
    lowered = []
    left = []
    return changes
  }

  private func insert(_ change: AudioVolumeChange, into list: inout [AudioVolumeChange]) {
    list.append(change)
    list.sortByStream()
  }

  func check() throws(InvariantViolation) {
    let ids = returned.map(\.stream)
    try require(
      zip(ids, ids.dropFirst()).allSatisfy { $0 < $1 },
      "a stream with a lowered volume is listed twice")
  }
}

extension AudioVolumeChange {
  /// The change that undoes this one.
  var reversed: AudioVolumeChange { AudioVolumeChange(stream, from: to, to: from) }
}
