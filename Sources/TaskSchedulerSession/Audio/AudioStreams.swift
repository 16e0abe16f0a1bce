import LinuxSystem
import TaskSchedulerWire

/// A running audio server.
package struct AudioServer: Hashable, Sendable {
  /// The path of the server's socket.
  package var path: String
  /// A number that is different after each start of the server.
  package var generation: UInt64
  /// Whether the server itself lowers, mutes or pauses streams according to their roles.
  package var managesRoles = false
}

/// A stream of the audio server.
package struct AudioStream: Hashable, Sendable {
  /// The number that the server gave the stream.
  package var id: UInt32
  package var isRecording: Bool
  package var role = SessionInterface.AudioRole.other
  /// The volume of the loudest channel; ``fullVolume`` is 100 %. 0 for a recording stream.
  package var volume: Int
  /// The process that holds the stream.
  package var process: ProcessIdentity
  /// Whether the pid in `process` is only a claim of the client. If false, the server read the pid
  /// from the client's socket.
  package var isClaimed: Bool
  /// Whether the stream is connected to a device and not paused. The volume of a playback stream
  /// must also be above zero.
  package var isRunning: Bool
  package var isMuted: Bool
  /// Whether the stream played only silence in the last second. False if it is not measured.
  package var isSilent = false
  /// The number of the entry in which the server remembers the stream's mute and volume; 0 if there
  /// is no entry. Streams with the same number share an entry. A new stream begins with the mute
  /// and the volume in its entry.
  package var memory: UInt32 = 0

  /// The volume of 100 % (PA_VOLUME_NORM).
  package static let fullVolume = 65536
}

/// The streams of the user's audio server at one instant, without streams of unknown processes.
package struct AudioStreams: Hashable, Sendable {
  /// The server; nil if no server runs.
  package var server: AudioServer?
  package var streams: [AudioStream] = []
}

/// A report of all streams to a daemon.
struct AudioReport: Equatable {
  var audio: AudioStreams
  /// The number of the last order `confirm` of the daemon before which all orders had been sent to
  /// the audio server when the agent requested the streams; 0 if there is none.
  var confirmed: Int
}

/// A change of the volume of a playback stream. It applies only while the volume is ``from``, so
/// that it never replaces a volume that the user chose.
struct AudioVolumeChange: Hashable, Sendable {
  var stream: UInt32
  var from: Int
  var to: Int

  init(_ stream: UInt32, from: Int, to: Int) {
    self.stream = stream
    self.from = from
    self.to = to
  }

  /// Creates the change that an order describes; nil if a number in the order is out of range.
  init?(_ change: SessionInterface.VolumeChange) {
    guard let stream = UInt32(exactly: change.stream), UInt32(exactly: change.from) != nil,
      UInt32(exactly: change.to) != nil
    else { return nil }
    self.init(stream, from: change.from, to: change.to)
  }

  /// The greatest difference between two volumes that count as the same. Servers round volumes.
  private static let tolerance = 64

  /// Returns whether two volumes are the same, apart from the rounding of audio servers.
  static func isSame(_ one: Int, _ other: Int) -> Bool { abs(one - other) <= tolerance }
}
