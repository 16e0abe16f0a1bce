/// The id of a stream of an audio server.
public struct AudioStreamID: Hashable, Comparable, Sendable {
  /// The number of the running audio server. Each start of a server gets a new number.
  public var server: UInt64
  public var direction: AudioStream.Direction
  /// The number that the server gave the stream. It is unique among the streams of its direction
  /// while the server runs.
  public var index: UInt64

  public init(server: UInt64, _ direction: AudioStream.Direction = .playback, index: UInt64) {
    self.server = server
    self.direction = direction
    self.index = index
  }

  public static func < (lhs: AudioStreamID, rhs: AudioStreamID) -> Bool {
    (lhs.server, lhs.direction.order, lhs.index) < (rhs.server, rhs.direction.order, rhs.index)
  }
}

/// A stream of an audio server, as a session agent reports it.
public struct AudioStream: Equatable, Sendable {
  public var id: AudioStreamID
  /// The instance whose process holds the stream; nil if the process belongs to no instance.
  public var instance: InstanceID?
  public var role: AudioRole
  /// The volume of the loudest channel; ``fullVolume`` is 100 %. 0 for a recording stream.
  public var volume: Int
  /// Whether the stream is not paused and is connected to a device. A playback stream with the
  /// volume 0 does not count as running.
  public var isRunning: Bool
  public var isMuted: Bool
  /// Whether the stream played only silence when the agent last measured it. False if the agent
  /// does not measure the stream.
  public var isSilent: Bool
  /// The number of the entry in which the server remembers the mute and the volume of the stream; 0
  /// if the server does not remember them. A new stream begins with the mute and the volume of its
  /// entry.
  public var memory: UInt32

  /// The direction of a stream.
  public enum Direction: String, Hashable, Sendable, CaseIterable {
    case playback, recording

    /// The rank of the direction in the order of ids: a server's playback streams come first.
    fileprivate var order: Int {
      switch self {
      case .playback: 0
      case .recording: 1
      }
    }
  }

  /// The volume of 100 %, as audio servers count it (PA_VOLUME_NORM).
  public static let fullVolume = 65536

  public init(
    _ id: AudioStreamID, of instance: InstanceID?, role: AudioRole = .other,
    volume: Int = AudioStream.fullVolume, isRunning: Bool = true, isMuted: Bool = false,
    isSilent: Bool = false, memory: UInt32 = 0
  ) {
    self.id = id
    self.instance = instance
    self.role = role
    self.volume = volume
    self.isRunning = isRunning
    self.isMuted = isMuted
    self.isSilent = isSilent
    self.memory = memory
  }

  public var direction: Direction { id.direction }
  var isAudible: Bool { direction == .playback && isRunning && !isMuted }
  var isRecording: Bool { direction == .recording && isRunning }
}

/// What a stream is for: its property `media.role`.
public enum AudioRole: String, Equatable, Sendable, CaseIterable {
  case other
  /// A phone call.
  case phone
  /// A sound of the user interface, such as a click.
  case event
  case notification
  /// Speech of a screen reader and similar programs.
  case accessibility
}

/// A change of the volume of a stream. It applies only while the volume is ``from``, so that it
/// never replaces a volume that the user chose.
public struct AudioVolumeChange: Hashable, Sendable {
  public var stream: AudioStreamID
  public var from: Int
  public var to: Int

  public init(_ stream: AudioStreamID, from: Int, to: Int) {
    self.stream = stream
    self.from = from
    self.to = to
  }

  /// Returns whether two volumes are the same apart from the rounding of audio servers.
  static func isSame(_ a: Int, _ b: Int) -> Bool { abs(a - b) <= 64 }
}

extension [AudioVolumeChange] {
  /// Sorts the changes by the ids of their streams.
  mutating func sortByStream() { sort { $0.stream < $1.stream } }
}

/// All streams of a user's audio server at one instant, as the user's session agent reports them.
public struct AudioSnapshot: Equatable, Sendable {
  public var streams: [AudioStream]
  /// Whether the server itself lowers or pauses streams by their roles. If so, the scheduler leaves
  /// this to the server.
  public var managesRoles: Bool
  /// The number of the last ``AudioEffect/confirm(_:_:)`` that this report or an earlier one
  /// answers: the server had received all earlier orders when it listed the streams. 0 if there is
  /// none.
  public var confirmed: UInt64

  public init(
    _ streams: [AudioStream] = [], managesRoles: Bool = false, confirmed: UInt64 = 0
  ) {
    self.streams = streams
    self.managesRoles = managesRoles
    self.confirmed = confirmed
  }
}

/// What an instance does with audio.
public struct AudioUse: Equatable, Sendable {
  public var isAudible: Bool
  public var isRecording: Bool
  /// Whether the daemon has muted streams of the instance.
  public var isMuted: Bool
  /// Whether the daemon has lowered the volume of streams of the instance.
  public var isDucked: Bool
  /// The application whose audio has made the daemon lower the volume of this instance; nil if the
  /// volume is not lowered, and while the daemon restores it.
  public var ducker: ApplicationID?
  /// What interrupts the audio of the instance; nil if nothing does.
  public var interrupter: AudioInterrupter?
  /// Whether the instance has a phone call.
  public var isInCall: Bool
  /// Whether the phone call is on hold because of a newer one.
  public var isOnHold: Bool

  public init(
    isAudible: Bool = false, isRecording: Bool = false, isMuted: Bool = false,
    isDucked: Bool = false, ducker: ApplicationID? = nil, interrupter: AudioInterrupter? = nil,
    isInCall: Bool = false, isOnHold: Bool = false
  ) {
    self.isAudible = isAudible
    self.isRecording = isRecording
    self.isMuted = isMuted
    self.isDucked = isDucked
    self.ducker = ducker
    self.interrupter = interrupter
    self.isInCall = isInCall
    self.isOnHold = isOnHold
  }
}
