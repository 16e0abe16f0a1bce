import TaskSchedulerWire

/// The applications that the daemons want shown as the media player `taskschedd`.
///
/// The session bus has only one player `taskschedd`. The player shows an application that plays, or
/// else the application that a daemon has presented most recently. Commands to the player go to the
/// daemon of the shown application.
struct PresentedPlayers {
  /// An application that a daemon wants shown.
  struct Entry: Equatable {
    var daemon: Int
    var player: SessionInterface.PresentedPlayer
  }

  /// The entry of each daemon that presents an application, the most recent last.
  private var entries: [Entry] = []

  /// The application to show; nil if there is none.
  var shown: Entry? { entries.last { $0.player.playing } ?? entries.last }

  /// Handles the order of a daemon to show an application, or to show none.
  mutating func take(_ player: SessionInterface.PresentedPlayer, of daemon: Int) {
    end(of: daemon)
    if player.application != nil { entries.append(Entry(daemon: daemon, player: player)) }
  }

  /// Removes the application of a daemon. The daemon sends its order again when the agent attaches.
  mutating func end(of daemon: Int) { entries.removeAll { $0.daemon == daemon } }
}
