import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerEventLog
import TaskSchedulerWire

/// The connection on which a session agent receives its orders.
protocol AgentConnection: AnyObject {
  /// The number that identifies the connection in the event log.
  var cookie: UInt64 { get }
  var uid: UInt32 { get }
  /// Whether the connection belongs to a session agent. The event log stores this property.
  var isAgent: Bool { get set }
  /// Returns the agent's process; nil if the process has ended, or the daemon cannot see it.
  func process() throws(SystemError) -> ProcessIdentity?
  /// Sends an order. Does not wait until the agent has read it. Disconnects an agent that leaves
  /// more than MaxQueuedBytesPerConnection unread.
  func send(_ order: SessionInterface.Attach.Output)
  /// Sends several orders, which together may exceed MaxQueuedBytesPerConnection.
  func send(list: [SessionInterface.Attach.Output])
  /// Ends the attachment with an error.
  func end(_ failure: SessionInterface.Failure)
}

/// The session agents, at most one for each user (contract §20).
///
/// While a user has no agent, the daemon discards the orders to that user's agent. When an agent
/// attaches, ``attached`` sends all orders that are still valid, but no earlier command to a media
/// player.
///
/// The number of an attachment is the cookie of its connection, which is unique in this boot. The
/// daemon thus refuses a report with the number of an earlier attachment, even after a restart of
/// the daemon.
final class SessionAgents {
  private var agents: [UInt32: any AgentConnection] = [:]
  let windows: WindowReports
  let audio: AudioReports
  let players: PlayerReports
  let locations: LocationReports
  /// The locations that the scheduler needs.
  private var needs = LocationNeeds()
  /// The accuracy of the locations that the daemon has ordered from each attached agent. An agent
  /// that is not in the table reports no locations.
  private var ordered: [UserID: LocationAccuracy] = [:]
  private let eventLog: EventLog
  /// Returns the display name of an application; nil if its manifest has none.
  var displayName: (ApplicationKey) -> String? = { _ in nil }
  /// Called after an agent has attached, and after the takeover of an agent. The function sends the
  /// orders that an agent needs at its start.
  var attached: (UserID) -> Void = { _ in }

  init(
    windows: WindowReports, audio: AudioReports, players: PlayerReports,
    locations: LocationReports, eventLog: EventLog
  ) {
    self.windows = windows
    self.audio = audio
    self.players = players
    self.locations = locations
    self.eventLog = eventLog
  }

  /// The users with an attached agent.
  var users: [UserID] { agents.sortedKeys.map { UserID($0) } }

  func isAttached(_ user: UserID) -> Bool { agents[user.uid] != nil }

  /// Returns whether an attachment is the current one of a user.
  func isCurrent(_ attachment: Int, of uid: UInt32) -> Bool {
    agents[uid].map { Self.attachment(of: $0) == attachment } ?? false
  }

  /// Sends an order to the agent of a user. Returns whether an agent is attached.
  @discardableResult
  func order(_ order: SessionInterface.Attach.Output, to user: UserID) -> Bool {
    guard let agent = agents[user.uid] else { return false }
    agent.send(order)
    return agents[user.uid] === agent
  }

  /// Sends the orders that an agent needs after it has attached.
  func begin(with orders: [SessionInterface.Attach.Output], for user: UserID) {
    agents[user.uid]?.send(list: orders)
  }

  /// Returns whether a process is an attached agent or an ancestor of one. The daemon must not
  /// suspend such a process.
  func isNeeded(_ process: ProcessIdentity, in proc: ProcFS) throws(SystemError) -> Bool {
    for agent in agents.values {
      guard let own = try agent.process() else { continue }
      if own == process { return true }
      if try proc.ancestors(own.pid).contains(process) { return true }
    }
    return false
  }

  /// The reason why the daemon does not manage a session agent or an ancestor of one.
  static func refusal(of pid: Int32) -> String {
    "process \(pid) is a session agent or an ancestor of one, which the daemon never suspends"
  }

  private static func attachment(of agent: any AgentConnection) -> Int {
    Int(clamping: agent.cookie)
  }

  // MARK: Connections

