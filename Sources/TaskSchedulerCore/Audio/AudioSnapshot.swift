/// The id of a stream of an audio server.
public struct AudioStreamID: Hashable, Comparable, Sendable {
  /// A number of the running audio server. Each start of a server has another number.
  public var server: UInt64
  /// The number that the server gave the stream. It is unique while the server runs.
  public var index: UInt64

  public init(server: UInt64, index: UInt64) {
    self.server = server
    self.index = index
  }

  public static func < (lhs: AudioStreamID, rhs: AudioStreamID) -> Bool {
    (lhs.server, lhs.index) < (rhs.server, rhs.index)
  }
}

/// A stream of an audio server, as a session agent reports it.
public struct AudioStream: Equatable, Sendable {
  public var id: AudioStreamID
  /// The instance whose process holds the stream; nil if the process belongs to no instance.
  public var instance: InstanceID?
  public var direction: Direction
  /// Whether the stream is not paused and is connected to a device. The volume of a stream that
  /// plays must also be above zero.
  public var isRunning: Bool
  public var isMuted: Bool
  /// Whether the stream played only silence when the agent last measured it. False if the agent
  /// does not measure the stream.
  public var isSilent: Bool

  /// The direction of a stream.
  public enum Direction: String, Equatable, Sendable, CaseIterable {
    case playback, recording
  }

  public init(
    _ id: AudioStreamID, of instance: InstanceID?, _ direction: Direction = .playback,
    isRunning: Bool = true, isMuted: Bool = false, isSilent: Bool = false
  ) {
    self.id = id
    self.instance = instance
    self.direction = direction
    self.isRunning = isRunning
    self.isMuted = isMuted
    self.isSilent = isSilent
  }

  var isAudible: Bool { direction == .playback && isRunning && !isMuted }
  var isRecording: Bool { direction == .recording && isRunning }
}

/// All streams of a user's audio server at one instant, as the user's session agent reports them.
public struct AudioSnapshot: Equatable, Sendable {
  public var streams: [AudioStream]

  public init(_ streams: [AudioStream] = []) { self.streams = streams }
}

/// What an instance does with audio.
public struct AudioUse: Equatable, Sendable {
  public var isAudible: Bool
  public var isRecording: Bool
  /// Whether the daemon has muted streams of the instance.
  public var isMuted: Bool
  /// Whether a phone call interrupts the audio of the instance.
  public var isInterrupted: Bool
  /// Whether the instance has a phone call.
  public var isInCall: Bool

  public init(
    isAudible: Bool = false, isRecording: Bool = false, isMuted: Bool = false,
    isInterrupted: Bool = false, isInCall: Bool = false
  ) {
    self.isAudible = isAudible
    self.isRecording = isRecording
    self.isMuted = isMuted
    self.isInterrupted = isInterrupted
    self.isInCall = isInCall
  }
}
