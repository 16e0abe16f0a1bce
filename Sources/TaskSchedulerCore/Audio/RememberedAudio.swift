/// A lowered volume that the daemon must restore, on a stream that belongs to no running instance.
struct ReturnedVolume: Equatable, Sendable {
  /// The number of the entry in which the server remembers the stream (``AudioStream/memory``).
  var memory: UInt32
  var change: AudioVolumeChange
}

/// The mute and the volume that the daemon has set on a stream. The audio server remembers them for
/// the next stream with the same ``AudioStream/memory``.
struct RememberedAudio: Equatable, Sendable {
  var isMuted = false
  /// The change that restores the volume; nil if the daemon did not lower the volume.
  var volume: AudioVolumeChange?

  /// Adds the mute and the volume of another stream with the same ``AudioStream/memory``.
  mutating func add(_ other: RememberedAudio) {
    isMuted = isMuted || other.isMuted
    volume = other.volume ?? volume
  }

  /// Returns the part of the remembered values that the server has applied to a stream.
  func applied(to stream: AudioStream) -> RememberedAudio {
    let isLow = volume.map { AudioVolumeChange.isSame(stream.volume, $0.from) } ?? false
    return RememberedAudio(isMuted: isMuted && stream.isMuted, volume: isLow ? volume : nil)
  }

  /// Removes the values that `other` contains. Call this when those values have been undone.
  mutating func remove(_ other: RememberedAudio) {
    if other.isMuted { isMuted = false }
    if other.volume != nil { volume = nil }
  }
}