  /// Makes the process at the other end of a connection the agent of its user, and replaces an
  /// earlier agent.
  func attach(_ connection: any AgentConnection) {
    let uid = connection.uid
    if let earlier = agents.removeValue(forKey: uid) {
      leave(earlier)
      earlier.end(.agentReplaced)
      // The scheduler keeps the states that result from the earlier agent's reports until the new
      // agent has reported, but at most for `SessionGraceTime`.
      loseReports(of: uid)
    }
    // The event log must not name the attachment before the reply has been sent. If the daemon died
    // between the two, the next daemon would read the call again, on an attached connection.
    connection.send(.init(attached: Self.attachment(of: connection)))
    eventLog.note(.agent(true, connection: connection.cookie))
    restore(connection)
    begin(UserID(uid))
  }

  /// Sends an agent the orders that it needs at its start.
  private func begin(_ user: UserID) {
    // After the order `attached`, the agent reports no locations until the daemon orders them
    // again.
    ordered[user] = nil
    attached(user)
    orderLocations(of: user)
  }

  private func leave(_ connection: any AgentConnection) {
    eventLog.note(.agent(false, connection: connection.cookie))
    connection.isAgent = false
  }

  /// Restores an agent from an earlier daemon.
  func restore(_ connection: any AgentConnection) {
    connection.isAgent = true
    agents[connection.uid] = connection
  }

  /// Continues after the takeover of an earlier daemon's connections. Asks the agents for their
  /// windows again, because only the earlier daemon knew the processes of the windows.
  ///
  /// - Parameters:
  ///   - users: The users whose windows the scheduler knows from an agent.
  ///   - audioUsers: The users whose audio the scheduler knows from an agent.
  ///   - locationUsers: The users with an agent that last reported GeoClue as available.
  func recovered(
    reporting users: [UserID], audio audioUsers: [UserID], locations locationUsers: [UserID]
  ) {
    for user in locationUsers {
      locations.restore(user)
      if !isAttached(user) { locations.lose(user) }
    }
    for user in audioUsers {
      audio.restore(user.uid)
      if !isAttached(user) { audio.lose(user.uid) }
    }
    for user in users {
      windows.restore(user.uid)
      if !isAttached(user) { windows.lose(user.uid) }
    }
    for user in self.users {
      guard let agent = agents[user.uid] else { continue }
      agent.send(.init(attached: Self.attachment(of: agent)))
      if isAttached(user) { begin(user) }
    }
  }

  /// Removes a closed connection.
  func closed(_ connection: any AgentConnection) {
    guard connection.isAgent, agents[connection.uid] === connection else { return }
    agents[connection.uid] = nil
    loseReports(of: connection.uid)
  }

  private func loseReports(of uid: UInt32) {
    windows.lose(uid)
    audio.lose(uid)
    players.lose(uid)
    ordered[UserID(uid)] = nil
    locations.lose(UserID(uid))
  }

  // MARK: Audio

  func run(_ effect: AudioEffect) {
    switch effect {
    case .mute(let user, let streams): setMuted(streams, true, of: user)
    case .unmute(let user, let streams): setMuted(streams, false, of: user)
    case .setVolume(let user, let changes): setVolumes(changes, of: user)
    case .measure(let user, let streams): setMeasured(streams, true, of: user)
    case .stopMeasuring(let user, let streams): setMeasured(streams, false, of: user)
    case .confirm(let user, let number): order(.init(confirm: Int(clamping: number)), to: user)
    // `RecordingNotices` handles these effects.
    case .showRecording, .hideRecording: break
    }
  }

  /// Sends a new agent the orders about the audio streams of its user.
  ///
  /// - Parameter confirm: The number that follows the orders; 0 if there have been no orders yet.
  func begin(with orders: AudioOrders, confirm: UInt64, for user: UserID) {
    setMuted(orders.muted, true, of: user)
    // Set the volume of a stream before its mute ends. Otherwise, the stream would be loud for a
    // moment.
    setVolumes(orders.volumes, of: user)
    setMuted(orders.unmuted, false, of: user)
    setMeasured(orders.measured, true, of: user)
    if confirm > 0 { run(.confirm(user, confirm)) }
  }

