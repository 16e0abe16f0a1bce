import LinuxSystem

/// A running audio server.
package struct AudioServer: Hashable, Sendable {
  /// The path of the server's socket.
  package var path: String
  /// A number that is different after each start of the server.
  package var generation: UInt64
}

/// A stream of the audio server.
package struct AudioStream: Hashable, Sendable {
  /// The number that the server gave the stream.
  package var id: UInt32
  package var isRecording: Bool
  /// The process that holds the stream.
  package var process: ProcessIdentity
  /// Whether the client told the server its pid.
  package var isClaimed: Bool
  /// Whether the stream is not paused and is connected to a device. The volume of a playback stream
  /// is also above zero.
  package var isRunning: Bool
  package var isMuted: Bool
  /// Whether the stream played only silence in the last second. False if it is not measured.
  package var isSilent = false
}

/// All streams of the user's audio server at one instant.
package struct AudioStreams: Hashable, Sendable {
  /// The server; nil if no server runs.
  package var server: AudioServer?
  package var streams: [AudioStream] = []
}
