/// The audio session that an application has set. It determines whether the application and other
/// applications play at the same time (contract.md#audio-session). If the application has set no
/// session, its running streams determine the rank (``InstanceAudio/rank``).
public struct AudioSession: Hashable, Sendable {
  public var category: AudioCategory
  /// Whether the application plays together with others.
  public var mixesWithOthers: Bool
  /// Whether the daemon lowers the volume of other applications while the application plays.
  public var ducksOthers: Bool

  public init(
    _ category: AudioCategory, mixesWithOthers: Bool = false, ducksOthers: Bool = false
  ) {
    self.category = category
    self.mixesWithOthers = mixesWithOthers
    self.ducksOthers = ducksOthers
  }

  var rank: AudioRank {
    if ducksOthers { return .ducking }
    return mixesWithOthers || category == .ambient ? .mixing : .exclusive
  }
}

/// The category of an audio session. The names are those of AVAudioSession.
public enum AudioCategory: String, Hashable, Sendable, CaseIterable {
  case ambient, soloAmbient, playback, record, playAndRecord
}

/// The rank of an audio session. A phone call ranks above all sessions.
enum AudioRank: String, Hashable, Sendable, CaseIterable {
  /// Plays together with others.
  case mixing
  /// Lowers the volume of others.
  case ducking
  /// Interrupts other exclusive sessions when it begins.
  case exclusive
}

/// What interrupts the audio of an application.
public enum AudioInterrupter: Hashable, Sendable {
  case phoneCall
  /// Another application has begun to play.
  case application(ApplicationID)
}

/// An active audio session. A session is active while the application plays, records or is
/// interrupted, and for `AudioGraceTime` afterwards.
struct ActiveAudioSession: Equatable, Sendable {
  var begunAt: Instant
  /// The end of `AudioGraceTime`; nil while the application plays, records or is interrupted.
  var endsAt: Instant?
  var rank: AudioRank
  /// Whether the application has had a phone call during the session. If so, its audio after the
  /// call must not interrupt the music that the call had interrupted.
  var isOfCall = false

  var isExclusive: Bool { rank == .exclusive && !isOfCall }
  var isDucking: Bool { rank == .ducking && !isOfCall }

  /// Sets the instant at which the session ends, unless it is already set. If the session is
  /// interrupted, clears the instant, because an interrupted session does not end.
  mutating func pause(isInterrupted: Bool, until end: Instant) {
    endsAt = isInterrupted ? nil : endsAt ?? end
  }
}

extension InstanceAudio {
  /// Whether the instance plays or records.
  var isSounding: Bool { isAudible || isRecording }

  /// The rank of the audio session that the application has set. If it has set none, the running
  /// streams determine the rank.
  var rank: AudioRank {
    if let declared { return declared.rank }
    let roles = Set(streams.lazy.filter { $0.direction == .playback && $0.isRunning }.map(\.role))
    // An instance that only records, or plays only sounds of the user interface, has the rank
    // `mixing`. Some programs record the output of other programs, or record all the time, and must
    // not interrupt the music.
    if roles.isSubset(of: [.event]) { return roles.isEmpty && !isRecording ? .exclusive : .mixing }
    return roles.isSubset(of: [.event, .notification, .accessibility]) ? .ducking : .exclusive
  }

  /// Whether a stream with the role `phone` plays. A phone call begins only if another stream also
  /// records. The call lasts while the stream with the role `phone` plays, because some programs
  /// end their recording to mute the microphone.
  var playsCall: Bool {
    streams.contains { $0.direction == .playback && $0.isRunning && $0.role == .phone }
  }
}
