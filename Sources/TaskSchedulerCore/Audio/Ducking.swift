/// The volumes that the daemon lowers while another application plays (contract.md#audio-duck).
///
/// This works like the mutes of ``InstanceAudio``: a stream is in ``lowered`` or in ``raising``. A
/// stream leaves ``raising`` only when a report has shown the lowered volume and a later report
/// shows another volume. Each entry contains the original volume, so that the event log contains
/// this volume before the daemon changes it.
struct AudioDucking: Equatable, Sendable {
  /// The streams with a lowered volume, ordered by their ids. Each entry is the change that lowers
  /// the volume.
  private(set) var lowered: [AudioVolumeChange] = []
  /// The streams whose volume the daemon is restoring, ordered by their ids. Each entry is the
  /// change that restores the volume.
  private(set) var raising: [AudioVolumeChange] = []
  /// The streams in ``lowered`` or ``raising`` for which the next report may still show the volume
  /// from before the order to lower it. They are ordered by their ids.
  private(set) var unseen: [AudioStreamID] = []
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
  mutating func take(_ all: [AudioStreamID: AudioStream]) {
    left.removeAll { all[$0] == nil }
    let low = Dictionary(
      returned.map { ($0.stream, $0.from) }, uniquingKeysWith: { first, _ in first })
    unseen.removeAll { id in
      guard let volume = all[id]?.volume, let low = low[id] else { return true }
      return AudioVolumeChange.isSame(volume, low)
    }
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
      return !AudioVolumeChange.isSame(volume, change.from) && !unseen.contains(change.stream)
    }
  }

  /// Prepares for the next agent, as ``InstanceAudio/loseAgent()`` does.
  mutating func loseAgent() {
    unseen = Set(unseen).union(lowered.map(\.stream)).sorted()
  }

  /// Adds a stream that began with a lowered volume because the server remembered the volume of an
  /// earlier stream.
  mutating func add(_ stream: AudioStreamID, lowered volume: Int, from original: Int) {
    guard !returned.contains(where: { $0.stream == stream }) else { return }
    insert(AudioVolumeChange(stream, from: original, to: volume), into: &lowered)
  }

  /// Adds a stream whose volume is being restored.
  mutating func addRaising(_ volume: ReturnedVolume) {
    let id = volume.change.stream
    guard !returned.contains(where: { $0.stream == id }) else { return }
    insert(volume.change, into: &raising)
    if !volume.isSeen { unseen = (unseen + [id]).sorted() }
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
      if raised == nil { unseen = (unseen + [stream.id]).sorted() }
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
