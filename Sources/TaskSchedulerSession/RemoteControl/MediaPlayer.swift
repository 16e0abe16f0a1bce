import LinuxSystem
import TaskSchedulerWire

/// A media player on the session bus.
struct MediaPlayer: Hashable, Sendable {
  /// The well-known name, such as `org.mpris.MediaPlayer2.vlc`.
  var name: String
  /// The process that owns the name.
  var process: ProcessIdentity

  /// The prefix of the names of all media players.
  static let namePrefix = "org.mpris.MediaPlayer2."
  /// The object path that all media players use.
  static let path = "/org/mpris/MediaPlayer2"
  static let rootInterface = "org.mpris.MediaPlayer2"
  static let playerInterface = "org.mpris.MediaPlayer2.Player"
  /// The name of the media player that the agent shows.
  static let ownName = "org.mpris.MediaPlayer2.taskschedd"

  /// Returns whether a name on the bus belongs to a media player other than the agent's own.
  static func isName(_ name: String) -> Bool {
    name.hasPrefix(namePrefix) && name != ownName
  }
}

/// A call that a program has made to a media player.
struct MediaPlayerCall: Hashable, Sendable {
  /// The well-known name of the player.
  var player: String
  var kind: SessionInterface.PlayerCall

  /// Returns the kind of a call: `read` if it only reads, `command` if it may change something.
  ///
  /// - Parameter interface: the interface that the call names; nil if it names none.
  static func kind(interface: String?, member: String) -> SessionInterface.PlayerCall {
    switch interface ?? "" {
    case "org.freedesktop.DBus.Introspectable", "org.freedesktop.DBus.Peer": .read
    case "org.freedesktop.DBus.Properties": ["Get", "GetAll"].contains(member) ? .read : .command
    case _: .command
    }
  }
}

/// A command of the user to a media player.
struct MediaPlayerCommand: Hashable, Sendable {
  var command: SessionInterface.RemoteCommand
  /// The time in microseconds by which `seek` moves the position, negative to move backwards; nil
  /// for other commands.
  var offset: Int64?

  init(_ command: SessionInterface.RemoteCommand, offset: Int64? = nil) {
    self.command = command
    self.offset = offset
  }

  /// Creates the command of an order; nil if `seek` has no offset, or another command has one.
  init?(_ order: SessionInterface.PlayerCommand) {
    let offset = order.offsetUSec.map { Int64($0) }
    if (order.command == .seek) != (offset != nil) { return nil }
    self.init(order.command, offset: offset)
  }

  /// Creates the command that a call of a player's method gives; nil for an unknown method, and for
  /// a method with arguments.
  init?(method member: String) {
    let commands = SessionInterface.RemoteCommand.allCases.filter { $0 != .seek }
    guard let command = commands.first(where: { $0.playerMethod == member }) else { return nil }
    self.init(command)
  }
}

extension SessionInterface.RemoteCommand {
  /// The method of `org.mpris.MediaPlayer2.Player` that gives the command.
  var playerMethod: String {
    switch self {
    case .play: "Play"
    case .pause: "Pause"
    case .playPause: "PlayPause"
    case .next: "Next"
    case .previous: "Previous"
    case .stop: "Stop"
    case .seek: "Seek"
    }
  }
}
