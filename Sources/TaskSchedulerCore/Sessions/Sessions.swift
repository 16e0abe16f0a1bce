/// The session agents (contract §20), and the seats whose screen is locked.
struct Sessions: Equatable, Sendable {
  /// The session agents by user: those that are attached, and those whose connections ended less
  /// than `SessionGraceTime` ago.
  var agents: [UserID: SessionAgent] = [:]
  /// The audio servers and the media players, by user. An entry exists while the scheduler must
  /// remember something about them.
  var audio: [UserID: SessionAudio] = [:]
  /// The number of the last ``AudioEffect/confirm(_:_:)`` of each user. The scheduler keeps the
  /// numbers, so that it uses none twice.
  var confirmsLast: [UserID: UInt64] = [:]
  var locks: [SeatID: SeatLock] = [:]

  /// Whether the screen of a seat, or of the session that contains the seat, is locked.
  func isLocked(_ seat: SeatID) -> Bool {
    locks[seat] != nil || locks.keys.contains { $0.contains(seat) }
  }

  /// The earliest instant at which the scheduler may serve a waiting read of a media player; nil if
  /// no read waits.
  func nextRead(_ policy: SharedPolicy) -> Instant? {
    if audio.isEmpty { return nil }
    return audio.values.lazy.compactMap { $0.players.nextRead(policy) }.min()
  }

  /// The earliest end of an audio session that is in its `AudioGraceTime`; nil if there is no such
  /// session.
  var nextAudioEnd: Instant? {
    if audio.isEmpty { return nil }
    return audio.values.lazy.flatMap { $0.active.values.lazy.compactMap(\.endsAt) }.min()
  }

  /// The earliest instant at which the connection to an agent ended; nil if all agents are
  /// attached.
  var firstLoss: Instant? {
    if agents.isEmpty, audio.isEmpty { return nil }
    let audioLoss = audio.values.lazy.compactMap { $0.agent?.lostAt }.min()
    return earlier(agents.values.lazy.compactMap(\.lostAt).min(), audioLoss)
  }
}

/// The state of the connection to a session agent.
enum SessionAgent: Equatable, Sendable {
  case attached
  case lost(at: Instant)

  var lostAt: Instant? { if case .lost(let at) = self { at } else { nil } }
}

/// What the scheduler knows about the audio server of one user.
struct SessionAudio: Equatable, Sendable {
  /// The agent that reports the streams; nil if nothing is known about the streams.
  var agent: SessionAgent?
  /// The streams that must be unmuted and belong to no running instance. The values are the numbers
  /// of the entries in which the server remembers the streams (``AudioStream/memory``).
  var restoring: [AudioStreamID: UInt32] = [:]
  /// The streams whose volumes must be restored and that belong to no running instance.
  var raising: [AudioStreamID: ReturnedVolume] = [:]
  /// The mutes and volumes that the server still remembers, because the daemon ordered them for
  /// streams that have ended. The keys are the numbers of the server's entries
  /// (``AudioStream/memory``).
  var remembered: [UInt32: RememberedAudio] = [:]
  /// The playback streams that the last report contains and that have run, ordered by their ids.
  var known: [AudioStreamID] = []
  /// The playback streams that the last report contains and that have not run yet. Each value is
  /// the mute and the volume that the daemon's orders had left in the stream's entry before the
  /// stream began.
  var unstarted: [AudioStreamID: RememberedAudio] = [:]
  /// The active audio sessions of instances.
  var active: [InstanceID: ActiveAudioSession] = [:]
  /// Whether the audio server itself lowers or pauses streams, depending on their roles.
  var managesRoles = false
  var players = Players()

  /// The maximum number of entries in ``remembered``. Source: this project; a desktop has fewer
  /// programs that play.
  static let rememberedMax = 1024

  /// Whether the agent can call media players: it is attached, and has reported them.
  var canCommand: Bool { agent == .attached && !players.isStale }
  /// Whether the value contains nothing that the scheduler must remember.
  var isEmpty: Bool {
    agent == nil && restoring.isEmpty && raising.isEmpty && remembered.isEmpty && known.isEmpty
      && unstarted.isEmpty && active.isEmpty && players.isEmpty
  }
}

/// A seat whose screen is locked. Also a seat within a locked seat, if it has an interrupted or
/// focused instance.
struct SeatLock: Equatable, Sendable {
  var since: Instant
  /// Whether the seat is locked only because of a request to logind; see
  /// ``SessionEvent/locked(_:byRequest:)``.
  var isRequest = false
  /// The instance that the lock interrupted.
  var interrupted: InstanceID?
  /// The instance whose window got the focus while the seat was locked. The unlock activates this
  /// instance.
  var focused: InstanceID?
}
