import LinuxSystem
import TaskSchedulerWire
import Testing

/// A simulated session agent of the user that runs the test. The test decides what the agent
/// reports.
final class TestAgent {
  /// The connection on which the agent receives its orders.
  let orders: RawClient
  /// The connection on which the agent reports.
  let reports: RawClient
  let attachment: Int
  private let proc: ProcFS

  /// A process that has a window, and the visibility of this window.
  typealias Window = (pid: Int32, visibility: SessionInterface.Visibility)

  /// The notifications that arrived before `synchronized` and that ``nextNotice()`` has not
  /// returned.
  private var listed: [JSONValue] = []

  /// Attaches to the daemon, and receives all orders up to `synchronized`.
  ///
  /// - Parameters:
  ///   - expected: The kind of the order that must precede `synchronized`; nil if there is none.
  ///   - takesNotices: Whether orders to show notifications may also precede `synchronized`.
  init(
    _ daemon: DaemonFixture, expecting expected: String? = nil, takesNotices: Bool = false
  ) throws {
    proc = daemon.proc
    orders = try RawClient(daemon)
    reports = try RawClient(daemon)
    let first = try orders.call(#"{"method":"org.taskschedd.Session.Attach","more":true}"#)
    guard case .integer(let number)? = first?["parameters"]?["attached"] else {
      throw TestApplication.Unexpected(line: "\(first ?? .null)")
    }
    attachment = Int(number)
    if let expected, try orders.receive()?["parameters"]?[expected] == nil {
      throw TestApplication.Unexpected(line: "no order '\(expected)'")
    }
    // Fails if any other order precedes `synchronized`, because no test expects one.
    var next = try orders.receive()
    while takesNotices, let notice = next?["parameters"]?["show"] {
      listed.append(notice)
      next = try orders.receive()
    }
    guard next?["parameters"]?["synchronized"] == true else {
      throw TestApplication.Unexpected(line: "no order 'synchronized'")
    }
  }

  /// Returns a window of a running process.
  func window(
    _ pid: Int32, _ visibility: SessionInterface.Visibility, id: String? = nil
  ) throws -> SessionInterface.Window {
    let startTime = try proc.identity(pid)?.startTime ?? 0
    return SessionInterface.Window(
      pid: Int(pid), startTime: Int(startTime), visibility: visibility, applicationId: id)
  }

  /// Reports all windows, and returns the answer.
  @discardableResult
  func report(
    _ windows: [SessionInterface.Window], hasFocus: Bool? = nil
  ) throws -> JSONValue? {
    try reports.call(text(of: windows, hasFocus: hasFocus))
  }

  /// Reports windows of running processes.
  @discardableResult
  func report(_ windows: Window...) throws -> JSONValue? {
    try report(windows.map { try window($0.pid, $0.visibility) })
  }

  /// Returns the message of a report about windows. By default, `hasFocus` is true if one of these
  /// windows has the focus.
  func text(of windows: [SessionInterface.Window], hasFocus: Bool? = nil) -> String {
    let input = SessionInterface.ReportWindows.Input(
      attachment: attachment, windows: windows,
      hasFocus: hasFocus ?? windows.contains { $0.visibility == .focused })
    var parameters: [UInt8] = []
    input.write(to: &parameters)
    return "{\"method\":\"\(SessionInterface.ReportWindows.name)\",\"parameters\":"
      + String(decoding: parameters, as: UTF8.self) + "}"
  }

  /// Returns a playback stream of a running process. `claimed` is false: the audio server knows the
  /// pid from the socket of its client, and not from what the client claims.
  func stream(
    _ id: Int, of pid: Int32, role: SessionInterface.AudioRole = .other, volume: Int = 65536,
    running: Bool = true, muted: Bool = false, silent: Bool = false
  ) throws -> SessionInterface.AudioStream {
    let startTime = try proc.identity(pid)?.startTime ?? 0
    return SessionInterface.AudioStream(
      id: id, direction: .playback, role: role, volume: volume, pid: Int(pid),
      startTime: Int(startTime), claimed: false, running: running, muted: muted, silent: silent,
      memory: 1)
  }

  /// Reports all streams of a server, and returns the answer.
  @discardableResult
  func reportAudio(
    _ streams: [SessionInterface.AudioStream], generation: Int = 1, managesRoles: Bool = false,
    confirmed: Int = 0
  ) throws -> JSONValue? {
    try report(
      SessionInterface.ReportAudio.self,
      .init(
        attachment: attachment,
        server: .init(
          path: "/run/none/native", generation: generation, managesRoles: managesRoles),
        streams: streams, confirmed: confirmed))
  }

  /// Returns a media player of a running process.
  func player(_ name: String, of pid: Int32) throws -> SessionInterface.Player {
    let startTime = try proc.identity(pid)?.startTime ?? 0
    return SessionInterface.Player(
      name: Self.playerName(name), pid: Int(pid), startTime: Int(startTime))
  }

  /// Returns the name of a media player on the session bus.
  static func playerName(_ name: String) -> String { "org.mpris.MediaPlayer2.\(name)" }

  /// Reports all media players, and returns the answer.
  @discardableResult
  func report(players: [SessionInterface.Player]) throws -> JSONValue? {
    try report(
      SessionInterface.ReportPlayers.self, .init(attachment: attachment, players: players))
  }

  /// Reports that a program has called a media player, and returns the answer.
  @discardableResult
  func called(_ player: String, _ call: SessionInterface.PlayerCall) throws -> JSONValue? {
    try report(
      SessionInterface.PlayerCalled.self,
      .init(attachment: attachment, player: Self.playerName(player), call: call))
  }

  /// Reports that a program has sent the media player `taskschedd` a command, and returns the
  /// answer.
  @discardableResult
  func commanded(
    _ command: SessionInterface.RemoteCommand, offsetUSec: Int? = nil
  ) throws -> JSONValue? {
    try report(
      SessionInterface.PlayerCommanded.self,
      .init(attachment: attachment, command: command, offsetUSec: offsetUSec))
  }

  /// Reports whether GeoClue is available, and returns the answer.
  @discardableResult
  func report(isGeoClueAvailable isAvailable: Bool) throws -> JSONValue? {
    try report(
      SessionInterface.ReportLocationSource.self,
      .init(attachment: attachment, available: isAvailable))
  }

  /// Reports a location, and returns the answer.
  @discardableResult
  func report(_ location: SessionInterface.Location) throws -> JSONValue? {
    try report(
      SessionInterface.ReportLocation.self, .init(attachment: attachment, location: location))
  }

  private func report<Method: InterfaceMethod>(
    _ method: Method.Type, _ input: Method.Input
  ) throws -> JSONValue? {
    var parameters: [UInt8] = []
    input.write(to: &parameters)
    return try reports.call(
      "{\"method\":\"\(Method.name)\",\"parameters\":"
        + String(decoding: parameters, as: UTF8.self) + "}")
  }

  /// Returns the next order to mute, or to end a mute.
  func nextMute() throws -> JSONValue? { try nextOrder("mute") }

  /// Returns the next order to change volumes, with a `from` and a `to` for each stream.
  func nextVolumes() throws -> [Volume] {
    guard case .array(let changes)? = try nextOrder("volume")?["changes"] else { return [] }
    return try changes.map { change in
      guard case .integer(let stream)? = change["stream"],
        case .integer(let from)? = change["from"], case .integer(let to)? = change["to"]
      else { throw TestApplication.Unexpected(line: "\(change)") }
      return Volume(stream: Int(stream), from: Int(from), to: Int(to))
    }
  }

  /// An order to change the volume of a stream.
  struct Volume: Equatable {
    let stream: Int
    let from: Int
    let to: Int
  }

  /// Returns the next order of a kind.
  func nextOrder(_ kind: String) throws -> JSONValue? {
    while let order = try orders.receive() {
      if let found = order["parameters"]?[kind] { return found }
    }
    return nil
  }

  /// Returns the next notification that the agent must show.
  func nextNotice() throws -> JSONValue? {
    listed.isEmpty ? try nextOrder("show") : listed.removeFirst()
  }

  /// Reports that the user chose a notification, or one of its actions.
  func choose(_ notification: Int64, action: String? = nil) throws {
    let field = action.map { ",\"action\":\"\($0)\"" } ?? ""
    _ = try reports.call(
      #"{"method":"org.taskschedd.Session.NotificationChosen","parameters":{"attachment":"#
        + "\(attachment),\"notification\":\(notification)\(field)}}")
  }

  /// Reports that the notification service no longer shows a notification.
  func close(_ notification: Int64) throws {
    _ = try report(
      SessionInterface.NotificationClosed.self,
      .init(attachment: attachment, notification: Int(notification)))
  }

  func forgetWindows() throws -> JSONValue? {
    try reports.call(
      #"{"method":"org.taskschedd.Session.ForgetWindows","parameters":{"attachment":"#
        + "\(attachment)}}")
  }
}