  /// Ends all mutes of a user's streams and restores their volumes, because the daemon stops.
  func restoreAudio(_ orders: AudioOrders, of user: UserID) {
    setMuted(orders.muted, false, of: user)
    // The list also contains changes that the agent has not made yet. After such a change is
    // reversed, the stream simply keeps its original volume.
    setVolumes(
      orders.volumes.map { change in
        change.to < change.from
          ? AudioVolumeChange(change.stream, from: change.to, to: change.from) : change
      }, of: user)
  }

  private func setVolumes(_ changes: [AudioVolumeChange], of user: UserID) {
    let byServer = Dictionary(grouping: changes, by: \.stream.server)
    for (generation, changes) in byServer.sortedByKey {
      let wire = changes.map {
        SessionInterface.VolumeChange(
          stream: Int(clamping: $0.stream.index), from: $0.from, to: $0.to)
      }
      order(
        .init(volume: .init(generation: Int(clamping: generation), changes: wire)), to: user)
    }
  }

  /// Orders the agent of a user to mute streams, or to end their mutes.
  private func setMuted(_ streams: [AudioStreamID], _ isMuted: Bool, of user: UserID) {
    for (generation, ids) in Self.byServer(streams) {
      order(
        .init(mute: .init(generation: generation, streams: ids, muted: isMuted)), to: user)
    }
  }

  private func setMeasured(_ streams: [AudioStreamID], _ isMeasured: Bool, of user: UserID) {
    for (generation, ids) in Self.byServer(streams) {
      order(
        .init(measure: .init(generation: generation, streams: ids, measured: isMeasured)),
        to: user)
    }
  }

  /// Returns the streams of each audio server. An order names the streams of one server.
  private static func byServer(
    _ streams: [AudioStreamID]
  ) -> [(generation: Int, ids: [Int])] {
    Dictionary(grouping: streams, by: \.server).sortedByKey.map {
      (Int(clamping: $0.key), $0.value.map { Int(clamping: $0.index) })
    }
  }

  // MARK: Media players

  func run(_ effect: RemoteEffect) {
    switch effect {
    case .command(let user, let id, let command):
      // Without an agent, the name of the player is not known.
      guard let name = players.name(of: id, of: user) else { return }
      order(
        .init(
          command: .init(
            player: name, command: .init(command), offsetUSec: command.offset?.microseconds)),
        to: user)
    case .present(let user, let player): present(player, to: user)
    }
  }

  /// Orders the agent of a user to show the media player `taskschedd`; with nil, to remove it.
  func present(_ player: RemotePlayer?, to user: UserID) {
    order(
      .init(
        player: .init(
          application: player?.application.id.name,
          applicationName: player.flatMap { displayName($0.application) },
          playing: player?.isPlaying ?? false)),
      to: user)
  }

  // MARK: Locations

  /// Orders the agents to report the locations that the scheduler needs.
  func need(_ needs: LocationNeeds) {
    self.needs = needs
    for user in users { orderLocations(of: user) }
  }

  /// Orders the agent of a user to report locations with the needed accuracy, or to report no
  /// locations. Does nothing if the last order said the same.
  private func orderLocations(of user: UserID) {
    let accuracy = needs.users.contains(user) ? needs.accuracy : nil
    guard isAttached(user), ordered[user] != accuracy else { return }
    ordered[user] = accuracy
    order(.init(location: .init(accuracy: accuracy.map { .init($0) })), to: user)
  }

  /// Handles a location that the agent of a user reports.
  func report(_ location: Location, of user: UserID) {
    locations.report(location, of: user, isOrdered: ordered[user] != nil)
  }

  // MARK: Windows

  /// Handles a report of all windows of a user's session.
  func report(_ reported: [ReportedProcessWindow], hasFocus: Bool, of uid: UInt32) {
    windows.report(reported, hasFocus: hasFocus, of: uid)
  }

  /// Handles the report that nothing is known about a user's windows any more.
  func forgetWindows(of uid: UInt32) { windows.lose(uid) }
}
