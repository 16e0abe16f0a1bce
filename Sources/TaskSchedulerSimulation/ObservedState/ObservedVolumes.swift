import TaskSchedulerCore

/// A lowered volume of a stream.
struct LoweredVolume {
  /// The volume to restore.
  var original: Int
  var low: Int

  /// Returns whether two volumes are the same except for the rounding of audio servers.
  static func isSame(_ one: Int, _ other: Int) -> Bool { abs(one - other) <= 64 }
}

/// The lowered volumes of the streams of one instance.
struct ObservedVolumes {
  var lowered: [AudioStreamID: LoweredVolume] = [:]
  /// The streams whose volume the daemon is restoring.
  var returning: [AudioStreamID: LoweredVolume] = [:]
  /// The streams whose lowered volume the user has changed. The daemon leaves these volumes alone
  /// as long as the volumes of the instance must be low.
  var left: Set<AudioStreamID> = []

  var all: [AudioStreamID: LoweredVolume] { lowered.merging(returning) { first, _ in first } }
}

// The volumes that the daemon lowers and restores (contract.md#audio-duck).
extension ObservedState {
  /// Takes a report of a user's streams, and examines the streams that belong to no running
  /// instance. Forgets such a stream if it has ended, or if the report is newer than all orders and
  /// shows another volume than the lowered one.
  func takeReturned(
    _ all: [AudioStreamID: AudioStream], isConfirmed: Bool, of user: UserID
  ) {
    for id in audio.returning.keys.sorted() {
      guard let (owner, volume) = audio.returning[id], owner == user else { continue }
      if let stream = all[id] {
        if LoweredVolume.isSame(stream.volume, volume.low) || !isConfirmed { continue }
      } else {
        remember(ObservedMemory(volume: volume), of: id, user)
      }
      audio.returning[id] = nil
    }
  }

  /// Takes a report of the streams of an instance. Forgets a lowered volume that the user has
  /// changed. Records what the server remembers of ended streams.
  func takeVolumes(
    _ all: [AudioStreamID: AudioStream], isConfirmed: Bool, of instance: ObservedInstance
  ) {
    var volumes = instance.audio.volumes
    for stream in instance.audio.streams {
      // The stream belonged to no instance until the daemon adopted the process of the stream.
      if let entry = audio.returning[stream.id], entry.user == instance.key.owner {
        audio.returning[stream.id] = nil
        if volumes.all[stream.id] == nil { volumes.returning[stream.id] = entry.volume }
      }
    }
    let ended = volumes.all.filter { all[$0.key] == nil }.sorted { $0.key < $1.key }
    volumes.left = volumes.left.filter { all[$0] != nil }
    for (id, volume) in volumes.lowered {
      guard let now = all[id]?.volume else {
        volumes.lowered[id] = nil
        continue
      }
      if LoweredVolume.isSame(now, volume.original) || LoweredVolume.isSame(now, volume.low) {
        continue
      }
      volumes.lowered[id] = nil
      volumes.left.insert(id)
    }
    volumes.returning = volumes.returning.filter { id, volume in
      all[id].map { !isConfirmed || LoweredVolume.isSame($0.volume, volume.low) } ?? false
    }
    for (id, volume) in ended {
      remember(ObservedMemory(volume: volume), of: id, instance.key.owner)
    }
    instance.audio.volumes = volumes
  }

  /// Records that an instance has ended. The daemon must restore the volumes, because the processes
  /// of the instance may continue to run.
  func returnVolumes(of instance: ObservedInstance) {
    for (id, volume) in instance.audio.volumes.all {
      audio.returning[id] = (instance.key.owner, volume)
      audio.mustReturn.insert(id)
    }
  }

  /// Records an order to change a volume.
  func note(_ change: AudioVolumeChange, of user: UserID) {
    let id = change.stream
    for instance in live where instance.key.owner == user {
      if change.to < change.from {
        guard instance.audio.streams.contains(where: { $0.id == id }) else { continue }
        instance.audio.volumes.returning[id] = nil
        instance.audio.volumes.lowered[id] = LoweredVolume(original: change.from, low: change.to)
      } else if let volume = instance.audio.volumes.lowered.removeValue(forKey: id) {
        instance.audio.volumes.returning[id] = volume
      }
    }
  }
}
