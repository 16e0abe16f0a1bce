import TaskSchedulerWire

/// A command that the user gave to the application, for example by a media key.
public enum RemoteCommand: Hashable, Sendable {
  /// Play.
  case play
  /// Pause, and keep the position.
  case pause
  /// Pause if the application plays; otherwise play.
  case playPause
  /// Play the next track.
  case next
  /// Play the previous track.
  case previous
  /// Stop playing.
  case stop
  /// Move the position in the track by a time span. A negative span moves backwards.
  case seek(by: Duration)

  init(_ command: ApplicationInterface.RemoteCommand) {
    switch command.kind {
    case .play: self = .play
    case .pause: self = .pause
    case .playPause: self = .playPause
    case .next: self = .next
    case .previous: self = .previous
    case .stop: self = .stop
    case .seek: self = .seek(by: .microseconds(command.offsetUSec ?? 0))
    }
  }
}
