import TaskSchedulerWire

// Sends the reports of the agent.
extension ServiceConnection {
  func send(
    _ report: WindowReports.Report, attachment: Int
  ) throws(ConnectionEnd) {
    switch report {
    case .windows(let windows):
      try call(
        SessionInterface.ReportWindows.self,
        .init(
          attachment: attachment, windows: windows.windows.compactMap { .init($0) },
          hasFocus: windows.focused != nil))
    case .forget:
      try call(SessionInterface.ForgetWindows.self, .init(attachment: attachment))
    }
  }

  func send(_ report: AudioReport, attachment: Int) throws(ConnectionEnd) {
    try call(
      SessionInterface.ReportAudio.self,
      .init(
        attachment: attachment,
        server: report.audio.server.map {
          .init(
            path: $0.path, generation: Int(clamping: $0.generation), managesRoles: $0.managesRoles)
        },
        streams: report.audio.streams.map { .init($0) }, confirmed: report.confirmed))
  }

  func send(_ report: PlayerReports.Report, attachment: Int) throws(ConnectionEnd) {
    switch report {
    case .players(let players):
      try call(
        SessionInterface.ReportPlayers.self,
        .init(attachment: attachment, players: players.map { .init($0) }))
    case .called(let player):
      try call(
        SessionInterface.PlayerCalled.self,
        .init(attachment: attachment, player: player.player, call: player.kind))
    case .commanded(let command):
      try call(
        SessionInterface.PlayerCommanded.self,
        .init(
          attachment: attachment, command: command.command,
          offsetUSec: command.offset.map { Int($0) }))
    }
  }

  func send(_ report: LocationReports.Report, attachment: Int) throws(ConnectionEnd) {
    switch report {
    case .source(let isAvailable):
      try call(
        SessionInterface.ReportLocationSource.self,
        .init(attachment: attachment, available: isAvailable))
    case .location(let location):
      try call(
        SessionInterface.ReportLocation.self, .init(attachment: attachment, location: location))
    }
  }

  func send(_ report: NotificationReport, attachment: Int) throws(ConnectionEnd) {
    let id = report.notification
    switch report.kind {
    case .shown(let shown):
      try call(
        SessionInterface.NotificationShown.self,
        .init(attachment: attachment, notification: id, shown: shown))
    case .chosen(let action, let token):
      try call(
        SessionInterface.NotificationChosen.self,
        .init(attachment: attachment, notification: id, action: action, activationToken: token))
    case .closed:
      try call(
        SessionInterface.NotificationClosed.self,
        .init(attachment: attachment, notification: id))
    case .failed(let reason, let isRefused):
      try call(
        SessionInterface.NotificationFailed.self,
        .init(attachment: attachment, notification: id, reason: reason, isRefused: isRefused))
    }
  }
}

extension SessionInterface.AudioStream {
  fileprivate init(_ stream: AudioStream) {
    self.init(
      id: Int(stream.id), direction: stream.isRecording ? .recording : .playback,
      role: stream.role, volume: stream.volume, pid: Int(stream.process.pid),
      startTime: Int(clamping: stream.process.startTime),
      claimed: stream.isClaimed, running: stream.isRunning, muted: stream.isMuted,
      silent: stream.isSilent, memory: Int(stream.memory))
  }
}

extension SessionInterface.Player {
  fileprivate init(_ player: MediaPlayer) {
    self.init(
      name: player.name, pid: Int(player.process.pid),
      startTime: Int(clamping: player.process.startTime))
  }
}

extension SessionInterface.Window {
  /// Creates the report of a window; nil if its process is not known.
  fileprivate init?(_ window: SessionWindow) {
    guard let process = window.process else { return nil }
    let visibility: SessionInterface.Visibility =
      switch window.visibility {
      case .focused: .focused
      case .visible: .visible
      case .hidden: .hidden
      }
    self.init(
      pid: Int(process.pid), startTime: Int(process.startTime), visibility: visibility,
      applicationId: window.applicationID)
  }
}
