import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerWire

/// The calls of `org.taskschedd.Session`. A session agent can report only about the session of its
/// own user. The daemon identifies the user by the socket (contract §20).
final class SessionService: SessionInterface.Implementation {
  typealias Interface = SessionInterface

  static let windowsMax = 1024
  static let applicationIDBytesMax = 256
  static let streamsMax = 1024
  /// The highest volume of a stream: 256 times 100 %.
  static let volumeMax = 1 << 24
  /// The maximum length of the path of an audio server's socket: the size of sun_path.
  static let serverPathBytesMax = 108
  /// The maximum length of a name on a D-Bus bus.
  static let playerNameBytesMax = 255

  private let agents: SessionAgents
  private let applications: ApplicationService
  private let notifications: LocalNotifications

  init(
    agents: SessionAgents, applications: ApplicationService, notifications: LocalNotifications
  ) {
    self.agents = agents
    self.applications = applications
    self.notifications = notifications
  }

  func attach(_: Interface.Attach.Input, _ connection: Connection) throws {
    guard connection.takesMore else { throw StandardFailure.expectedMore }
    if let instance = try applications.instance(of: connection.peer) {
      throw Interface.Failure.agentIsManaged(application: instance.application)
    }
    agents.attach(connection)
  }

  // MARK: Windows

  func reportWindows(_ input: Interface.ReportWindows.Input, _ connection: Connection) throws {
    guard input.windows.count <= Self.windowsMax else {
      throw Interface.Failure.reportTooLarge(parameter: "windows", limit: Self.windowsMax)
    }
    let windows = try input.windows.enumerated().map {
      try Self.window($0.element, parameter: "windows[\($0.offset)]")
    }
    let user = try user(input.attachment, connection)
    agents.report(windows, hasFocus: input.hasFocus, of: user.uid)
    connection.reply(NoFields())
  }

  func forgetWindows(_ input: Interface.ForgetWindows.Input, _ connection: Connection) throws {
    let user = try user(input.attachment, connection)
    agents.forgetWindows(of: user.uid)
    connection.reply(NoFields())
  }

  private static func window(
    _ window: Interface.Window, parameter: String
  ) throws -> ReportedProcessWindow {
    let process = try process(window.pid, window.startTime, parameter: parameter)
    if let id = window.applicationId, id.utf8.count > applicationIDBytesMax {
      throw Interface.Failure.reportTooLarge(
        parameter: "\(parameter).applicationId", limit: applicationIDBytesMax)
    }
    return ReportedProcessWindow(
      process: process, visibility: .init(window.visibility),
      applicationID: window.applicationId)
  }

  private static func process(
    _ pid: Int, _ startTime: Int, parameter: String
  ) throws(ParameterError) -> ProcessIdentity {
    guard let pid = Int32(exactly: pid), pid > 0 else {
      throw ParameterError(
        parameter: "\(parameter).pid", problem: "it must be from 1 to 2147483647")
    }
    guard let startTime = UInt64(exactly: startTime) else {
      throw ParameterError(
        parameter: "\(parameter).startTime", problem: "a start time must not be negative")
    }
    return ProcessIdentity(pid: pid, startTime: startTime)
  }

  // MARK: Audio

  func reportAudio(_ input: Interface.ReportAudio.Input, _ connection: Connection) throws {
    guard input.streams.count <= Self.streamsMax else {
      throw Interface.Failure.reportTooLarge(parameter: "streams", limit: Self.streamsMax)
    }
    let server = try input.server.map { try Self.server($0) }
    guard server != nil || input.streams.isEmpty else {
      throw ParameterError(
        parameter: "streams", problem: "it must be empty if no audio server runs")
    }
    let streams = try input.streams.enumerated().map {
      try Self.stream($0.element, parameter: "streams[\($0.offset)]")
    }
    var numbers: [AudioStream.Direction: Set<UInt64>] = [:]
    for (index, stream) in streams.enumerated()
    where !numbers[stream.direction, default: []].insert(stream.index).inserted {
      throw ParameterError(
        parameter: "streams[\(index)].id", problem: "another stream of this direction has this id")
    }
    guard let confirmed = UInt64(exactly: input.confirmed) else {
      throw ParameterError(parameter: "confirmed", problem: "it must not be negative")
    }
    let user = try user(input.attachment, connection)
    agents.audio.report(
      streams, of: server, managesRoles: input.server?.managesRoles ?? false,
      confirmed: confirmed, uid: user.uid)
    connection.reply(NoFields())
  }

  private static func server(_ server: Interface.AudioServer) throws -> ReportedAudioServer {
    guard server.path.utf8.count <= serverPathBytesMax else {
      throw Interface.Failure.reportTooLarge(
        parameter: "server.path", limit: serverPathBytesMax)
    }
    guard let generation = UInt64(exactly: server.generation) else {
      throw ParameterError(
        parameter: "server.generation", problem: "a generation must not be negative")
    }
    return ReportedAudioServer(path: server.path, generation: generation)
  }

