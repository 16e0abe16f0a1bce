import TaskSchedulerWire

/// The outstanding reports about media players, with their order and pace.
///
/// A program can call a player thousands of times a second, and each report wakes the daemon. For
/// each player, at most one call waits to be reported, and the agent drops further calls. But a
/// command replaces a waiting call that only reads, because the daemon resumes the player for
/// longer to handle a command. After a pause, the agent sends the first reports at once, and then
/// one report in each ``ReportPace/interval``.
struct PlayerReports {
  /// The contents of a report.
  enum Report: Equatable {
    case players([MediaPlayer])
    case called(MediaPlayerCall)
    case commanded(MediaPlayerCommand)
  }

  /// The maximum number of waiting commands. Further commands are dropped.
  static let commandsMax = 16

  private var players = LatestReport<[MediaPlayer]>()
  /// The calls to report, at most one for each player.
  private var calls: [MediaPlayerCall] = []
  /// The call that was reported, until the daemon replies.
  private var sent: MediaPlayerCall?
  private var commands: [MediaPlayerCommand] = []
  private var pace = ReportPace()

  /// Replaces the list of the media players that are on the bus. Drops the waiting calls to players
  /// that have left the bus.
  mutating func update(_ players: [MediaPlayer]) {
    self.players.update(players)
    let names = Set(players.map(\.name))
    calls.removeAll { !names.contains($0.player) }
  }

  /// Adds a call to a player. Ignores the call if the list of players does not contain the player.
  mutating func add(_ call: MediaPlayerCall) {
    guard players.value?.contains(where: { $0.name == call.player }) == true else { return }
    if let index = calls.firstIndex(where: { $0.player == call.player }) {
      if call.kind == .command { calls[index] = call }
    } else {
      calls.append(call)
    }
  }

  /// Adds a command to the player `taskschedd`.
  mutating func add(_ command: MediaPlayerCommand) {
    if commands.count < Self.commandsMax { commands.append(command) }
  }

  /// Begins a new attachment, in which the daemon has not received any report. An earlier daemon
  /// may not have handled the call of the last report, so the call is reported again.
  mutating func attached() {
    players.attached()
    if let sent { add(sent) }
    sent = nil
  }

  /// Handles the reply to the report that was sent.
  mutating func acknowledged() { sent = nil }

  /// The instant of the next report; nil if there is none.
  var next: UInt64? {
    players.isDue || !calls.isEmpty || !commands.isEmpty ? pace.next : nil
  }

  /// Returns the report that must be sent now, and counts it as sent; nil if there is none. The
  /// daemon must know a player before it receives a call to the player.
  mutating func take(at now: UInt64) -> Report? {
    guard let next, next <= now else { return nil }
    pace.count(at: now)
    if players.isDue, let players = players.take() { return .players(players) }
    if !commands.isEmpty { return .commanded(commands.removeFirst()) }
    let index = calls.firstIndex { $0.kind == .command } ?? 0
    let call = calls.remove(at: index)
    sent = call
    return .called(call)
  }
}
