import TaskSchedulerWire

/// A setting that determines whether the application and the user's other applications play at the
/// same time.
public struct AudioSession: Hashable, Sendable {
  /// What the application plays or records.
  public let category: AudioCategory
  /// What other applications may do while the application plays.
  public let options: Options

  /// What other applications may do while the application plays. Without an option, the application
  /// interrupts the others, unless its category is ``AudioCategory/ambient``.
  public struct Options: OptionSet, Hashable, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Other applications play at the same time.
    public static let mixWithOthers = Options(rawValue: 1 << 0)
    /// Other applications play at the same time, but at `DuckLevel`, 20 % of their volume by
    /// default. Use this for short sounds such as the directions of a navigation program.
    public static let duckOthers = Options(rawValue: 1 << 1)
  }

  /// Creates a session. ``ScheduledApplication/setAudioSession(_:options:)`` puts it into effect.
  public init(_ category: AudioCategory, options: Options = []) {
    self.category = category
    self.options = options
  }
}

/// What an application plays or records. The names are those of AVAudioSession.
public enum AudioCategory: String, Hashable, Sendable, CaseIterable {
  /// Sounds that always play together with the audio of other applications, even without
  /// ``AudioSession/Options/mixWithOthers``.
  case ambient
  /// Sounds that should not play together with the audio of other applications, such as the sounds
  /// of a game.
  case soloAmbient
  /// Music, speech or a film.
  case playback
  /// A recording without playback.
  case record
  /// Playback and recording at the same time, such as a voice chat.
  case playAndRecord
}

extension ApplicationInterface.SetAudioSession.Input {
  init(_ session: AudioSession) {
    self.init(
      category: session.category.ofInterface,
      mixWithOthers: session.options.contains(.mixWithOthers),
      duckOthers: session.options.contains(.duckOthers))
  }
}

extension AudioCategory {
  /// The same category as a value of the daemon's interface.
  fileprivate var ofInterface: ApplicationInterface.AudioCategory {
    switch self {
    case .ambient: .ambient
    case .soloAmbient: .soloAmbient
    case .playback: .playback
    case .record: .record
    case .playAndRecord: .playAndRecord
    }
  }
}