  private static func stream(
    _ stream: Interface.AudioStream, parameter: String
  ) throws -> ReportedAudioStream {
    guard let id = UInt64(exactly: stream.id) else {
      throw ParameterError(parameter: "\(parameter).id", problem: "an id must not be negative")
    }
    guard (0...volumeMax).contains(stream.volume) else {
      throw ParameterError(
        parameter: "\(parameter).volume", problem: "a volume must be from 0 to \(volumeMax)")
    }
    guard let memory = UInt32(exactly: stream.memory) else {
      throw ParameterError(
        parameter: "\(parameter).memory", problem: "it must be from 0 to \(UInt32.max)")
    }
    return ReportedAudioStream(
      index: id, direction: stream.direction == .playback ? .playback : .recording,
      role: AudioRole(stream.role), volume: stream.volume,
      process: try process(stream.pid, stream.startTime, parameter: parameter),
      isClaimed: stream.claimed, isRunning: stream.running, isMuted: stream.muted,
      isSilent: stream.silent, memory: memory)
  }

  // MARK: Media players

  func reportPlayers(_ input: Interface.ReportPlayers.Input, _ connection: Connection) throws {
    guard input.players.count <= PlayerReports.playersMax else {
      throw Interface.Failure.reportTooLarge(
        parameter: "players", limit: PlayerReports.playersMax)
    }
    let players = try input.players.enumerated().map { index, player in
      try Self.check(player: player.name, parameter: "players[\(index)].name")
      return ReportedPlayer(
        name: player.name,
        process: try Self.process(
          player.pid, player.startTime, parameter: "players[\(index)]"))
    }
    let user = try user(input.attachment, connection)
    agents.players.report(players, of: user.uid)
    connection.reply(NoFields())
  }

  func playerCalled(_ input: Interface.PlayerCalled.Input, _ connection: Connection) throws {
    try Self.check(player: input.player, parameter: "player")
    let user = try user(input.attachment, connection)
    agents.players.called(input.player, .init(input.call), of: user.uid)
    connection.reply(NoFields())
  }

  func playerCommanded(
    _ input: Interface.PlayerCommanded.Input, _ connection: Connection
  ) throws {
    let command = try RemoteCommand(
      input.command, offset: input.offsetUSec.map { Self.offset(usec: $0) },
      parameter: "offsetUSec")
    let user = try user(input.attachment, connection)
    agents.players.commanded(command, of: user)
    connection.reply(NoFields())
  }

  /// Checks the name of a media player on the session bus.
  private static func check(player name: String, parameter: String) throws {
    guard name.utf8.count <= playerNameBytesMax else {
      throw Interface.Failure.reportTooLarge(parameter: parameter, limit: playerNameBytesMax)
    }
    guard name.hasPrefix("org.mpris.MediaPlayer2.") else {
      throw ParameterError(
        parameter: parameter, problem: "it must begin with org.mpris.MediaPlayer2.")
    }
  }

  /// Returns the offset of a seek, limited to 31 years. A program may send any offset, but the
  /// event log stores nanoseconds, and a greater offset could overflow.
  private static func offset(usec: Int) -> Duration {
    .microseconds(min(max(usec, -1_000_000_000_000_000), 1_000_000_000_000_000))
  }

  // MARK: Locations

  func reportLocationSource(
    _ input: Interface.ReportLocationSource.Input, _ connection: Connection
  ) throws {
    let user = try user(input.attachment, connection)
    agents.locations.report(isAvailable: input.available, to: user)
    connection.reply(NoFields())
  }

  func reportLocation(_ input: Interface.ReportLocation.Input, _ connection: Connection) throws {
    let location = try Location(input.location, parameter: "location")
    let user = try user(input.attachment, connection)
    agents.report(location, of: user)
    connection.reply(NoFields())
  }

  // MARK: Notifications

  func notificationShown(
    _ input: Interface.NotificationShown.Input, _ connection: Connection
  ) throws {
    try notifications.notificationShown(input, of: user(input.attachment, connection))
    connection.reply(NoFields())
  }

  func notificationChosen(
    _ input: Interface.NotificationChosen.Input, _ connection: Connection
  ) throws {
    try notifications.notificationChosen(input, of: user(input.attachment, connection))
    connection.reply(NoFields())
  }

  func notificationClosed(
    _ input: Interface.NotificationClosed.Input, _ connection: Connection
  ) throws {
    try notifications.notificationClosed(input, of: user(input.attachment, connection))
    connection.reply(NoFields())
  }

  func notificationFailed(
    _ input: Interface.NotificationFailed.Input, _ connection: Connection
  ) throws {
    try notifications.notificationFailed(input, of: user(input.attachment, connection))
    connection.reply(NoFields())
  }

  /// Returns the user of the caller, if the attachment is the current one of that user.
  private func user(
    _ attachment: Int, _ connection: Connection
  ) throws(Interface.Failure) -> UserID {
    let uid = connection.peer.uid
    guard agents.isCurrent(attachment, of: uid) else { throw .notAttached }
    return UserID(uid)
  }
}

extension Connection: AgentConnection {
  var uid: UInt32 { peer.uid }

  var isAgent: Bool {
    get { if case .agent = role { true } else { false } }
    set { role = newValue ? .agent : .calls }
  }

  func process() throws(SystemError) -> ProcessIdentity? { try peer.identity() }

  func send(_ order: SessionInterface.Attach.Output) { reply(order, continues: true) }

  func send(list: [SessionInterface.Attach.Output]) { replySnapshot(list) }

  func end(_ failure: SessionInterface.Failure) { fail(failure) }
}

extension PlayerCall {
  fileprivate init(_ call: SessionInterface.PlayerCall) {
    switch call {
    case .command: self = .command
    case .read: self = .read
    }
  }
}

extension WindowVisibility {
  init(_ visibility: SessionInterface.Visibility) {
    switch visibility {
    case .focused: self = .focused
    case .visible: self = .visible
    case .hidden: self = .hidden
    }
  }
}
