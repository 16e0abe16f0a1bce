import LinuxSystem
import TaskSchedulerCore

// How the daemon finds the instance of each media player on a session bus (contract §13).
//
// The problem: a session agent reports each call to a media player, by the player's name. A status
// bar may read a player every second, and each event costs space in the event log. A call may also
// arrive before the daemon knows the instance of the player.
//
// The idea: the daemon posts a call only if the call makes a difference to the scheduler. A call to
// a player whose instance is not known yet waits until the instance is found.
//
// Why this is right: the scheduler decides again when it handles the event, so an unnecessary event
// is harmless. If several calls to one player wait, the daemon keeps only the call that lets the
// player run longest. While the player runs, it answers all of the calls.

/// A media player as the session agent reports it.
struct ReportedPlayer: Equatable {
  var name: String
  /// The process that owns the name.
  var process: ProcessIdentity
}

/// Finds the instances of the media players that session agents report. Reports these instances,
/// and the calls to their players, to the scheduler.
final class PlayerReports {
  /// The maximum number of players in a report, and of players with a waiting call.
  static let playersMax = 256

  private let processes: ProcessController
  private let isAffected: (PlayerCall, InstanceID, UserID) -> Bool
  private let post: (Event) -> Void
  private var sessions: [UInt32: ReportedPlayers] = [:]

  private var membership: InstanceMembership { processes.membership }

  /// - Parameter isAffected: Returns whether a call makes a difference to an instance of the user.
  init(
    processes: ProcessController,
    isAffected: @escaping (PlayerCall, InstanceID, UserID) -> Bool,
    post: @escaping (Event) -> Void
  ) {
    self.processes = processes
    self.isAffected = isAffected
    self.post = post
    membership.observe { [weak self] in self?.instanceAdded($0) }
  }

  /// Handles a report of all media players of a user.
  func report(_ players: [ReportedPlayer], of uid: UInt32) {
    let session = session(of: uid)
    session.take(players)
    resolve(session, of: uid, atOnce: true)
  }

  /// Handles a call to a media player of a user.
  func called(_ player: String, _ call: PlayerCall, of uid: UInt32) {
    let session = session(of: uid)
    session.wait(call, of: player)
    if session.work?.isUnderWay != true { postCalls(session, of: uid) }
  }

  /// Handles a command to the media player `taskschedd` of a user.
  func commanded(_ command: RemoteCommand, of user: UserID) {
    post(.session(.remoteCommand(user, command)))
  }

  /// Returns the name of an instance's media player; nil if the agent reports none. If the instance
  /// has several players, returns the alphabetically first name.
  func name(of id: InstanceID, of user: UserID) -> String? { sessions[user.uid]?.name(of: id) }

  /// Discards the report of a user, because the agent is gone. The scheduler discards the players
  /// together with the audio.
  func lose(_ uid: UInt32) { sessions.removeValue(forKey: uid)?.work?.cancel() }

  private func session(of uid: UInt32) -> ReportedPlayers {
    if let known = sessions[uid] { return known }
    let session = ReportedPlayers()
    sessions[uid] = session
    return session
  }

  /// Examines the players of the last report again. A player may belong to the new instance.
  private func instanceAdded(_ instance: InstanceProcesses) {
    guard let session = sessions[instance.uid], session.hasReport else { return }
    resolve(session, of: instance.uid, atOnce: false)
  }

  // MARK: Steps

  private func resolve(_ session: ReportedPlayers, of uid: UInt32, atOnce: Bool) {
    session.processes.begin(in: membership)
    guard session.work?.isUnderWay != true else { return }
    if !session.processes.isPending { return finish(session, of: uid) }
    session.work = processes.steps.begin(.first, user: uid, atOnce: atOnce) {
      [weak self, weak session] in
      guard let self, let session else { return false }
      session.processes.examineNext(of: uid, in: membership)
      if session.processes.isPending { return true }
      finish(session, of: uid)
      return false
    }
  }

  private func finish(_ session: ReportedPlayers, of uid: UInt32) {
    let instances = session.instances()
    if session.last != instances {
      session.last = instances
      post(.session(.players(UserID(uid), instances)))
    }
    postCalls(session, of: uid)
  }

  /// Posts an event for each waiting call to a reported player, if the call makes a difference.
  private func postCalls(_ session: ReportedPlayers, of uid: UInt32) {
    let user = UserID(uid)
    for (id, call) in session.takeCalls() where isAffected(call, id, user) {
      post(.session(.playerCalled(user, id, call)))
    }
  }
}

/// The last report about the media players of one user, and the instances found so far.
final class ReportedPlayers {
  private(set) var hasReport = false
  private var players: [ReportedPlayer] = []
  /// The processes of the last report, and their instances.
  var processes = ReportedProcesses()
  var work: ProcessWorkQueue.Work?
  /// The last report to the scheduler; nil if there was none.
  var last: [InstanceID]?
  /// The calls to players whose instances are not known yet.
  private var calls: [String: PlayerCall] = [:]

  func take(_ players: [ReportedPlayer]) {
    self.players = players.sorted { $0.name < $1.name }
    hasReport = true
    processes.take(Set(players.map(\.process)))
  }

  func name(of id: InstanceID) -> String? {
    players.first { processes.instance(of: $0.process) == id }?.name
  }

  /// Returns the instances that are media players, ordered by their ids.
  func instances() -> [InstanceID] {
    Set(players.compactMap { processes.instance(of: $0.process) }).sorted()
  }

  /// Stores a call until the player's instance is known.
  func wait(_ call: PlayerCall, of player: String) {
    // Calls to players that the agent never reports must not keep out other calls forever.
    if calls[player] == nil, calls.count >= PlayerReports.playersMax { calls = [:] }
    calls[player] = calls[player] == .command ? .command : call
  }

  /// Removes and returns the calls to reported players that belong to instances, ordered by the
  /// player's name. Also removes the calls to all other reported players, because the daemon does
  /// not suspend these players. Keeps the calls to players that are not reported yet.
  func takeCalls() -> [(InstanceID, PlayerCall)] {
    if calls.isEmpty { return [] }
    return players.compactMap { player in
      guard let call = calls.removeValue(forKey: player.name),
        let id = processes.instance(of: player.process)
      else { return nil }
      return (id, call)
    }
  }
}
