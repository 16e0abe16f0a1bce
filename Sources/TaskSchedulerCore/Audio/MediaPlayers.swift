/// A command to a media player.
public enum RemoteCommand: Hashable, Sendable {
  case play, pause, playPause, next, previous, stop
  /// Moves the position by a time span, which is negative to move backwards.
  case seek(Duration)

  /// The name of the command for users, as `taskctl remote` takes it.
  public var name: String {
    switch self {
    case .play: "play"
    case .pause: "pause"
    case .playPause: "play-pause"
    case .next: "next"
    case .previous: "previous"
    case .stop: "stop"
    case .seek: "seek"
    }
  }

  /// The command with its argument, for sentences.
  var words: String {
    if case .seek(let offset) = self { "seek \(TimeSpan.format(offset))" } else { name }
  }
}

/// A call that a program makes to the media player of an instance on the session bus.
public enum PlayerCall: String, Hashable, Sendable, CaseIterable {
  /// A command to play, pause or similar, or a change of a property.
  case command
  /// A request for properties, for example from a status bar.
  case read
}

/// The media player `taskschedd` on the session bus of a user, which stands for an application that
/// has no media player of its own.
public struct RemotePlayer: Equatable, Sendable {
  public var application: ApplicationKey
  public var isPlaying: Bool

  public init(_ application: ApplicationKey, isPlaying: Bool) {
    self.application = application
    self.isPlaying = isPlaying
  }
}

/// An order to the session agent of a user about media players.
public enum RemoteEffect: Equatable, Sendable {
  /// Call the media player of an instance.
  case command(UserID, InstanceID, RemoteCommand)
  /// Show the media player `taskschedd`; with nil, remove it.
  case present(UserID, RemotePlayer?)
}

/// The instances of a user that are media players, or have been audible.
struct Players: Equatable, Sendable {
  struct Player: Equatable, Sendable {
    /// Whether the instance has the name of a media player on the session bus.
    var isOnBus = false
    /// The instant at which the instance last became audible, or ceased to be audible; nil if it
    /// has never been audible.
    var audibleAt: Instant?
    /// The instant at which the scheduler last granted the instance time to answer a read.
    var readAt: Instant?
    /// Whether a read waits until `RemoteReadInterval` has passed since ``readAt``.
    var isReadWaiting = false
    /// Whether the next agent must start the media player again. This is so if an agent paused the
    /// player because of a phone call, and no agent could command the player when the call ended.
    var mustPlay = false
  }

  var all: [InstanceID: Player] = [:]
  /// What the agent shows as the media player `taskschedd`.
  var presented: RemotePlayer?
  /// Whether the connection to the agent ended after the last report of the players. If so, no
  /// agent has seen the later calls to the players.
  var isStale = false

  var isEmpty: Bool { all.isEmpty && presented == nil }

  /// The earliest instant at which a read no longer has to wait; nil if none waits.
  func nextRead(_ policy: SharedPolicy) -> Instant? {
    all.values.lazy.filter(\.isReadWaiting).compactMap(\.readAt).min()?
      .advanced(by: policy.remoteReadInterval)
  }

  /// Records that an instance has become audible, or ceased to be audible.
  mutating func audibleChanged(_ id: InstanceID, at now: Instant) {
    all[id, default: Player()].audibleAt = now
    all[id]?.mustPlay = false
  }

  /// Sets which instances have the name of a media player on the session bus.
  ///
  /// - Returns: The instances whose media players may have received calls that the agent has not
  ///   seen.
  mutating func setOnBus(_ ids: Set<InstanceID>) -> [InstanceID] {
    let fresh = isStale ? ids : ids.filter { all[$0]?.isOnBus != true }
    isStale = false
    for id in fresh { all[id, default: Player()].isOnBus = true }
    for (id, player) in all where player.isOnBus && !ids.contains(id) {
      all[id]?.isOnBus = false
      all[id]?.isReadWaiting = false
      if player.audibleAt == nil, !player.mustPlay { all[id] = nil }
    }
    return fresh.sorted()
  }
}
