/// The mute of a stream of no running instance, which must be ended.
struct ReturnedMute: Equatable, Sendable {
  /// The number of the server's memory for the stream.
  var memory: UInt32
  /// Whether a report has shown the stream muted.
  var isSeen: Bool
}

/// The volume of a stream of no running instance, which must be given back.
struct ReturnedVolume: Equatable, Sendable {
  /// The number of the server's memory for the stream.
  var memory: UInt32
  var change: AudioVolumeChange
  /// Whether a report has shown the lowered volume.
  var isSeen: Bool
}

/// What an audio server remembers for the next stream because of the daemon.
struct RememberedAudio: Equatable, Sendable {
  var isMuted = false
  /// The change that gives back the volume; nil if the daemon did not lower it.
  var volume: AudioVolumeChange?

  /// Adds what another stream with the same memory has left.
  mutating func add(_ other: RememberedAudio) {
    isMuted = isMuted || other.isMuted
    volume = other.volume ?? volume
  }

  /// Returns what the server has applied to a stream.
  func applied(to stream: AudioStream) -> RememberedAudio {
    let isLow = volume.map { AudioVolumeChange.isSame(stream.volume, $0.from) } ?? false
    return RememberedAudio(isMuted: isMuted && stream.isMuted, volume: isLow ? volume : nil)
  }

  /// Removes what has been undone.
  mutating func remove(_ other: RememberedAudio) {
    if other.isMuted { isMuted = false }
    if other.volume != nil { volume = nil }
  }
}
